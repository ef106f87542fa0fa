//! Gates: decisions that wait for a human.

mod gate_kind;
mod gate_reasons;
mod merge_target;
pub mod permission_gate;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::base::ids::{AgentId, GateId, MAX_ID_LENGTH, TaskId};
use crate::base::names::{Oid, RefName};
use crate::work::guarded::{AllowedGuardedFiles, GuardedFilesDigest};
use crate::work::iteration::ReviewCause;
use crate::work::money::budget::BudgetUsage;
use crate::work::permissions::permission_rule::PermissionRule;
use axiom_base::error::Result;
pub use gate_kind::{AfterHalt, GateKind, TaskHoldReason};
pub use gate_reasons::{
    PLANNING_QUESTION, asks_of_planner, changes_guarded, conflicts, could_not_be_merged, first_command, is_for_trust,
    is_of_conflict, merge_wants_trust, once_trusted, taken_back, to_settle_first, wants_trust,
};

/// In which workspace an agent begins the task that it is sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RedirectWorkspace {
    /// In one of that task's own.
    #[default]
    Own,
    /// In the one that it works in: the branch is switched there.
    Same,
}

impl RedirectWorkspace {
    /// The value for the option `--same-workspace`.
    pub const fn with_same(same: bool) -> Self {
        if same { Self::Same } else { Self::Own }
    }
}

/// Where a human sends an agent: it claims the gate's task as soon as it has left its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GateRedirect {
    /// The agent.
    pub agent: AgentId,
    /// The task that it leaves.
    pub from: TaskId,
    /// Where it begins.
    #[serde(default)]
    pub place: RedirectWorkspace,
}

/// A decision that waits for a human.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Gate {
    /// Its id: `<kind>-<task>` for gates of tasks, so that the same gate is never opened twice.
    pub id: GateId,
    /// The kind of decision.
    pub kind: GateKind,
    /// The task concerned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    /// One line for the human.
    pub reason: String,
    /// The branch into which the work goes that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<RefName>,
    /// Details that help to decide: conflicting files, the context of a question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<String>,
    /// How many further files there are that the details leave out.
    #[serde(default, skip_serializing_if = "is_none")]
    pub more: usize,
    /// The commit of the task's branch whose merge has the conflict that is to be settled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conflict_of: Option<Oid>,
    /// Where its target was once the merge was undone: what is in the target and was not there came back by another way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undone_at: Option<Oid>,
    /// The guarded files that whoever approves has seen here or at a gate before. The merge may change exactly these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guarded: Option<GuardedFilesDigest>,
    /// The subject of a review, where there is a fixed word for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<ReviewCause>,
    /// The limits that are reached, at the gate of a budget.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub used: Vec<BudgetUsage>,
    /// When it was opened.
    pub opened_at: Timestamp,
    /// The human's decision, until the supervisor has carried it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<GateDecision>,
    /// Why the task is held at its claim gate: no mode claims it automatically.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<TaskHoldReason>,
    /// Which agent claims the task, where a human sends it there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<GateRedirect>,
    /// What else an answer can allow for the rest of the task, at the gate of a permission.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub always: Option<Box<PermissionRule>>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde wants it
fn is_none(count: &usize) -> bool {
    *count == 0
}

const GOES_ON: &str = " was paused, and goes on";

/// What the gate of a merge says whose verification a human has stopped.
pub const VERIFICATION_STOPPED: &str = "the verification of its merge was stopped; approve to try it again";

/// The id of the gate of a disk that is too full.
const DISK: &str = "disk-space";

impl Gate {
    /// The id of a task's gate, the same each time, so that the same gate is never opened twice.
    pub fn id_for(kind: GateKind, task: &TaskId) -> Result<GateId> {
        let kind = kind.as_str().replace('_', "-");
        // Cuts the task's id, so that the gate's id stays within the length limit.
        let room = MAX_ID_LENGTH - kind.len() - 1;
        let task = &task.as_str()[..task.as_str().len().min(room)];
        GateId::new(format!("{kind}-{task}"))
    }

