//! The gates of a plan: its open questions, and the version that waits for a human. They follow from the plan, so that a crash cannot
//! leave one without the other.

use std::collections::BTreeMap;

use super::plan::{GoalClarification, GoalPlan, PlanProposal};
use super::step::PlanStep;
use crate::base::forms::plural::count;
use crate::base::ids::GateId;
use crate::work::gates::gate::{Gate, GateDecision, GateKind, PLANNING_QUESTION};
use axiom_base::error::{Code, Error, Result};

const PROPOSAL: &str = "planning-proposal-";

/// The gates of a plan as it is.
pub fn gates_of(plan: &GoalPlan) -> Vec<Gate> {
    if !plan.is_open() {
        return Vec::new();
    }
    let questions = plan.unanswered().filter_map(question);
    questions.chain(plan.waiting_proposal().and_then(|last| proposal(plan, last))).collect()
}

/// Makes the gates of kind `planning` those of the plan.
pub fn settle(gates: &mut BTreeMap<GateId, Gate>, plan: Option<&GoalPlan>) {
    gates.retain(|_, gate| gate.kind != GateKind::Planning);
    gates.extend(plan.map(gates_of).unwrap_or_default().into_iter().map(|gate| (gate.id.clone(), gate)));
}

fn question(one: &GoalClarification) -> Option<Gate> {
    gate(&format!("{PLANNING_QUESTION}{}", one.number), one.question.clone(), one.asked_at)
}

fn proposal(plan: &GoalPlan, last: &PlanProposal) -> Option<Gate> {
    let goal = &plan.goal.jtbd;
    let tasks = count(plan.tasks.len(), "task");
    let reason = format!("version {} of the plan '{goal}', {tasks}: git axiom plan show", last.version);
    gate(&format!("{PROPOSAL}{}", last.version), reason, last.at)
}

fn gate(id: &str, reason: String, opened_at: jiff::Timestamp) -> Option<Gate> {
    Some(Gate::plain(GateId::new(id).ok()?, GateKind::Planning, reason, opened_at))
}

/// The step that a decision at such a gate comes to.
pub fn decided(id: &GateId, decision: &GateDecision) -> Result<PlanStep> {
    let number = |prefix: &str| id.as_str().strip_prefix(prefix).and_then(|number| number.parse::<u32>().ok());
    match (number(PLANNING_QUESTION), number(PROPOSAL), decision) {
        (Some(number), _, GateDecision::Answered { text }) => Ok(PlanStep::Answered { number, text: text.clone() }),
        (Some(_), _, GateDecision::Approved | GateDecision::Rejected { .. }) => {
            Err(Error::new(Code::InvalidInput, "a question needs an answer").hint(format!("git axiom gate answer {id} TEXT")))
        }
        (None, Some(version), GateDecision::Approved) => Ok(PlanStep::Approved { version }),
        (None, Some(_), GateDecision::Answered { text }) => Ok(PlanStep::Revised { feedback: text.clone() }),
        (None, Some(_), GateDecision::Rejected { reason }) => Ok(PlanStep::Revised { feedback: reason.clone() }),
        (None, None, _) => Err(Error::new(Code::UnknownGate, format!("there is no open gate '{id}'"))),
    }
}
