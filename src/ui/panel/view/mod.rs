//! Draws a model on cells. Pure: the same model and size give the same cells. All text goes through [`canvas::Canvas`], which
//! escapes it; nothing of agents or files reaches a cell raw.

pub mod canvas;
mod dialogs;
mod frame;
mod lists;
mod output;
#[cfg(test)]
pub(in crate::panel) mod tests;
mod words;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::event::ClickedPlace;
use super::model::{PanelModel, PanelView};
use canvas::Canvas;
pub use canvas::PanelColours;

/// The smallest terminal that anything can be read on.
const SMALLEST: (u16, u16) = (40, 10);

/// Where things are on a screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PanelLayout {
    header: Rect,
    tabs: Rect,
    body: Rect,
    notice: Rect,
    footer: Rect,
}

impl PanelLayout {
    fn of(model: &PanelModel, area: Rect) -> Self {
        let line = |y: u16, height: u16| Rect { x: area.x, y: area.y + y, width: area.width, height };
        let above = if model.output.full { 0 } else { 2 };
        let header = u16::from(above > 0);
        let notice = frame::notice_height(model, area);
        Self {
            header: line(0, header),
            tabs: line(header, header),
            body: line(above, area.height.saturating_sub(above + notice + 1)),
            notice: line(area.height.saturating_sub(notice + 1), notice),
            footer: line(area.height.saturating_sub(1), 1),
        }
    }
}

/// Draws the whole screen.
pub fn draw(model: &PanelModel, colours: PanelColours, area: Rect, buffer: &mut Buffer) {
    let mut canvas = Canvas::new(buffer, colours);
    if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
        let words = format!("this terminal is too small: {} × {} at least", SMALLEST.0, SMALLEST.1);
        canvas.line(Rect { height: 1.min(area.height), ..area }, &words, canvas::TextTone::Plain);
        return;
    }
    let layout = PanelLayout::of(model, area);
    if !model.output.full {
        frame::header(model, layout.header, &mut canvas);
        frame::tabs(model, layout.tabs, &mut canvas);
    }
    match model.selected.view {
        PanelView::Agents => lists::agents(model, layout.body, &mut canvas),
        PanelView::Tasks => lists::tasks(model, layout.body, &mut canvas),
        PanelView::Gates => lists::gates(model, layout.body, &mut canvas),
        PanelView::Output => output::output(model, layout.body, &mut canvas),
        PanelView::Timeline => lists::timeline(model, layout.body, &mut canvas),
    }
    frame::notice(model, layout.notice, &mut canvas);
    frame::footer(model, layout.footer, &mut canvas);
    for dialog in &model.dialogs {
        dialogs::draw(model, dialog, area, &mut canvas);
    }
}

/// What is at a cell of the screen.
pub fn clicked(model: &PanelModel, column: u16, row: u16) -> Option<ClickedPlace> {
    if row == 1 {
        let column = usize::from(column);
        let (view, _, _) = frame::tab_places(model).into_iter().find(|(_, from, to)| (*from..*to).contains(&column))?;
        return PanelView::ALL.iter().position(|one| *one == view).map(ClickedPlace::Tab);
    }
    let area = Rect { x: 0, y: 0, width: model.size.0, height: model.size.1 };
    lists::row_at(model, PanelLayout::of(model, area).body, row).map(ClickedPlace::Row)
}
