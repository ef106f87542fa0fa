//! When hooks of attached programs really fired: an empty file `attach/fired/PROGRAM/EVENT`, whose time is the last one.

use std::time::SystemTime;

use super::layout::Layout;
use crate::error::Result;
use crate::files;

/// The longest name of an event that is written down.
const LONGEST: usize = 64;

/// Notes that a hook has fired now. Not synced: it is a sign of life, and a hook has no time to lose. A name that is no plain word is
/// not noted.
///
/// # Errors
/// `IO_FAILED`, `DISK_FULL`.
pub fn mark(layout: &Layout, program: &str, event: &str) -> Result<()> {
    if !is_plain(program) || !is_plain(event) {
        return Ok(());
    }
    let folder = layout.fired(program);
    let path = folder.join(event);
    if files::touch(&path) {
        return Ok(());
    }
    files::create_dirs_unsynced(&folder)?;
    files::write_scratch(&path, b"")
}

/// When a hook of this event fired last; `None`: never, as far as is known.
///
/// # Errors
/// `IO_FAILED`.
pub fn last(layout: &Layout, program: &str, event: &str) -> Result<Option<SystemTime>> {
    if !is_plain(program) || !is_plain(event) {
        return Ok(None);
    }
    Ok(files::metadata(&layout.fired(program).join(event))?.and_then(|meta| meta.modified().ok()))
}

/// When any hook of a program fired last.
///
/// # Errors
/// `IO_FAILED`.
pub fn last_of_any(layout: &Layout, program: &str) -> Result<Option<SystemTime>> {
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
        let layout = Layout::new(dir.path());
        assert_eq!(last(&layout, "claude", "Stop").unwrap(), None);
        mark(&layout, "claude", "Stop").unwrap();
        let first = last(&layout, "claude", "Stop").unwrap().unwrap();
        mark(&layout, "claude", "Stop").unwrap();
        assert!(last(&layout, "claude", "Stop").unwrap().unwrap() >= first);
        mark(&layout, "claude", "../Stop").unwrap();
        mark(&layout, "claude", "").unwrap();
        assert_eq!(last_of_any(&layout, "claude").unwrap(), last(&layout, "claude", "Stop").unwrap());
        assert_eq!(last_of_any(&layout, "codex").unwrap(), None);
        assert_eq!(std::fs::read_dir(layout.fired("claude")).unwrap().count(), 1);
    }
}
