//! What happens to the model.

use jiff::Timestamp;

use super::input::Input;
use super::request::{Answer, Deed, Failure, Ticket};
use super::seen::{OutputLine, Seen};

/// What happens.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A human does something.
    Input(Input),
    /// What is on disk now.
    Seen(Box<Seen>),
    /// Lines that the followed agent printed.
    Output(Printed),
    /// An answer came.
    Answered(Ticket, Result<Answer, Failure>),
    /// A deed was done, and this is what the verb would print.
    Done(Deed, Result<Vec<String>, Failure>),
    /// An editor has ended, or a verb.
    Edited(Result<Vec<String>, Failure>),
    /// The terminal has this size.
    Resized {
        /// In columns.
        width: u16,
        /// In rows.
        height: u16,
    },
    /// It is this late.
    Now(Timestamp),
}

/// Output of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Printed {
    /// The agent or task that is followed.
    pub of: String,
    /// Whether what was shown before is of something else.
    pub anew: bool,
    /// What came.
    pub lines: Vec<OutputLine>,
}
