//! `doing.json`: what a session does now, for whoever looks. Nothing is computed from it, and it counts only while the process that wrote
//! it runs.

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

/// Writes what the session of this process does; `process` is how the caller knows it again. Not synced: a crash leaves an old
/// file, or half of one, which says nothing.
///
/// # Errors
/// `IO_FAILED`, `DISK_FULL`.
pub fn write(layout: &StoreLayout, process: impl Serialize, doing: Vec<SupervisorActivity>) -> Result<()> {
    let bytes = serde_json::to_vec(&WrittenDoing { process, doing })
        .map_err(|e| Error::new(Code::Internal, "what a session does is no JSON").because(e))?;
    let new = layout.tmp_dir().join(format!("doing-{}", std::process::id()));
    files::write_scratch(&new, &bytes)?;
    files::replace_unsynced(&new, &layout.doing())
}

/// What a session does, if the process that wrote it `runs`; nothing where that is not known.
pub fn read<P: DeserializeOwned + Copy>(layout: &StoreLayout, runs: impl Fn(P) -> bool) -> Vec<SupervisorActivity> {
    let read = files::read_optional(&layout.doing(), LIMIT).ok().flatten();
    let written = read.and_then(|bytes| serde_json::from_slice::<WrittenDoing<P>>(&bytes).ok());
    written.filter(|written| runs(written.process)).map(|written| written.doing).unwrap_or_default()
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
        let whole = std::fs::read(layout.doing()).unwrap();
        std::fs::write(layout.doing(), &whole[..whole.len() / 2]).unwrap();
        assert!(of_ours().is_empty());
    }
}
