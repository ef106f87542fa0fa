//! What happens to the model.

use jiff::Timestamp;

use super::input::PanelInput;
use super::request::{PanelAction, PanelAnswer, PanelFailure, PanelTicket};
use super::snapshot::{OutputRow, PanelSnapshot};

/// What happens.
#[derive(Debug, Clone, PartialEq)]
pub enum PanelEvent {
    /// A human does something.
    Input(PanelInput),
    /// What is on disk now.
    Seen(Box<PanelSnapshot>),
    /// Lines that the followed agent printed.
    Output(PanelOutputBatch),
    /// An answer came.
    Answered(PanelTicket, Result<PanelAnswer, PanelFailure>),
    /// A deed was done, and this is what the verb would print.
    Done(PanelAction, Result<Vec<String>, PanelFailure>),
    /// An editor has ended, or a verb.
    Edited(Result<Vec<String>, PanelFailure>),
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
pub struct PanelOutputBatch {
    /// The agent or task that is followed.
    pub of: String,
    /// Whether what was shown before is of something else.
    pub anew: bool,
    /// What came.
    pub lines: Vec<OutputRow>,
}
