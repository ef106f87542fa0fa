//! What an answer, or what was done, changes in the model.

use super::choices::DialogFacts;
use super::current_dialogs::{CHANGED, compare};
use super::dialog::{DialogBody, PanelDialog};
use super::{PanelFetch, PanelModel, choices};
use crate::panel::request::{PanelAction, PanelAnswer, PanelExit, PanelFailure, PanelQuestion, PanelRequest, PanelTicket};
use crate::panel::text_lines::fits_below;
use axiom_base::error::Code;

pub(super) fn answered(model: &mut PanelModel, ticket: PanelTicket, answer: Result<PanelAnswer, PanelFailure>) {
    if let Ok(PanelAnswer::Timeline(moments)) = answer {
        model.timeline = PanelFetch::Known(moments);
        model.keep_selection();
        return;
    }
    if model.timeline == PanelFetch::Coming(ticket)
        && let Err(failure) = answer
    {
        model.timeline = PanelFetch::Failed(failure.lines);
        return;
    }
    let wants = |dialog: &mut PanelDialog| match dialog {
        PanelDialog::Plan { body, asked, .. } | PanelDialog::Choose { body, asked, .. } => {
            body.waits_for(ticket) || asked.as_mut().is_some_and(|asked| asked.takes(ticket))
        }
        PanelDialog::Text { body, .. } | PanelDialog::Manager { body, .. } => body.waits_for(ticket),
        PanelDialog::Help { .. } | PanelDialog::Menu { .. } | PanelDialog::Typed(_) | PanelDialog::Pausing => false,
    };
    // Who closed the dialog does not want it any more.
    let Some(place) = model.dialogs.iter_mut().position(wants) else { return };
    let mut dialog = model.dialogs.remove(place);
    let before = dialog.clone();
    match answer {
        Ok(answer) => fill(model, &mut dialog, answer),
        Err(failure) => fail(&mut dialog, failure),
    }
    if !before.is_coming() {
        compare(&before, &mut dialog);
    }
    // From now on it is about what it is about now, whatever is newest later.
    if let PanelDialog::Plan { deed: Some(PanelAction::Undo(id)), asked: Some(asked), .. } = &mut dialog {
        asked.question = PanelQuestion::PlanUndo(Some(id.clone()));
    }
    model.dialogs.insert(place, dialog);
}

fn fail(dialog: &mut PanelDialog, failure: PanelFailure) {
    match dialog {
        PanelDialog::Plan { body, deed, .. } => (*body, *deed) = (DialogBody::Failed(failure.lines), None),
        PanelDialog::Choose { body, items, .. } => (*body, *items) = (DialogBody::Failed(failure.lines), Vec::new()),
        PanelDialog::Text { body, .. } | PanelDialog::Manager { body, .. } => *body = DialogBody::Failed(failure.lines),
        PanelDialog::Help { .. } | PanelDialog::Menu { .. } | PanelDialog::Typed(_) | PanelDialog::Pausing => {}
    }
}

fn fill(model: &PanelModel, dialog: &mut PanelDialog, answer: PanelAnswer) {
    match (dialog, answer) {
        (PanelDialog::Plan { body, deed, .. }, PanelAnswer::Plan(plan)) => {
            *body = DialogBody::Ready(plan.lines);
            *deed = plan.deed;
        }
        (PanelDialog::Text { body, .. }, PanelAnswer::Text(lines)) => *body = DialogBody::Ready(lines),
        (PanelDialog::Choose { body, items, about, .. }, PanelAnswer::Text(lines)) => {
            *items = choices::items(model, about, DialogFacts { shown: &lines, open: Vec::new() });
            *body = DialogBody::Ready(lines);
        }
        (PanelDialog::Choose { body, items, .. }, PanelAnswer::Recovery { lines, choices }) => {
            *body = DialogBody::Ready(lines);
            *items = choices::remedies(choices);
        }
        (PanelDialog::Choose { body, items, .. }, PanelAnswer::Trust { lines, digest }) => {
            *body = DialogBody::Ready(lines);
            *items = choices::trust(digest);
        }
        (PanelDialog::Choose { body, items, about, .. }, PanelAnswer::Choices { before, items: open }) => {
            *items = choices::items(model, about, DialogFacts { shown: &before, open });
            *body = DialogBody::Ready(before);
        }
        (PanelDialog::Manager { body, managed }, PanelAnswer::Checkpoints { heading, rows, summary }) => {
            *body = DialogBody::Ready(Vec::new());
            managed.marked.retain(|name| rows.iter().any(|row| row.name == *name));
            managed.at = managed.at.min(rows.len().saturating_sub(1));
            (managed.heading, managed.rows, managed.summary) = (heading, rows, summary);
        }
        (_, _) => {}
    }
}

pub(super) fn done(model: &mut PanelModel, deed: &PanelAction, outcome: Result<Vec<String>, PanelFailure>) -> Vec<PanelRequest> {
    model.doing.end(deed);
    let succeeded = outcome.is_ok();
    if succeeded && matches!(deed, PanelAction::Quit | PanelAction::CheckpointAndQuit) {
        return vec![PanelRequest::Close(PanelExit::Done)];
    }
    if !succeeded && matches!(deed, PanelAction::Pause | PanelAction::PauseAtOnce) {
        model.dialogs.retain(|dialog| *dialog != PanelDialog::Pausing);
    }
    if let (PanelAction::Approve { gate, .. }, Err(failure)) = (deed, &outcome)
        && failure.code == Code::ChangedMeanwhile.as_str()
    {
        // What was agreed to is not there any more: the human sees what is.
        let anew = super::commands::find_out(model, format!("GATE {gate}{CHANGED}"), PanelQuestion::Gate(gate.clone()));
        return anew;
    }
    tell_outcome(model, &deed.in_words().to_uppercase(), outcome);
    // What the manager shows has changed.
    let manages = model.dialogs.iter().any(|dialog| matches!(dialog, PanelDialog::Manager { .. }));
    if !manages {
        return Vec::new();
    }
    let ticket = model.fresh_ticket();
    for dialog in &mut model.dialogs {
        if let PanelDialog::Manager { body, .. } = dialog {
            *body = DialogBody::Coming(ticket);
        }
    }
    vec![PanelRequest::Ask(ticket, PanelQuestion::Checkpoints)]
}

/// One line is told below the views, if it is whole there; more get a dialog, and so does what went wrong.
pub(super) fn tell_outcome(model: &mut PanelModel, title: &str, outcome: Result<Vec<String>, PanelFailure>) {
    match outcome {
        Ok(lines) => match lines.as_slice() {
            [] => {}
            [one] if fits_below(one, model.size) => model.tell(one.clone()),
            _ => model.dialogs.push(PanelDialog::Text { title: title.to_owned(), body: DialogBody::Ready(lines), top: 0 }),
        },
        Err(failure) => {
            model.dialogs.push(PanelDialog::Text { title: title.to_owned(), body: DialogBody::Failed(failure.lines), top: 0 });
        }
    }
}
