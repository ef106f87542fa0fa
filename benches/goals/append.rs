//! One durable append of one event, beside a bare append of as many bytes with fdatasync in the same folder.

use std::io::Write;

use git_axiom::domain::state::event::Event;
use git_axiom::store::handle::Store;
use git_axiom::store::layout::Layout;

use super::history;
use super::measure::{Row, in_turns, median, percentile};
use super::scratch::Scratch;

const ROUNDS: usize = 1000;

pub fn rows() -> Vec<Row> {
    let scratch = Scratch::new();
    let layout = Layout::new(&scratch.path("repo"));
    let mut store = Store::load(layout).unwrap();
    let author = history::author();
    // A state of some size, and a snapshot behind it, as in the middle of a session.
    let cases = (0..1000).map(history::case).collect();
    store.append(&author, vec![Event::CasesAdded { cases }]).unwrap();
    store.save_snapshot().unwrap();
    let mut bare = std::fs::OpenOptions::new().create(true).append(true).open(scratch.path("bare")).unwrap();
    let event = Event::Audited { id: history::case(7).id, text: "something to remember of it".into() };
    let bytes = vec![b'x'; 170];
    let (ours, theirs) = in_turns(ROUNDS, &mut || drop(store.append(&author, vec![event.clone()]).unwrap()), &mut || {
        bare.write_all(&bytes).unwrap();
        bare.sync_data().unwrap();
    });
    let row = |what: &str, pick: fn(&[std::time::Duration]) -> std::time::Duration| Row {
        what: format!("append one event, {what}"),
        beside: format!("write + fdatasync of 170 bytes, {what}"),
        ours: pick(&ours),
        theirs: pick(&theirs),
        goal: 3.0,
    };
    vec![row("median", median), row("p99", |times| percentile(times, 99))]
}
