//! The state: the result of replaying all events.
//!
//! A rollback restores the **restorable** part. The **record** is never rolled back.

use crate::base::defaults::is_default;
use crate::work::restorable::restorable_state::RestorableState;
use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::folded::FoldedTaskIds;
use super::known_ids::{self, IdKind};
use super::repository_location::RelocationRecord;
use super::task_record::TaskRecord;
use crate::base::ids::{CheckpointName, OperationId, RequestId, TaskId};
use crate::base::names::{Oid, RefName};
use crate::checkpoint::catalog::CheckpointCatalog;
use crate::checkpoint::purge::PurgeLeftover;
use crate::checkpoint::record::DeletedCheckpoint;
use crate::journal::journaled::JournaledOperation;
use crate::planning::plan::GoalPlan;
use crate::work::agent::Agent;
use crate::work::endings::delay::DelayedSessionStep;
use crate::work::money::ledger::UsageLedger;
use crate::work::money::spending::UsageTally;
use crate::work::sessions::session::{Session, SupervisorRequest};
use crate::work::sessions::session_time::SessionRunTime;
use crate::work::signals::reports::TaskReports;
use crate::work::tasks::learnings::{Learning, LearningId};
use crate::work::tasks::task::{Task, TaskKind, TaskStatus};
use axiom_base::error::{Code, Error, Result};

/// The whole state after event number `seq`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct State {
    /// The number of the last event; 0 before the first.
    pub seq: u64,
    /// When the last event was appended.
    pub updated_at: Option<Timestamp>,
    /// The part that a rollback restores.
    pub restorable: RestorableState,
    /// The part that is never rolled back.
    pub record: PermanentRecord,
    /// The ids of the tasks in lower case; whoever adds or replaces tasks tells it.
    #[serde(skip)]
    pub folded: FoldedTaskIds,
}

/// The part of the state that is never rolled back.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PermanentRecord {
    /// Counters of tasks.
    pub tasks: BTreeMap<TaskId, TaskRecord>,
    /// The running or last session.
    pub session: Option<Session>,
    /// Requests that the supervisor has not handled yet.
    pub requests: BTreeMap<RequestId, SupervisorRequest>,
    /// The checkpoints that exist.
    pub checkpoints: CheckpointCatalog,
    /// Checkpoints that were deleted and can still be brought back, by capture.
    pub deleted_checkpoints: BTreeMap<Oid, DeletedCheckpoint>,
    /// What purges could not delete: the next one of the path looks again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_by_purges: Vec<PurgeLeftover>,
    /// The checkpoint that is being made.
    pub checkpoint_intent: Option<CheckpointName>,
    /// The operation that has begun and not ended.
    pub open: Option<OpenOperation>,
    /// Where the repository was: records older than each of these events have paths of the place before it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub placings: Vec<RelocationRecord>,
    /// The branches below `axiom/` that git axiom made; `None` where nothing is known of any: what recovery began anew takes
    /// those of its tasks for ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_branches: Option<BTreeSet<RefName>>,
    /// What the running session tries again later, by task.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub delays: BTreeMap<TaskId, DelayedSessionStep>,
    /// What agents learnt, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub learnings: Vec<Learning>,
    /// How many tasks agents have added since the newest session began.
    #[serde(skip_serializing_if = "is_default")]
    pub added_by_agents: u32,
    /// Running sums of what was used, by whom and when.
    #[serde(skip_serializing_if = "UsageLedger::is_empty")]
    pub ledger: UsageLedger,
    /// What the iterations of the newest session used.
    #[serde(skip_serializing_if = "UsageTally::is_empty")]
    pub session_spent: UsageTally,
    /// How long programs ran in the newest session.
    #[serde(skip_serializing_if = "SessionRunTime::is_empty")]
    pub session_time: SessionRunTime,
    /// The same when a human allowed the session as much again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_counted_from: Option<UsageTally>,
    /// The plan that is worked on, or the last one. A rollback takes back the tasks that it became, not what was planned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<Box<GoalPlan>>,
    /// What attached sessions have led to.
    #[serde(skip_serializing_if = "AttachedCounts::is_empty")]
    pub attached: AttachedCounts,
    /// How many tasks were ever completed. Every N-th triggers a checkpoint.
    pub tasks_completed: u32,
    /// The last action, in words.
    pub last_action: Option<String>,
    /// When that was: other events may have come since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_action_at: Option<Timestamp>,
    /// What stands in for a configuration file that cannot be read, as it was last recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_restored: Option<String>,
}

