//! What recovery costs: looking at what a crash left, from a restart to work that goes on, and reading a long log.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use git_axiom::model::base::ids::{AgentId, Token};
use git_axiom::model::base::names::{Oid, RefName};
use git_axiom::model::state::event::Event;
use git_axiom::model::work::agent::Workspace;
use git_axiom::store::states::handle::Store;

use crate::bench::Bench;
use crate::history::{self, Writer};
use crate::measure::{alone, in_turns, time};
use crate::row::{Goal, Samples, Unit};
use crate::scratch::{PROGRAM, Scratch};
use crate::session::Session;
use crate::{machine, repositories};

const TASKS: u64 = 1000;
const EVENTS: u64 = 1_000_000;
const BYTES: u64 = 100_000_000;
const ROUNDS: usize = 5;

pub fn rows(bench: &mut Bench) {
    active(bench);
    resumed(bench);
    redone(bench);
    marker(bench);
    long_logs(bench);
    small(bench);
    note(bench);
}

/// As many tasks as that were being worked on when the machine died, each in a workspace of its own.
fn active(bench: &mut Bench) {
    let scratch = Scratch::with_repository();
    let head = Oid::new(scratch.output(&mut scratch.command("git", &["rev-parse", "HEAD"])).trim()).unwrap();
    let mut writer = Writer::new(scratch.layout());
    writer.push(Event::TasksAdded { tasks: (0..TASKS).map(|number| history::script(number, "true")).collect() });
    for number in 0..TASKS {
        let task = history::script(number, "true").id;
        let agent = AgentId::new(format!("agent-{:03}", number + 1)).unwrap();
        let path = scratch.path(&format!("repo/.worktrees/{agent}-{task}"));
        let branch = format!("axiom/{task}");
        scratch.git(&["worktree", "add", "-q", "-b", &branch, path.to_str().unwrap()]);
        let workspace = Workspace {
            agent: agent.clone(),
            path: path.to_str().unwrap().to_owned(),
            branch: RefName::new(format!("refs/heads/{branch}")),
            base: head.clone(),
        };
        let token = Token::new(format!("k{number:015x}")).unwrap();
        writer.push(Event::WorkspaceOpened { task: task.clone(), workspace, goes_on: false });
        writer.push(Event::TaskClaimed { agent: agent.clone(), task, complete: false });
        writer.push(Event::IterationIntended {
            agent: agent.clone(),
            iteration: 1,
            token: token.clone(),
            from: head.clone(),
            exit_completes: true,
            program: String::new(),
            resumes: None,
        });
        writer.push(Event::IterationStarted { agent, token, pid: 4711 });
    }
    writer.snapshot();
    writer.finish();
    // Records where the repository is, as every verb that writes does: without that, each workspace is asked whose it is.
    scratch.axiom(&["init"]);
    let list = "git worktree list --porcelain > /dev/null; git for-each-ref > /dev/null";
    let (ours, theirs) = in_turns(ROUNDS, &mut || scratch.axiom(&["recover"]), &mut || scratch.sh(list));
    let what = "recover looks, 1,000 active tasks with 1,000 workspaces";
    bench.alone("the same without what git takes", Unit::Seconds, Goal::AtMost(1.0), ours.without(&theirs));
    let told: serde_json::Value =
        serde_json::from_str(&scratch.output(&mut scratch.command(PROGRAM, &["recover", "--json"]))).unwrap();
    let found = ["resumable", "reset", "failed"].iter().map(|key| told[key].as_array().unwrap().len() as u64).sum::<u64>();
    let missed = Samples::of(vec![(TASKS - found) as f64]);
    bench.alone("of the 1,000 tasks, those that it does not find", Unit::Count, Goal::AtMost(0.0), missed);
    bench.beside(what, "git worktree list, git for-each-ref", Goal::None, (ours, theirs));
}

/// From the start of `run` after a crash to the iteration that goes on.
fn resumed(bench: &mut Bench) {
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let scratch = Scratch::with_repository();
        history::only_tasks(scratch.layout(), vec![history::script(0, "true")]);
        let program = ["sh", "-c", "echo half > half.txt; exec sleep 1000"];
        let mut session = Session::start(&scratch, 1, &program);
        session.wait_for("iterationStarted", 1);
        std::thread::sleep(Duration::from_millis(300));
        session.dies();
        let mut next = None;
        times.push(time(&mut || {
            let mut session = Session::start(&scratch, 1, &program);
            session.wait_for("iterationStarted", 1);
            next = Some(session);
        }));
        next.unwrap().end();
    }
    bench.alone("restart after a crash to resumed", Unit::Seconds, Goal::AtMost(120.0), Samples::times(&times));
}

