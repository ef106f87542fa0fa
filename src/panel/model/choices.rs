//! What can be chosen in a dialog: at a gate, for an agent, at a checkpoint, when the panel ends.

use super::commands::open;
use super::dialog::{About, Chosen, Item, Then};
use super::{Body, Dialog, Model};
use crate::domain::recovery::wanted::{Choice, Wanted};
use crate::panel::request::{Closing, Deed, Question, Remedies, Request};
use crate::told::recovery::{self, Asking};

/// What can be chosen, once it is known what is to be read before.
pub(super) fn items(model: &Model, about: &About, open: Vec<(String, String)>) -> Vec<Item> {
    match about {
        About::Gate(gate) => decisions(model, gate),
        About::Redirect(agent) => places(agent, open),
        About::Quit => ways_out(),
        About::Checkpoint(_) | About::Recovery | About::Trust => Vec::new(),
    }
}

/// What can be decided at a gate.
fn decisions(model: &Model, gate: &str) -> Vec<Item> {
    let asks = model.seen.waiting.iter().any(|row| row.id == gate && row.asks);
    let gate = gate.to_owned();
    let typed = |label: &str, then: Then| Chosen::Type { label: label.to_owned(), then };
    let yes = match asks {
        true => Item { letter: Some('a'), line: "Answer".to_owned(), then: typed("Answer", Then::Answer(gate.clone())) },
        false => {
            Item { letter: Some('a'), line: "Approve: let it continue".to_owned(), then: Chosen::Do(Deed::Approve(gate.clone())) }
        }
    };
    let no =
        Item { letter: Some('r'), line: "Reject: its task is blocked".to_owned(), then: typed("Reason", Then::Reject(gate)) };
    vec![later(), yes, no]
}

/// What changes nothing comes first: an Enter too many does no harm.
fn later() -> Item {
    Item { letter: None, line: "Leave it waiting".to_owned(), then: Chosen::Nothing }
}

/// What becomes of what a crash left. What is done as it is shown needs no second look.
pub(super) fn remedies(remedies: Remedies) -> Vec<Item> {
    let as_shown = Chosen::Do(Deed::Recover(Wanted::default()));
    let item = |choice: Choice| {
        let asks = |title: &str, question| Chosen::Ask { title: title.to_owned(), question };
        let (letter, then) = match choice {
            Choice::Resume => ('y', as_shown.clone()),
            Choice::FailedOnly => {
                ('a', asks("BEGIN ANEW WHAT CANNOT GO ON", Question::Plan(Deed::Recover(Wanted::default().failed_only()))))
            }
            Choice::Inspect => ('w', asks("WHAT IS THERE", Question::CutOff)),
            Choice::Abandon => ('o', asks("ABANDON", Question::Abandoned)),
        };
        Item { letter: Some(letter), line: recovery::choice(choice, Asking::Recover).to_owned(), then }
    };
    let repair = || Item { letter: Some('y'), line: recovery::REPAIR.to_owned(), then: as_shown.clone() };
    match remedies {
        Remedies::None => Vec::new(),
        Remedies::Repair => vec![later(), repair()],
        Remedies::OfTasks => std::iter::once(later()).chain(Choice::ALL.into_iter().map(item)).collect(),
    }
}

/// Whether the project's files are approved as they were shown; nothing can be chosen where they cannot be.
pub(super) fn trust(digest: Option<String>) -> Vec<Item> {
    let approve = |digest| Item {
        letter: Some('a'),
        line: "Approve exactly this: it is applied, and run as you".to_owned(),
        then: Chosen::Do(Deed::Trust(digest)),
    };
    digest.map(|digest| vec![later(), approve(digest)]).unwrap_or_default()
}

/// Where an agent can be sent.
fn places(agent: &str, items: Vec<(String, String)>) -> Vec<Item> {
    let item = |(to, line): (String, String)| Item {
        letter: None,
        line,
        then: Chosen::Do(Deed::Redirect { agent: agent.to_owned(), to }),
    };
    items.into_iter().map(item).collect()
}

/// What becomes of a session whose agents run.
fn ways_out() -> Vec<Item> {
    use crate::ops::interventions::quitting::Before;
    use crate::told::interventions::QUITTING;
    let leave =
        Item { letter: Some('l'), line: "Leave it running, and close the panel".to_owned(), then: Chosen::Close(Closing::Done) };
    let way = |(before, words): &(Option<Before>, &str)| {
        let (letter, then) = match before {
            Some(Before::Nothing) => (Some('q'), Chosen::Do(Deed::Quit)),
            Some(Before::Checkpoint) => (Some('s'), Chosen::Do(Deed::CheckpointAndQuit)),
            None => (None, Chosen::Nothing),
        };
        Item { letter, line: (*words).to_owned(), then }
    };
    std::iter::once(leave).chain(QUITTING.iter().map(way)).collect()
}

