//! What comes next in a plan.

use super::plan::{Phase, Plan};

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// A human answers questions.
    Answer,
    /// The planner is run in this phase.
    Plan(Phase),
    /// A human approves the last version, or says what is to be different.
    Approve,
    /// The cases are checked.
    Check,
    /// A human makes it cases.
    Finish,
    /// Nothing: it has ended.
    Nothing,
}

/// What comes next.
pub fn next(plan: &Plan) -> Next {
    if !plan.is_open() {
        return Next::Nothing;
    }
    if plan.unanswered().next().is_some() {
        return Next::Answer;
    }
    let planned = |phase| if plan.planner.is_some() { Some(Next::Plan(phase)) } else { None };
    match plan.phase {
        Phase::Understand | Phase::Analyze => planned(plan.phase).unwrap_or(Next::Approve),
        Phase::Propose if plan.waiting_proposal().is_some() => Next::Approve,
        Phase::Propose => Next::Plan(Phase::Propose),
        Phase::Decompose if !plan.pending.is_empty() || plan.cases.is_empty() => Next::Plan(Phase::Decompose),
        Phase::Decompose if !plan.is_approved() => Next::Approve,
        Phase::Decompose => Next::Check,
        Phase::Validate if !plan.is_approved() => Next::Approve,
        Phase::Validate => match &plan.problems {
            None => Next::Check,
            Some(found) if found.is_empty() => Next::Finish,
            Some(_) => Next::Plan(Phase::Validate),
        },
    }
}
