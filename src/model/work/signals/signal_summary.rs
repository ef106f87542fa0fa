//! What the signals of an iteration say of its program, folded into a sum. Pure; a supervisor that takes over reads them again.

use std::borrow::Cow;

use crate::agent::stream::stream_event::{StreamEvent, ToolCallEnd, ToolCallStart};
use crate::agent::stream::summary::StreamSummary;
use crate::agent::tool_kind::ToolKind;
use crate::work::signals::signal::AgentSignal;

/// Adds a signal.
pub fn add(told: &mut StreamSummary, signal: &AgentSignal) {
    if let Some(seen) = seen(signal) {
        told.add(&seen);
    }
}

/// Whether a signal only marks what a program does, and is no report of its agent.
pub fn is_marker(signal: &AgentSignal) -> bool {
    seen(signal).is_some()
}

/// What a signal says that the program's output told; `None` of a report of its agent.
fn seen(signal: &AgentSignal) -> Option<Cow<'_, StreamEvent>> {
    let seen = match signal {
        AgentSignal::Seen(seen) => return Some(Cow::Borrowed(seen)),
        AgentSignal::Session { id } => StreamEvent::Session { id: id.clone() },
        AgentSignal::RequestSent(sent) => StreamEvent::RequestSent(sent.clone()),
        AgentSignal::ResponseReceived(answer) => StreamEvent::ResponseReceived(answer.clone()),
        AgentSignal::ToolStarted(call) => StreamEvent::ToolStarted(ToolCallStart {
            id: call.id.clone(),
            name: call.name.clone(),
            kind: call.does.unwrap_or(ToolKind::Other),
            input: call.about.clone().map_or(serde_json::Value::Null, serde_json::Value::from),
            hash: call.hash.clone().unwrap_or_default(),
        }),
        AgentSignal::ToolCompleted(call) => StreamEvent::ToolCompleted(ToolCallEnd {
            id: call.id.clone(),
            name: call.name.clone(),
            failed: call.failed,
            exit: None,
            output: String::new(),
            hash: call.hash.clone().unwrap_or_default(),
        }),
        AgentSignal::Complete {}
        | AgentSignal::Blocked { .. }
        | AgentSignal::Waiting { .. }
        | AgentSignal::Progress { .. }
        | AgentSignal::Learning { .. }
        | AgentSignal::Phase { .. }
        | AgentSignal::Subtask { .. }
        | AgentSignal::File(_)
        | AgentSignal::Ready { .. }
        | AgentSignal::PermissionAsked(_)
        | AgentSignal::PermissionEnded { .. }
        | AgentSignal::Estimate { .. }
        | AgentSignal::Depends { .. } => return None,
    };
    Some(Cow::Owned(seen))
}