/// What can be done with a checkpoint.
pub(super) fn choose_at(model: &mut Model, name: String) -> Vec<Request> {
    let item = |letter, line: &str, then| Item { letter: Some(letter), line: line.to_owned(), then };
    let back = Question::Plan(Deed::RollBack(name.clone()));
    let items = vec![
        item(
            'b',
            "Go back to it: shows what would change, and asks",
            Chosen::Ask { title: format!("GO BACK TO {name}"), question: back },
        ),
        item(
            'w',
            "What changed since",
            Chosen::Ask { title: format!("WHAT CHANGED SINCE {name}"), question: Question::Since(name.clone()) },
        ),
        item(
            'o',
            "Restore one file or folder",
            Chosen::Type {
                label: "File or folder, from the top of the repository".to_owned(),
                then: Then::Restore(name.clone()),
            },
        ),
    ];
    let body = Body::Ready(vec!["Whatever you do with it can be undone.".to_owned()]);
    open(model, Dialog::Choose { title: name.clone(), about: About::Checkpoint(name), body, items, at: 0, top: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::base::ids::CaseId;
    use crate::panel::event::Event;
    use crate::panel::model::tests::{answer, asked, model, press, seen_with_questions};
    use crate::panel::model::{Model, update};
    use crate::panel::request::{Answer, Plan};

    fn with_questions() -> Model {
        let mut model = model(80, 24);
        update(&mut model, Event::Seen(Box::new(seen_with_questions())));
        press(&mut model, "3 g");
        model
    }

    fn recovery(choices: Remedies) -> Model {
        let mut model = with_questions();
        let requests = press(&mut model, "Enter");
        assert_eq!(asked(&requests), Some(&Question::Recovery));
        answer(&mut model, &requests, Answer::Recovery { lines: vec!["resumable  ch-004".into()], choices });
        model
    }

    #[test]
    fn a_recovery_is_done_as_it_was_shown_and_what_was_not_shown_is_shown_first() {
        let go_on = Deed::Recover(Wanted::default());
        assert_eq!(press(&mut recovery(Remedies::OfTasks), "y"), [Request::Do(go_on.clone())]);
        assert_eq!(press(&mut recovery(Remedies::OfTasks), "Enter"), [], "the first choice changes nothing");
        assert_eq!(press(&mut recovery(Remedies::Repair), "y"), [Request::Do(go_on)]);
        assert_eq!(press(&mut recovery(Remedies::None), "y"), []);
        let anew = Deed::Recover(Wanted::default().failed_only());
        let tasks = vec![CaseId::new("ch-004").unwrap()];
        for (key, question, deed) in [("a", Question::Plan(anew.clone()), anew), ("o", Question::Abandoned, Deed::Abandon(tasks))]
        {
            let mut model = recovery(Remedies::OfTasks);
            let requests = press(&mut model, key);
            assert_eq!(asked(&requests), Some(&question));
            assert_eq!(press(&mut model, "Enter"), [], "nothing is agreed to before it is shown");
            answer(&mut model, &requests, Answer::Plan(Plan { lines: vec!["plan".into()], deed: Some(deed.clone()) }));
            assert_eq!(press(&mut model, "Enter"), [Request::Do(deed)]);
        }
        let mut model = recovery(Remedies::OfTasks);
        let requests = press(&mut model, "w");
        assert_eq!(asked(&requests), Some(&Question::CutOff));
        answer(&mut model, &requests, Answer::Text(vec!["ch-004: active".into()]));
        assert_eq!(press(&mut model, "Enter"), []);
        assert!(model.dialogs.is_empty());
    }

    #[test]
    fn exactly_the_files_that_were_shown_are_approved() {
        let shown = |digest: Option<String>| {
            let mut model = with_questions();
            let requests = press(&mut model, "G Enter");
            assert_eq!(asked(&requests), Some(&Question::Trust));
            answer(&mut model, &requests, Answer::Trust { lines: vec![".axiom/config.toml".into()], digest });
            model
        };
        let digest = "0a1b".to_owned();
        assert_eq!(press(&mut shown(Some(digest.clone())), "a"), [Request::Do(Deed::Trust(digest.clone()))]);
        assert_eq!(press(&mut shown(Some(digest)), "Enter"), []);
        assert_eq!(press(&mut shown(None), "a"), [], "what cannot be applied is not approved");
    }
}
