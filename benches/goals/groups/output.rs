//! Verbs that read the log of an agent that has printed 200 MB, and a log of events of 200 MB; how soon `output --follow` prints what an
//! agent has printed.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::bench::Bench;
use crate::history;
use crate::measure::alone;
use crate::row::{Goal, Samples, Unit};
use crate::scratch::{PROGRAM, Scratch};
use crate::session::Session;

const BYTES: usize = 200_000_000;
/// So many are more than 200 MB.
const EVENTS: u64 = 1_000_000;
const ROUNDS: usize = 40;

pub fn rows(bench: &mut Bench) {
    let scratch = Scratch::with_repository();
    history::only_tasks(scratch.layout(), vec![history::script(0, "true")]);
    let mut session = Session::start(&scratch, 1, &["sh", "-c", "seq 100; exec sleep 1000"]);
    session.wait_for("iterationStarted", 1);
    std::thread::sleep(std::time::Duration::from_secs(1));
    enlarge(&scratch);
    let first = format!("{PROGRAM} output agent-001 | head -n 1");
    let last = format!("{PROGRAM} output agent-001 -n 20");
    let mut row = |what: &str, work: &mut dyn FnMut()| {
        bench.alone(what, Unit::Seconds, Goal::AtMost(0.1), alone(ROUNDS, work));
    };
    row("status, an agent's log of 200 MB", &mut || scratch.axiom(&["status"]));
    row("output -n 20, a log of 200 MB", &mut || scratch.sh(&last));
    row("the first line of output, a log of 200 MB", &mut || scratch.sh(&first));
    session.end();
    beside_long_logs(bench);
    followed(bench);
}

/// From the moment in which an agent prints a line to that in which `output --follow` has printed it, while many agents print.
fn followed(bench: &mut Bench) {
    const AGENTS: usize = 50;
    // Each line says when it was printed.
    const PRINTS: &str = "while :; do yes \"$(date +%s%N) a line of what an agent prints\" | head -c 60000; sleep 0.3; done";
    let scratch = Scratch::with_repository();
    history::only_tasks(scratch.layout(), (0..AGENTS as u64).map(|number| history::script(number, "true")).collect());
    let mut session = Session::start(&scratch, AGENTS, &["sh", "-c", PRINTS]);
    session.wait_for("iterationStarted", AGENTS);
    std::thread::sleep(Duration::from_secs(2));
    let follow = scratch.command(PROGRAM, &["output", "--follow", "-n", "1", "agent-001"]).stdout(Stdio::piped()).spawn();
    let mut follow = follow.unwrap();
    let lines = BufReader::new(follow.stdout.take().unwrap()).lines().map(Result::unwrap);
    let lags = lines.skip(1).filter_map(|line| {
        // The last line that `head` lets through is cut off.
        let printed = line.split(' ').next().filter(|word| word.len() == 19)?.parse().unwrap();
        Some(SystemTime::now().duration_since(UNIX_EPOCH + Duration::from_nanos(printed)).unwrap())
    });
    let lags: Vec<Duration> = lags.take(50_000).collect();
    follow.kill().unwrap();
    follow.wait().unwrap();
    let what = "a line of an agent to `output --follow`, 50 agents that print 10 MB/s together";
    bench.alone(what, Unit::Seconds, Goal::AtMost(1.0), Samples::times(&lags));
    session.end();
}

/// Both at once: 200 MB of events, and an agent at work whose program has printed 200 MB of lines of JSON.
fn beside_long_logs(bench: &mut Bench) {
    let scratch = Scratch::with_repository();
    let bytes = history::long_log_at_work(scratch.layout(), EVENTS, (0..1000).map(history::task).collect());
    assert!(bytes >= BYTES as u64, "only {bytes} bytes of events");
    let task = history::task(0).id;
    let log = scratch.layout().agents().folder().join(format!("ed-001/logs/{task}.jsonl"));
    std::fs::create_dir_all(log.parent().unwrap()).unwrap();
    let one = printed();
    std::fs::write(&log, one.repeat(BYTES / one.len() + 1)).unwrap();
    let first = format!("{PROGRAM} output {task} | head -n 1");
    let last = format!("{PROGRAM} output {task} -n 20");
    let mut row = |what: &str, work: &mut dyn FnMut()| {
        let what = format!("{what}, 200 MB of events and 200 MB of lines of JSON");
        bench.alone(&what, Unit::Seconds, Goal::AtMost(0.1), alone(ROUNDS, work));
    };
    row("status", &mut || scratch.axiom(&["status"]));
    row("output -n 20", &mut || scratch.sh(&last));
    row("the first line of output", &mut || scratch.sh(&first));
}

/// What a run of an agent program leaves in its log.
fn printed() -> String {
    let recorded = include_str!("../../../fixtures/streams/claude.jsonl");
    let lines = recorded.lines().enumerate().map(|(number, text)| {
        let line = serde_json::json!({
            "at": "2026-01-13T10:00:00.123Z", "iteration": 1, "stream": "stdout", "program": "claude", "text": text,
            "first": number == 0,
        });
        format!("{line}\n")
    });
    lines.collect()
}

/// Repeats what the agent has printed.
fn enlarge(scratch: &Scratch) {
    let logs = scratch.layout().agents().folder().join("agent-001/logs");
    let path = std::fs::read_dir(logs).unwrap().next().unwrap().unwrap().path();
    let printed = std::fs::read(&path).unwrap();
    assert!(printed.len() > 1000, "it has printed something");
    let mut log = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    log.write_all(&printed.repeat(BYTES / printed.len())).unwrap();
}
