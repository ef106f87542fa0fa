//! How a rollback is told to people: a list of parts, each with its number, and what to do about it afterwards.

use crate::cli::{visible, words};
use crate::domain::base::ids::GateId;

/// So many lines of each part are shown.
const SHOWN: usize = 20;

/// A text that grows by its parts; a part without lines is none.
pub(super) struct Parts {
    text: String,
    title: usize,
}

impl Parts {
    /// Begins with a line of its own.
    pub fn below(title: &str) -> Self {
        let text = format!("{title}\n");
        Self { title: text.len(), text }
    }

    /// Adds a part; `one` and `many` follow the number.
    pub fn add(&mut self, one: &str, many: &str, lines: Vec<String>) {
        if lines.is_empty() {
            return;
        }
        self.text.push_str(&format!("  {} {}\n", lines.len(), words::verb(lines.len(), one, many)));
        for line in lines.iter().take(SHOWN) {
            self.text.push_str(&format!("    {}\n", visible::line(line)));
        }
        if lines.len() > SHOWN {
            self.text.push_str(&format!("    and {} more\n", lines.len() - SHOWN));
        }
    }

    /// Whether there is nothing but the first line.
    pub fn is_empty(&self) -> bool {
        self.text.len() == self.title
    }

    /// The text.
    pub fn into_text(self) -> String {
        self.text
    }
}

/// What is said once it is done: where things are, and how to take it back.
pub(super) fn ending(moved_aside: &[String], gates: &[GateId], safety: &str, undo: &str) -> String {
    let aside: String = moved_aside.iter().map(|place| format!("moved out of the way: {}\n", visible::line(place))).collect();
    let waits = match gates {
        [] => String::new(),
        [one] => format!("It is not begun again until you say so: git axiom gate approve {one}\n"),
        many => {
            format!("{} are not begun again until you say so: git axiom gate list\n", words::count(many.len(), "task"))
        }
    };
    format!("{aside}{waits}What was there before is in checkpoint {safety}.\nTo take it back: {undo}\n")
}