/// What attached sessions have led to: numbers that are never used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AttachedCounts {
    /// The number of the newest prompt.
    pub prompts: u32,
    /// How many checkpoints they ever led to.
    pub checkpoints: u64,
}

impl AttachedCounts {
    #[allow(clippy::trivially_copy_pass_by_ref)] // serde wants it
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// An operation that has begun and not ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenOperation {
    /// Its transaction.
    pub txn: OperationId,
    /// Its plan.
    pub operation: JournaledOperation,
    /// Whether it is being reversed.
    #[serde(default)]
    pub reversing: bool,
}

impl State {
    /// Whether the last attempt at a task was cut off, and its work is to go on.
    pub fn is_interrupted(&self, task: &TaskId) -> bool {
        self.record.tasks.get(task).is_some_and(|record| record.interrupted)
    }

    /// The task with this id.
    pub fn task(&self, id: &TaskId) -> Result<&Task> {
        self.restorable.tasks.get(id).ok_or_else(|| {
            let error = Error::new(Code::UnknownTask, format!("there is no task '{id}'"));
            known_ids::hinted(self, error, id.as_str(), &[IdKind::Task], "see 'git axiom task list'")
        })
    }

    /// The learning with this id.
    pub fn learning(&self, id: LearningId) -> Result<&Learning> {
        self.record.learnings.iter().find(|learning| learning.id == id).ok_or_else(|| {
            Error::new(Code::UnknownLearning, format!("there is no '{id}'")).hint("git axiom learnings    lists them")
        })
    }

    /// The plan that is worked on.
    pub fn open_plan(&self) -> Option<&GoalPlan> {
        self.record.plan.as_deref().filter(|plan| plan.is_open())
    }

    /// Whether a task, a planned task or a checkpoint has this name, in upper or lower case: they share one namespace.
    pub fn is_taken(&self, name: &str) -> bool {
        let folded = name.to_ascii_lowercase();
        self.restorable.tasks.contains_key(name)
            || self.record.checkpoints.is_taken(&folded)
            || self.folded.has(&self.restorable.tasks, &folded)
            || self.open_plan().is_some_and(|plan| plan.reserves(&folded))
    }

    /// The agent that works on a task.
    pub fn agent_on(&self, task: &TaskId) -> Option<&Agent> {
        self.restorable.agents.values().find(|agent| agent.work.as_ref().is_some_and(|work| &work.task == task))
    }

    /// The agents that work on a task.
    pub fn busy_agents(&self) -> impl Iterator<Item = &Agent> {
        self.restorable.agents.values().filter(|agent| agent.work.is_some())
    }

    /// What was reported of the work on a task, as long as that work is there: in its workspace, or done.
    pub fn reports(&self, task: &TaskId) -> Option<&TaskReports> {
        let is_done = || self.restorable.tasks.get(task).is_some_and(|case| case.status == TaskStatus::Done);
        let is_there = self.restorable.workspaces.contains_key(task) || is_done();
        self.restorable.reports.get(task).filter(|_| is_there)
    }

