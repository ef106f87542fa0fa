//! What can be chosen in a dialog: at a gate, for an agent, at a checkpoint, when the panel ends.

use super::commands::open;
use super::dialog::{About, Chosen, Item, Then};
use super::{Body, Dialog, Model};
use crate::panel::request::{Closing, Deed, Question, Request};

/// What can be chosen, once it is known what is to be read before.
pub(super) fn items(model: &Model, about: &About, open: Vec<(String, String)>) -> Vec<Item> {
    match about {
        About::Gate(gate) => decisions(model, gate),
        About::Redirect(agent) => places(agent, open),
        About::Quit => ways_out(),
        About::Checkpoint(_) => Vec::new(),
    }
}

/// What can be decided at a gate.
fn decisions(model: &Model, gate: &str) -> Vec<Item> {
    let asks = model.seen.gates.iter().any(|row| row.id == gate && row.asks);
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
    let later = Item { letter: None, line: "Leave it waiting".to_owned(), then: Chosen::Nothing };
    vec![later, yes, no]
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
