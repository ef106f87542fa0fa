//! One durable append of one event, beside a bare append of as many bytes with fdatasync in the same folder.

use std::io::Write;

use git_axiom::model::state::event::Event;
use git_axiom::store::layout::StoreLayout;
use git_axiom::store::states::handle::Store;

use crate::bench::Bench;
use crate::history;
use crate::measure::in_turns;
use crate::row::{Goal, Samples};
use crate::scratch::Scratch;

const ROUNDS: usize = 1000;

pub fn rows(bench: &mut Bench) {
    let scratch = Scratch::new();
    let mut store = Store::load(StoreLayout::new(&scratch.path("repo"))).unwrap();
    let author = history::author();
    // A state of some size, and a snapshot behind it, as in the middle of a session.
    let tasks = (0..1000).map(history::task).collect();
    store.append(&author, vec![Event::TasksAdded { tasks }]).unwrap();
    store.save_snapshot().unwrap();
    let mut bare = std::fs::OpenOptions::new().create(true).append(true).open(scratch.path("bare")).unwrap();
    let event = Event::Audited { id: history::task(7).id, text: "something to remember of it".into() };
    let bytes = vec![b'x'; 170];
    let (ours, theirs) = in_turns(ROUNDS, &mut || drop(store.append(&author, vec![event.clone()]).unwrap()), &mut || {
        bare.write_all(&bytes).unwrap();
        bare.sync_data().unwrap();
    });
    let slowest = |samples: &Samples| Samples::of(vec![samples.percentile(99)]);
    let slow = (slowest(&ours), slowest(&theirs));
    bench.beside("append one event", "write + fdatasync of 170 bytes", Goal::AtMost(3.0), (ours, theirs));
    bench.beside("the slowest of a hundred (p99)", "the same", Goal::AtMost(3.0), slow);
}
