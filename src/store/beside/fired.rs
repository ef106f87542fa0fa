//! When hooks of attached programs really fired in a worktree: a file `attach/fired/PROGRAM/EVENT`, whose time is the last one, and whose
//! text the first. A linked worktree has them in git's folder for it, so they go with it.

use std::time::SystemTime;

use jiff::Timestamp;

use crate::layout::StoreLayout;
use axiom_base::error::Result;
use axiom_base::{env, files};

/// The longest name of an event that is written down.
const LONGEST: usize = 64;

/// Notes that a hook has fired now. Not synced: it is a sign of life, and a hook has no time to lose. A name that is no plain word is
/// not noted, nor is anything of a worktree that was just removed: its folder does not come back.
pub fn mark(layout: &StoreLayout, program: &str, event: &str) -> Result<()> {
    if !is_plain(program) || !is_plain(event) {
        return Ok(());
    }
    let folder = layout.fired(program);
    let path = folder.join(event);
    if files::touch(&path) {
        return Ok(());
    }
    if !folder.is_dir() {
        // One by one from the folder of git's, which has to be there.
        let missing: Vec<_> = folder.ancestors().take_while(|above| above.starts_with(layout.root())).collect();
        missing.iter().rev().try_for_each(|above| files::create_private_dir(above).map(drop))?;
    }
    files::write_scratch(&path, env::now().to_string().as_bytes())
}

/// When a hook of this event fired for the first time since the program was attached; `None`: never, as far as is known.
pub fn first(layout: &StoreLayout, program: &str, event: &str) -> Result<Option<Timestamp>> {
    if !is_plain(program) || !is_plain(event) {
        return Ok(None);
    }
    let text = files::read_optional(&layout.fired(program).join(event), LONGEST as u64)?.unwrap_or_default();
    Ok(std::str::from_utf8(&text).ok().and_then(|text| text.parse().ok()))
}

/// When any hook of a program fired for the first time.
pub fn first_of_any(layout: &StoreLayout, program: &str) -> Result<Option<Timestamp>> {
    let mut all = Vec::new();
    for event in events(layout, program)? {
        all.extend(first(layout, program, &event)?);
    }
    Ok(all.into_iter().min())
}

/// Forgets when the hooks of a program fired.
pub fn forget(layout: &StoreLayout, program: &str) -> Result<()> {
    for event in events(layout, program)? {
        files::remove_file(&layout.fired(program).join(event))?;
    }
    // Of a linked worktree nothing of ours stays in git's folder.
    let folder = layout.fired(program);
    for above in folder.ancestors().take_while(|above| above.starts_with(layout.root())) {
        if !files::remove_empty_dir(above)? {
            break;
        }
    }
    Ok(())
}

fn events(layout: &StoreLayout, program: &str) -> Result<Vec<String>> {
    let folder = layout.fired(program);
    if !is_plain(program) || files::metadata(&folder)?.is_none() {
        return Ok(Vec::new());
    }
    Ok(files::list(&folder)?.into_iter().filter_map(|entry| entry.file_name().into_string().ok()).collect())
}

/// When a hook of this event fired last; `None`: never, as far as is known.
pub fn last(layout: &StoreLayout, program: &str, event: &str) -> Result<Option<SystemTime>> {
    if !is_plain(program) || !is_plain(event) {
        return Ok(None);
    }
    Ok(files::metadata(&layout.fired(program).join(event))?.and_then(|meta| meta.modified().ok()))
}

/// When any hook of a program fired last.
pub fn last_of_any(layout: &StoreLayout, program: &str) -> Result<Option<SystemTime>> {
    let folder = layout.fired(program);
    if !is_plain(program) || files::metadata(&folder)?.is_none() {
        return Ok(None);
    }
    let times = files::list(&folder)?.into_iter().filter_map(|entry| entry.metadata().ok()?.modified().ok());
    Ok(times.max())
}

fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.len() <= LONGEST && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fired_is_known_and_nothing_else_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let layout = StoreLayout::new(dir.path());
        axiom_base::files::create_dir_all(layout.root()).unwrap();
        assert_eq!(last(&layout, "claude", "Stop").unwrap(), None);
        mark(&layout, "claude", "Stop").unwrap();
        let first = last(&layout, "claude", "Stop").unwrap().unwrap();
        mark(&layout, "claude", "Stop").unwrap();
        assert!(last(&layout, "claude", "Stop").unwrap().unwrap() >= first);
        mark(&layout, "claude", "../Stop").unwrap();
        mark(&layout, "claude", "").unwrap();
        assert_eq!(last_of_any(&layout, "claude").unwrap(), last(&layout, "claude", "Stop").unwrap());
        assert_eq!(last_of_any(&layout, "codex").unwrap(), None);
        let since = super::first(&layout, "claude", "Stop").unwrap().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(2));
        mark(&layout, "claude", "Stop").unwrap();
        assert_eq!(super::first_of_any(&layout, "claude").unwrap(), Some(since), "the first time stays");
        assert_eq!(std::fs::read_dir(layout.fired("claude")).unwrap().count(), 1);
    }

    #[test]
    fn what_is_forgotten_leaves_nothing_and_a_removed_worktree_does_not_come_back() {
        let dir = tempfile::tempdir().unwrap();
        let entry = dir.path().join("worktrees/w");
        let layout = StoreLayout::new(&entry);
        assert!(mark(&layout, "claude", "Stop").is_err());
        assert!(!entry.exists());
        axiom_base::files::create_dir_all(&entry).unwrap();
        mark(&layout, "claude", "Stop").unwrap();
        mark(&layout, "codex", "Stop").unwrap();
        forget(&layout, "claude").unwrap();
        assert!(last(&layout, "codex", "Stop").unwrap().is_some());
        forget(&layout, "codex").unwrap();
        forget(&layout, "codex").unwrap();
        assert_eq!(std::fs::read_dir(&entry).unwrap().count(), 0);
    }
}
