//! The iteration of an agent that is watched, and what was heard of it.

use std::time::{Duration, Instant};

use jiff::Timestamp;

use axiom_model::agent::stream::summary::StreamSummary;
use axiom_model::base::ids::Token;
use axiom_model::work::iteration_marker::IterationMarker;
use axiom_model::work::permissions::permission_question::{PermissionEnd, PermissionQuestion, PermissionStanding};
use axiom_model::work::signals::signal::AgentSignal;

/// How far the signals of an iteration were read.
#[derive(Debug, Default)]
pub(crate) struct SignalCounts {
    /// The offset up to which they have been read.
    pub(crate) read: u64,
    /// How many were read.
    pub(crate) heard: u64,
    /// How many of them the agent itself has sent.
    pub(crate) reported: u64,
    /// The permissions that its agent waits for, as far as they were read.
    pub(crate) asked: Vec<PermissionQuestion>,
    /// What it was refused, in words: an agent whose turn ended by that is told in its next one.
    pub(crate) refused: Vec<String>,
}

impl IterationWatch {
    /// Notes what its keeper says of permissions.
    pub(crate) fn hear_permission(&mut self, signal: &AgentSignal) {
        if let AgentSignal::PermissionAsked(question) = signal {
            match question.standing {
                PermissionStanding::Asked | PermissionStanding::Allowed => self.signals.asked.push((**question).clone()),
                PermissionStanding::Forbidden => self.signals.refused.push(format!("{} ({})", question.about, question.why)),
            }
        } else if let AgentSignal::PermissionEnded { number, end } = signal {
            let SignalCounts { asked, refused, .. } = &mut self.signals;
            let ended = asked.iter().position(|asked| asked.number == *number).map(|at| asked.remove(at));
            if let (Some(ended), PermissionEnd::Rejected | PermissionEnd::Unanswered) = (ended, end) {
                refused.push(format!("{} ({})", ended.about, end.in_words()));
            }
        }
    }

    /// What its output says, and what it was refused.
    pub(crate) fn told_and_refused(&self) -> (StreamSummary, Vec<String>) {
        (self.told.clone(), self.signals.refused.clone())
    }
}

/// How long the program of an iteration runs.
#[derive(Debug, Default)]
pub(crate) struct IterationTime {
    /// When watching began, and how long it had run by then.
    pub(crate) begun: Option<(Instant, Duration)>,
    /// For how many milliseconds it ran, once it has ended: what it left may take a while to be stored.
    pub(crate) ran_ms: Option<u64>,
}

impl IterationTime {
    /// The time until now or its end, in milliseconds.
    pub(crate) fn millis(&self) -> u64 {
        let until_now = || self.begun.map_or(Duration::ZERO, |(at, before)| before + at.elapsed());
        self.ran_ms.unwrap_or_else(|| u64::try_from(until_now().as_millis()).unwrap_or(u64::MAX))
    }
}

/// A running iteration.
#[derive(Debug, Default)]
pub(crate) struct IterationWatch {
    pub(crate) token: Option<Token>,
    pub(crate) signals: SignalCounts,
    /// The last signal that decides the outcome.
    pub(crate) verdict: Option<AgentSignal>,
    /// What its output says.
    pub(crate) told: StreamSummary,
    /// Where it was last, as far as its output tells.
    pub(crate) marker: Option<IterationMarker>,
    /// When its last signal was recorded.
    pub(crate) heard_at: Option<Timestamp>,
    /// When its agent said last how far it is.
    pub(crate) progress_at: Option<Timestamp>,
    /// Its last sign of life, once it is known to be cut off.
    pub(crate) last_sign: Option<Timestamp>,
    /// When its workspace was last captured, or watching began.
    pub(crate) captured_at: Option<Instant>,
    /// How long its program runs.
    pub(crate) time: IterationTime,
    /// Since when its budget is known to be used up.
    pub(crate) over_since: Option<Instant>,
    /// Whether it was told that its keeper or the machine died, where its work could not be committed since.
    pub(crate) end_told: bool,
}
