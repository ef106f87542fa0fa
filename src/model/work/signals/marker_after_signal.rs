//! The marker of an iteration after each signal. Pure.

use jiff::Timestamp;

use super::signal::AgentSignal;
use crate::agent::stream::stream_event::ModelExchange;
use crate::agent::stream::summary::StreamSummary;
use crate::base::text_hash::text_hash;
use crate::work::iteration_marker::{IterationMarker, MarkerKind};

impl IterationMarker {
    /// The marker after a signal; `told` includes it, `before` is the one until then. While one of several calls still runs, that is
    /// where the program is.
    pub fn after(before: Option<Self>, signal: &AgentSignal, told: &StreamSummary, at: Timestamp) -> Option<Self> {
        match signal {
            AgentSignal::RequestSent(sent) => Some(Self::of_exchange(MarkerKind::RequestSent, sent, at)),
            AgentSignal::ResponseReceived(answer) => Some(Self::of_exchange(MarkerKind::ResponseReceived, answer, at)),
            AgentSignal::Waiting { question } => {
                Some(Self { hash: Some(text_hash(&[question])), ..Self::new(MarkerKind::WaitingForUser, at) })
            }
            AgentSignal::ToolStarted(_) => Self::of_open_call(told, at).or(before),
            AgentSignal::ToolCompleted(call) => Some(Self::of_open_call(told, at).unwrap_or_else(|| Self {
                tool_name: Some(call.name.clone()),
                tool_use_id: call.id.clone(),
                hash: call.hash.clone(),
                ..Self::new(MarkerKind::ToolCompleted, at)
            })),
            AgentSignal::Complete {}
            | AgentSignal::Blocked { .. }
            | AgentSignal::Progress { .. }
            | AgentSignal::Learning { .. }
            | AgentSignal::Phase { .. }
            | AgentSignal::Subtask { .. }
            | AgentSignal::File(_)
            | AgentSignal::Ready { .. }
            | AgentSignal::PermissionAsked(_)
            | AgentSignal::PermissionEnded { .. }
            | AgentSignal::Estimate { .. }
            | AgentSignal::Depends { .. }
            | AgentSignal::Session { .. }
            | AgentSignal::Seen(_) => before,
        }
    }

    fn of_exchange(kind: MarkerKind, told: &ModelExchange, at: Timestamp) -> Self {
        Self { request_id: told.id.clone(), hash: told.hash.clone(), ..Self::new(kind, at) }
    }

    fn of_open_call(told: &StreamSummary, at: Timestamp) -> Option<Self> {
        let call = told.calls.begun.last()?;
        Some(Self {
            tool_name: Some(call.name.clone()),
            tool_kind: Some(call.kind),
            tool_use_id: call.id.clone(),
            hash: Some(call.hash.clone()).filter(|hash| !hash.is_empty()),
            about: call.input.as_str().map(str::to_owned),
            ..Self::new(MarkerKind::ToolStarted, at)
        })
    }
}