    /// An open gate of no task, with a reason only.
    pub fn plain(id: GateId, kind: GateKind, reason: String, now: Timestamp) -> Self {
        Self {
            id,
            kind,
            task_id: None,
            reason,
            target: None,
            details: Vec::new(),
            more: 0,
            undone_at: None,
            guarded: None,
            conflict_of: None,
            cause: None,
            used: Vec::new(),
            opened_at: now,
            decision: None,
            held: None,
            sent: None,
            always: None,
        }
    }

    /// A gate of a task, with a reason only.
    pub fn of_task(kind: GateKind, task: &TaskId, reason: String, now: Timestamp) -> Result<Self> {
        Ok(Self { task_id: Some(task.clone()), ..Self::plain(Self::id_for(kind, task)?, kind, reason, now) })
    }

    /// The gate of a task whose merge into this branch, which was here then, was undone.
    pub fn for_undone_merge(task: &TaskId, target: Option<RefName>, at: Option<Oid>, now: Timestamp) -> Option<Self> {
        let reason = taken_back(&format!("approve to merge {task} again"));
        Some(Self { target, undone_at: at, ..Self::of_task(GateKind::Merge, task, reason, now).ok()? })
    }

    /// Whether it is that of an undone merge: only a human merges it again, whatever the target has.
    pub fn is_of_undone_merge(&self) -> bool {
        self.kind == GateKind::Merge && gate_reasons::is_taken_back(&self.reason)
    }

    /// The claim gate that holds a task which a human took from its agent or rolled back.
    pub fn holding(task: &TaskId, held: TaskHoldReason, now: Timestamp) -> Option<Self> {
        let reason = format!("{task} {}; approve to start it again", held.in_words());
        Some(Self { held: Some(held), ..Self::of_task(GateKind::Claim, task, reason, now).ok()? })
    }

    /// The approved claim gate of a task whose agent was paused at once: it goes on with it when the session does.
    pub fn going_on(task: &TaskId, now: Timestamp) -> Option<Self> {
        let reason = format!("{task}{GOES_ON}");
        let gate = Self::of_task(GateKind::Claim, task, reason, now).ok()?;
        Some(Self { decision: Some(GateDecision::Approved), ..gate })
    }

    /// Whether it is such a gate: nobody has decided at it.
    pub fn goes_on(&self) -> bool {
        self.kind == GateKind::Claim && self.reason.ends_with(GOES_ON)
    }

    /// The approved claim gate of the task that a human sends an agent to.
    pub fn sending(to: &TaskId, sent: GateRedirect, now: Timestamp) -> Option<Self> {
        let reason = format!("{} goes on with {to}, and leaves {}", sent.agent, sent.from);
        let gate = Self::of_task(GateKind::Claim, to, reason, now).ok()?;
        Some(Self { decision: Some(GateDecision::Approved), sent: Some(sent), ..gate })
    }

    /// The id of the gate at which the session's budget waits.
    pub fn of_session() -> Result<GateId> {
        GateId::new("budget--session")
    }

    /// The gate of a budget, of a task or of the session.
    pub fn for_budget(task: Option<&TaskId>, used: Vec<BudgetUsage>, now: Timestamp) -> Result<Self> {
        let words: Vec<String> = used.iter().map(BudgetUsage::in_words).collect();
        let whose = task.map_or("the session".to_owned(), ToString::to_string);
        let reason = format!("{whose} has used up its budget: {}", words.join("; "));
        let id = task.map_or_else(Self::of_session, |task| Self::id_for(GateKind::Budget, task))?;
        let raise = format!("raise it: git axiom gate answer {id} {}", used.first().map_or("AMOUNT", BudgetUsage::raised));
        let stop = if task.is_some() { "block the task" } else { "end the session" };
        let details = vec![
            format!("go on once, with as much again: git axiom gate approve {id}"),
            raise,
            format!("{stop}: git axiom gate reject {id}"),
        ];
        Ok(Self { task_id: task.cloned(), details, used, ..Self::plain(id, GateKind::Budget, reason, now) })
    }

