//! From view to view, and within one.

use super::{PanelFetch, PanelModel, PanelView};
use crate::panel::input::PanelDirection;
use crate::panel::request::{PanelQuestion, PanelRequest};
use crate::panel::snapshot::WaitingRowKind;

pub(super) fn full_screen(model: &mut PanelModel) -> Vec<PanelRequest> {
    model.output.full = !model.output.full;
    if model.output.full { show(model, PanelView::Output) } else { Vec::new() }
}

pub(super) fn logs(model: &mut PanelModel) -> Vec<PanelRequest> {
    if let Some(agent) = model.agent_row().map(|row| row.id.clone()) {
        model.selected.agent = Some(agent);
    }
    show(model, PanelView::Output)
}

pub(super) fn turn(model: &mut PanelModel, way: PanelDirection) -> Vec<PanelRequest> {
    let at = PanelView::ALL.iter().position(|view| *view == model.selected.view).unwrap_or(0);
    let next = match way {
        PanelDirection::Down => (at + 1) % PanelView::ALL.len(),
        PanelDirection::Up => (at + PanelView::ALL.len() - 1) % PanelView::ALL.len(),
    };
    show(model, PanelView::ALL.get(next).copied().unwrap_or(PanelView::Agents))
}

pub(super) fn show(model: &mut PanelModel, view: PanelView) -> Vec<PanelRequest> {
    model.notice = None;
    model.output.full &= view == PanelView::Output;
    model.selected.view = view;
    // The line about it says that this key and Enter open it.
    let recovery = model.seen.waiting.iter().find(|row| row.what == WaitingRowKind::Recovery).map(|row| row.id.clone());
    if let (PanelView::Gates, Some(recovery)) = (view, recovery) {
        model.select_named(view, &recovery);
    }
    if view == PanelView::Timeline { read_timeline(model) } else { Vec::new() }
}

/// Reads the timeline, where that is not done already.
pub(super) fn read_timeline(model: &mut PanelModel) -> Vec<PanelRequest> {
    if matches!(model.timeline, PanelFetch::Coming(_)) {
        return Vec::new();
    }
    let ticket = model.fresh_ticket();
    // What is known stays until the new one comes.
    if !matches!(model.timeline, PanelFetch::Known(_)) {
        model.timeline = PanelFetch::Coming(ticket);
    }
    vec![PanelRequest::Ask(ticket, PanelQuestion::Timeline)]
}

pub(super) fn go(model: &mut PanelModel, way: PanelDirection, by: usize) -> Vec<PanelRequest> {
    if model.selected.view == PanelView::Output {
        model.scroll(way, by)
    } else {
        model.go(way, by)
    }
    Vec::new()
}
