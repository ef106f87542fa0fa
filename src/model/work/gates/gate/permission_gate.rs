//! The gate at which an agent waits for a permission, and the answers there.

use jiff::Timestamp;

use super::{Gate, GateDecision, GateKind};
use crate::base::ids::{AgentId, GateId, MAX_ID_LENGTH, TaskId};
use crate::work::permissions::permission_question::{PermissionAnswer, PermissionQuestion};
use axiom_base::error::{Code, Error, Result};

/// The answer that allows the same for the rest of the task.
pub const ALWAYS: &str = "always";

/// The id of the gate of a question: of this one only, so that no answer is taken for another question.
pub fn id_of(task: &TaskId, iteration: u32, number: u64) -> Result<GateId> {
    let end = format!("-{iteration}-{number}");
    let room = MAX_ID_LENGTH - end.len() - "permission-".len();
    let task = task.as_str().get(..task.as_str().len().min(room)).unwrap_or_default();
    GateId::new(format!("permission-{task}{end}"))
}

/// The gate of a question.
pub fn gate_of(id: GateId, agent: &AgentId, task: &TaskId, asked: &PermissionQuestion, now: Timestamp) -> Gate {
    let reason = format!("{agent} asks for {task} whether it may {} ({})", asked.about, asked.why);
    let risk = asked.risk.as_ref().map(|risk| format!("a checkpoint is made before it: {risk}"));
    let always = asked.rule.as_ref().map(|rule| format!("git axiom gate answer {id} {ALWAYS}    for the rest of {task}: {rule}"));
    let details = asked.details.iter().cloned().chain(risk).chain(always).collect();
    let always = asked.rule.clone().map(Box::new);
    Gate { task_id: Some(task.clone()), details, always, ..Gate::plain(id, GateKind::Permission, reason, now) }
}

/// What was decided at the gate of this question; `None` before that.
pub fn answer_at(gate: &Gate, number: u64) -> Option<PermissionAnswer> {
    let (allowed, rule) = match gate.decision.as_ref()? {
        GateDecision::Approved => (true, None),
        GateDecision::Answered { .. } => (true, gate.always.as_deref().cloned()),
        GateDecision::Rejected { .. } => (false, None),
    };
    Some(PermissionAnswer { number, allowed, rule })
}

/// Refuses words at such a gate that mean nothing there.
pub fn takes_words(gate: &Gate, text: &str) -> Result<()> {
    let wrong = |what: String| Err(Error::new(Code::InvalidInput, what).hint(gate.kind.command(gate.id.as_str())));
    match &gate.always {
        _ if text.trim() != ALWAYS => wrong(format!("gate '{}' is answered by '{ALWAYS}'", gate.id)),
        None => wrong(format!("what gate '{}' asks for cannot be allowed for the rest of the task", gate.id)),
        Some(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::permissions::permission_question::PermissionStanding;
    use crate::work::permissions::permission_rule::PermissionRule;

    fn gate(rule: Option<&str>) -> Gate {
        let rule: Option<PermissionRule> = rule.map(|rule| rule.parse().unwrap());
        let asked = PermissionQuestion {
            number: 3,
            about: "run: ls".into(),
            details: vec!["ls".into()],
            why: "it is a command".into(),
            risk: None,
            standing: PermissionStanding::Asked,
            rule,
        };
        let (agent, task) = (AgentId::new("ed-001").unwrap(), TaskId::new("t".repeat(100)).unwrap());
        let id = id_of(&task, 7, 3).unwrap();
        gate_of(id, &agent, &task, &asked, Timestamp::UNIX_EPOCH)
    }

    #[test]
    fn each_answer_is_for_its_question() {
        let rule = "allow command = ls";
        let gate = gate(Some(rule));
        assert!(gate.id.as_str().ends_with("-7-3") && gate.id.as_str().len() <= MAX_ID_LENGTH);
        assert_eq!(GateKind::of_gate(gate.id.as_str()), Some(GateKind::Permission));
        assert_eq!(answer_at(&gate, 3), None);
        let decided = |decision| answer_at(&Gate { decision: Some(decision), ..gate.clone() }, 3).unwrap();
        assert!(decided(GateDecision::Approved).allowed && decided(GateDecision::Approved).rule.is_none());
        assert!(!decided(GateDecision::Rejected { reason: "no".into() }).allowed);
        let always = decided(GateDecision::Answered { text: ALWAYS.into() });
        assert_eq!((always.allowed, always.rule.unwrap().to_string()), (true, rule.into()));
    }

    #[test]
    fn only_always_can_be_said_there_and_only_where_it_is_offered() {
        assert!(takes_words(&gate(Some("allow read")), " always ").is_ok());
        assert!(takes_words(&gate(Some("allow read")), "yes").is_err());
        assert!(takes_words(&gate(None), "always").is_err());
    }
}
