//! Tasks whose words a purge masks: an agent reads them, or a shell runs them, so somebody has to look first. Pure.

use std::collections::BTreeSet;

use crate::base::ids::TaskId;
use crate::base::names::Oid;
use crate::base::text::TextOrBlob;
use crate::work::tasks::task::{Task, TaskKind, TaskStatus};

/// Whether an agent may still be given the task: then it waits at a gate.
pub fn may_run(task: &Task) -> bool {
    let is_open = match task.status {
        TaskStatus::Pending | TaskStatus::Active | TaskStatus::Blocked | TaskStatus::Failed => true,
        TaskStatus::Done | TaskStatus::Archived => false,
    };
    is_open && task.kind == TaskKind::Task
}

/// The tasks of which title, body or a verify step is changed: `is_masked` judges texts, `texts` are the stored ones that change.
pub fn masked<'c>(
    tasks: impl IntoIterator<Item = &'c Task>,
    is_masked: impl Fn(&[u8]) -> bool,
    texts: &BTreeSet<Oid>,
) -> Vec<TaskId> {
    let has = |task: &&Task| {
        let body = task.body.as_ref().is_some_and(|body| match body {
            TextOrBlob::Inline(text) => is_masked(text.as_bytes()),
            TextOrBlob::Stored { blob, .. } => texts.contains(blob),
        });
        body || is_masked(task.title.as_bytes()) || task.verify.iter().any(|step| is_masked(step.as_bytes()))
    };
    tasks.into_iter().filter(has).map(|task| task.id.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(id: &str, json: &str) -> Task {
        let text =
            format!(r#"{{"id":"{id}","kind":"task","title":"t","status":"pending","createdAt":"2026-01-01T00:00:00Z"{json}}}"#);
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn title_body_and_verify_steps_count_wherever_they_are_stored() {
        let (old, other) = (Oid::new("1".repeat(40)).unwrap(), Oid::new("2".repeat(40)).unwrap());
        let tasks = [
            task("plain", ""),
            task("body", r#","body":"use word""#),
            task("step", r#","verify":["true","test word"]"#),
            task("stored", &format!(r#","body":{{"blob":"{old}","size":2000}}"#)),
            task("other", &format!(r#","body":{{"blob":"{other}","size":2000}}"#)),
        ];
        let has = |text: &[u8]| text.windows(4).any(|part| part == b"word");
        let found: Vec<String> = masked(&tasks, has, &BTreeSet::from([old])).iter().map(ToString::to_string).collect();
        assert_eq!(found, ["body", "step", "stored"]);
    }
}
