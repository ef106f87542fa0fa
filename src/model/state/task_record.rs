//! What is counted and remembered of one task, whatever is rolled back.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::base::defaults::is_default;
use crate::base::ids::{AgentId, OperationId};
use crate::base::names::Oid;
use crate::checkpoint::local_refs::StashEntry;
use crate::recovery::decide::LastCrashDecision;
use crate::work::endings::conflict::AssignedConflict;
use crate::work::endings::last_run::LastIteration;
use crate::work::gates::pending_answer::PendingAnswer;
use crate::work::iteration::IterationReport;
use crate::work::money::spending::{HighestIterationUsage, TaskResultCounts, UnknownUsage, UsageTally};
use crate::work::permissions::permission_rule::PermissionRule;
use crate::work::usd::Usd;
use crate::work::verifying::kept_results::KeptVerifyResult;
use crate::work::verifying::verification::{MergeVerification, ProgramUsage};

/// Counters and last results of one task.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TaskRecord {
    /// Attempts that a crash ended.
    pub retry_count: u32,
    /// Iterations run, over all attempts.
    pub iterations: u32,
    /// Tokens used, as far as the programs report them.
    pub tokens_used: Option<u64>,
    /// When it was done last. It may have been taken back since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<Timestamp>,
    /// Cost in US dollars, as far as the programs report it.
    pub cost_usd: Option<f64>,
    /// Wall time of all iterations, in milliseconds.
    pub duration_ms: u64,
    /// The agent that worked on it last.
    pub last_agent: Option<AgentId>,
    /// Whether the last attempt was ended by a crash.
    pub interrupted: bool,
    /// The result of verifying its merge, and the merge for which it is valid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merge_verified: Option<Box<MergeVerification>>,
    /// The results of its verify steps, and the commits on which they were run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub verified: Vec<KeptVerifyResult>,
    /// The last conflict of its merge that was given to an agent, in this workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conflict: Option<Box<AssignedConflict>>,
    /// How many verifications in a row have failed since it was claimed.
    #[serde(skip_serializing_if = "is_default")]
    pub failed_rounds: u32,
    /// The branch's commit at which the last attempt was complete, where it was stopped before verification.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub complete: Option<Oid>,
    /// A human's answer that no agent program has been started with yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<PendingAnswer>,
    /// The answers that programs were started with, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub answered: Vec<PendingAnswer>,
    /// How its last iteration in this workspace ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_run: Option<Box<LastIteration>>,
    /// What was decided of it after its last crash, or when its paused session was taken up again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery: Option<Box<LastCrashDecision>>,
    /// When its session was paused, where that has ended and it was not decided yet how the work goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set_aside: Option<Timestamp>,
    /// What a human changed of it since an agent program was started the last time: names of fields.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub edited: BTreeSet<String>,
    /// Iterations whose end nobody recorded: their time may have been more.
    #[serde(skip_serializing_if = "is_default")]
    pub time_doubt: u64,
    /// Iterations whose tokens are not known.
    #[serde(skip_serializing_if = "UnknownUsage::is_empty")]
    pub tokens_doubt: UnknownUsage,
    /// Iterations whose cost is not known.
    #[serde(skip_serializing_if = "UnknownUsage::is_empty")]
    pub cost_doubt: UnknownUsage,
    /// What became of the work.
    #[serde(skip_serializing_if = "TaskResultCounts::is_empty")]
    pub results: TaskResultCounts,
    /// What was used when a human allowed as much again: its limits count from there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted_from: Option<UsageTally>,
    /// The agent program that worked on it last.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub last_program: String,
    /// Entries of the user's stash that went while agents worked on it, since it was merged last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stash_taken: Vec<TakenStashEntry>,
    /// What a human allows its agents for as long as it is worked on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub permissions: Vec<PermissionRule>,
}

/// An entry of the user's stash that went while an agent worked on a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TakenStashEntry {
    /// The entry.
    pub entry: StashEntry,
    /// The operation that recorded it: its undo brings the entry back.
    pub operation: OperationId,
}

/// How many answers are kept.
const MOST_ANSWERS: usize = 20;
/// How many rules a human may give for one task.
const MOST_PERMISSIONS: usize = 200;

impl TaskRecord {
    /// A human allows its agents something for as long as it is worked on.
    pub fn allow(&mut self, rule: &PermissionRule) {
        if !self.permissions.contains(rule) && self.permissions.len() < MOST_PERMISSIONS {
            self.permissions.push(rule.clone());
        }
    }

    /// What was used for it, and what became of it.
    pub fn tally(&self) -> UsageTally {
        UsageTally {
            iterations: u64::from(self.iterations),
            tokens: self.tokens_used,
            cost: self.cost_usd.and_then(Usd::of),
            duration_ms: self.duration_ms,
            time_doubt: self.time_doubt,
            tokens_doubt: self.tokens_doubt,
            cost_doubt: self.cost_doubt,
            results: self.results,
        }
    }

    /// Counts an iteration. `most` is what one of the same program used at most.
    pub fn ran(&mut self, report: &IterationReport, most: HighestIterationUsage) {
        let mut tally = self.tally();
        tally.add(report, most);
        self.count(&tally);
        self.last_program.clone_from(&report.ran);
    }

    /// Counts a look at the work by the program of a persona.
    pub fn looked(&mut self, used: &ProgramUsage, duration_ms: u64, most: HighestIterationUsage) {
        let mut tally = self.tally();
        tally.looked(used, duration_ms, most);
        self.count(&tally);
    }

    /// Counts a run of its planner.
    pub fn planned(&mut self, used: &ProgramUsage, duration_ms: u64, most: HighestIterationUsage) {
        let mut tally = self.tally();
        tally.planned(used, duration_ms, most);
        self.count(&tally);
    }

    fn count(&mut self, tally: &UsageTally) {
        self.iterations = u32::try_from(tally.iterations).unwrap_or(u32::MAX);
        (self.tokens_used, self.cost_usd) = (tally.tokens, tally.cost.map(Usd::dollars));
        (self.tokens_doubt, self.cost_doubt) = (tally.tokens_doubt, tally.cost_doubt);
        (self.duration_ms, self.time_doubt) = (tally.duration_ms, tally.time_doubt);
    }

    /// A program has been started that has the answer and the changes in its prompt.
    pub fn told(&mut self) {
        self.edited.clear();
        self.answered.extend(self.answer.take());
        let over = self.answered.len().saturating_sub(MOST_ANSWERS);
        self.answered.drain(..over);
    }
}
