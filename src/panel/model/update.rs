//! What an event does to the model.

use super::answered::{answered, done, tell_outcome};
use super::in_dialog::in_dialog;
use super::typing::paste;
use super::{MOST_OUTPUT, Model, Output, View, commands, moving};
use crate::panel::event::{Event, Printed};
use crate::panel::input::{Input, Key, Way};
use crate::panel::keys::Command;
use crate::panel::request::{Closing, Request};

/// Lets an event happen. Returns what the effects are to do.
pub fn update(model: &mut Model, event: Event) -> Vec<Request> {
    let mut requests = match event {
        Event::Input(input) => on_input(model, input),
        Event::Seen(seen) => {
            let is_new = seen.seq != model.seen.seq;
            model.seen = *seen;
            model.keep_selection();
            if is_new && model.view == View::Timeline { moving::read_timeline(model) } else { Vec::new() }
        }
        Event::Output(printed) => {
            take_output(model, printed);
            Vec::new()
        }
        Event::Answered(ticket, answer) => {
            answered(model, ticket, answer);
            Vec::new()
        }
        Event::Done(deed, outcome) => done(model, &deed, outcome),
        Event::Edited(outcome) => {
            tell_outcome(model, "EDITED", outcome);
            Vec::new()
        }
        Event::Resized { width, height } => {
            model.size = (width, height);
            Vec::new()
        }
        Event::Now(now) => {
            model.now = now;
            Vec::new()
        }
    };
    requests.extend(follow(model));
    // What is under way already is not begun a second time.
    requests.retain(|request| match request {
        Request::Do(deed) if model.doing.contains(deed) => false,
        Request::Do(deed) => {
            model.doing.push(deed.clone());
            true
        }
        Request::Ask(..)
        | Request::Follow(_)
        | Request::Edit(_)
        | Request::Run(_)
        | Request::Suspend
        | Request::Redraw
        | Request::Close(_) => true,
    });
    requests
}

/// The output that is shown is that of the selected agent.
fn follow(model: &mut Model) -> Option<Request> {
    if model.output.of == model.agent {
        return None;
    }
    model.output = Output { of: model.agent.clone(), ..Output::default() };
    Some(Request::Follow(model.agent.clone()))
}

fn take_output(model: &mut Model, printed: Printed) {
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

fn on_input(model: &mut Model, input: Input) -> Vec<Request> {
    match input {
        Input::Key(Key::Ctrl('c')) => interrupt(model),
        Input::Key(Key::Ctrl('z')) => vec![Request::Suspend],
        Input::Key(Key::Ctrl('l')) => vec![Request::Redraw],
        Input::Key(key) if model.dialogs.is_empty() => match model.keys.command(key) {
            Some(command) => commands::begin(model, command),
            None => {
                let help = model.keys.shown(Command::Help);
                model.tell(format!("'{key}' does nothing; {help} shows all keys"));
                Vec::new()
            }
        },
        Input::Key(key) => in_dialog(model, key),
        Input::Paste(text) => {
            paste(model, &text);
            Vec::new()
        }
        Input::Wheel(way) => {
            if model.dialogs.is_empty() {
                if model.view == View::Output {
                    model.scroll(way, 3)
                } else {
                    model.go(way, 1)
                }
                return Vec::new();
            }
            in_dialog(model, if way == Way::Up { Key::Up } else { Key::Down })
        }
        Input::Click { column, row } => click(model, column, row),
    }
}

/// Ctrl+C ends the panel; agents and session go on. While something is done, only the second one does.
fn interrupt(model: &mut Model) -> Vec<Request> {
    match model.doing.first() {
        Some(deed) if !model.warned => {
            let what = deed.in_words();
            model.warned = true;
            model.complain(format!("{what}: it is finished first; Ctrl+C again leaves at once"));
            Vec::new()
        }
        Some(_) | None => vec![Request::Close(Closing::Interrupted)],
    }
}

fn click(model: &mut Model, column: u16, row: u16) -> Vec<Request> {
    if !model.dialogs.is_empty() {
        return Vec::new();
    }
    if row == 1 {
        return match super::super::view::tab_at(model, column) {
            Some(view) => moving::show(model, view),
            None => Vec::new(),
        };
    }
    if let Some(name) = super::super::view::row_at(model, row) {
        let view = model.view;
        model.select_named(view, &name);
    }
    Vec::new()
}
