//! `doing-PID.json`: what a process does now, for whoever looks: a session, or a verb without one. Nothing is computed from it, and it
//! counts only while the process that wrote it runs.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::beside::of_process;
use crate::beside::of_process::Said;
use crate::layout::StoreLayout;
use axiom_base::error::Result;
use axiom_model::work::sessions::supervisor_activity::SupervisorActivity;

const KIND: &str = "doing";

/// Writes what this process does; `process` is how the caller knows it again.
pub fn write(layout: &StoreLayout, process: impl Serialize, doing: Vec<SupervisorActivity>) -> Result<()> {
    of_process::write(layout, KIND, process, doing)
}

/// What the processes do that wrote it and still `run`; nothing where that is not known.
pub fn read<P: DeserializeOwned + Copy>(layout: &StoreLayout, runs: impl Fn(P) -> bool) -> Vec<SupervisorActivity> {
    let written = of_process::read::<P, SupervisorActivity>(layout, KIND).into_iter().filter_map(|(_, said)| said);
    written.filter(|Said { process, .. }| runs(*process)).flat_map(|Said { said, .. }| said).collect()
}

/// Removes what killed processes have left.
pub fn forget_dead<P: DeserializeOwned + Copy>(layout: &StoreLayout, runs: impl Fn(P) -> bool) {
    for (path, said) in of_process::read::<P, SupervisorActivity>(layout, KIND) {
        if said.is_none_or(|Said { process, .. }| !runs(process)) {
            of_process::forget(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use super::*;
    use axiom_model::base::ids::TaskId;
    use axiom_model::work::sessions::supervisor_activity::SupervisorActivityKind;

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
        let place = layout.of_process(KIND, std::process::id());
        let whole = std::fs::read(&place).unwrap();
        // Another process, which was killed.
        std::fs::write(layout.of_process(KIND, 1), &whole).unwrap();
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
