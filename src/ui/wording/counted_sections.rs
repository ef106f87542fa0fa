//! The text of a rollback: a list of parts, each with its number, and what the user can do afterwards.

use crate::cli::{visible, words};
use axiom_model::base::ids::GateId;
use axiom_model::work::gates::gate::GateKind;

/// How many lines of each part are shown.
pub const SHOWN: usize = 20;

/// A text with parts. A part without lines is left out.
#[derive(Default)]
pub struct CountedSections {
    text: String,
    title: usize,
}

impl CountedSections {
    /// Begins with a title line.
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

    /// Whether there is only the title line.
    pub fn is_empty(&self) -> bool {
        self.text.len() == self.title
    }

    /// The text.
    pub fn into_text(self) -> String {
        self.text
    }
}

/// Things one after the other, as many as are named, and how many more there are.
pub fn listed(all: impl ExactSizeIterator<Item = String>, most: usize) -> String {
    let more = all.len().saturating_sub(most);
    let named = all.take(most).collect::<Vec<_>>().join(", ");
    if more == 0 { named } else { format!("{named} and {more} more") }
}

/// The text after a rollback: where things are now, and how to undo it.
pub fn ending(moved_aside: &[String], gates: &[GateId], safety: &str, undo: &str) -> String {
    let aside: String = moved_aside.iter().map(|place| format!("moved to the trash: {}\n", visible::line(place))).collect();
    let waits = match gates {
        [] => String::new(),
        [one] => {
            let command = GateKind::Claim.command(one.as_str());
            format!("The task waits for you before it starts again: {command}\n")
        }
        many => {
            format!("{} wait for you before they start again: git axiom gate list\n", words::count(many.len(), "task"))
        }
    };
    format!("{aside}{waits}What was there before is in checkpoint {safety}.\nTo take it back: {undo}\n")
}
