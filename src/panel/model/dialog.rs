//! What is open above the views.

use super::{Managed, View};
use crate::panel::request::{Closing, Deed, Question, Ticket};

/// What is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dialog {
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
        body: Body,
        /// What is done after Enter; nothing before the plan is there.
        deed: Option<Deed>,
        /// The first line that is shown.
        top: usize,
    },
    /// Lines to read.
    Text {
        /// Its heading.
        title: String,
        /// The lines.
        body: Body,
        /// The first line that is shown.
        top: usize,
    },
    /// A line to type.
    Typed(Typed),
    /// One of some.
    Choose {
        /// Its heading.
        title: String,
        /// What the choice is about.
        about: About,
        /// What is read before.
        body: Body,
        /// What can be chosen.
        items: Vec<Item>,
        /// The selected one.
        at: usize,
        /// The first line of the body that is shown.
        top: usize,
    },
    /// Who still runs while the session pauses.
    Pausing,
    /// The checkpoints.
    Manager {
        /// How far they are known.
        body: Body,
        /// They.
        managed: Managed,
    },
}

/// What a choice is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum About {
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
pub enum Body {
    /// It is being found out.
    Coming(Ticket),
    /// It is there.
    Ready(Vec<String>),
    /// It could not be found out, and this is why.
    Failed(Vec<String>),
}

impl Body {
    /// Whether it waits for this answer.
    pub fn waits_for(&self, ticket: Ticket) -> bool {
        *self == Self::Coming(ticket)
    }
}

/// A line to type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Typed {
    /// Its heading.
    pub title: String,
    /// What is read before.
    pub before: Vec<String>,
    /// What is to be typed.
    pub label: String,
    /// What was typed.
    pub text: String,
    /// What it is for.
    pub then: Then,
}

/// What a typed line is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Then {
    /// The reason why this task is blocked.
    Block(String),
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
    Filter(View),
    /// A verb of git axiom.
    Verb,
}

/// What a typed line comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// This is done.
    Do(Deed),
    /// This is found out, and shown.
    Ask(String, Question),
    /// The lines of a view have to contain this; nothing: all are shown.
    Filter(View, Option<String>),
    /// This verb is run.
    Run(String),
}

impl Then {
    /// What is done with the text; `None` where it needs one.
    pub fn with(&self, text: &str) -> Option<Outcome> {
        let text = text.trim().to_owned();
        let some = (!text.is_empty()).then(|| text.clone());
        match self {
            Self::Block(task) => some.map(|reason| Outcome::Do(Deed::Block { task: task.clone(), reason })),
            Self::Checkpoint => Some(Outcome::Do(Deed::Checkpoint(some))),
            Self::Answer(gate) => some.map(|text| Outcome::Do(Deed::Answer { gate: gate.clone(), text })),
            Self::Reject(gate) => some.map(|reason| Outcome::Do(Deed::Reject { gate: gate.clone(), reason })),
            Self::Restore(checkpoint) => some.map(|path| {
                let deed = Deed::RestoreFile { checkpoint: checkpoint.clone(), path: path.clone() };
                Outcome::Ask(format!("RESTORE {path}"), Question::Plan(deed))
            }),
            Self::Older => some.map(|days| Outcome::Ask("DELETE CHECKPOINTS".to_owned(), Question::Older(days))),
            Self::Filter(view) => Some(Outcome::Filter(*view, some)),
            Self::Verb => some.map(Outcome::Run),
        }
    }
}

/// Something that can be chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// The letter that chooses it.
    pub letter: Option<char>,
    /// Its line.
    pub line: String,
    /// What it does.
    pub then: Chosen,
}

/// What a choice does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Chosen {
    /// This.
    Do(Deed),
    /// Asks for a line first.
    Type {
        /// What is to be typed.
        label: String,
        /// What it is for.
        then: Then,
    },
    /// Finds this out, and shows it.
    Ask {
        /// Its heading.
        title: String,
        /// What is found out.
        question: Question,
    },
    /// Ends the panel.
    Close(Closing),
    /// Nothing.
    Nothing,
}
