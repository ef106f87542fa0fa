//! How far tasks are, for display: parts, since when, confidence, the words for groups. From what agents reported and, of a
//! group, from its tasks. Pure.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use crate::base::ids::TaskId;
use crate::queries::displayed_status::DisplayedTaskStatus;
use crate::queries::groups::TaskGroupTree;
use crate::work::signals::report_parts::SubtaskStage;
use crate::work::signals::reports::TaskReports;
use crate::work::tasks::task::{Task, TaskKind, TaskStatus};

/// A group that has come no further than this many percent is starting.
pub const STARTING: u8 = 5;

/// How many parts a task has, and how far they are. What is in none of the three is ready, blocked or failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskPartCounts {
    /// All: of a group, what is not archived; of a task, what its agent named.
    pub total: usize,
    /// Those that are complete.
    pub completed: usize,
    /// Those that were begun.
    pub in_progress: usize,
    /// Those that come later: waiting for others, or planned.
    pub waiting: usize,
}

impl TaskPartCounts {
    /// The parts that the agents of a task named.
    pub fn of_reports(reports: &TaskReports) -> Self {
        let mut counts = Self::default();
        for part in &reports.subtasks {
            counts.total += 1;
            match part.stage {
                SubtaskStage::Done => counts.completed += 1,
                SubtaskStage::Begun => counts.in_progress += 1,
                SubtaskStage::Planned => counts.waiting += 1,
            }
        }
        counts
    }

    /// How many percent of the parts are complete, where there are parts.
    pub fn percent(&self) -> Option<u8> {
        let percent = self.completed.checked_mul(100)?.checked_div(self.total)?;
        u8::try_from(percent).ok()
    }

    fn of_group<'a>(groups: &TaskGroupTree<'a>, group: &'a Task) -> Self {
        let mut counts = Self::default();
        for part in groups.parts(&group.id).iter().filter(|part| part.status != TaskStatus::Archived) {
            counts.total += 1;
            match DisplayedTaskStatus::of(groups, part) {
                DisplayedTaskStatus::Done | DisplayedTaskStatus::Completed => counts.completed += 1,
                DisplayedTaskStatus::Active
                | DisplayedTaskStatus::Starting
                | DisplayedTaskStatus::InProgress
                | DisplayedTaskStatus::Interrupted => counts.in_progress += 1,
                DisplayedTaskStatus::Waiting => counts.waiting += 1,
                DisplayedTaskStatus::Pending
                | DisplayedTaskStatus::Blocked
                | DisplayedTaskStatus::Failed
                | DisplayedTaskStatus::Archived => {}
            }
        }
        counts
    }
}

/// How far a task is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskStanding<'a> {
    /// Of a group its direct parts, of a task those that its agents named.
    pub parts: TaskPartCounts,
    /// Its first claim; of a group, of its tasks the first.
    pub started_at: Option<Timestamp>,
    /// When something was last recorded of the work: a claim, a report, a capture, the end of an iteration.
    pub last_checkpoint: Option<Timestamp>,
    /// Since when it waits: for a human at a gate, or for other tasks since it was added.
    pub waiting_since: Option<Timestamp>,
    /// How sure its agent is, 0 to 1, as it said last of a phase; of a group, the mean of the tasks of which it is known.
    pub confidence: Option<f64>,
    /// Of a group: what each of its parts comes after, where it comes after anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dependencies: Option<BTreeMap<&'a TaskId, &'a [TaskId]>>,
}

impl<'a> TaskStanding<'a> {
    /// How far `task` is.
    pub fn of(groups: &TaskGroupTree<'a>, task: &'a Task) -> Self {
        let facts = groups.facts(task);
        let reports = groups.state().reports(&task.id);
        let (parts, dependencies) = match task.kind {
            TaskKind::Task => (reports.map(TaskPartCounts::of_reports).unwrap_or_default(), None),
            TaskKind::Group | TaskKind::Goal => {
                let parts = groups.parts(&task.id).iter().filter(|part| !part.after.is_empty());
                let after = parts.map(|part| (&part.id, part.after.as_slice())).collect();
                (TaskPartCounts::of_group(groups, task), Some(after))
            }
        };
        Self {
            parts,
            started_at: facts.started_at,
            last_checkpoint: facts.recorded_at,
            waiting_since: groups.waiting_since(task),
            confidence: facts.confidence(),
            dependencies,
        }
    }
}

