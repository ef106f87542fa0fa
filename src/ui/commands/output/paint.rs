//! How lines of output look: their marks, and colours on a terminal. All of the agent's text is escaped and stands right of the
//! margin, so no line of it looks like one of git axiom's.

use console::Style;
use jiff::Timestamp;

use crate::cli::{visible, words};
use axiom_model::agent::stream::readable::{ReadableLine, ReadableLineKind};

/// A line, with its line feed.
pub(super) fn line(line: &ReadableLine) -> String {
    let (mark, style) = match line.part {
        ReadableLineKind::Said => ("  ", Style::new()),
        ReadableLineKind::Call => ("  > ", Style::new().cyan()),
        ReadableLineKind::Result => ("    ", Style::new().dim()),
        ReadableLineKind::Removed => ("    -", Style::new().red()),
        ReadableLineKind::Added => ("    +", Style::new().green()),
        ReadableLineKind::Trouble => ("  ! ", Style::new().red().bold()),
        ReadableLineKind::Remark => ("  = ", Style::new()),
        ReadableLineKind::Other => ("  ", Style::new().dim()),
    };
    let text = visible::text(&line.text);
    format!("{mark}{}\n", style.apply_to(text)).replace("  \n", "\n")
}

/// The line before an iteration.
pub(super) fn heading(iteration: u64, program: &str, at: Timestamp) -> String {
    let text = format!("Iteration {iteration}, {}, {}", visible::line(program), words::time(at));
    format!("{}\n", Style::new().bold().apply_to(text))
}
