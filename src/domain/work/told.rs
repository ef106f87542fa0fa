//! What the signals of an iteration say of its program, folded into a sum. Pure; a supervisor that takes over reads them again.

use std::borrow::Cow;

use super::signal::Signal;
use crate::domain::agent::adapter::ToolKind;
use crate::domain::agent::stream::seen::{Seen, ToolCompleted, ToolStarted};
use crate::domain::agent::stream::summary::Summary;

/// Adds a signal.
pub fn add(told: &mut Summary, signal: &Signal) {
    if let Some(seen) = seen(signal) {
        told.add(&seen);
    }
}

/// Whether a signal only marks what a program does, and is no report of its agent.
pub fn is_marker(signal: &Signal) -> bool {
    seen(signal).is_some()
}

/// What a signal says that the program's output told; `None` of a report of its agent.
fn seen(signal: &Signal) -> Option<Cow<'_, Seen>> {
    let seen = match signal {
        Signal::Seen(seen) => return Some(Cow::Borrowed(seen)),
        Signal::Session { id } => Seen::Session { id: id.clone() },
        Signal::RequestSent(sent) => Seen::RequestSent(sent.clone()),
        Signal::ResponseReceived(answer) => Seen::ResponseReceived(answer.clone()),
        Signal::ToolStarted(call) => Seen::ToolStarted(ToolStarted {
            id: call.id.clone(),
            name: call.name.clone(),
            kind: call.does.unwrap_or(ToolKind::Other),
            input: call.about.clone().map_or(serde_json::Value::Null, serde_json::Value::from),
            hash: call.hash.clone().unwrap_or_default(),
        }),
        Signal::ToolCompleted(call) => Seen::ToolCompleted(ToolCompleted {
            id: call.id.clone(),
            name: call.name.clone(),
            failed: call.failed,
            exit: None,
            output: String::new(),
            hash: call.hash.clone().unwrap_or_default(),
        }),
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
        | Signal::Depends { .. } => return None,
    };
    Some(Cow::Owned(seen))
}
