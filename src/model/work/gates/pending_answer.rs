//! A human's answer to an agent's question, until an agent program has been started with it. Pure.
//!
//! The gate of the question may close before that (its task is released, the session ends): the answer stays, so that no crash
//! and no full disk in between loses it.

use serde::{Deserialize, Serialize};

use crate::work::gates::gate::{Gate, GateDecision, GateKind};

/// An answer that no agent program has been started with yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PendingAnswer {
    /// What the agent asked.
    pub question: String,
    /// The human's words.
    pub text: String,
}

impl PendingAnswer {
    /// The answer that a decision at this gate gives, if it gives one.
    pub fn given(gate: &Gate, decision: &GateDecision) -> Option<Self> {
        let text = match (gate.kind, decision) {
            (GateKind::Question, GateDecision::Answered { text }) => text.clone(),
            (GateKind::Question, GateDecision::Approved) => "Yes.".to_owned(),
            (GateKind::Question, GateDecision::Rejected { .. })
            | (
                GateKind::Claim
                | GateKind::Merge
                | GateKind::HumanReview
                | GateKind::Recovery
                | GateKind::Planning
                | GateKind::Budget
                | GateKind::Permission
                | GateKind::Disk,
                _,
            ) => return None,
        };
        Some(Self { question: gate.reason.clone(), text })
    }

    /// The part of the next prompt.
    pub fn note(&self) -> String {
        format!("## Answer of a human\n\nYou asked: {}\n\nThe answer: {}", self.question, self.text)
    }
}
