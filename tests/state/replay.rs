//! Replay equals snapshot and tail, for random event sequences; what does not fit changes nothing.
#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeSet;

use crate::support::{KINDS, author, envelope, propose, run};
use git_axiom::base::error::Code;
use git_axiom::model::state::current_state::State;
use git_axiom::model::state::event::Event;
use git_axiom::store::beside::tasks;
use git_axiom::store::layout::StoreLayout;
use git_axiom::store::log_files::{line, log, segments};
use git_axiom::store::states::handle::Store;
use proptest::prelude::*;

fn choices(most: usize) -> impl Strategy<Value = Vec<(u8, u32)>> {
    proptest::collection::vec((0..KINDS, any::<u32>()), 0..most)
}

fn replay(layout: &StoreLayout) -> State {
    let mut state = State::default();
    log::read_after(layout, 0, None, |envelope| state.apply(&envelope)).unwrap();
    state
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Snapshots and seals fall at random places; whoever loads, refreshes or replays sees the same state.
    #[test]
    fn replay_equals_snapshot_and_tail(choices in choices(120), marks in proptest::collection::vec(0..10_u8, 120)) {
        let dir = tempfile::tempdir().unwrap();
        let layout = StoreLayout::new(dir.path());
        let mut store = Store::load(layout.clone()).unwrap();
        let mut follower = Store::load(layout.clone()).unwrap();
        for (choice, mark) in choices.iter().zip(&marks) {
            let Some(event) = propose(store.state(), *choice) else { continue };
            if store.append(&author(), vec![event]).is_err() {
                continue;
            }
            match mark {
                0 => store.save_snapshot().unwrap(),
                1 => {
                    let first = segments::list(&layout).unwrap().last().unwrap().first;
                    if let Some(first) = first {
                        segments::seal(&layout, first).unwrap();
                    }
                    store = Store::load(layout.clone()).unwrap();
                }
                2 => {
                    follower.refresh().unwrap();
                    prop_assert_eq!(follower.state(), store.state());
                }
                3 => prop_assert_eq!(&replay(&layout), store.state()),
                _ => {}
            }
        }
        follower.refresh().unwrap();
        prop_assert_eq!(follower.state(), store.state());
        for id in store.state().restorable.tasks.keys() {
            let name = id.to_string().to_ascii_uppercase();
            prop_assert!(follower.state().is_taken(&name) && store.state().is_taken(&name));
        }
        let loaded = Store::load(layout.clone()).unwrap();
        prop_assert_eq!(loaded.state(), store.state());
        prop_assert_eq!(&replay(&layout), store.state());
        // The last word on every task is the state's.
        prop_assert_eq!(&tasks::load(&layout).unwrap().tasks, &store.state().restorable.tasks);
    }

    /// A refused event changes nothing, and every state survives JSON; so does every event.
    #[test]
    fn apply_is_all_or_nothing(choices in choices(200), strangers in choices(200)) {
        let (events, state) = run(&choices);
        for event in events {
            let whole = envelope(&state, event);
            let bytes = line::encode(&whole).unwrap();
            prop_assert_eq!(line::decode(&bytes[..bytes.len() - 1]).unwrap(), whole);
        }
        // Events made for other states mostly do not fit this one.
        for event in run(&strangers).0 {
            let mut copy = state.clone();
            if copy.apply(&envelope(&state, event)).is_err() {
                prop_assert_eq!(&copy, &state);
            }
        }
        let json = serde_json::to_vec(&state).unwrap();
        prop_assert_eq!(serde_json::from_slice::<State>(&json).unwrap(), state);
    }
}

#[test]
fn the_generator_reaches_every_kind_of_event() {
    let mut seen = BTreeSet::new();
    for seed in 0..40_u32 {
        let choices: Vec<_> = (0..600_u32)
            .map(|i| {
                let x = (seed * 7919 + i).wrapping_mul(2_654_435_761).rotate_left(13).wrapping_mul(2_246_822_519);
                ((x >> 24) as u8 % KINDS, x ^ (x >> 15))
            })
            .collect();
        seen.extend(run(&choices).0.iter().map(|event| event.name()));
    }
    // 28 kinds, of which only recovery makes one.
    assert_eq!(seen.len(), 27, "{seen:?}");
}

#[test]
fn a_refused_batch_leaves_neither_lines_nor_changes() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::load(StoreLayout::new(dir.path())).unwrap();
    let added = |id: &str| Event::TasksAdded { tasks: vec![crate::support::task(id)] };
    store.append(&author(), vec![added("a")]).unwrap();
    let before = store.state().clone();
    assert!(store.append(&author(), vec![added("b"), added("a")]).is_err());
    assert_eq!(store.state(), &before);
    store.append(&author(), vec![added("b")]).unwrap();
    assert_eq!(store.state(), Store::load(StoreLayout::new(dir.path())).unwrap().state());
    assert_eq!(store.state().seq, 2);
}

/// A log so long that other threads help to read it: all events, in order, and the first bad line by its number.
#[test]
fn a_long_log_is_read_in_order_and_up_to_its_first_bad_line() {
    const EVENTS: u64 = 9000;
    let dir = tempfile::tempdir().unwrap();
    let layout = StoreLayout::new(dir.path());
    layout.ensure().unwrap();
    let mut state = State::default();
    let mut bytes = Vec::new();
    let mut ends = Vec::new();
    while state.seq < EVENTS {
        let id = crate::support::task_id(1);
        let event = match state.seq {
            0 => Event::TasksAdded { tasks: vec![crate::support::task(id.as_str())] },
            seq => Event::Audited { id, text: "x".repeat(seq as usize % 300) },
        };
        let envelope = envelope(&state, event);
        state.apply(&envelope).unwrap();
        bytes.extend(line::encode(&envelope).unwrap());
        ends.push(bytes.len());
    }
    assert!(bytes.len() > 2_000_000);
    std::fs::write(layout.events(), &bytes).unwrap();
    let mut seen = 0;
    let tail = log::read_after(&layout, 0, None, |envelope| {
        seen += 1;
        assert_eq!(envelope.seq, seen);
        Ok(())
    })
    .unwrap();
    assert_eq!((seen, tail.position.offset, tail.torn), (EVENTS, bytes.len() as u64, 0));
    assert_eq!(tail.position.sum, line::last_sum(&bytes));
    assert_eq!(Store::load(layout.clone()).unwrap().state(), &state);

    bytes[ends[6000] + 50] ^= 1;
    bytes[ends[7500] + 50] ^= 1;
    bytes.extend_from_slice(b"torn");
    std::fs::write(layout.events(), &bytes).unwrap();
    let mut good = 0;
    let error = log::read_after(&layout, 0, None, |_| {
        good += 1;
        Ok(())
    })
    .unwrap_err();
    assert_eq!((good, error.code()), (6001, Code::EventLogCorrupted));
    assert!(error.what().starts_with("line 6002 of events.jsonl"), "{error}");
}
