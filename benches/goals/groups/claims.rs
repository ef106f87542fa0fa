//! 10,000 tasks as chains and as a random graph: from the start of `run` to the first claim, and to the end after SIGTERM.

use std::time::{Duration, Instant};

use git_axiom::model::base::ids::TaskId;
use git_axiom::model::work::tasks::task::Task;

use crate::bench::Bench;
use crate::row::{Goal, Samples, Unit, grouped};
use crate::scratch::Scratch;
use crate::session::Session;
use crate::{history, repositories};

const TASKS: usize = 10_000;
const ROUNDS: usize = 3;

pub fn rows(bench: &mut Bench) {
    of_shape(bench, "chains of 1,000", chain);
    of_shape(bench, "a random graph", random);
}

fn of_shape(bench: &mut Bench, shape: &str, after: fn(usize) -> Vec<usize>) {
    let (few, many) = (repository(TASKS / 4, after), repository(TASKS, after));
    let (small, _) = claims(&few);
    let (large, ends) = claims(&many);
    let tasks = format!("{} tasks as {shape}", grouped(TASKS));
    bench.alone(&format!("start of run to the first claim, {tasks}"), Unit::Seconds, Goal::AtMost(1.0), large.clone());
    bench.alone("SIGTERM to its end, the agent sleeping 0.2 s", Unit::Seconds, Goal::AtMost(1.0), ends);
    let with = format!("tasks as {shape}");
    bench.growth("start of run to the first claim", &with, Goal::AtMost(1.1), (TASKS / 4, small), (TASKS, large));
    let mut session = Session::start(&many, 1, &["sleep", "1000"]);
    session.wait_for("iterationStarted", 1);
    std::thread::sleep(Duration::from_secs(2));
    let share = session.share_of_a_core(Duration::from_secs(10));
    session.end();
    bench.alone(&format!("a session whose agent sleeps, {tasks}"), Unit::Core, Goal::AtMost(0.005), Samples::of(vec![share]));
}

/// The times to the first claim, and from SIGTERM to the end.
fn claims(scratch: &Scratch) -> (Samples, Samples) {
    let (mut claims, mut ends) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let mut session = Session::start(scratch, 1, &["sleep", "0.2"]);
        session.wait_for("taskClaimed", 1);
        claims.push(start.elapsed());
        ends.push(session.end());
    }
    (Samples::times(&claims), Samples::times(&ends))
}

fn repository(tasks: usize, after: fn(usize) -> Vec<usize>) -> Scratch {
    let scratch = repositories::files(100);
    let id = |number: usize| history::script(number as u64, "true").id;
    let task = |number: usize| {
        let after: Vec<TaskId> = after(number).into_iter().map(id).collect();
        Task { after, ..history::script(number as u64, "true") }
    };
    history::only_tasks(scratch.layout(), (0..tasks).map(task).collect());
    scratch
}

fn chain(number: usize) -> Vec<usize> {
    if number.is_multiple_of(1000) { vec![] } else { vec![number - 1] }
}

/// After up to three of the earlier ones.
fn random(number: usize) -> Vec<usize> {
    let mut after: Vec<usize> = (0..3)
        .map(|which| (number as u64 * 3 + which).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33)
        .filter(|_| number > 0)
        .map(|random| random as usize % number)
        .collect();
    after.sort_unstable();
    after.dedup();
    after
}
