//! What can be chosen in a dialog: at a gate, for an agent, at a checkpoint, when the panel ends.

use super::dialog::{ChoiceDialogSubject, DialogChoice, DialogChoiceAction, DialogTextPurpose, open};
use super::{DialogBody, PanelDialog, PanelModel};
use crate::panel::request::{PanelAction, PanelExit, PanelQuestion, PanelRemedies, PanelRequest};
use crate::wording::recovery;
use crate::wording::recovery::RecoveryAsker;
use axiom_model::recovery::human_choice::{CrashRecoveryChoice, RecoverySelection};
use axiom_model::work::gates::gate::GateKind;
use axiom_model::work::gates::gate::permission_gate::ALWAYS;

/// The place of the yes among the decisions at a gate.
pub(super) const YES: usize = 1;

/// What was found out for a dialog.
#[derive(Debug, Default)]
pub(super) struct DialogFacts<'a> {
    /// What is read before.
    pub shown: &'a [String],
    /// What can be chosen, each with the word that names it.
    pub open: Vec<(String, String)>,
}

/// What can be chosen, once it is known what is to be read before.
pub(super) fn items(model: &PanelModel, about: &ChoiceDialogSubject, known: DialogFacts<'_>) -> Vec<DialogChoice> {
    match about {
        ChoiceDialogSubject::Gate(gate) => decisions(model, gate, known.shown),
        ChoiceDialogSubject::Redirect(agent) => places(agent, known.open),
        ChoiceDialogSubject::Quit => ways_out(),
        ChoiceDialogSubject::Checkpoint(_) | ChoiceDialogSubject::Recovery | ChoiceDialogSubject::Trust => Vec::new(),
    }
}

/// What can be decided at a gate.
fn decisions(model: &PanelModel, gate: &str, shown: &[String]) -> Vec<DialogChoice> {
    let asks = model.seen.waiting.iter().any(|row| row.id == gate && row.asks);
    if GateKind::of_gate(gate) == Some(GateKind::Permission) {
        return permissions(model, gate, shown);
    }
    let gate = gate.to_owned();
    let typed = |label: &str, then: DialogTextPurpose| DialogChoiceAction::Type { label: label.to_owned(), then };
    let yes = match asks {
        true => DialogChoice {
            letter: Some('a'),
            line: "Answer".to_owned(),
            then: typed("Answer", DialogTextPurpose::Answer(gate.clone())),
        },
        false => DialogChoice {
            letter: Some('a'),
            line: "Approve: let it continue".to_owned(),
            then: DialogChoiceAction::Do(PanelAction::Approve { gate: gate.clone(), shown: shown.to_vec() }),
        },
    };
    let no = DialogChoice {
        letter: Some('r'),
        line: "Reject: its task is blocked".to_owned(),
        then: typed("Reason", DialogTextPurpose::Reject(gate)),
    };
    vec![later(), yes, no]
}

/// What can be answered to an agent that asks for a permission.
fn permissions(model: &PanelModel, gate: &str, shown: &[String]) -> Vec<DialogChoice> {
    let always = model.seen.waiting.iter().any(|row| row.id == gate && row.always);
    let gate = || gate.to_owned();
    let choice = |letter, line: &str, then| DialogChoice {
        letter: Some(letter),
        line: line.to_owned(),
        then: DialogChoiceAction::Do(then),
    };
    let once = choice('a', "Allow it once", PanelAction::Approve { gate: gate(), shown: shown.to_vec() });
    let reason = "rejected at the gate".to_owned();
    let no = choice('r', "Reject: the agent goes on without it", PanelAction::Reject { gate: gate(), reason });
    let for_task = PanelAction::Answer { gate: gate(), text: ALWAYS.to_owned() };
    let for_task = always.then(|| choice('w', "Allow it for the rest of the task, by the rule above", for_task));
    [later(), once].into_iter().chain(for_task).chain([no]).collect()
}

/// What changes nothing comes first: an Enter too many does no harm.
fn later() -> DialogChoice {
    DialogChoice { letter: None, line: "Leave it waiting".to_owned(), then: DialogChoiceAction::Nothing }
}