    /// The gate of a disk that is too full: there is one for all tasks.
    pub fn of_disk(reason: String, details: Vec<String>, now: Timestamp) -> Result<Self> {
        Ok(Self { details, ..Self::plain(GateId::new(DISK)?, GateKind::Disk, reason, now) })
    }

    /// Which guarded files its task's merge may change, as it was decided.
    pub fn allows(&self) -> AllowedGuardedFiles {
        match &self.guarded {
            Some(seen) if self.is_approved() => AllowedGuardedFiles::Exactly(seen.clone()),
            Some(_) | None => AllowedGuardedFiles::Nothing,
        }
    }

    /// Whether a human has decided that it may go on.
    pub fn is_approved(&self) -> bool {
        match &self.decision {
            Some(GateDecision::Approved | GateDecision::Answered { .. }) => true,
            Some(GateDecision::Rejected { .. }) | None => false,
        }
    }

    /// What the gate of a claim says that only asks, because of the mode.
    pub fn to_start(task: &TaskId, title: &str) -> String {
        format!("start {task}: {title}")
    }

    /// Whether it is the open gate of a merge that something of the user's is in the way of.
    pub fn says_what_is_in_the_way(&self) -> bool {
        self.kind == GateKind::Merge && self.decision.is_none() && self.cause.is_none() && self.reason.contains("in the way")
    }

    /// The task whose merge a human has rejected here, and why.
    pub fn rejects_merge(&self) -> Option<(&TaskId, &str)> {
        match (self.kind, &self.decision) {
            (GateKind::Merge | GateKind::HumanReview, Some(GateDecision::Rejected { reason })) => {
                self.task_id.as_ref().map(|task| (task, reason.as_str()))
            }
            (_, _) => None,
        }
    }

    /// The details for people while the gate is undecided: a line each, and how many were left out.
    pub fn detail_lines(&self) -> Vec<String> {
        let left_out = (self.more > 0).then(|| format!("and {} more", self.more));
        self.details.iter().cloned().chain(left_out).collect()
    }

    /// Whether it is decided with all others at once: it waits for a yes or no. More money or time is allowed, and a question answered, for
    /// each by its name.
    pub fn goes_with_all(&self) -> bool {
        let needs_its_name = matches!(self.kind, GateKind::Question | GateKind::Budget | GateKind::Permission)
            || asks_of_planner(self.id.as_str());
        self.decision.is_none() && !needs_its_name
    }

    /// What is said below it: until it is decided what helps to decide, and what is to be done by hand first; afterwards what still
    /// says something.
    pub fn lines_below(&self) -> Vec<String> {
        match &self.decision {
            Some(_) => self.details_decided(),
            None => self.detail_lines().into_iter().chain(to_settle_first(&self.reason)).chain(self.to_satisfy_hook()).collect(),
        }
    }

    /// What the user has to do by hand before approving a merge that a hook refuses: it would only refuse it again.
    fn to_satisfy_hook(&self) -> Option<String> {
        let task = self.task_id.as_ref().filter(|_| self.kind == GateKind::Merge && self.cause == Some(ReviewCause::HookVeto))?;
        Some(format!(
            "first change what it refuses: in its workspace (git axiom task show {task} names it), and commit; approving asks the hook again"
        ))
    }

    /// The details for people once it is decided: those of a budget are choices, and there is none any more.
    pub fn details_decided(&self) -> Vec<String> {
        match self.kind {
            GateKind::Budget => Vec::new(),
            GateKind::Claim
            | GateKind::Merge
            | GateKind::Question
            | GateKind::HumanReview
            | GateKind::Recovery
            | GateKind::Planning
            | GateKind::Permission
            | GateKind::Disk => self.detail_lines(),
        }
    }

    /// Whether the task waits there because a purge masked words of it, or has waited.
    pub fn is_for_masked(&self, task: &TaskId) -> bool {
        self.held == Some(TaskHoldReason::Masked) && self.task_id.as_ref() == Some(task)
    }

