//! The output of an agent.

use ratatui::layout::Rect;

use super::canvas::{Canvas, RowHighlight, RowPiece, TextTone};
use crate::panel::keys::PanelCommand;
use crate::panel::model::{PanelModel, PanelView};
use crate::panel::snapshot::{OutputRow, OutputRowKind};
use crate::panel::text_lines::wrapped;
use axiom_model::base::forms::plural::count;

fn piece(line: &OutputRow) -> (&'static str, TextTone) {
    match line.kind {
        OutputRowKind::Heading => ("", TextTone::Strong),
        OutputRowKind::Said => ("  ", TextTone::Plain),
        OutputRowKind::Call => ("  > ", TextTone::Accent),
        OutputRowKind::Result => ("    ", TextTone::Dim),
        OutputRowKind::Removed => ("    -", TextTone::Bad),
        OutputRowKind::Added => ("    +", TextTone::Good),
        OutputRowKind::Trouble => ("  ! ", TextTone::Bad),
        OutputRowKind::Remark => ("  = ", TextTone::Plain),
        OutputRowKind::Other => ("  ", TextTone::Dim),
    }
}

/// The last lines, as many as there is room for, each cut at the end of its row.
pub fn last(model: &PanelModel, room: usize) -> Vec<Vec<RowPiece>> {
    let lines = &model.output.lines;
    let from = lines.len().saturating_sub(room);
    let row = |line: &OutputRow| {
        let (mark, tone) = piece(line);
        vec![(format!("{mark}{}", line.text), tone)]
    };
    lines.iter().skip(from).map(row).collect()
}

/// The output on the whole area, its long lines broken; the newest at the bottom, or where it was scrolled to.
pub fn output(model: &PanelModel, area: Rect, canvas: &mut Canvas<'_>) {
    let output = &model.output;
    let task = model.task_row().map_or_else(String::new, |row| format!(" on {}", row.id));
    let title = match (&output.of, output.back) {
        (None, _) => "No agent is selected.".to_owned(),
        (Some(of), 0) => format!("{of}{task}: follows"),
        (Some(of), back) => {
            format!("{of}{task}: {} above the end; {} follows again", count(back, "line"), model.keys.shown(PanelCommand::Last))
        }
    };
    canvas.line(area, &format!(" {title}"), TextTone::Strong);
    let below = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
    if output.lines.is_empty() && output.of.is_some() {
        canvas.line(below, "  Nothing was printed for the task that it works on, or worked on last.", TextTone::Dim);
        return;
    }
    let (columns, mut bottom) = (usize::from(area.width), below.y + below.height);
    // From the bottom up, until the area is full.
    for line in output.lines.iter().rev().filter(|line| model.filters.fits(PanelView::Output, &[&line.text])).skip(output.back) {
        let (mark, tone) = piece(line);
        for part in wrapped(&format!("{mark}{}", line.text), columns).into_iter().rev() {
            if bottom == below.y {
                return;
            }
            bottom -= 1;
            canvas.row(Rect { y: bottom, height: 1, ..below }, &[(part, tone)], RowHighlight::Other);
        }
    }
}
