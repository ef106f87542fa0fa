//! What stands around an event in the log: its place, time, transaction and author.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::event::Event;
use crate::base::ids::{AgentId, OperationId};

/// An event with its place, time, transaction and author.
#[derive(Debug, Clone, PartialEq)]
pub struct EventEnvelope {
    /// Its number, from 1. Only an adopted state may leave a gap.
    pub seq: u64,
    /// When it was appended.
    pub at: Timestamp,
    /// The transaction it belongs to.
    pub txn: OperationId,
    /// Who did it.
    pub by: EventAuthor,
    /// What happened.
    pub event: Event,
}

impl EventEnvelope {
    /// When it happened, for whoever shows it: what happened while nobody was there to record it is older than its place in the log.
    pub fn happened_at(&self) -> Timestamp {
        let known = if let Event::Signalled { said_at, .. } = &self.event {
            *said_at
        } else if let Event::IterationEnded { report, .. } = &self.event {
            report.ended_at
        } else if let Event::HookRan { run } = &self.event {
            run.at
        } else {
            None
        };
        known.map_or(self.at, |at| at.min(self.at))
    }
}

/// Who did something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum EventAuthor {
    /// A human, or a human's script, by a verb.
    User,
    /// The supervisor process.
    Supervisor,
    /// An agent, by a verb.
    Agent(AgentId),
    /// A hook of an agent program that a human runs, or a watch: it saves by itself.
    Attached,
    /// The verb `recover`.
    Recovery,
}

impl EventAuthor {
    /// Whether nobody ordered it.
    pub fn is_automatic(&self) -> bool {
        matches!(self, Self::Supervisor | Self::Attached)
    }
}

impl fmt::Display for EventAuthor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User => f.pad("user"),
            Self::Supervisor => f.pad("supervisor"),
            Self::Agent(agent) => f.pad(agent.as_str()),
            Self::Attached => f.pad("attached"),
            Self::Recovery => f.pad("recovery"),
        }
    }
}
