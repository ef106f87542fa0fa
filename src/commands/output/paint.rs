//! How lines of output look: their marks, and colours on a terminal. All of the agent's text is escaped and stands right of the
//! margin, so no line of it looks like one of git axiom's.

use console::Style;
use jiff::Timestamp;

use crate::cli::{visible, words};
use crate::domain::agent::stream::readable::{Line, Part};

/// A line, with its line feed.
pub(super) fn line(line: &Line) -> String {
    let (mark, style) = match line.part {
        Part::Said => ("  ", Style::new()),
        Part::Call => ("  > ", Style::new().cyan()),
        Part::Result => ("    ", Style::new().dim()),
        Part::Removed => ("    -", Style::new().red()),
        Part::Added => ("    +", Style::new().green()),
        Part::Trouble => ("  ! ", Style::new().red().bold()),
        Part::Remark => ("  = ", Style::new()),
        Part::Other => ("  ", Style::new().dim()),
    };
    let text = visible::text(&line.text);
    format!("{mark}{}\n", style.apply_to(text)).replace("  \n", "\n")
}

/// The line before an iteration.
pub(super) fn heading(iteration: u64, program: &str, at: Timestamp) -> String {
    let text = format!("Iteration {iteration}, {}, {}", visible::line(program), words::time(at));
    format!("{}\n", Style::new().bold().apply_to(text))
}
