//! What a human answers at the gate of work that a crash cut off, in place of letting an agent go on. Pure.

use crate::base::ids::TaskId;
use crate::work::gates::gate::{Gate, GateKind};
use crate::work::iteration::ReviewCause;
use axiom_base::error::{Code, Error, Result};

/// An answer at such a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrashGateAnswer {
    /// The work is complete: it is verified and merged.
    Complete,
    /// The task begins anew; what is there is kept aside.
    Anew,
}

impl CrashGateAnswer {
    /// The answer that these words give at the gates; `None` where others take words.
    pub fn of(gates: &[Gate], text: &str) -> Result<Option<Self>> {
        let takes_words =
            |gate: &&Gate| matches!(gate.kind, GateKind::Question | GateKind::Budget | GateKind::Planning | GateKind::Permission);
        let Some(gate) = gates.iter().find(|gate| !takes_words(gate)) else { return Ok(None) };
        let approve = gate.kind.command(gate.id.as_str());
        if gates.iter().any(|gate| gate.kind != GateKind::HumanReview || gate.cause != Some(ReviewCause::Recovery)) {
            let what = format!("gate '{}' takes no answer in words", gate.id);
            return Err(Error::new(Code::InvalidInput, what).hint(approve).hint(format!("git axiom gate reject {}", gate.id)));
        }
        match text.trim() {
            "complete" => Ok(Some(Self::Complete)),
            "anew" => Ok(Some(Self::Anew)),
            _ => {
                Err(Error::new(Code::InvalidInput, format!("gate '{}' is answered by 'complete' or 'anew'", gate.id))
                    .hint(approve))
            }
        }
    }

    /// The answers with what they do, for the gate of a task.
    pub fn offered(task: &TaskId) -> Vec<String> {
        let command = format!("git axiom gate answer human-review-{task}");
        vec![
            format!("{command} complete    verifies and merges what is on its branch"),
            format!("{command} anew        begins it anew; what is there is kept aside"),
        ]
    }
}
