//! Keeps what is open true while things happen: a plan is found out anew, and what is gone is said.

use super::dialog::{ChoiceDialogSubject, DialogBody, DialogQuestion, PanelDialog};
use super::{PanelModel, PanelSnapshot};
use crate::panel::request::{PanelAction, PanelQuestion, PanelRequest};
use axiom_model::queries::project::LiveSessionStatus;

/// For so many seconds something is told below the views: then it may not be so any more.
const TOLD: i64 = 12;
/// A plan is asked anew at most this often, in milliseconds: each is a dry run.
const PACE: i128 = 1000;

/// What is on disk has changed since `before`.
pub(super) fn keep_current(model: &mut PanelModel, before: &PanelSnapshot) -> Vec<PanelRequest> {
    let is_paused = |now| matches!(now, LiveSessionStatus::Pausing | LiveSessionStatus::Paused);
    if is_paused(before.session.now) && !is_paused(model.seen.session.now) {
        model.dialogs.retain(|dialog| *dialog != PanelDialog::Pausing);
    }
    for place in 0..model.dialogs.len() {
        if let Some((title, why)) = gone(model, &model.dialogs[place]) {
            model.dialogs[place] = PanelDialog::Text { title, body: DialogBody::Failed(vec![why]), top: 0 };
        }
    }
    ask_again(model)
}

/// Asks what the dialogs show, as far as it was asked before the newest change; each question once at a time.
pub(super) fn ask_again(model: &mut PanelModel) -> Vec<PanelRequest> {
    let mut requests = Vec::new();
    for place in 0..model.dialogs.len() {
        let ticket = model.ticket + 1;
        let (seq, now) = (model.seen.seq, model.now);
        let (PanelDialog::Plan { body, asked: Some(asked), .. } | PanelDialog::Choose { body, asked: Some(asked), .. }) =
            &mut model.dialogs[place]
        else {
            continue;
        };
        // What is decided there is compared with what was shown when it is carried out.
        let is_compared = matches!(asked.question, PanelQuestion::Gate(_) | PanelQuestion::Trust);
        let is_due = now.duration_since(asked.at).as_millis() >= PACE && !is_compared;
        if asked.seq != seq && is_due && asked.again.is_none() && matches!(body, DialogBody::Ready(_)) {
            (asked.seq, asked.at, asked.again) = (seq, now, Some(ticket));
            requests.push(PanelRequest::Ask(ticket, asked.question.clone()));
            model.ticket = ticket;
        }
    }
    requests
}

/// What was told long ago is told no longer.
pub(super) fn forget_what_was_told(model: &mut PanelModel) {
    let now = model.now;
    model.notice.take_if(|notice| now.duration_since(notice.at).as_secs() >= TOLD);
}

/// Why there is nothing to agree to any more, below the heading of the dialog.
fn gone(model: &PanelModel, dialog: &PanelDialog) -> Option<(String, String)> {
    match dialog {
        PanelDialog::Plan {
            title, deed: Some(PanelAction::Stop { agent, task } | PanelAction::Kill { agent, task }), ..
        } => {
            let now = model.seen.agents.iter().find(|row| row.id == *agent).and_then(|row| row.task.as_ref());
            let was = task.as_deref().unwrap_or("the plan");
            (now != task.as_ref()).then(|| (title.clone(), format!("{agent} does not work on {was} any more.")))
        }
        PanelDialog::Choose { title, about: ChoiceDialogSubject::Gate(gate), .. } => {
            let is_there = model.seen.waiting.iter().any(|row| row.id == *gate);
            (!is_there).then(|| (title.clone(), format!("{gate} is gone: nothing waits there any more.")))
        }
        PanelDialog::Plan { .. }
        | PanelDialog::Choose { .. }
        | PanelDialog::Help { .. }
        | PanelDialog::Menu { .. }
        | PanelDialog::Text { .. }
        | PanelDialog::Typed(_)
        | PanelDialog::Pausing
        | PanelDialog::Manager { .. } => None,
    }
}

/// A key in a dialog that shows another answer than the one before: the first one only says that it was seen.
pub(super) fn is_first_look(dialog: &mut PanelDialog) -> bool {
    dialog.asked_mut().is_some_and(|asked| std::mem::take(&mut asked.has_changed))
}

/// An answer came once more: where it is another one, that is said, and what is read begins at its first line.
pub(super) fn compare(before: &PanelDialog, now: &mut PanelDialog) {
    let is_the_same = match (before, &*now) {
        (PanelDialog::Plan { body: old, deed: was, .. }, PanelDialog::Plan { body: new, deed: is, .. }) => {
            (old, was) == (new, is)
        }
        (PanelDialog::Choose { body: old, items: were, .. }, PanelDialog::Choose { body: new, items: are, .. }) => {
            (old, were) == (new, are)
        }
        (_, _) => true,
    };
    if is_the_same {
        return;
    }
    if let PanelDialog::Plan { title, top, asked: Some(asked), .. } | PanelDialog::Choose { title, top, asked: Some(asked), .. } =
        now
    {
        asked.has_changed = true;
        *top = 0;
        if !title.ends_with(CHANGED) {
            title.push_str(CHANGED);
        }
    }
    if let PanelDialog::Choose { at, .. } = now {
        *at = 0;
    }
}

/// What the heading of a dialog says whose content is another one than at first.
pub(super) const CHANGED: &str = ", WHICH HAS CHANGED";

