//! The steps of planning, and how each changes a plan. All or nothing: a step that does not fit is refused.

mod goal_plan;

use serde::{Deserialize, Serialize};

use super::plan::{GoalPlan, LONGEST};
use crate::base::forms::plural::count;
use crate::work::tasks::task::Task;
use crate::work::verifying::verification::ProgramUsage;
use axiom_base::error::{Code, Error, Result};

/// How a plan became tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PlanEnding {
    /// A human finished it.
    Finished,
    /// Planning was cut off, and what was made by then was kept.
    Kept,
}

/// What a run of a planner's program used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannerRun {
    /// Tokens and the like.
    pub used: ProgramUsage,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
}

/// A step of planning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum PlanStep {
    /// Planning begins.
    Started {
        /// The plan.
        plan: Box<GoalPlan>,
    },
    /// A planner is about to be run.
    PlannerStarted {},
    /// The planner has ended.
    PlannerEnded {
        /// Why it was of no use, if it was not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<String>,
    },
    /// A run of its program is over: another may follow.
    PlannerRan {
        /// What it used.
        run: PlannerRun,
    },
    /// Questions were asked.
    Asked {
        /// The questions.
        questions: Vec<String>,
    },
    /// A human answered one.
    Answered {
        /// Its number.
        number: u32,
        /// The answer.
        text: String,
    },
    /// Nothing is left to ask.
    Understood {},
    /// The repository was looked at.
    Analyzed {
        /// What that came to.
        text: String,
    },
    /// A new version of the proposal.
    Proposed {
        /// What is proposed.
        text: String,
        /// The tasks, outlined; those that were there stay where there are none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        outline: Vec<Task>,
    },
    /// A human wants the last version to be different.
    Revised {
        /// How.
        feedback: String,
    },
    /// A human approved a version: the last one, or the tasks as they are as the next one.
    Approved {
        /// Its number.
        version: u32,
    },
    /// Tasks were made.
    TasksMade {
        /// The tasks.
        tasks: Vec<Task>,
        /// Whether the approval is for them too: a human added them.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        approved: bool,
    },
    /// The tasks were checked.
    Checked {
        /// What is wrong with them.
        problems: Vec<String>,
    },
    /// Planning that was cut off goes on.
    Resumed {
        /// Why.
        why: String,
    },
    /// Planning begins anew; what was there is archived.
    StartedOver {
        /// Why.
        why: String,
    },
    /// The plan became tasks.
    Finished {
        /// How.
        ending: PlanEnding,
        /// Why, where it was cut off.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        why: String,
        /// The tasks.
        tasks: Vec<Task>,
    },
    /// The plan was given up.
    Abandoned {
        /// Why.
        why: String,
    },
}

impl PlanStep {
    /// How much it says about its transaction.
    pub const fn rank(&self) -> u8 {
        match self {
            Self::Finished { .. } => 8,
            Self::Started { .. } | Self::StartedOver { .. } | Self::Abandoned { .. } => 7,
            Self::Approved { .. } | Self::Answered { .. } | Self::Revised { .. } | Self::Resumed { .. } => 6,
            Self::Proposed { .. } | Self::TasksMade { .. } => 5,
            Self::Asked { .. } | Self::Analyzed { .. } | Self::Checked { .. } => 4,
            Self::PlannerStarted {} | Self::PlannerEnded { .. } | Self::Understood {} => 2,
            Self::PlannerRan { .. } => 1,
        }
    }

    /// What it did, in words.
    pub fn in_words(&self) -> String {
        match self {
            Self::Started { plan } => format!("plan: {}", plan.goal.jtbd),
            Self::PlannerStarted {} => "plan: the planner runs".to_owned(),
            Self::PlannerRan { .. } => "plan: a run of the planner is over".to_owned(),
            Self::PlannerEnded { failure: None } => "plan: the planner has ended".to_owned(),
            Self::PlannerEnded { failure: Some(why) } => format!("plan: the planner came to no end: {why}"),
            Self::Asked { questions } => format!("plan: {} asked", count(questions.len(), "question")),
            Self::Answered { number, .. } => format!("plan: question {number} answered"),
            Self::Understood {} => "plan: nothing is left to ask".to_owned(),
            Self::Analyzed { .. } => "plan: the repository was looked at".to_owned(),
            Self::Proposed { outline, .. } if outline.is_empty() => "plan: a new version of the proposal".to_owned(),
            Self::Proposed { outline, .. } => {
                format!("plan: a new version of the proposal, {}", count(outline.len(), "task"))
            }
            Self::Revised { .. } => "plan: another version was asked for".to_owned(),
            Self::Approved { version } => format!("plan: version {version} approved"),
            Self::TasksMade { tasks, .. } => match tasks.as_slice() {
                [one] => format!("plan: {} added: {}", one.id, one.title),
                many => format!("plan: {} added", count(many.len(), "task")),
            },
            Self::Checked { problems } if problems.is_empty() => "plan: the tasks are valid".to_owned(),
            Self::Checked { problems } => format!("plan: {} found", count(problems.len(), "problem")),
            Self::Resumed { why } => format!("plan: goes on: {why}"),
            Self::StartedOver { why } => format!("plan: started over: {why}"),
            Self::Finished { ending: PlanEnding::Finished, tasks, .. } => {
                format!("plan finished: {} added", count(tasks.len(), "task"))
            }
            Self::Finished { ending: PlanEnding::Kept, why, tasks } => {
                format!("plan cut off, {} kept: {why}", count(tasks.len(), "task"))
            }
            Self::Abandoned { why } => format!("plan abandoned: {why}"),
        }
    }
}

fn refuse<T>(what: impl Into<String>, hint: &str) -> Result<T> {
    Err(Error::new(Code::InvalidTransition, what).hint(hint.to_owned()))
}

/// Checks the length of a text that a plan is to hold.
pub fn check_text(what: &str, text: &str) -> Result<()> {
    if text.trim().is_empty() {
        return Err(Error::new(Code::InvalidInput, format!("{what} is empty")));
    }
    if text.len() > LONGEST {
        return Err(Error::new(Code::TooLarge, format!("{what} has {} bytes, the limit is {LONGEST}", text.len()))
            .hint("put long material into a file of the repository and refer to it"));
    }
    Ok(())
}
