//! From view to view, and within one.

use super::{Fetched, Model, View};
use crate::panel::input::Way;
use crate::panel::request::{Question, Request};

pub(super) fn full_screen(model: &mut Model) -> Vec<Request> {
    model.full = !model.full;
    if model.full { show(model, View::Output) } else { Vec::new() }
}

pub(super) fn logs(model: &mut Model) -> Vec<Request> {
    if let Some(agent) = model.agent_row().map(|row| row.id.clone()) {
        model.agent = Some(agent);
    }
    show(model, View::Output)
}

pub(super) fn turn(model: &mut Model, way: Way) -> Vec<Request> {
    let at = View::ALL.iter().position(|view| *view == model.view).unwrap_or(0);
    let next = match way {
        Way::Down => (at + 1) % View::ALL.len(),
        Way::Up => (at + View::ALL.len() - 1) % View::ALL.len(),
    };
    show(model, View::ALL.get(next).copied().unwrap_or(View::Agents))
}

pub(super) fn show(model: &mut Model, view: View) -> Vec<Request> {
    model.notice = None;
    model.full &= view == View::Output;
    model.view = view;
    if view == View::Timeline { read_timeline(model) } else { Vec::new() }
}

/// Reads the timeline, where that is not done already.
pub(super) fn read_timeline(model: &mut Model) -> Vec<Request> {
    if matches!(model.timeline, Fetched::Coming(_)) {
        return Vec::new();
    }
    let ticket = model.fresh_ticket();
    // What is known stays until the new one comes.
    if !matches!(model.timeline, Fetched::Known(_)) {
        model.timeline = Fetched::Coming(ticket);
    }
    vec![Request::Ask(ticket, Question::Timeline)]
}

pub(super) fn go(model: &mut Model, way: Way, by: usize) -> Vec<Request> {
    if model.view == View::Output {
        model.scroll(way, by)
    } else {
        model.go(way, by)
    }
    Vec::new()
}
