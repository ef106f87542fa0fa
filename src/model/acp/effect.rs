//! What follows from what an agent says.

use serde_json::Value;

use crate::agent::stream::stream_event::StreamEvent;
use crate::work::signals::signal::AgentSignal;

/// What follows from a line.
#[derive(Debug, Clone, PartialEq)]
pub enum AcpEffect {
    /// This line goes to the agent.
    Sends(String),
    /// The agent waits for a permission.
    Asks(Box<AcpPermissionRequest>),
    /// This is known now of the run.
    Says(StreamEvent),
    /// The agent reports this.
    Reports(AgentSignal),
    /// The turn is over, and with it the run.
    Ends,
}

/// A request for a permission.
#[derive(Debug, Clone, PartialEq)]
pub struct AcpPermissionRequest {
    /// Its number, from 1.
    pub number: u64,
    /// What the agent calls it.
    pub kind: String,
    /// Its line for people.
    pub title: String,
    /// The raw input of the tool.
    pub input: Option<Value>,
    /// The contents of the call.
    pub content: Option<Value>,
}