/// What becomes of what a crash left. What is done as it is shown needs no second look.
pub(super) fn remedies(remedies: PanelRemedies) -> Vec<DialogChoice> {
    let as_shown = DialogChoiceAction::Do(PanelAction::Recover(RecoverySelection::default()));
    let item = |choice: CrashRecoveryChoice| {
        let asks = |title: &str, question| DialogChoiceAction::Ask { title: title.to_owned(), question };
        let (letter, then) = match choice {
            CrashRecoveryChoice::Resume => ('y', as_shown.clone()),
            CrashRecoveryChoice::FailedOnly => (
                'a',
                asks(
                    "BEGIN ANEW WHAT CANNOT GO ON",
                    PanelQuestion::Plan(PanelAction::Recover(RecoverySelection::default().failed_only())),
                ),
            ),
            CrashRecoveryChoice::Inspect => ('w', asks("WHAT IS THERE", PanelQuestion::CutOff)),
            CrashRecoveryChoice::Abandon => ('o', asks("ABANDON", PanelQuestion::Abandoned)),
        };
        DialogChoice { letter: Some(letter), line: recovery::choice(choice, RecoveryAsker::Recover).to_owned(), then }
    };
    let repair = || DialogChoice { letter: Some('y'), line: recovery::REPAIR.to_owned(), then: as_shown.clone() };
    match remedies {
        PanelRemedies::None => Vec::new(),
        PanelRemedies::Repair => vec![later(), repair()],
        PanelRemedies::OfTasks => std::iter::once(later()).chain(CrashRecoveryChoice::ALL.into_iter().map(item)).collect(),
    }
}

/// Whether the project's files are approved as they were shown; nothing can be chosen where they cannot be.
pub(super) fn trust(digest: Option<String>) -> Vec<DialogChoice> {
    let approve = |digest| DialogChoice {
        letter: Some('a'),
        line: "Approve exactly this: it is applied, and run as you".to_owned(),
        then: DialogChoiceAction::Do(PanelAction::Trust(digest)),
    };
    digest.map(|digest| vec![later(), approve(digest)]).unwrap_or_default()
}

/// Where an agent can be sent.
fn places(agent: &str, items: Vec<(String, String)>) -> Vec<DialogChoice> {
    let item = |(to, line): (String, String)| DialogChoice {
        letter: None,
        line,
        then: DialogChoiceAction::Do(PanelAction::Redirect { agent: agent.to_owned(), to }),
    };
    items.into_iter().map(item).collect()
}

/// What becomes of a session whose agents run.
fn ways_out() -> Vec<DialogChoice> {
    use crate::wording::interventions::QUITTING;
    use axiom_agents::interventions::quitting::SaveBeforeQuit;
    let leave = DialogChoice {
        letter: Some('l'),
        line: "Leave it running, and close the panel".to_owned(),
        then: DialogChoiceAction::Close(PanelExit::Done),
    };
    let way = |(before, words): &(Option<SaveBeforeQuit>, &str)| {
        let (letter, then) = match before {
            Some(SaveBeforeQuit::Nothing) => (Some('q'), DialogChoiceAction::Do(PanelAction::Quit)),
            Some(SaveBeforeQuit::Checkpoint) => (Some('s'), DialogChoiceAction::Do(PanelAction::CheckpointAndQuit)),
            None => (None, DialogChoiceAction::Nothing),
        };
        DialogChoice { letter, line: (*words).to_owned(), then }
    };
    std::iter::once(leave).chain(QUITTING.iter().map(way)).collect()
}

