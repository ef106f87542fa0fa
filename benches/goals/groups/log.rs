//! Verbs that read a log of 100,000 events of 1,000 tasks, beside `git rev-parse HEAD`.

use crate::bench::Bench;
use crate::history;
use crate::measure::in_turns;
use crate::row::Goal;
use crate::scratch::Scratch;

const EVENTS: u64 = 100_000;

pub fn rows(bench: &mut Bench) {
    let repository = |events: u64| {
        let scratch = Scratch::with_repository();
        history::long_log(scratch.layout(), events, (0..1000).map(history::task).collect());
        scratch
    };
    let (few, many) = (repository(EVENTS / 4), repository(EVENTS));
    for (verb, called) in [(&["status", "--json"][..], "status --json"), (&["log", "-n", "20"][..], "log -n 20")] {
        let times = in_turns(60, &mut || many.axiom(verb), &mut || many.git(&["rev-parse", "HEAD"]));
        let what = format!("{called}, 1,000 tasks, 100,000 events");
        bench.beside(&what, "git rev-parse HEAD", Goal::AtMost(5.0), times);
        let (small, large) = in_turns(20, &mut || few.axiom(verb), &mut || many.axiom(verb));
        let sizes = ((EVENTS as usize / 4, small), (EVENTS as usize, large));
        bench.growth(called, "events", Goal::AtMost(0.1), sizes.0, sizes.1);
    }
}