/// How much of a task of many steps is made twice where the machine dies in the middle of it.
fn redone(bench: &mut Bench) {
    const STEPS: usize = 50;
    let mut shares = Vec::new();
    for _ in 0..ROUNDS {
        let scratch = Scratch::with_repository();
        history::only_tasks(scratch.layout(), vec![history::script(0, "true")]);
        let made = scratch.path("made");
        // One file that grows: files that are all empty are no beginning, so their task would begin anew.
        let step = format!("echo $n >> '{}'; sleep 0.02; echo $n >> steps.txt", made.display());
        let script = format!("for n in $(seq {STEPS}); do grep -qsx $n steps.txt || {{ {step}; }}; done");
        let program = ["sh", "-c", &script];
        let lines = || std::fs::read_to_string(&made).unwrap_or_default().lines().count();
        let mut session = Session::start(&scratch, 1, &program);
        session.wait_for("iterationStarted", 1);
        machine::wait_until("half of it is made", || lines() > STEPS / 2);
        session.dies();
        let mut session = Session::start(&scratch, 1, &program);
        // Of the one that was cut off, and of the one that goes on.
        session.wait_for("iterationEnded", 2);
        session.end();
        shares.push((lines() - STEPS) as f64 * 100.0 / STEPS as f64);
    }
    bench.alone("percent of the work that is done again", Unit::Count, Goal::AtMost(5.0), Samples::of(shares));
}

/// From the line of a program to its marker on disk.
fn marker(bench: &mut Bench) {
    const RULES: &str = r#"
[agents]
default = "mine"
[agents.mine]
command = ["sh", "-c", "exec < ../../../lines; while read -r line; do echo \"$line\"; done"]
[agents.mine.tools]
Bash = "shell"
[agents.mine.stream]
format = "jsonLines"
rules = [{ is = "toolStarted", when = { "/type" = "tool" }, name = "/name", id = "/id", input = "/input" }]
"#;
    let scratch = Scratch::with_repository();
    history::only_tasks(scratch.layout(), vec![history::script(0, "true")]);
    let config = scratch.path("home/.config/git-axiom");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("config.toml"), RULES).unwrap();
    let lines = scratch.path("lines");
    scratch.sh(&format!("mkfifo '{}'", lines.display()));
    let mut session = Session::start(&scratch, 1, &[]);
    session.wait_for("iterationStarted", 1);
    let mut lines = std::fs::OpenOptions::new().write(true).open(&lines).unwrap();
    let runs = scratch.layout().agents().folder().join("agent-001/runs");
    let run = std::fs::read_dir(runs).unwrap().next().unwrap().unwrap().path();
    let signals = run.join("signals.jsonl");
    let length = || signals.metadata().map_or(0, |meta| meta.len());
    let mut number = 0;
    let times = alone(ROUNDS * 10, &mut || {
        let before = length();
        number += 1;
        let call = format!("{{\"type\":\"tool\",\"name\":\"Bash\",\"id\":\"{number}\",\"input\":{{\"command\":\"make\"}}}}\n");
        lines.write_all(call.as_bytes()).unwrap();
        while length() == before {
            std::thread::yield_now();
        }
    });
    drop(lines);
    session.end();
    bench.alone("from a line of a program to its marker on disk", Unit::Seconds, Goal::AtMost(0.005), times);
}

/// A checkpoint of a clean repository of 1,000 files.
fn small(bench: &mut Bench) {
    let scratch = repositories::files(1000);
    let times = alone(ROUNDS * 2, &mut || scratch.axiom(&["checkpoint", "create"]));
    bench.alone("a checkpoint of 1,000 files", Unit::Seconds, Goal::AtMost(0.1), times);
}

fn long_logs(bench: &mut Bench) {
    let empty = Scratch::with_repository();
    empty.axiom(&["init"]);
    let tasks = || (0..TASKS).map(history::task).collect();
    let scratch = Scratch::with_repository();
    history::long_log(scratch.layout(), EVENTS, tasks());
    let bytes = size_of(scratch.layout().events().parent().unwrap());
    assert!(bytes > BYTES, "{bytes}");
    let start = |scratch: &Scratch| scratch.axiom(&["status"]);
    let (long, short) = in_turns(ROUNDS * 4, &mut || start(&scratch), &mut || start(&empty));
    let what = format!("what status takes longer with a log of {} MB", bytes / 1_000_000);
    bench.alone(&what, Unit::Seconds, Goal::AtMost(0.02), long.without(&short));
    let layout = scratch.layout();
    std::fs::remove_file(layout.snapshot()).unwrap();
    let replay = alone(ROUNDS, &mut || drop(Store::load(layout.clone()).unwrap()));
    bench.alone("1,000,000 events replayed, without a snapshot", Unit::Seconds, Goal::AtMost(2.0), replay);
}

/// The note of a checkpoint of many tasks, and the time that the checkpoint takes.
fn note(bench: &mut Bench) {
    let scratch = Scratch::with_repository();
    history::only_tasks(scratch.layout(), (0..TASKS).map(|number| history::script(number, "true")).collect());
    let mut number = 0;
    let times = alone(ROUNDS * 2, &mut || {
        number += 1;
        scratch.axiom(&["checkpoint", "create", &format!("number-{number}")]);
    });
    bench.alone("a checkpoint of 1,000 tasks", Unit::Seconds, Goal::AtMost(0.1), times);
    scratch.axiom(&["checkpoint", "create", "last"]);
    let shown = scratch.output(&mut scratch.command("git", &["notes", "--ref=axiom", "show", "axiom/last"]));
    bench.alone("its note", Unit::Bytes, Goal::AtMost(1e6), Samples::of(vec![shown.len() as f64]));
}

fn size_of(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).unwrap().flatten();
    entries.filter_map(|entry| entry.metadata().ok()).filter(std::fs::Metadata::is_file).map(|data| data.len()).sum()
}
