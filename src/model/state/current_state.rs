//! The state: the result of replaying all events.
//!
//! A rollback restores the **restorable** part. The **record** is never rolled back.

use crate::base::defaults::is_default;
use crate::work::restorable::restorable_state::RestorableState;
use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::folded::FoldedTaskIds;
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
use crate::work::gates::gate::{Gate, GateKind};
use crate::work::money::ledger::UsageLedger;
use crate::work::money::spending::UsageTally;
use crate::work::sessions::session::{Session, SupervisorRequest};
use crate::work::sessions::session_time::SessionRunTime;
use crate::work::signals::reports::TaskReports;
use crate::work::tasks::learnings::{Learning, LearningId};
use crate::work::tasks::task::{TaskKind, TaskStatus};
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
    /// What they had used, and how long programs had run, when a human allowed the session as much again.
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

    /// Whether a gate of this kind is open for a task, at which nobody has decided.
    pub fn has_undecided(&self, kind: GateKind, task: &TaskId) -> bool {
        let mut gates = self.restorable.gates.values();
        gates.any(|gate| gate.kind == kind && gate.task_id.as_ref() == Some(task) && gate.decision.is_none())
    }

    /// Whether a human has to decide before a task is claimed, whatever the mode.
    pub fn is_held(&self, task: &TaskId) -> bool {
        let id = Gate::id_for(GateKind::Claim, task).ok();
        id.and_then(|id| self.restorable.gates.get(&id)).is_some_and(Gate::holds)
    }

    /// The agents that work on a task.
    pub fn busy_agents(&self) -> impl Iterator<Item = &Agent> {
        self.restorable.agents.values().filter(|agent| agent.work.is_some())
    }

    /// As [`RestorableState::reports_of`].
    pub fn reports(&self, task: &TaskId) -> Option<&TaskReports> {
        self.restorable.reports_of(task)
    }

    /// How many tasks are done.
    pub fn tasks_done(&self) -> u32 {
        self.restorable.tasks.values().filter(|task| task.kind == TaskKind::Task && task.status == TaskStatus::Done).count()
            as u32
    }
}