    /// How many tasks are done.
    pub fn tasks_done(&self) -> u32 {
        self.restorable.tasks.values().filter(|task| task.kind == TaskKind::Task && task.status == TaskStatus::Done).count()
            as u32
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::base::ids::AgentId;
    use crate::base::ids::{SessionId, Token};
    use crate::state::event::Event;
    use crate::state::event_envelope::{EventAuthor, EventEnvelope};
    use crate::work::agent::Workspace;
    use crate::work::money::budget::BudgetLimits;
    use crate::work::sessions::session::SessionState;
    use crate::work::signals::signal::AgentSignal;

    pub fn id() -> TaskId {
        TaskId::new("t").unwrap()
    }

    pub fn applied(state: &mut State, event: Event) {
        applied_by(state, EventAuthor::Supervisor, event);
    }

    pub fn applied_by(state: &mut State, by: EventAuthor, event: Event) {
        let at = Timestamp::from_second(i64::try_from(state.seq).unwrap()).unwrap();
        let envelope = EventEnvelope { seq: state.seq + 1, at, txn: OperationId::new("x").unwrap(), by, event };
        state.apply(&envelope).unwrap();
    }

    pub fn opened() -> Event {
        let branch = RefName::branch("axiom/t");
        let base = Oid::new("1".repeat(40)).unwrap();
        let workspace = Workspace { agent: AgentId::new("a-001").unwrap(), path: "/w".into(), branch, base };
        Event::WorkspaceOpened { task: id(), workspace }
    }

    pub fn with_progress() -> State {
        let mut state = State::default();
        let task = Task {
            id: id(),
            kind: TaskKind::Task,
            title: "T".into(),
            body: None,
            parent: None,
            after: vec![],
            needs: vec![],
            start_early: false,
            persona: None,
            verify: vec![],
            limits: BudgetLimits::default(),
            status: TaskStatus::Pending,
            merged: None,
            reason: None,
            created_at: Timestamp::UNIX_EPOCH,
        };
        let (agent, token) = (AgentId::new("a-001").unwrap(), Token::new("k").unwrap());
        let from = Oid::new("1".repeat(40)).unwrap();
        for event in [
            Event::TasksAdded { tasks: vec![task] },
            opened(),
            Event::TaskClaimed { agent: agent.clone(), task: id(), complete: false },
            Event::IterationIntended {
                agent: agent.clone(),
                iteration: 1,
                token: token.clone(),
                from,
                exit_completes: true,
                program: String::new(),
                resumes: None,
            },
            Event::Signalled {
                agent,
                token,
                signal: AgentSignal::Progress { percent: 80 },
                said_at: Some(Timestamp::UNIX_EPOCH),
            },
        ] {
            applied(&mut state, event);
        }
        state
    }

    fn session(started_at: Timestamp) -> Event {
        let session = Session {
            id: SessionId::new("s1").unwrap(),
            started_at,
            pid: 1,
            target: RefName::branch("main"),
            slots: 1,
            max_iterations: 1,
            limits: BudgetLimits::default(),
            task_limits: BudgetLimits::default(),
            state: SessionState::Running,
            paused_at: None,
            start_checkpoint: None,
            in_linked_worktree: false,
        };
        Event::SessionStarted { session }
    }

    #[test]
    fn work_is_set_aside_where_its_session_ends_paused_until_it_goes_on() {
        use SessionState::{Crashed, Ended, Ending, Paused, Pausing, Running};
        for (states, is_set_aside) in [
            (&[Ending, Ended][..], false),
            (&[Crashed], false),
            (&[Pausing, Paused], false),
            (&[Pausing, Paused, Running, Ended], false),
            (&[Pausing, Crashed], true),
            (&[Pausing, Paused, Crashed], true),
            (&[Pausing, Running, Pausing, Paused, Ending, Ended], true),
        ] {
            let mut state = with_progress();
            applied(&mut state, session(Timestamp::UNIX_EPOCH));
            let changed = |state: &SessionState| Event::SessionChanged { state: *state, reason: "because".into() };
            states.iter().map(changed).for_each(|event| applied(&mut state, event));
            let set_aside = |state: &State| state.record.tasks.get(&id()).is_some_and(|record| record.set_aside.is_some());
            assert_eq!(set_aside(&state), is_set_aside, "{states:?}");
            // The next session does not forget it.
            applied(&mut state, session(Timestamp::UNIX_EPOCH));
            assert_eq!(set_aside(&state), is_set_aside, "{states:?}");
            applied(&mut state, opened());
            assert!(!set_aside(&state), "{states:?}");
        }
    }

    #[test]
    fn what_was_reported_lasts_as_long_as_the_workspace() {
        let mut state = with_progress();
        let progress = |state: &State| state.reports(&id()).and_then(|reports| reports.progress);
        assert_eq!(progress(&state), Some(80));
        let started = state.reports(&id()).and_then(|reports| reports.started_at);
        assert_eq!(started, Some(Timestamp::from_second(2).unwrap()));
        let released = |status| Event::WorkReleased {
            agent: AgentId::new("a-001").unwrap(),
            status,
            reason: String::new(),
            retry: true,
            complete: None,
            gate: None,
            discarded: false,
        };
        applied(&mut state, released(TaskStatus::Pending));
        assert_eq!(progress(&state), Some(80), "it is interrupted, and its work is there");
        applied(&mut state, Event::WorkspaceClosed { task: id(), trash: None });
        assert_eq!(progress(&state), None);
        applied(&mut state, opened());
        assert_eq!(progress(&state), None, "a new workspace begins anew");
        let mut done = with_progress();
        applied(&mut done, released(TaskStatus::Done));
        applied(&mut done, Event::WorkspaceClosed { task: id(), trash: None });
        assert_eq!(progress(&done), Some(80));
    }
}
