//! What the signals of an iteration say of its program, folded into a sum. Pure; a supervisor that takes over reads them again.

use super::signal::Signal;
use crate::domain::agent::adapter::ToolKind;
use crate::domain::agent::stream::seen::{Seen, ToolCompleted, ToolStarted};
use crate::domain::agent::stream::summary::Summary;

/// Adds a signal.
pub fn add(told: &mut Summary, signal: &Signal) {
    match signal {
        Signal::Seen(seen) => told.add(seen),
        Signal::Session { id } => told.add(&Seen::Session { id: id.clone() }),
        Signal::RequestSent {} => told.add(&Seen::RequestSent),
        Signal::ResponseReceived {} => told.add(&Seen::ResponseReceived),
        Signal::ToolStarted(call) => told.add(&Seen::ToolStarted(ToolStarted {
            id: call.id.clone(),
            name: call.name.clone(),
            kind: call.does.unwrap_or(ToolKind::Other),
            input: call.about.clone().map_or(serde_json::Value::Null, serde_json::Value::from),
            hash: call.hash.clone().unwrap_or_default(),
        })),
        Signal::ToolCompleted(call) => told.add(&Seen::ToolCompleted(ToolCompleted {
            id: call.id.clone(),
            name: call.name.clone(),
            failed: call.failed,
            exit: None,
            output: String::new(),
            hash: call.hash.clone().unwrap_or_default(),
        })),
        Signal::Complete {}
        | Signal::Blocked { .. }
        | Signal::Waiting { .. }
        | Signal::Progress { .. }
        | Signal::Learning { .. }
        | Signal::Phase { .. }
        | Signal::Subtask { .. }
        | Signal::File(_)
        | Signal::Ready { .. }
        | Signal::Estimate { .. }
        | Signal::Depends { .. } => {}
    }
}

/// Whether a signal only marks what a program does, and is no report of its agent.
pub fn is_marker(signal: &Signal) -> bool {
    match signal {
        Signal::Session { .. }
        | Signal::Seen(_)
        | Signal::ToolStarted(_)
        | Signal::ToolCompleted(_)
        | Signal::RequestSent {}
        | Signal::ResponseReceived {} => true,
        Signal::Complete {}
        | Signal::Blocked { .. }
        | Signal::Waiting { .. }
        | Signal::Progress { .. }
        | Signal::Learning { .. }
        | Signal::Phase { .. }
        | Signal::Subtask { .. }
        | Signal::File(_)
        | Signal::Ready { .. }
        | Signal::Estimate { .. }
        | Signal::Depends { .. } => false,
    }
}
