//! What becomes of a plan whose planner was cut off: the choices, and the rule where nobody is there to choose.

use serde::Serialize;

use super::plan::{GoalPlan, PlanningPhase};
use crate::base::forms::plural::count;

/// What may be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum PlanRecoveryChoice {
    /// Go on in the phase in which it was.
    Resume,
    /// Archive what there is, and begin anew.
    StartOver,
    /// Make tasks of what is made by now, and plan no further.
    Keep,
}

impl PlanRecoveryChoice {
    /// All choices, in the order in which they are offered.
    pub const ALL: [Self; 3] = [Self::Resume, Self::StartOver, Self::Keep];

    /// The letter and the words of a choice.
    pub const fn offered(self) -> &'static str {
        match self {
            Self::Resume => "[R] Resume from phase",
            Self::StartOver => "[S] Start planning over",
            Self::Keep => "[K] Keep tasks, skip",
        }
    }
}

/// A decision, with its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanRecoveryDecision {
    /// The choice.
    pub choice: PlanRecoveryChoice,
    /// Why.
    pub why: String,
}

/// The rule where nobody is there to choose: under 50 % of the tasks made, start over; else keep and skip.
pub fn by_rule(plan: &GoalPlan) -> PlanRecoveryDecision {
    let (made, all) = (plan.created().count(), plan.tasks.len());
    let half = made > 0 && made * 2 >= all;
    let percent = (made * 100).checked_div(all).unwrap_or(0);
    let facts = format!("nobody was there to ask, and {made} of {} created ({percent} %)", count(all, "task"));
    if half {
        PlanRecoveryDecision { choice: PlanRecoveryChoice::Keep, why: facts }
    } else {
        PlanRecoveryDecision { choice: PlanRecoveryChoice::StartOver, why: facts }
    }
}

/// What resuming means in each phase.
pub const fn resuming(phase: PlanningPhase) -> &'static str {
    match phase {
        PlanningPhase::Understand => "questions and answers are kept, and it goes on with them",
        PlanningPhase::Analyze => "the analysis is run again",
        PlanningPhase::Propose => "it goes on with the last version of the proposal",
        PlanningPhase::Decompose => "the pending tasks are made, then all are checked",
        PlanningPhase::Validate => "the tasks are checked again",
    }
}

/// Why nothing can be kept, where that is so.
pub fn keeps_nothing(plan: &GoalPlan) -> bool {
    plan.created().next().is_none()
}
