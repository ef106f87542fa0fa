//! What a session costs in which nothing happens: system calls a second, and processor time of the supervisor and the keepers.

use std::time::{Duration, Instant};

use crate::bench::Bench;
use crate::row::{Goal, Samples, Unit};
use crate::session::Session;
use crate::{history, repositories};

pub fn rows(bench: &mut Bench) {
    nothing_to_do(bench);
    sleeping(bench, 20, Goal::AtMost(0.02));
    sleeping(bench, 100, Goal::None);
}

fn one(value: f64) -> Samples {
    Samples::of(vec![value])
}

fn nothing_to_do(bench: &mut Bench) {
    let scratch = repositories::files(1000);
    let mut session = Session::start(&scratch, 2, &["true"]);
    session.wait_for("sessionStarted", 1);
    std::thread::sleep(Duration::from_secs(3));
    let share = session.share_of_a_core(Duration::from_secs(30));
    bench.alone("a session without tasks, over 30 s", Unit::Core, Goal::None, one(share));
    if let Some(calls) = session.system_calls(Duration::from_secs(30)) {
        bench.alone("its system calls", Unit::PerSecond, Goal::AtMost(10.0), one(calls));
    }
    session.end();
}

fn sleeping(bench: &mut Bench, agents: usize, goal: Goal) {
    let scratch = repositories::files(1000);
    history::only_tasks(scratch.layout(), (0..agents as u64).map(|number| history::script(number, "true")).collect());
    let start = Instant::now();
    let mut session = Session::start(&scratch, agents, &["sleep", "1000"]);
    session.wait_for("iterationStarted", agents);
    let started = start.elapsed().as_secs_f64();
    bench.alone(&format!("start of run to {agents} running agents"), Unit::Seconds, Goal::None, one(started));
    std::thread::sleep(Duration::from_secs(5));
    assert_eq!(session.processes().len(), agents + 1, "a supervisor and a keeper for each agent");
    let share = session.share_of_a_core(Duration::from_secs(60));
    let what = format!("{agents} sleeping agents: supervisor and keepers over 60 s, captures every 30 s");
    bench.alone(&what, Unit::Core, goal, one(share));
    if let Some(calls) = session.system_calls(Duration::from_secs(30)) {
        bench.alone("their system calls", Unit::PerSecond, Goal::None, one(calls));
    }
    session.end();
}
