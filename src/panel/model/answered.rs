//! What an answer, or what was done, changes in the model.

use super::dialog::{Body, Dialog};
use super::{Fetched, Model, choices};
use crate::panel::request::{Answer, Closing, Deed, Failure, Question, Request, Ticket};
use crate::panel::view;

pub(super) fn answered(model: &mut Model, ticket: Ticket, answer: Result<Answer, Failure>) {
    if let Ok(Answer::Timeline(moments)) = answer {
        model.timeline = Fetched::Known(moments);
        model.keep_selection();
        return;
    }
    if model.timeline == Fetched::Coming(ticket)
        && let Err(failure) = answer
    {
        model.timeline = Fetched::Failed(failure.lines);
        return;
    }
    let wants = |dialog: &Dialog| match dialog {
        Dialog::Plan { body, .. } | Dialog::Text { body, .. } | Dialog::Choose { body, .. } | Dialog::Manager { body, .. } => {
            body.waits_for(ticket)
        }
        Dialog::Help { .. } | Dialog::Menu { .. } | Dialog::Typed(_) | Dialog::Pausing => false,
    };
    // Who closed the dialog does not want it any more.
    let Some(place) = model.dialogs.iter().position(wants) else { return };
    let mut dialog = model.dialogs.remove(place);
    match answer {
        Ok(answer) => fill(model, &mut dialog, answer),
        Err(failure) => fail(&mut dialog, failure),
    }
    model.dialogs.insert(place, dialog);
}

fn fail(dialog: &mut Dialog, failure: Failure) {
    match dialog {
        Dialog::Plan { body, .. } | Dialog::Text { body, .. } | Dialog::Choose { body, .. } | Dialog::Manager { body, .. } => {
            *body = Body::Failed(failure.lines);
        }
        Dialog::Help { .. } | Dialog::Menu { .. } | Dialog::Typed(_) | Dialog::Pausing => {}
    }
}

fn fill(model: &Model, dialog: &mut Dialog, answer: Answer) {
    match (dialog, answer) {
        (Dialog::Plan { body, deed, .. }, Answer::Plan(plan)) => {
            *body = Body::Ready(plan.lines);
            *deed = plan.deed;
        }
        (Dialog::Text { body, .. }, Answer::Text(lines)) => *body = Body::Ready(lines),
        (Dialog::Choose { body, items, about, .. }, Answer::Text(lines)) => {
            *body = Body::Ready(lines);
            *items = choices::items(model, about, Vec::new());
        }
        (Dialog::Choose { body, items, .. }, Answer::Recovery { lines, choices }) => {
            *body = Body::Ready(lines);
            *items = choices::remedies(choices);
        }
        (Dialog::Choose { body, items, .. }, Answer::Trust { lines, digest }) => {
            *body = Body::Ready(lines);
            *items = choices::trust(digest);
        }
        (Dialog::Choose { body, items, about, .. }, Answer::Choices { before, items: open }) => {
            *body = Body::Ready(before);
            *items = choices::items(model, about, open);
        }
        (Dialog::Manager { body, managed }, Answer::Checkpoints { heading, rows, summary }) => {
            *body = Body::Ready(Vec::new());
            managed.marked.retain(|name| rows.iter().any(|row| row.name == *name));
            managed.at = managed.at.min(rows.len().saturating_sub(1));
            (managed.heading, managed.rows, managed.summary) = (heading, rows, summary);
        }
        (_, _) => {}
    }
}

pub(super) fn done(model: &mut Model, deed: &Deed, outcome: Result<Vec<String>, Failure>) -> Vec<Request> {
    if let Some(place) = model.doing.iter().position(|other| other == deed) {
        model.doing.remove(place);
    }
    model.warned = false;
    let succeeded = outcome.is_ok();
    if succeeded && matches!(deed, Deed::Quit | Deed::CheckpointAndQuit) {
        return vec![Request::Close(Closing::Done)];
    }
    if !succeeded && matches!(deed, Deed::Pause | Deed::PauseAtOnce) {
        model.dialogs.retain(|dialog| *dialog != Dialog::Pausing);
    }
    tell_outcome(model, &deed.in_words().to_uppercase(), outcome);
    // What the manager shows has changed.
    let manages = model.dialogs.iter().any(|dialog| matches!(dialog, Dialog::Manager { .. }));
    if !manages {
        return Vec::new();
    }
    let ticket = model.fresh_ticket();
    for dialog in &mut model.dialogs {
        if let Dialog::Manager { body, .. } = dialog {
            *body = Body::Coming(ticket);
        }
    }
    vec![Request::Ask(ticket, Question::Checkpoints)]
}

/// One line is told below the views, if it is whole there; more get a dialog, and so does what went wrong.
pub(super) fn tell_outcome(model: &mut Model, title: &str, outcome: Result<Vec<String>, Failure>) {
    match outcome {
        Ok(lines) => match lines.as_slice() {
            [] => {}
            [one] if view::fits_below(model, one) => model.tell(one.clone()),
            _ => model.dialogs.push(Dialog::Text { title: title.to_owned(), body: Body::Ready(lines), top: 0 }),
        },
        Err(failure) => {
            model.dialogs.push(Dialog::Text { title: title.to_owned(), body: Body::Failed(failure.lines), top: 0 });
        }
    }
}
