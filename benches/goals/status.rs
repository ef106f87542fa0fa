//! `status` with 1,000 tasks of 4 KB bodies and 100,000 events, beside `git rev-parse HEAD`.

use git_axiom::domain::state::event::Event;
use git_axiom::store::handle::Store;
use git_axiom::store::layout::Layout;

use super::history::{self, Writer};
use super::measure::{Row, in_turns, median};
use super::scratch::{PROGRAM, Scratch};

const EVENTS: u64 = 100_000;
const ROUNDS: usize = 60;

/// The part of `status` that this program plays itself where the verb is missing.
pub fn load(folder: &str) {
    let store = Store::load(Layout::new(std::path::Path::new(folder))).unwrap();
    assert!(store.state().seq > 0);
}

pub fn rows() -> Vec<Row> {
    let scratch = Scratch::with_repository();
    let folder = scratch.path("repo/.git");
    let mut writer = Writer::new(Layout::new(&folder));
    writer.push(Event::CasesAdded { cases: (0..1000).map(history::case).collect() });
    let mut snapshots = 0;
    for number in 0.. {
        if writer.state.seq >= EVENTS {
            break;
        }
        // The last snapshot is as old as it gets: whoever appends writes one after 500 events.
        if snapshots == 0 && writer.state.seq + 500 >= EVENTS {
            writer.snapshot();
            snapshots += 1;
        }
        history::iteration(&mut writer, number);
    }
    writer.finish();
    let loads = || scratch.command(std::env::current_exe().unwrap(), &["--load", folder.to_str().unwrap()]);
    let status = || scratch.command(PROGRAM, &["status", "--json"]);
    let exists = status().status().unwrap().success();
    let what = if exists { "git-axiom status --json" } else { "a process that only loads the state (no verb 'status' yet)" };
    let (ours, theirs) = in_turns(ROUNDS, &mut || scratch.run(&mut if exists { status() } else { loads() }), &mut || {
        scratch.run(&mut scratch.command("git", &["rev-parse", "HEAD"]))
    });
    vec![Row {
        what: format!("{what}, 1,000 tasks, 100,000 events"),
        beside: "git rev-parse HEAD".into(),
        ours: median(&ours),
        theirs: median(&theirs),
        goal: 5.0,
    }]
}
