//! What happens to the model.

use jiff::Timestamp;

use super::input::PanelInput;
use super::request::{PanelAction, PanelAnswer, PanelFailure, PanelTicket};
use super::snapshot::{OutputRow, PanelSnapshot};

/// What happens.
#[derive(Debug, Clone, PartialEq)]
pub enum PanelEvent {
    /// A human does something. Of a click, where it was is read from what is drawn: [`PanelEvent::Clicked`].
    Input(PanelInput),
    /// A human clicked on something.
    Clicked(ClickedPlace),
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

/// What was clicked on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClickedPlace {
    /// The tab of a view, from 0.
    Tab(usize),
    /// The row with this name in the view that is shown.
    Row(String),
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
