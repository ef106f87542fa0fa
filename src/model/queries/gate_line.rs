//! The form of a gate in the documents of `--json`.

use serde::Serialize;

use crate::base::ids::TaskId;
use crate::work::gates::gate::{Gate, GateDecision, GateKind, TaskHoldReason};
use crate::work::iteration::ReviewCause;
use crate::work::money::budget::BudgetUsageJson;

/// A gate.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenGateJson {
    /// Its id.
    pub id: String,
    /// The kind of decision.
    pub kind: GateKind,
    /// The task concerned.
    pub task_id: Option<TaskId>,
    /// One line for the human.
    pub reason: String,
    /// Details that help to decide.
    pub details: OpenGateDetailsJson,
    /// When it was opened.
    pub opened_at: jiff::Timestamp,
    /// The human's decision, until it is carried out.
    pub decision: Option<OpenGateDecisionJson>,
    /// Why the task is held, so that no mode claims it automatically.
    pub held: Option<TaskHoldReason>,
}

/// Details that help to decide at a gate.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenGateDetailsJson {
    /// The files that are in conflict, or that a human should look at; at most 100.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// How many further files there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more_files: Option<usize>,
    /// In words; the last lines of what failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The subject of a review.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<ReviewCause>,
    /// Of a budget: the limits that are reached.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<BudgetUsageJson>,
}

/// A decision at a gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OpenGateDecisionJson {
    /// `approved`, `rejected` or `answered`.
    pub is: &'static str,
    /// The reason or the answer.
    pub text: Option<String>,
}

impl OpenGateDecisionJson {
    /// In words, until it is carried out.
    pub fn in_words(&self) -> String {
        match &self.text {
            Some(text) => format!("({}: {text})", self.is),
            None => format!("({})", self.is),
        }
    }
}

impl OpenGateJson {
    /// Its reason, to be changed, and whether a human has decided.
    pub fn reason_and_decided(&mut self) -> (&mut String, bool) {
        (&mut self.reason, self.decision.is_some())
    }
}

impl From<&GateDecision> for OpenGateDecisionJson {
    fn from(decision: &GateDecision) -> Self {
        match decision {
            GateDecision::Approved => Self { is: "approved", text: None },
            GateDecision::Rejected { reason } => Self { is: "rejected", text: Some(reason.clone()) },
            GateDecision::Answered { text } => Self { is: "answered", text: Some(text.clone()) },
        }
    }
}

impl From<&Gate> for OpenGateJson {
    fn from(gate: &Gate) -> Self {
        let Gate {
            id,
            kind,
            task_id,
            reason: _,
            target: _,
            details,
            more,
            conflict_of: _,
            guarded: _,
            cause,
            used,
            opened_at,
            decision,
            held,
            sent: _,
            always: _,
            undone_at: _,
        } = gate;
        let details = match kind {
            GateKind::Merge if cause.is_none() => OpenGateDetailsJson {
                files: details.clone(),
                more_files: Some(*more).filter(|more| *more > 0),
                ..OpenGateDetailsJson::default()
            },
            GateKind::Merge
            | GateKind::Claim
            | GateKind::Question
            | GateKind::HumanReview
            | GateKind::Recovery
            | GateKind::Planning
            | GateKind::Budget
            | GateKind::Permission
            | GateKind::Disk => {
                let limits = used.iter().map(BudgetUsageJson::from).collect();
                OpenGateDetailsJson { notes: details.clone(), cause: *cause, limits, ..OpenGateDetailsJson::default() }
            }
        };
        let decision = decision.as_ref().map(OpenGateDecisionJson::from);
        let (task_id, reason) = (task_id.clone(), gate.reason.clone());
        Self { id: id.to_string(), kind: *kind, task_id, reason, details, opened_at: *opened_at, decision, held: *held }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn details_and_decision_are_objects() {
        let task = TaskId::new("t").unwrap();
        let mut gate = Gate::holding(&task, TaskHoldReason::Broken, jiff::Timestamp::UNIX_EPOCH).unwrap();
        gate.details = vec!["why".to_owned()];
        gate.decision = Some(GateDecision::Rejected { reason: "no".to_owned() });
        let written = |gate: &Gate| serde_json::to_value(OpenGateJson::from(gate)).unwrap();
        assert_eq!(written(&gate)["details"], serde_json::json!({"notes": ["why"]}));
        assert_eq!(written(&gate)["decision"], serde_json::json!({"is": "rejected", "text": "no"}));
        gate.kind = GateKind::Merge;
        assert_eq!(written(&gate)["details"], serde_json::json!({"files": ["why"]}));
        gate.more = 2;
        assert_eq!(written(&gate)["details"], serde_json::json!({"files": ["why"], "moreFiles": 2}));
        gate.more = 0;
        gate.details.clear();
        assert_eq!(written(&gate)["details"], serde_json::json!({}));
    }
}
