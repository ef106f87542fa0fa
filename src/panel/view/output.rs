//! The output of an agent.

use ratatui::layout::Rect;

use super::canvas::{Canvas, Piece, Row, Tone, wrapped};
use crate::domain::base::plural::count;
use crate::panel::keys::Command;
use crate::panel::model::{Model, View};
use crate::panel::seen::{OutputKind, OutputLine};

fn piece(line: &OutputLine) -> (&'static str, Tone) {
    match line.kind {
        OutputKind::Heading => ("", Tone::Strong),
        OutputKind::Said => ("  ", Tone::Plain),
        OutputKind::Call => ("  > ", Tone::Accent),
        OutputKind::Result => ("    ", Tone::Dim),
        OutputKind::Removed => ("    -", Tone::Bad),
        OutputKind::Added => ("    +", Tone::Good),
        OutputKind::Trouble => ("  ! ", Tone::Bad),
        OutputKind::Remark => ("  = ", Tone::Plain),
        OutputKind::Other => ("  ", Tone::Dim),
    }
}

/// The last lines, as many as there is room for, each cut at the end of its row.
pub fn last(model: &Model, room: usize) -> Vec<Vec<Piece>> {
    let lines = &model.output.lines;
    let from = lines.len().saturating_sub(room);
    let row = |line: &OutputLine| {
        let (mark, tone) = piece(line);
        vec![(format!("{mark}{}", line.text), tone)]
    };
    lines.iter().skip(from).map(row).collect()
}

/// The output on the whole area, its long lines broken; the newest at the bottom, or where it was scrolled to.
pub fn output(model: &Model, area: Rect, canvas: &mut Canvas<'_>) {
    let output = &model.output;
    let task = model.task_row().map_or_else(String::new, |row| format!(" on {}", row.id));
    let title = match (&output.of, output.back) {
        (None, _) => "No agent is selected.".to_owned(),
        (Some(of), 0) => format!("{of}{task}: follows"),
        (Some(of), back) => {
            format!("{of}{task}: {} above the end; {} follows again", count(back, "line"), model.keys.shown(Command::Last))
        }
    };
    canvas.line(area, &format!(" {title}"), Tone::Strong);
    let below = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
    if output.lines.is_empty() && output.of.is_some() {
        canvas.line(below, "  It has printed nothing yet.", Tone::Dim);
        return;
    }
    let (columns, mut bottom) = (usize::from(area.width), below.y + below.height);
    // From the bottom up, until the area is full.
    for line in output.lines.iter().rev().filter(|line| model.fits(View::Output, &[&line.text])).skip(output.back) {
        let (mark, tone) = piece(line);
        for part in wrapped(&format!("{mark}{}", line.text), columns).into_iter().rev() {
            if bottom == below.y {
                return;
            }
            bottom -= 1;
            canvas.row(Rect { y: bottom, height: 1, ..below }, &[(part, tone)], Row::Other);
        }
    }
}
