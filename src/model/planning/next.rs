//! What comes next in a plan.

use super::plan::{GoalPlan, PlanningPhase};

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextPlanStep {
    /// A human answers questions.
    Answer,
    /// The planner is run in this phase.
    Plan(PlanningPhase),
    /// A human approves the last version, or says what is to be different.
    Approve,
    /// The tasks are checked.
    Check,
    /// A human makes it tasks.
    Finish,
    /// Nothing: it has ended.
    Nothing,
}

/// What comes next.
pub fn next(plan: &GoalPlan) -> NextPlanStep {
    if !plan.is_open() {
        return NextPlanStep::Nothing;
    }
    if plan.unanswered().next().is_some() {
        return NextPlanStep::Answer;
    }
    let planned = |phase| if plan.planner.is_some() { Some(NextPlanStep::Plan(phase)) } else { None };
    match plan.phase {
        PlanningPhase::Understand | PlanningPhase::Analyze => planned(plan.phase).unwrap_or(NextPlanStep::Approve),
        PlanningPhase::Propose if plan.waiting_proposal().is_some() => NextPlanStep::Approve,
        PlanningPhase::Propose => NextPlanStep::Plan(PlanningPhase::Propose),
        PlanningPhase::Decompose if !plan.pending.is_empty() || plan.tasks.is_empty() => {
            NextPlanStep::Plan(PlanningPhase::Decompose)
        }
        PlanningPhase::Decompose if !plan.is_approved() => NextPlanStep::Approve,
        PlanningPhase::Decompose => NextPlanStep::Check,
        PlanningPhase::Validate if !plan.is_approved() => NextPlanStep::Approve,
        PlanningPhase::Validate => match &plan.problems {
            None => NextPlanStep::Check,
            Some(found) if found.is_empty() => NextPlanStep::Finish,
            Some(_) => NextPlanStep::Plan(PlanningPhase::Validate),
        },
    }
}
