//! `git axiom gate`: what waits for a human.

use clap::Subcommand;
use serde::Serialize;

use super::open;
use crate::cli::arguments::Global;
use crate::cli::screen::{Screen, table};
use crate::domain::gate::{Decision, Gate, GateKind};
use crate::error::{Code, Error, Exit, Result};
use crate::ops::interventions;

/// Verbs on gates.
#[derive(Debug, Subcommand)]
pub enum GateVerb {
    /// List what waits for a human
    List,
    /// Let it go on
    Approve {
        /// The gate's id, or its task's
        gate: String,
    },
    /// Do not let it go on: its task is blocked
    Reject {
        /// The gate's id, or its task's
        gate: String,
        /// Why
        #[arg(long, default_value = "rejected at the gate")]
        reason: String,
    },
    /// Answer an agent's question
    Answer {
        /// The gate's id, or its task's
        gate: String,
        /// The answer
        text: String,
    },
}

#[derive(Serialize)]
struct List<'a> {
    gates: Vec<&'a Gate>,
}

#[derive(Serialize)]
struct Decided {
    id: String,
}

/// Lists gates or decides at one.
///
/// # Errors
/// `NOT_FOR_AGENTS`; as [`interventions::decide`].
pub fn run(verb: GateVerb, global: &Global, screen: &mut Screen) -> Result<Exit> {
    let mut context = open(global)?;
    let (gate, decision) = match verb {
        GateVerb::List => {
            let gates: Vec<&Gate> = context.state().restorable.gates.values().collect();
            screen.answer(&List { gates: gates.clone() }, || list(&gates))?;
            return Ok(Exit::Done);
        }
        GateVerb::Approve { gate } => (gate, Decision::Approved),
        GateVerb::Reject { gate, reason } => (gate, Decision::Rejected { reason }),
        GateVerb::Answer { gate, text } => (gate, Decision::Answered { text }),
    };
    context.for_humans_only("gate")?;
    let question = context.state().restorable.gates.values().any(|open| {
        open.kind == GateKind::Question
            && (open.id.as_str() == gate || open.task_id.as_ref().is_some_and(|task| task.as_str() == gate))
    });
    if question && decision == Decision::Approved {
        return Err(
            Error::new(Code::InvalidInput, "a question needs an answer").hint(format!("git axiom gate answer {gate} TEXT"))
        );
    }
    let id = interventions::decide(&mut context, &gate, decision)?;
    if !context.supervisor_alive()? {
        screen.note("note: no supervisor runs; the next 'git axiom run' acts on it");
    }
    let answer = Decided { id: id.to_string() };
    screen.answer(&answer, || format!("{id}\n"))?;
    Ok(Exit::Done)
}

fn list(gates: &[&Gate]) -> String {
    if gates.is_empty() {
        return "Nothing waits for you.\n".to_owned();
    }
    let mut rows = vec![vec!["GATE".to_owned(), "SINCE".to_owned(), "WAITS TO".to_owned()]];
    for gate in gates {
        let decided = if gate.decision.is_some() { " (decided)" } else { "" };
        let since = gate.opened_at.strftime("%Y-%m-%d %H:%M:%S").to_string();
        rows.push(vec![gate.id.to_string(), since, format!("{}{decided}", gate.reason)]);
        for detail in &gate.details {
            rows.push(vec![String::new(), String::new(), format!("  {detail}")]);
        }
    }
    table(&rows)
}
