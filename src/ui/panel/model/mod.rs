//! The model: what is on disk, what is selected, what is open. Pure. Its reaction to an event is in [`update`], to a key in a dialog in
//! `dialog_keys`, to what comes back from the effects in `apply_answer`.

mod apply_answer;
mod available_commands;
mod choices;
mod commands;
mod current_dialogs;
mod dialog;
mod dialog_keys;
mod navigation;
mod selection;
mod stepping;
mod subject;
#[cfg(test)]
pub(in crate::panel) mod tests;
mod typing;
mod under_way;
mod update;

use std::collections::{BTreeSet, VecDeque};

use jiff::Timestamp;

use super::keys::PanelKeyBindings;
use super::request::PanelTicket;
use super::snapshot::{
    AgentRow, AgentRowRunner, CheckpointRow, OutputRow, PanelSnapshot, TimelineRow, WaitingRow, WaitingRowKind,
};

pub use available_commands::{impossible, instead};
pub use dialog::{
    ChoiceDialogSubject, DialogBody, DialogChoice, DialogChoiceAction, DialogQuestion, DialogTextInput, DialogTextPurpose,
    DialogTextResult, PanelDialog,
};
pub use dialog_keys::menu;
pub use selection::{PanelSelection, ShownRowFilters};
pub use under_way::ActionsUnderWay;
pub use update::update;

/// How many lines of output are kept.
pub const MOST_OUTPUT: usize = 5_000;

/// What is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)] // the views
pub enum PanelView {
    Agents,
    Tasks,
    Gates,
    Output,
    Timeline,
}

impl PanelView {
    /// All of them, in their order.
    pub const ALL: [Self; 5] = [Self::Agents, Self::Tasks, Self::Gates, Self::Output, Self::Timeline];

    /// Its name.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Agents => "Agents",
            Self::Tasks => "Tasks",
            Self::Gates => "Gates",
            Self::Output => "Output",
            Self::Timeline => "Timeline",
        }
    }
}

/// What is to be told below the views.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PanelNotice {
    /// Whether something went wrong.
    pub bad: bool,
    /// One line.
    pub text: String,
    /// When it was told.
    pub at: Timestamp,
}

/// The output of an agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OutputView {
    /// The agent or task that is followed.
    pub of: Option<String>,
    /// Its last lines.
    pub lines: VecDeque<OutputRow>,
    /// How many lines above the end the shown part ends; 0 follows what comes.
    pub back: usize,
    /// Whether it has the whole screen.
    pub full: bool,
}

/// What was read once, and may be older than the rest.
#[derive(Debug, Clone, PartialEq)]
pub enum PanelFetch<T> {
    /// Nobody has asked for it.
    Unknown,
    /// It is being read.
    Coming(PanelTicket),
    /// It was read at this event.
    Known(T),
    /// It could not be read.
    Failed(Vec<String>),
}

/// The model.
#[derive(Debug, Clone)]
pub struct PanelModel {
    /// What is on disk.
    pub seen: PanelSnapshot,
    /// Which key does what.
    pub keys: PanelKeyBindings,
    /// What is selected.
    pub selected: PanelSelection,
    /// Which rows are shown.
    pub filters: ShownRowFilters,
    /// The output of the selected agent.
    pub output: OutputView,
    /// The timeline.
    pub timeline: PanelFetch<Vec<TimelineRow>>,
    /// What is open above the views; the last one has the keys.
    pub dialogs: Vec<PanelDialog>,
    /// What is to be told.
    pub notice: Option<PanelNotice>,
    /// What is being done.
    pub doing: ActionsUnderWay,
    /// The size of the terminal, in columns and rows.
    pub size: (u16, u16),
    /// The time.
    pub now: Timestamp,
    /// The last question's number.
    ticket: PanelTicket,
}

impl PanelModel {
    /// The first model.
    pub fn new(seen: PanelSnapshot, keys: PanelKeyBindings, size: (u16, u16), now: Timestamp) -> Self {
        let mut model = Self {
            seen,
            keys,
            selected: PanelSelection::new(),
            filters: ShownRowFilters::default(),
            output: OutputView::default(),
            timeline: PanelFetch::Unknown,
            dialogs: Vec::new(),
            notice: None,
            doing: ActionsUnderWay::default(),
            size,
            now,
            ticket: 0,
        };
        model.keep_selection();
        model
    }

    /// The timeline, as far as it is known.
    pub fn moments(&self) -> &[TimelineRow] {
        match &self.timeline {
            PanelFetch::Known(moments) => moments,
            PanelFetch::Unknown | PanelFetch::Coming(_) | PanelFetch::Failed(_) => &[],
        }
    }

    fn agents(&self) -> impl Iterator<Item = &AgentRow> {
        self.seen.agents.iter()
    }

    /// How many agents work.
    pub fn working(&self) -> usize {
        self.agents().filter(|row| row.works).count()
    }

    /// How much waits for a human: what is decided already does not. What a crash left is said by itself, here as elsewhere.
    pub fn for_you(&self) -> usize {
        let waits = |row: &&WaitingRow| row.decided.is_none() && row.what != WaitingRowKind::Recovery;
        self.seen.waiting.iter().filter(waits).count()
    }

    /// Whether an agent of the session has a task, also where it waits.
    pub fn has_busy_agents(&self) -> bool {
        self.agents().any(|row| row.runner == AgentRowRunner::Agent && row.task.is_some())
    }

    fn fresh_ticket(&mut self) -> PanelTicket {
        self.ticket += 1;
        self.ticket
    }

    fn tell(&mut self, text: impl Into<String>) {
        self.notice = Some(PanelNotice { bad: false, text: text.into(), at: self.now });
    }

    fn complain(&mut self, text: impl Into<String>) {
        self.notice = Some(PanelNotice { bad: true, text: text.into(), at: self.now });
    }
}

/// The checkpoints of the manager, and which are marked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckpointManagerView {
    /// The heading of their lines.
    pub heading: String,
    /// Each of them.
    pub rows: Vec<CheckpointRow>,
    /// A line on all of them.
    pub summary: String,
    /// The marked ones.
    pub marked: BTreeSet<String>,
    /// The selected one.
    pub at: usize,
}
