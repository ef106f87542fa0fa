//! A plan: everything that is known while a goal becomes tasks. A part of the record: a rollback takes back the tasks that it became, and no plan.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::base::ids::TaskId;
use crate::base::text::TextOrBlob;
use crate::work::tasks::task::Task;

/// The most tasks of one plan.
pub const MOST_TASKS: usize = 1000;
/// The most questions of one plan.
pub const MOST_QUESTIONS: usize = 100;
/// The most versions of the proposal.
pub const MOST_VERSIONS: usize = 100;
/// How many attempts that were started over are remembered.
pub const MOST_ARCHIVED: usize = 20;
/// The longest question, answer, analysis or proposal, in bytes.
pub const LONGEST: usize = 16 * 1024;
/// The persona of a planner's program, in sums of what was used.
pub const PLANNER: &str = "planner";
/// The id of the agent that a planner's program is.
pub const PLANNER_AGENT: &str = "planner-001";

/// How far planning is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PlanningPhase {
    /// Questions on the goal are asked and answered.
    Understand,
    /// The repository is looked at.
    Analyze,
    /// A way is proposed, and a human approves it.
    Propose,
    /// The tasks are made.
    Decompose,
    /// The tasks are checked.
    Validate,
}

impl PlanningPhase {
    /// All phases, in their order.
    pub const ALL: [Self; 5] = [Self::Understand, Self::Analyze, Self::Propose, Self::Decompose, Self::Validate];

    /// The word used in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Understand => "understand",
            Self::Analyze => "analyze",
            Self::Propose => "propose",
            Self::Decompose => "decompose",
            Self::Validate => "validate",
        }
    }
}

/// Whether a plan is still worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PlanStatus {
    /// It is worked on.
    Planning,
    /// Its tasks were made.
    Done,
    /// It was given up.
    Abandoned,
}

/// The goal: it becomes the task that all others are a part of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanGoal {
    /// The id of that task.
    pub id: TaskId,
    /// What is to be reached, in one line: the job to be done.
    pub jtbd: String,
    /// More about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<TextOrBlob>,
}

/// The program that plans.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannerProgram {
    /// The name of the agent program.
    pub agent: String,
    /// The script, for a program that runs one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<TextOrBlob>,
}

/// A question on the goal, and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GoalClarification {
    /// Its number, from 1.
    pub number: u32,
    /// What was asked.
    pub question: String,
    /// What a human answered.
    #[serde(default)]
    pub answer: Option<String>,
    /// When it was asked.
    pub asked_at: Timestamp,
}

/// A version of the proposal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanProposal {
    /// Its number, from 1.
    pub version: u32,
    /// Whether a human approved it.
    pub approved: bool,
    /// What is proposed.
    pub text: String,
    /// What a human wants to be different.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
    /// When it was made.
    pub at: Timestamp,
    /// The tasks that the approval is for.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub covers: BTreeSet<TaskId>,
}

/// What an attempt had come to before planning was started over, or given up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ArchivedPlanAttempt {
    /// Its number, from 1.
    pub attempt: u32,
    /// When that was.
    pub at: Timestamp,
    /// Why.
    pub why: String,
    /// The phase in which it was.
    pub phase: PlanningPhase,
    /// Its questions and answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clarifications: Vec<GoalClarification>,
    /// Its proposals.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub proposals: Vec<PlanProposal>,
    /// The tasks that were made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub created: Vec<Task>,
    /// The tasks that were still to be made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pending: Vec<Task>,
}

/// Everything that is known of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GoalPlan {
    /// Whether it is still worked on.
    pub status: PlanStatus,
    /// How far it is.
    pub phase: PlanningPhase,
    /// The goal.
    pub goal: PlanGoal,
    /// The program that plans; none where a human does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planner: Option<PlannerProgram>,
    /// How often it was begun.
    pub attempt: u32,
    /// Questions and answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clarifications: Vec<GoalClarification>,
    /// What the analysis came to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub analysis: Option<String>,
    /// The versions of the proposal.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub proposals: Vec<PlanProposal>,
    /// The tasks: made, or outlined only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<Task>,
    /// Those of them that are outlined only.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub pending: BTreeSet<TaskId>,
    /// What the last check found; `None` where it was not checked since it changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problems: Option<Vec<String>>,
    /// Since when a planner runs, or ran when it was cut off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running: Option<Timestamp>,
    /// What earlier attempts had come to, newest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub archived: Vec<ArchivedPlanAttempt>,
    /// The tasks that it became.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub became: Vec<TaskId>,
    /// When it was last written down.
    pub last_checkpoint: Timestamp,
}

impl GoalPlan {
    /// A plan that begins now.
    pub fn begin(goal: PlanGoal, planner: Option<PlannerProgram>, now: Timestamp) -> Self {
        Self {
            status: PlanStatus::Planning,
            phase: PlanningPhase::Understand,
            goal,
            planner,
            attempt: 1,
            clarifications: Vec::new(),
            analysis: None,
            proposals: Vec::new(),
            tasks: Vec::new(),
            pending: BTreeSet::new(),
            problems: None,
            running: None,
            archived: Vec::new(),
            became: Vec::new(),
            last_checkpoint: now,
        }
    }

    /// Whether it is worked on.
    pub fn is_open(&self) -> bool {
        self.status == PlanStatus::Planning
    }

    /// The tasks that are made.
    pub fn created(&self) -> impl Iterator<Item = &Task> {
        self.tasks.iter().filter(|task| !self.pending.contains(&task.id))
    }

    /// The tasks that are outlined only.
    pub fn outlined(&self) -> impl Iterator<Item = &Task> {
        self.tasks.iter().filter(|task| self.pending.contains(&task.id))
    }

    /// The questions without an answer.
    pub fn unanswered(&self) -> impl Iterator<Item = &GoalClarification> {
        self.clarifications.iter().filter(|one| one.answer.is_none())
    }

    /// The version that waits for a decision, or was decided about.
    pub fn proposal(&self) -> Option<&PlanProposal> {
        self.proposals.last()
    }

    /// The version that waits for a human to approve it.
    pub fn waiting_proposal(&self) -> Option<&PlanProposal> {
        self.proposal().filter(|last| !last.approved && last.feedback.is_none())
    }

    /// Whether a human approved what it is now: the last version, and every task.
    pub fn is_approved(&self) -> bool {
        let last = self.proposal().filter(|last| last.approved && last.feedback.is_none());
        last.is_some_and(|last| self.tasks.iter().all(|task| last.covers.contains(&task.id)))
    }

    /// The ids that are promised to its tasks.
    pub fn ids(&self) -> Vec<TaskId> {
        std::iter::once(&self.goal.id).chain(self.tasks.iter().map(|task| &task.id)).cloned().collect()
    }

    /// Whether an id is promised to one of its tasks. `folded` is in lower case.
    pub fn reserves(&self, folded: &str) -> bool {
        let own = std::iter::once(&self.goal.id).chain(self.tasks.iter().map(|task| &task.id));
        self.is_open() && own.map(TaskId::as_str).any(|id| id.eq_ignore_ascii_case(folded))
    }
}
