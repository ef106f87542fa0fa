//! `undo` and `events` beside 1,000,000 events.

use crate::bench::Bench;
use crate::measure::{in_turns, in_turns_after};
use crate::row::{Goal, Samples, Unit};
use crate::scratch::{PROGRAM, Scratch};
use crate::{history, machine};

const EVENTS: u64 = 1_000_000;
const ROUNDS: usize = 5;

pub fn rows(bench: &mut Bench) {
    let repository = |events: u64| {
        let scratch = Scratch::with_repository();
        history::long_log(scratch.layout(), events, (0..1000).map(|number| history::script(number, "true")).collect());
        scratch
    };
    let (few, many) = (repository(EVENTS / 4), repository(EVENTS));
    let sizes = |small: Samples, large: Samples| ((EVENTS as usize / 4, small), (EVENTS as usize, large));
    let undo = |scratch: &Scratch| scratch.axiom(&["undo", "--yes"]);
    let mut add = || [&few, &many].iter().for_each(|scratch| scratch.axiom(&["task", "add", "something"]));
    let (small, large) = in_turns_after(ROUNDS, &mut add, &mut || undo(&few), &mut || undo(&many));
    bench.alone("undo of an added task, 1,000,000 events", Unit::Seconds, Goal::None, large.clone());
    let (small, large) = sizes(small, large);
    bench.growth("undo of an added task", "events", Goal::AtMost(0.1), small, large);

    let events = |scratch: &Scratch| scratch.axiom(&["events"]);
    let (small, large) = in_turns(ROUNDS, &mut || events(&few), &mut || events(&many));
    bench.alone("events, 1,000,000 of them", Unit::Seconds, Goal::None, large.clone());
    let (small, large) = sizes(small, large);
    bench.growth("events", "events", Goal::AtMost(1.1), small, large);
    let memory = |scratch: &Scratch, verb: &[&str]| {
        let peaks = (0..3).map(|_| machine::peak_memory(&mut scratch.command(PROGRAM, verb)) as f64).collect();
        Samples::of(peaks)
    };
    for verb in [&["events"][..], &["events", "--json"], &["log", "-n", "20"], &["undo", "--dry-run"]] {
        let (small, large) = sizes(memory(&few, verb), memory(&many, verb));
        bench.growth_of(Unit::Bytes, &format!("memory of {}", verb.join(" ")), "events", Goal::AtMost(0.1), small, large);
    }
}