impl DialogQuestion {
    /// Whether this answers the question once more; then it is asked no longer.
    pub(super) fn takes(&mut self, ticket: u64) -> bool {
        self.again.take_if(|again| *again == ticket).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::fixtures::{answer, asked, model, press, seen, seen_with_questions};
    use super::super::update;
    use super::*;
    use crate::panel::event::PanelEvent;
    use crate::panel::request::{PanelAnswer, PanelPreview, PanelQuestion};

    fn plan(words: &str) -> PanelAnswer {
        let deed = PanelAction::RollBackTask("ch-004".into());
        PanelAnswer::Plan(PanelPreview { lines: vec![words.into()], deed: Some(deed) })
    }

    /// What is on disk after another event, changed by this.
    fn happens(model: &mut PanelModel, change: impl FnOnce(&mut PanelSnapshot)) -> Vec<PanelRequest> {
        let mut now = PanelSnapshot { seq: model.seen.seq + 1, ..seen() };
        change(&mut now);
        let later = model.now + jiff::SignedDuration::from_secs(1);
        update(model, PanelEvent::Now(later));
        update(model, PanelEvent::Seen(Box::new(now)))
    }

    fn body(model: &PanelModel) -> &[String] {
        match model.dialogs.last() {
            Some(PanelDialog::Plan { body: DialogBody::Ready(lines), .. }) => lines,
            Some(PanelDialog::Text { body: DialogBody::Failed(lines), .. }) => lines,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_plan_is_found_out_anew_once_at_a_time_while_things_happen() {
        let mut model = model(80, 24);
        let first = press(&mut model, "R");
        assert_eq!(happens(&mut model, |_| {}), [], "it is still being found out");
        let question = PanelQuestion::Plan(PanelAction::RollBackTask("ch-004".into()));
        let mut open = first;
        for words in ["first", "second", "third"] {
            let PanelRequest::Ask(ticket, _) = open[0] else { panic!("{open:?}") };
            open = update(&mut model, PanelEvent::Answered(ticket, Ok(plan(words))));
            assert_eq!((asked(&open), body(&model)), (Some(&question), &[words.to_owned()][..]), "something happened meanwhile");
            assert_eq!(happens(&mut model, |_| {}), []);
        }
        let PanelRequest::Ask(ticket, _) = open[0] else { panic!("{open:?}") };
        let same = update(&mut model, PanelEvent::Answered(ticket, Ok(plan("fourth"))));
        let Some(PanelDialog::Plan { title, .. }) = model.dialogs.last() else { panic!("{:?}", model.dialogs) };
        assert_eq!((title.as_str(), body(&model)), ("TAKE BACK ch-004, WHICH HAS CHANGED", &["fourth".to_owned()][..]));
        assert_eq!(press(&mut model, "Enter"), [], "it has only just come");
        answer(&mut model, &same, plan("fourth"));
        assert_eq!(press(&mut model, "Enter"), [PanelRequest::Do(PanelAction::RollBackTask("ch-004".into()))]);
    }

    #[test]
    fn what_is_undone_is_what_was_shown_whatever_is_newest_later() {
        let mut model = model(80, 24);
        let first = press(&mut model, "U");
        let undo = |id: &str| {
            let deed = Some(PanelAction::Undo(id.into()));
            PanelAnswer::Plan(PanelPreview { lines: vec![format!("undo {id}")], deed })
        };
        answer(&mut model, &first, undo("t1"));
        assert_eq!(asked(&happens(&mut model, |_| {})), Some(&PanelQuestion::PlanUndo(Some("t1".into()))));
    }

    #[test]
    fn an_agent_that_works_on_something_else_is_not_ended_by_what_was_shown() {
        for key in ["s", "x"] {
            let mut model = model(80, 24);
            press(&mut model, key);
            happens(&mut model, |_| {});
            assert!(matches!(model.dialogs.last(), Some(PanelDialog::Plan { .. })));
            happens(&mut model, |now| now.agents[0].task = Some("ch-007".into()));
            assert_eq!(body(&model), ["ed-001 does not work on ch-004 any more."]);
            assert_eq!(press(&mut model, "Enter"), []);
        }
    }

    #[test]
    fn what_a_crash_left_is_opened_by_the_keys_that_the_line_about_it_names() {
        let mut model = model(80, 24);
        press(&mut model, "3");
        assert!(model.selected.gate.is_some());
        press(&mut model, "1");
        update(&mut model, PanelEvent::Seen(Box::new(seen_with_questions())));
        assert_eq!(asked(&press(&mut model, "3 Enter")), Some(&PanelQuestion::Recovery));
    }

    #[test]
    fn what_is_over_is_not_shown_as_if_it_were_not() {
        let mut model = model(80, 24);
        press(&mut model, "3");
        press(&mut model, "Enter");
        let gate = model.selected.gate.clone().unwrap();
        happens(&mut model, |now| now.waiting.retain(|row| row.id != gate));
        assert_eq!(body(&model), [format!("{gate} is gone: nothing waits there any more.")]);
        press(&mut model, "Esc");
        press(&mut model, "Space");
        for (now, open) in [
            (LiveSessionStatus::Running, true),
            (LiveSessionStatus::Pausing, true),
            (LiveSessionStatus::Paused, true),
            (LiveSessionStatus::Running, false),
        ] {
            happens(&mut model, |seen| seen.session.now = now);
            assert_eq!(model.dialogs.contains(&PanelDialog::Pausing), open, "{now:?}");
        }
        model.tell("The mode is review.");
        let at = |seconds| model.now + jiff::SignedDuration::from_secs(seconds);
        let (soon, late) = (at(TOLD - 1), at(TOLD));
        update(&mut model, PanelEvent::Now(soon));
        assert!(model.notice.is_some());
        update(&mut model, PanelEvent::Now(late));
        assert!(model.notice.is_none());
    }
}
