//! `doing-PID.json`: what a process does now, for whoever looks: a session, or a verb without one. Nothing is computed from it, and it
//! counts only while the process that wrote it runs.

use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::layout::StoreLayout;
use crate::domain::work::supervisor_activity::SupervisorActivity;
use crate::error::{Code, Error, Result};
use crate::files;

/// The largest file that is read, in bytes.
const LIMIT: u64 = 1024 * 1024;

#[derive(Debug, Serialize, Deserialize)]
struct WrittenDoing<P> {
    process: P,
    doing: Vec<SupervisorActivity>,
}

/// Writes what this process does; `process` is how the caller knows it again. Not synced: a crash leaves an old file, or half of one,
/// which says nothing. Where it does nothing there is no file.
///
/// # Errors
/// `IO_FAILED`, `DISK_FULL`.
pub fn write(layout: &StoreLayout, process: impl Serialize, doing: Vec<SupervisorActivity>) -> Result<()> {
    let place = layout.doing(std::process::id());
    if doing.is_empty() {
        return files::remove_file(&place);
    }
    let bytes = serde_json::to_vec(&WrittenDoing { process, doing })
        .map_err(|e| Error::new(Code::Internal, "what is being done is no JSON").because(e))?;
    let new = layout.tmp_dir().join(format!("doing-{}", std::process::id()));
    files::write_scratch(&new, &bytes)?;
    files::replace_unsynced(&new, &place)
}

/// What the processes do that wrote it and still `run`; nothing where that is not known.
pub fn read<P: DeserializeOwned + Copy>(layout: &StoreLayout, runs: impl Fn(P) -> bool) -> Vec<SupervisorActivity> {
    let written = written(layout).into_iter().filter_map(|path| read_one::<P>(&path));
    written.filter(|written| runs(written.process)).flat_map(|written| written.doing).collect()
}

/// Removes what killed processes have left.
pub fn forget_dead<P: DeserializeOwned + Copy>(layout: &StoreLayout, runs: impl Fn(P) -> bool) {
    for path in written(layout) {
        if read_one::<P>(&path).is_none_or(|written| !runs(written.process)) {
            // It says nothing to anybody: the next one tries again.
            let _ = files::remove_file(&path);
        }
    }
}

fn written(layout: &StoreLayout) -> Vec<PathBuf> {
    let all = files::list(&layout.state_dir()).unwrap_or_default().into_iter();
    let mut all: Vec<PathBuf> =
        all.filter(|entry| entry.file_name().to_str().is_some_and(StoreLayout::is_doing)).map(|entry| entry.path()).collect();
    all.sort();
    all
}

fn read_one<P: DeserializeOwned>(path: &std::path::Path) -> Option<WrittenDoing<P>> {
    serde_json::from_slice(&files::read_optional(path, LIMIT).ok().flatten()?).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use super::*;
    use crate::domain::base::ids::TaskId;
    use crate::domain::work::supervisor_activity::SupervisorActivityKind;

    #[test]
    fn only_the_process_that_wrote_it_is_believed_and_half_a_file_says_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let layout = StoreLayout::new(dir.path());
        layout.ensure().unwrap();
        let (ours, task) = (7, TaskId::new("t").unwrap());
        let of_ours = || read(&layout, |process: u32| process == ours);
        assert!(of_ours().is_empty());
        let doing = vec![SupervisorActivity::of_task(SupervisorActivityKind::Merges, &task, jiff::Timestamp::UNIX_EPOCH)];
        write(&layout, ours, doing.clone()).unwrap();
        assert_eq!(of_ours(), doing);
        assert!(read(&layout, |process: u32| process == 8).is_empty());
        let place = layout.doing(std::process::id());
        let whole = std::fs::read(&place).unwrap();
        // Another process, which was killed.
        std::fs::write(layout.doing(1), &whole).unwrap();
        assert_eq!(of_ours().len(), 2);
        forget_dead(&layout, |process: u32| process == ours);
        assert_eq!(of_ours().len(), 2);
        forget_dead(&layout, |process: u32| process == 8);
        assert!(of_ours().is_empty() && !place.exists());
        std::fs::write(&place, &whole[..whole.len() / 2]).unwrap();
        assert!(of_ours().is_empty());
        write(&layout, ours, Vec::new()).unwrap();
        assert!(!place.exists(), "what does nothing says nothing");
    }
}