/// The status to show for a group.
pub(crate) fn group_shown<'a>(groups: &TaskGroupTree<'a>, group: &'a Task) -> DisplayedTaskStatus {
    match group.status {
        TaskStatus::Archived => return DisplayedTaskStatus::Archived,
        TaskStatus::Blocked => return DisplayedTaskStatus::Blocked,
        TaskStatus::Failed => return DisplayedTaskStatus::Failed,
        TaskStatus::Done => return DisplayedTaskStatus::Completed,
        TaskStatus::Pending | TaskStatus::Active => {}
    }
    let facts = groups.facts(group);
    let has_parts = groups.parts(&group.id).iter().any(|part| part.status != TaskStatus::Archived);
    let progress = groups.progress(group);
    if has_parts && groups.is_in_target(&group.id) {
        DisplayedTaskStatus::Completed
    } else if facts.is_active && progress <= STARTING {
        DisplayedTaskStatus::Starting
    } else if facts.is_active {
        DisplayedTaskStatus::InProgress
    } else if facts.is_interrupted {
        DisplayedTaskStatus::Interrupted
    } else if !groups.dependencies_met(group) {
        DisplayedTaskStatus::Waiting
    } else if facts.has_done || facts.started_at.is_some() {
        DisplayedTaskStatus::InProgress
    } else {
        DisplayedTaskStatus::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::ids::{AgentId, TaskId};
    use crate::base::names::{Oid, RefName};
    use crate::state::current_state::State;
    use crate::state::task_record::TaskRecord;
    use crate::work::agent::Workspace;
    use crate::work::signals::report_parts::PhaseConfidence;
    use crate::work::tasks::task::MergedTaskWork;

    fn id(text: &str) -> TaskId {
        TaskId::new(text).unwrap()
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn task(name: &str, kind: TaskKind, parent: Option<&str>, status: TaskStatus) -> Task {
        let merged = (status == TaskStatus::Done && kind == TaskKind::Task)
            .then(|| MergedTaskWork { commit: Oid::new("1".repeat(40)).unwrap(), target: RefName::branch("main") });
        Task {
            id: id(name),
            kind,
            title: name.into(),
            body: None,
            parent: parent.map(id),
            after: vec![],
            needs: vec![],
            start_early: false,
            persona: None,
            verify: vec![],
            limits: crate::work::money::budget::BudgetLimits::default(),
            status,
            merged,
            reason: None,
            created_at: at(1),
        }
    }

    /// A group `g` with tasks of these statuses, called a, b, c …
    fn group(statuses: &[TaskStatus]) -> State {
        let mut state = State::default();
        let tasks = statuses.iter().zip('a'..);
        let tasks = tasks.map(|(status, name)| task(&name.to_string(), TaskKind::Task, Some("g"), *status));
        for task in tasks.chain([task("g", TaskKind::Group, None, TaskStatus::Pending)]) {
            let branch = RefName::branch("x");
            let base = Oid::new("1".repeat(40)).unwrap();
            let workspace = Workspace { agent: AgentId::new("a-001").unwrap(), path: "/w".into(), branch, base };
            state.restorable.workspaces.insert(task.id.clone(), workspace);
            state.restorable.tasks.insert(task.id.clone(), task);
        }
        state
    }

    fn report(state: &mut State, task: &str, progress: u8, second: i64, confidence: Option<f64>) {
        let (started_at, recorded_at) = (Some(at(second)), Some(at(second + 10)));
        let confidences = confidence.map(|confidence| PhaseConfidence { phase: "a".into(), confidence }).into_iter().collect();
        let reports = TaskReports { started_at, recorded_at, progress: Some(progress), confidences, ..TaskReports::default() };
        state.restorable.reports.insert(id(task), reports);
    }

    fn shown(state: &State) -> DisplayedTaskStatus {
        DisplayedTaskStatus::of(&TaskGroupTree::of(state), &state.restorable.tasks[&id("g")])
    }

    #[test]
    fn a_group_is_called_by_how_far_its_parts_are() {
        use TaskStatus::{Active, Archived, Done, Failed, Pending};
        let table: [(&[TaskStatus], DisplayedTaskStatus); 8] = [
            (&[], DisplayedTaskStatus::Pending),
            (&[Pending, Pending], DisplayedTaskStatus::Pending),
            (&[Active, Pending], DisplayedTaskStatus::Starting),
            (&[Active, Done], DisplayedTaskStatus::InProgress),
            (&[Done, Failed], DisplayedTaskStatus::InProgress),
            (&[Done, Done, Archived], DisplayedTaskStatus::Completed),
            (&[Archived], DisplayedTaskStatus::Pending),
            (&[Archived, Pending], DisplayedTaskStatus::Pending),
        ];
        for (statuses, expected) in table {
            assert_eq!(shown(&group(statuses)), expected, "{statuses:?}");
        }
        let mut state = group(&[Active, Pending]);
        report(&mut state, "a", 80, 5, None);
        assert_eq!(shown(&state), DisplayedTaskStatus::InProgress);
        let mut state = group(&[Pending]);
        state.record.tasks.insert(id("a"), TaskRecord { interrupted: true, ..TaskRecord::default() });
        report(&mut state, "a", 80, 5, None);
        assert_eq!(shown(&state), DisplayedTaskStatus::InProgress, "it was recovered");
        assert_eq!(TaskGroupTree::of(&state).progress(&state.restorable.tasks[&id("g")]), 80, "its work is there");
        let mut state = group(&[Pending]);
        state.restorable.tasks.insert(id("x"), task("x", TaskKind::Task, None, Pending));
        state.restorable.tasks.get_mut(&id("g")).unwrap().after = vec![id("x")];
        assert_eq!(shown(&state), DisplayedTaskStatus::Waiting);
    }

    #[test]
    fn an_active_task_on_which_nobody_works_is_interrupted() {
        let state = group(&[TaskStatus::Active, TaskStatus::Active]);
        let of = |cut_off: &[&str]| {
            let groups = TaskGroupTree::with_cut_off(&state, cut_off.iter().map(|of| id(of)).collect());
            ["a", "b", "g"].map(|of| DisplayedTaskStatus::of(&groups, &state.restorable.tasks[&id(of)]))
        };
        assert_eq!(of(&[]), [DisplayedTaskStatus::Active, DisplayedTaskStatus::Active, DisplayedTaskStatus::Starting]);
        assert_eq!(of(&["a"]), [DisplayedTaskStatus::Interrupted, DisplayedTaskStatus::Active, DisplayedTaskStatus::Starting]);
        assert_eq!(of(&["a", "b"]), [DisplayedTaskStatus::Interrupted; 3]);
    }

    #[test]
    fn what_is_archived_keeps_its_progress_and_counts_in_no_group() {
        use TaskStatus::{Archived, Done, Pending};
        let progress = |state: &State, of: &str| TaskGroupTree::of(state).progress(&state.restorable.tasks[&id(of)]);
        let mut state = group(&[Done, Pending, Archived, Archived]);
        report(&mut state, "b", 20, 5, None);
        report(&mut state, "c", 40, 5, None);
        assert_eq!(["a", "b", "c", "d", "g"].map(|of| progress(&state, of)), [100, 20, 40, 0, 60]);
        state.restorable.tasks.get_mut(&id("d")).unwrap().merged = state.restorable.tasks[&id("a")].merged.clone();
        assert_eq!(progress(&state, "d"), 100, "it was merged before");
    }

    #[test]
    fn a_group_adds_up_its_parts() {
        use TaskStatus::{Active, Archived, Done, Pending};
        let mut state = group(&[Done, Active, Pending, Pending, Archived]);
        state.restorable.tasks.get_mut(&id("c")).unwrap().after = vec![id("b")];
        report(&mut state, "a", 100, 7, Some(0.9));
        report(&mut state, "b", 50, 3, Some(0.7));
        let groups = TaskGroupTree::of(&state);
        let standing = TaskStanding::of(&groups, &state.restorable.tasks[&id("g")]);
        assert_eq!(standing.parts, TaskPartCounts { total: 4, completed: 1, in_progress: 1, waiting: 1 });
        assert_eq!((standing.started_at, standing.last_checkpoint), (Some(at(3)), Some(at(17))));
        assert_eq!(standing.confidence, Some(0.8));
        let dependencies = serde_json::to_value(&standing.dependencies).unwrap();
        assert_eq!(dependencies, serde_json::json!({"c": ["b"]}));
        let waits = TaskStanding::of(&groups, &state.restorable.tasks[&id("c")]);
        assert_eq!((waits.waiting_since, waits.dependencies), (Some(at(1)), None));
        let ready = TaskStanding::of(&groups, &state.restorable.tasks[&id("d")]);
        assert_eq!(ready.waiting_since, None);
    }
}
