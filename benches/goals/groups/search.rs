//! Finding a task's commits among 100,000, beside `git log` with trailers.

use crate::bench::Bench;
use crate::measure::in_turns;
use crate::repositories;
use crate::row::Goal;

const COMMITS: usize = 100_000;
const ROUNDS: usize = 7;

pub fn rows(bench: &mut Bench) {
    let scratch = repositories::history(100, COMMITS, 1, |number| vec![number % 100]);
    let format = "--format=%H%x00%s%x00%(trailers:key=Axiom-Task,valueonly)";
    // What is remembered is remembered where git axiom is used.
    scratch.axiom(&["task", "add", "something"]);
    let memory = scratch.path("repo/.git/axiom/tmp/scanned.json");
    let take = || scratch.axiom(&["rollback", "task", "t1", "--dry-run"]);
    let log = || scratch.git(&["log", format]);
    let mut first = || {
        let _ = std::fs::remove_file(&memory);
        take();
    };
    let times = in_turns(ROUNDS, &mut first, &mut || log());
    let what = "a task's commit found among 100,000 (dry run of its rollback)";
    bench.beside(what, "git log with trailers", Goal::AtMost(1.0), times);
    let times = in_turns(ROUNDS, &mut || take(), &mut || log());
    bench.beside("the same, the history scanned before", "git log with trailers", Goal::AtMost(0.03), times);
}