/// What can be done with a checkpoint.
pub(super) fn choose_at(model: &mut PanelModel, name: String) -> Vec<PanelRequest> {
    let item = |letter, line: &str, then| DialogChoice { letter: Some(letter), line: line.to_owned(), then };
    let back = PanelQuestion::Plan(PanelAction::RollBack(name.clone()));
    let items = vec![
        item(
            'b',
            "Go back to it: shows what would change, and asks",
            DialogChoiceAction::Ask { title: format!("GO BACK TO {name}"), question: back },
        ),
        item(
            'w',
            "What changed since",
            DialogChoiceAction::Ask { title: format!("WHAT CHANGED SINCE {name}"), question: PanelQuestion::Since(name.clone()) },
        ),
        item(
            'o',
            "Restore one file or folder",
            DialogChoiceAction::Type {
                label: "File or folder, from the top of the repository".to_owned(),
                then: DialogTextPurpose::Restore(name.clone()),
            },
        ),
    ];
    let body = DialogBody::Ready(vec!["Whatever you do with it can be undone.".to_owned()]);
    open(
        model,
        PanelDialog::Choose {
            title: name.clone(),
            about: ChoiceDialogSubject::Checkpoint(name),
            body,
            items,
            at: 0,
            top: 0,
            asked: None,
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panel::event::PanelEvent;
    use crate::panel::model::tests::fixtures::{answer, asked, model, press, seen_with_questions};
    use crate::panel::model::{PanelModel, update};
    use crate::panel::request::{PanelAnswer, PanelFailure, PanelPreview};
    use axiom_base::error::Code;
    use axiom_model::base::ids::TaskId;

    fn with_questions() -> PanelModel {
        let mut model = model(80, 24);
        update(&mut model, PanelEvent::Seen(Box::new(seen_with_questions())));
        press(&mut model, "3 g");
        model
    }

    fn recovery(choices: PanelRemedies) -> PanelModel {
        let mut model = with_questions();
        let requests = press(&mut model, "Enter");
        assert_eq!(asked(&requests), Some(&PanelQuestion::Recovery));
        answer(&mut model, &requests, PanelAnswer::Recovery { lines: vec!["resumable  ch-004".into()], choices });
        model
    }

    #[test]
    fn a_recovery_is_done_as_it_was_shown_and_what_was_not_shown_is_shown_first() {
        let go_on = PanelAction::Recover(RecoverySelection::default());
        assert_eq!(press(&mut recovery(PanelRemedies::OfTasks), "y"), [PanelRequest::Do(go_on.clone())]);
        assert_eq!(press(&mut recovery(PanelRemedies::OfTasks), "Enter"), [], "the first choice changes nothing");
        assert_eq!(press(&mut recovery(PanelRemedies::Repair), "y"), [PanelRequest::Do(go_on)]);
        assert_eq!(press(&mut recovery(PanelRemedies::None), "y"), []);
        let anew = PanelAction::Recover(RecoverySelection::default().failed_only());
        let tasks = vec![TaskId::new("ch-004").unwrap()];
        for (key, question, deed) in
            [("a", PanelQuestion::Plan(anew.clone()), anew), ("o", PanelQuestion::Abandoned, PanelAction::Abandon(tasks))]
        {
            let mut model = recovery(PanelRemedies::OfTasks);
            let requests = press(&mut model, key);
            assert_eq!(asked(&requests), Some(&question));
            assert_eq!(press(&mut model, "Enter"), [], "nothing is agreed to before it is shown");
            answer(
                &mut model,
                &requests,
                PanelAnswer::Plan(PanelPreview { lines: vec!["plan".into()], deed: Some(deed.clone()) }),
            );
            assert_eq!(press(&mut model, "Enter"), [PanelRequest::Do(deed)]);
        }
        let mut model = recovery(PanelRemedies::OfTasks);
        let requests = press(&mut model, "w");
        assert_eq!(asked(&requests), Some(&PanelQuestion::CutOff));
        answer(&mut model, &requests, PanelAnswer::Text(vec!["ch-004: active".into()]));
        assert_eq!(press(&mut model, "Enter"), []);
        assert!(model.dialogs.is_empty());
    }

    #[test]
    fn exactly_the_gate_that_was_shown_is_approved_and_shown_anew_if_it_has_changed() {
        let mut model = model(80, 24);
        model.seen.waiting[0].asks = false;
        press(&mut model, "3");
        let requests = press(&mut model, "a");
        let gate = model.selected.gate.clone().unwrap();
        assert_eq!(asked(&requests), Some(&PanelQuestion::Gate(gate.clone())));
        assert_eq!(press(&mut model, "Enter"), [], "nothing is approved before it is shown");
        let shown = vec!["merge it".to_owned()];
        answer(&mut model, &requests, PanelAnswer::Text(shown.clone()));
        let deed = PanelAction::Approve { gate: gate.clone(), shown };
        assert_eq!(press(&mut model, "Enter"), [PanelRequest::Do(deed.clone())]);
        let failure = PanelFailure { code: Code::ChangedMeanwhile.as_str(), lines: vec!["changed".to_owned()] };
        let requests = update(&mut model, PanelEvent::Done(deed, Err(failure)));
        assert_eq!(asked(&requests), Some(&PanelQuestion::Gate(gate)), "it is shown anew");
        assert_eq!(press(&mut model, "Enter"), []);
    }

    #[test]
    fn exactly_the_files_that_were_shown_are_approved() {
        let shown = |digest: Option<String>| {
            let mut model = with_questions();
            let requests = press(&mut model, "G Enter");
            assert_eq!(asked(&requests), Some(&PanelQuestion::Trust));
            answer(&mut model, &requests, PanelAnswer::Trust { lines: vec![".axiom/config.toml".into()], digest });
            model
        };
        let digest = "0a1b".to_owned();
        assert_eq!(press(&mut shown(Some(digest.clone())), "a"), [PanelRequest::Do(PanelAction::Trust(digest.clone()))]);
        assert_eq!(press(&mut shown(Some(digest)), "Enter"), []);
        assert_eq!(press(&mut shown(None), "a"), [], "what cannot be applied is not approved");
    }
}
