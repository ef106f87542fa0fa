//! What an event does to the model.

use super::apply_answer::{answered, done, tell_outcome};
use super::dialog_keys::in_dialog;
use super::typing::paste;
use super::{MOST_OUTPUT, OutputView, PanelModel, PanelView, commands, current_dialogs, navigation};
use crate::panel::event::{ClickedPlace, PanelEvent, PanelOutputBatch};
use crate::panel::input::{PanelDirection, PanelInput, PanelKey};
use crate::panel::keys::PanelCommand;
use crate::panel::request::{PanelExit, PanelRequest};

/// Lets an event happen. Returns what the effects are to do.
pub fn update(model: &mut PanelModel, event: PanelEvent) -> Vec<PanelRequest> {
    let mut requests = match event {
        PanelEvent::Input(input) => on_input(model, input),
        PanelEvent::Clicked(place) => clicked(model, &place),
        PanelEvent::Seen(seen) => {
            let before = std::mem::replace(&mut model.seen, *seen);
            model.keep_selection();
            let mut requests = current_dialogs::keep_current(model, &before);
            if before.seq != model.seen.seq && model.selected.view == PanelView::Timeline {
                requests.extend(navigation::read_timeline(model));
            }
            requests
        }
        PanelEvent::Output(printed) => {
            take_output(model, printed);
            Vec::new()
        }
        PanelEvent::Answered(ticket, answer) => {
            answered(model, ticket, answer);
            current_dialogs::ask_again(model)
        }
        PanelEvent::Done(deed, outcome) => done(model, &deed, outcome),
        PanelEvent::Edited(outcome) => {
            tell_outcome(model, "EDITED", outcome);
            Vec::new()
        }
        PanelEvent::Resized { width, height } => {
            model.size = (width, height);
            Vec::new()
        }
        PanelEvent::Now(now) => {
            model.now = now;
            current_dialogs::forget_what_was_told(model);
            Vec::new()
        }
    };
    requests.extend(follow(model));
    requests.retain(|request| match request {
        PanelRequest::Do(deed) => model.doing.begin(deed),
        PanelRequest::Ask(..)
        | PanelRequest::Follow(_)
        | PanelRequest::Edit(_)
        | PanelRequest::Run(_)
        | PanelRequest::Suspend
        | PanelRequest::Redraw
        | PanelRequest::Close(_) => true,
    });
    requests
}

/// The output that is shown is that of the selected agent.
fn follow(model: &mut PanelModel) -> Option<PanelRequest> {
    let selected = &model.selected.agent;
    if model.output.of == *selected {
        return None;
    }
    model.output = OutputView { of: selected.clone(), full: model.output.full, ..OutputView::default() };
    Some(PanelRequest::Follow(selected.clone()))
}

fn take_output(model: &mut PanelModel, printed: PanelOutputBatch) {
    let output = &mut model.output;
    if output.of.as_deref() != Some(printed.of.as_str()) {
        return;
    }
    if printed.anew {
        output.lines.clear();
        output.back = 0;
    }
    let came = printed.lines.len();
    output.lines.extend(printed.lines);
    // What is read stays where it is while more comes.
    if output.back > 0 {
        output.back = output.back.saturating_add(came).min(MOST_OUTPUT - 1);
    }
    let over = output.lines.len().saturating_sub(MOST_OUTPUT);
    output.lines.drain(..over);
}

fn on_input(model: &mut PanelModel, input: PanelInput) -> Vec<PanelRequest> {
    match input {
        PanelInput::Key(PanelKey::Ctrl('c')) => interrupt(model),
        PanelInput::Key(PanelKey::Ctrl('z')) => vec![PanelRequest::Suspend],
        PanelInput::Key(PanelKey::Ctrl('l')) => vec![PanelRequest::Redraw],
        PanelInput::Key(key) if model.dialogs.is_empty() => match model.keys.command(key) {
            Some(command) => commands::begin(model, command),
            None => {
                let help = model.keys.shown(PanelCommand::Help);
                model.tell(format!("'{key}' does nothing; {help} shows all keys"));
                Vec::new()
            }
        },
        PanelInput::Key(key) => in_dialog(model, key),
        PanelInput::Paste(text) => {
            paste(model, &text);
            Vec::new()
        }
        PanelInput::Wheel(way) => {
            if model.dialogs.is_empty() {
                if model.selected.view == PanelView::Output {
                    model.scroll(way, 3)
                } else {
                    model.go(way, 1)
                }
                return Vec::new();
            }
            in_dialog(model, if way == PanelDirection::Up { PanelKey::Up } else { PanelKey::Down })
        }
        PanelInput::Click { .. } => Vec::new(),
    }
}

/// Ctrl+C ends the panel; agents and session go on. While something is done, only the second one does.
fn interrupt(model: &mut PanelModel) -> Vec<PanelRequest> {
    let Some(what) = model.doing.warn() else { return vec![PanelRequest::Close(PanelExit::Interrupted)] };
    model.complain(format!("{what}: it is finished first; Ctrl+C again leaves at once"));
    Vec::new()
}

fn clicked(model: &mut PanelModel, place: &ClickedPlace) -> Vec<PanelRequest> {
    match place {
        // A dialog covers what is below it.
        _ if !model.dialogs.is_empty() => Vec::new(),
        ClickedPlace::Tab(tab) => PanelView::ALL.get(*tab).map(|view| navigation::show(model, *view)).unwrap_or_default(),
        ClickedPlace::Row(name) => {
            let view = model.selected.view;
            model.select_named(view, name);
            Vec::new()
        }
    }
}