    /// Whether it concerns the start of its task.
    pub fn is_about_start(&self) -> bool {
        let is_about_start = self.cause.is_some_and(|cause| match cause {
            ReviewCause::HookVeto | ReviewCause::SignIn | ReviewCause::ToolDenied | ReviewCause::Recovery => true,
            // Of a task whose own steps failed, it is held; else it is about its merge.
            ReviewCause::VerifyFailed => self.held.is_some(),
        });
        self.kind == GateKind::HumanReview && is_about_start
    }

    /// Whether it prevents claims of its task, because no human has decided yet.
    pub fn holds(&self) -> bool {
        self.held.is_some() && self.decision.is_none()
    }

    /// Whether `other` is the same gate, opened at the same time, with or without a decision.
    pub fn is_same_wait(&self, other: &Self) -> bool {
        self.id == other.id && self.held == other.held && self.opened_at == other.opened_at
    }
}

/// A human's decision at a gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum GateDecision {
    /// Go ahead.
    Approved,
    /// Do not; the task becomes blocked with this reason.
    Rejected {
        /// The reason.
        reason: String,
    },
    /// The answer to a question.
    Answered {
        /// The answer.
        text: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_is_approved_by_a_yes_or_an_answer_only() {
        let task = TaskId::new("t").unwrap();
        let gate = Gate::of_task(GateKind::HumanReview, &task, String::new(), Timestamp::UNIX_EPOCH).unwrap();
        let decided = |decision| Gate { decision, ..gate.clone() }.is_approved();
        assert!(decided(Some(GateDecision::Approved)) && decided(Some(GateDecision::Answered { text: "yes".to_owned() })));
        assert!(!decided(Some(GateDecision::Rejected { reason: "no".to_owned() })) && !decided(None));
    }

    #[test]
    fn what_was_approved_is_not_to_be_settled_again() {
        let task = TaskId::new("three").unwrap();
        let waits = Gate::of_task(GateKind::Merge, &task, conflicts(&task, "main"), Timestamp::UNIX_EPOCH).unwrap();
        let waits = Gate { details: vec!["a.txt".to_owned()], ..waits };
        assert_eq!((waits.reason.as_str(), waits.lines_below().len()), ("three conflicted with main", 2));
        let approved = Gate { decision: Some(GateDecision::Approved), ..waits };
        assert_eq!(approved.lines_below(), ["a.txt"]);
    }

    #[test]
    fn what_a_hook_refuses_is_changed_before_it_is_asked_again() {
        let task = TaskId::new("three").unwrap();
        let gate = Gate::of_task(GateKind::Merge, &task, "no".to_owned(), Timestamp::UNIX_EPOCH).unwrap();
        let refused = Gate { cause: Some(ReviewCause::HookVeto), ..gate.clone() };
        assert!(refused.lines_below()[0].contains("git axiom task show three"));
        assert!(gate.lines_below().is_empty());
    }

    #[test]
    fn what_waits_for_an_approval_says_once_that_is_given() {
        let reason = wants_trust("the hook pre-task-start is not approved as it is");
        assert!(reason.contains("git axiom trust") && !once_trusted(&reason, false).unwrap().contains("git axiom trust"));
        assert_eq!(once_trusted(&reason, true).unwrap(), "the project's files are approved by now");
        assert!(
            once_trusted(&merge_wants_trust("the hook pre-merge is not approved as it is"), false)
                .unwrap()
                .ends_with("to merge it")
        );
        assert_eq!(once_trusted("merge three into main", false), None);
    }

    #[test]
    fn a_conflict_is_settled_before_its_gate_is_approved() {
        assert!(to_settle_first("three conflicted with main").unwrap().contains("git merge main"));
        assert_eq!(to_settle_first("merge three into main"), None);
        let look = to_settle_first(&changes_guarded(&TaskId::new("three").unwrap(), ".claude"));
        assert_eq!(look.unwrap(), "first look at them: git diff HEAD...axiom/three");
        assert_eq!(to_settle_first("what is there conflicted with main"), None);
    }
}
