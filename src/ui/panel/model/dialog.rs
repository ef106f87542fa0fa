//! What is open above the views.

use super::{CheckpointManagerView, PanelModel, PanelView};
use jiff::Timestamp;

use crate::panel::request::{PanelAction, PanelExit, PanelQuestion, PanelRequest, PanelTicket};

/// What is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PanelDialog {
    /// All keys.
    Help {
        /// The first line that is shown.
        top: usize,
    },
    /// All actions on what is selected.
    Menu {
        /// The selected one.
        at: usize,
    },
    /// What would be done, and the question whether to do it.
    Plan {
        /// Its heading.
        title: String,
        /// What would be done.
        body: DialogBody,
        /// What is done after Enter; nothing before the plan is there.
        deed: Option<PanelAction>,
        /// What was asked for it; nothing where the model knew it.
        asked: Option<DialogQuestion>,
        /// The first line that is shown.
        top: usize,
    },
    /// Lines to read.
    Text {
        /// Its heading.
        title: String,
        /// The lines.
        body: DialogBody,
        /// The first line that is shown.
        top: usize,
    },
    /// A line to type.
    Typed(DialogTextInput),
    /// One of some.
    Choose {
        /// Its heading.
        title: String,
        /// What the choice is about.
        about: ChoiceDialogSubject,
        /// What is read before.
        body: DialogBody,
        /// What can be chosen.
        items: Vec<DialogChoice>,
        /// The selected one.
        at: usize,
        /// The first line of the body that is shown.
        top: usize,
        /// What was asked for it; nothing where the model knew it.
        asked: Option<DialogQuestion>,
    },
    /// Who still runs while the session pauses.
    Pausing,
    /// The checkpoints.
    Manager {
        /// How far they are known.
        body: DialogBody,
        /// They.
        managed: CheckpointManagerView,
    },
}

/// What a dialog asked, and asks again once something has happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DialogQuestion {
    /// The question.
    pub question: PanelQuestion,
    /// The number of the last event before it was asked.
    pub seq: u64,
    /// When it was asked.
    pub at: Timestamp,
    /// The answer that it waits for besides the one that is shown.
    pub again: Option<PanelTicket>,
    /// Whether what is shown is another answer than the one before, and no key was pressed since.
    pub has_changed: bool,
}

/// What a choice is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChoiceDialogSubject {
    /// What is decided at this gate.
    Gate(String),
    /// What becomes of what a crash left.
    Recovery,
    /// Whether the project's files are approved.
    Trust,
    /// Where this agent is sent.
    Redirect(String),
    /// What becomes of the session when the panel ends.
    Quit,
    /// What is done with this checkpoint.
    Checkpoint(String),
}

/// A text that may still be coming.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DialogBody {
    /// It is being found out.
    Coming(PanelTicket),
    /// It is there.
    Ready(Vec<String>),
    /// It could not be found out, and this is why.
    Failed(Vec<String>),
}

impl PanelDialog {
    /// What it asked, where it asks that again.
    pub(super) fn asked_mut(&mut self) -> Option<&mut DialogQuestion> {
        match self {
            Self::Plan { asked, .. } | Self::Choose { asked, .. } => asked.as_mut(),
            Self::Help { .. } | Self::Menu { .. } | Self::Text { .. } | Self::Typed(_) | Self::Pausing | Self::Manager { .. } => {
                None
            }
        }
    }

    /// Whether its first answer is still to come.
    pub(super) fn is_coming(&self) -> bool {
        match self {
            Self::Plan { body, .. } | Self::Text { body, .. } | Self::Choose { body, .. } | Self::Manager { body, .. } => {
                matches!(body, DialogBody::Coming(_))
            }
            Self::Help { .. } | Self::Menu { .. } | Self::Typed(_) | Self::Pausing => false,
        }
    }
}

impl DialogBody {
    /// Whether it waits for this answer.
    pub fn waits_for(&self, ticket: PanelTicket) -> bool {
        *self == Self::Coming(ticket)
    }
}

/// A line to type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DialogTextInput {
    /// Its heading.
    pub title: String,
    /// What is read before.
    pub before: Vec<String>,
    /// What is to be typed.
    pub label: String,
    /// What was typed.
    pub text: String,
    /// What it is for.
    pub then: DialogTextPurpose,
}

/// What a typed line is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DialogTextPurpose {
    /// The reason why this task is blocked.
    Block(String),
    /// The title of a new task.
    AddTask,
    /// The name of a checkpoint; none makes one up.
    Checkpoint,
    /// The answer at this gate.
    Answer(String),
    /// The reason of a no at this gate.
    Reject(String),
    /// A file or folder that comes back from this checkpoint.
    Restore(String),
    /// The age above which checkpoints are deleted, in days.
    Older,
    /// What the lines of a view have to contain.
    Filter(PanelView),
    /// A verb of git axiom.
    Verb,
}

/// What a typed line comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DialogTextResult {
    /// This is done.
    Do(PanelAction),
    /// This is found out, and shown.
    Ask(String, PanelQuestion),
    /// The lines of a view have to contain this; nothing: all are shown.
    Filter(PanelView, Option<String>),
    /// This verb is run.
    Run(String),
}

impl DialogTextPurpose {
    /// What is done with the text; `None` where it needs one.
    pub fn with(&self, text: &str) -> Option<DialogTextResult> {
        let text = text.trim().to_owned();
        let some = (!text.is_empty()).then(|| text.clone());
        match self {
            Self::Block(task) => some.map(|reason| DialogTextResult::Do(PanelAction::Block { task: task.clone(), reason })),
            Self::AddTask => some.map(|title| DialogTextResult::Do(PanelAction::AddTask(title))),
            Self::Checkpoint => Some(DialogTextResult::Do(PanelAction::Checkpoint(some))),
            Self::Answer(gate) => some.map(|text| DialogTextResult::Do(PanelAction::Answer { gate: gate.clone(), text })),
            Self::Reject(gate) => some.map(|reason| DialogTextResult::Do(PanelAction::Reject { gate: gate.clone(), reason })),
            Self::Restore(checkpoint) => some.map(|path| {
                let deed = PanelAction::RestoreFile { checkpoint: checkpoint.clone(), path: path.clone() };
                DialogTextResult::Ask(format!("RESTORE {path}"), PanelQuestion::Plan(deed))
            }),
            Self::Older => some.map(|days| DialogTextResult::Ask("DELETE CHECKPOINTS".to_owned(), PanelQuestion::Older(days))),
            Self::Filter(view) => Some(DialogTextResult::Filter(*view, some)),
            Self::Verb => some.map(DialogTextResult::Run),
        }
    }
}

/// Something that can be chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DialogChoice {
    /// The letter that chooses it.
    pub letter: Option<char>,
    /// Its line.
    pub line: String,
    /// What it does.
    pub then: DialogChoiceAction,
}

/// What a choice does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DialogChoiceAction {
    /// This.
    Do(PanelAction),
    /// Asks for a line first.
    Type {
        /// What is to be typed.
        label: String,
        /// What it is for.
        then: DialogTextPurpose,
    },
    /// Finds this out, and shows it.
    Ask {
        /// Its heading.
        title: String,
        /// What is found out.
        question: PanelQuestion,
    },
    /// Ends the panel.
    Close(PanelExit),
    /// Nothing.
    Nothing,
}

/// Opens a dialog above what is there.
pub(super) fn open(model: &mut PanelModel, dialog: PanelDialog) -> Vec<PanelRequest> {
    model.notice = None;
    model.dialogs.push(dialog);
    Vec::new()
}
