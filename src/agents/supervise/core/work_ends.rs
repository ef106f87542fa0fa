//! How the work of an agent is to end, and what becomes of its task.

use std::time::Instant;

use jiff::Timestamp;

use axiom_model::work::endings::after_iteration::TaskHalt;
use axiom_model::work::gates::gate::TaskHoldReason;

/// An iteration that is to be ended.
#[derive(Debug, Clone)]
pub(crate) struct IterationHalt {
    pub(crate) how: TaskHalt,
    /// What becomes of its task.
    pub(crate) then: HaltedTaskFate,
    /// Whether its keeper was asked to end it: a keeper that is just starting cannot be asked yet.
    pub(crate) asked: bool,
    /// Since when, for people.
    pub(crate) since: Timestamp,
    /// Since when, by the clock that nobody sets.
    pub(crate) begun: Instant,
}

/// What becomes of a task whose agent is ended, where it is not complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HaltedTaskFate {
    /// It is pending.
    Free,
    /// It is pending, and its agent goes on with it as soon as the session does: no human is asked again.
    GoesOn,
    /// It is pending and waits at a gate: a human wants that.
    Held(TaskHoldReason),
    /// A human blocks it, with this reason.
    Blocked(String),
}

impl HaltedTaskFate {
    pub(crate) fn of(held: Option<TaskHoldReason>) -> Self {
        held.map_or(Self::Free, Self::Held)
    }

    /// This, or what was wanted before where this wants nothing.
    pub(crate) fn or(self, before: Option<Self>) -> Self {
        match (self, before) {
            (Self::Free, Some(before)) => before,
            (this, _) => this,
        }
    }
}

/// How the work of an agent ends after an iteration, whatever its outcome says.
#[derive(Debug, Clone)]
pub(crate) enum WorkEnd {
    /// Somebody wants it ended; and why what it left could not be committed, where it could not.
    Halted(IterationHalt, Option<String>),
    /// A human has to look at the workspace first; the reason.
    Broken(String),
    /// Its program failed while there was no space: another try would end as this one did; the reason.
    OutOfSpace(String),
}
