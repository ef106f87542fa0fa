//! Agents that work: from claim to program, git processes, and 200 trivial tasks beside a shell loop.

use std::collections::BTreeMap;

use git_axiom::model::state::event::Event;
use git_axiom::store::log_files::line;

use crate::bench::Bench;
use crate::measure::{alone, time};
use crate::row::{Goal, Samples, Unit};
use crate::scratch::Scratch;
use crate::{history, repositories};

const LOOP: &str = "for i in $(seq 200); do git worktree add -q -b w$i ../w/$i; \
                    (cd ../w/$i; sh -c \"echo $i > new-$i\"; git add -A; git commit -q -m \"task $i\"); \
                    git merge -q --no-ff -m \"merge $i\" w$i; git worktree remove ../w/$i; done";
const TASKS: usize = 200;

pub fn rows(bench: &mut Bench) {
    starts(bench);
    git_processes(bench);
}

/// A repository of so many files and tasks, configured as by default.
fn repository(files: usize, tasks: usize, body: &str) -> Scratch {
    let scratch = repositories::files(files);
    scratch.sh("git config --unset axiom.checkpoints.maxCount; git config --unset axiom.checkpoints.maxAgeDays");
    history::only_tasks(scratch.layout(), (0..tasks as u64).map(|number| history::script(number, body)).collect());
    scratch
}

fn run(scratch: &Scratch, agents: &str) {
    scratch.axiom(&["run", "--mode", "autopilot", "--until-idle", "--agents", agents]);
}

/// From the claim, which begins with the making of the workspace, to the first command of the program.
fn starts(bench: &mut Bench) {
    let scratch = repository(10_000, 7, "date +%s%N > ../../../$AXIOM_TASK_ID");
    run(&scratch, "1");
    let text = std::fs::read(scratch.layout().events()).unwrap();
    let (mut begun, mut claimed, mut started) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    for bytes in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let envelope = line::decode(bytes).unwrap();
        let at = envelope.at.as_millisecond() as f64 / 1e3;
        if let Event::WorkspaceOpened { task, .. } = envelope.event {
            begun.insert(task, at);
        } else if let Event::TaskClaimed { task, .. } = envelope.event {
            let file = scratch.path(task.as_str());
            let nanoseconds: f64 = std::fs::read_to_string(file).unwrap().trim().parse().unwrap();
            started.insert(task.clone(), nanoseconds / 1e9);
            claimed.insert(task, at);
        }
    }
    let since = |times: &BTreeMap<_, f64>| Samples::of(times.iter().map(|(task, time)| started[task] - time).collect());
    bench.alone("claim to program, its workspace included, 10,000 files", Unit::Seconds, Goal::AtMost(0.15), since(&begun));
    bench.alone("of this after the workspace is made", Unit::Seconds, Goal::None, since(&claimed));
    let mut number = 0;
    let added = alone(5, &mut || {
        number += 1;
        scratch.sh(&format!("git worktree add -q -b w{number} ../w/{number}"));
    });
    bench.alone("git worktree add alone, 10,000 files", Unit::Seconds, Goal::None, added);
}

/// How many git processes each more task takes.
fn git_processes(bench: &mut Bench) {
    let count = |tasks: usize| {
        let scratch = repository(100, tasks, "echo x > new-$AXIOM_TASK_ID");
        let (git, calls) = (scratch.path("bin/git"), scratch.path("calls"));
        let real = scratch.output(&mut scratch.command("sh", &["-c", "command -v git"]));
        let script = format!("#!/bin/sh\necho \"$*\" >> '{}'\nexec {} \"$@\"\n", calls.display(), real.trim());
        std::fs::write(&git, script).unwrap();
        std::fs::set_permissions(&git, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        run(&scratch, "1");
        std::fs::read_to_string(calls).unwrap().lines().count()
    };
    let each = (count(20) - count(10)) as f64 / 10.0;
    bench.alone("git processes of ours for a task", Unit::Count, Goal::AtMost(3.0), Samples::of(vec![each]));
}

/// Many small tasks, by us and by a shell loop.
pub fn trivial(bench: &mut Bench) {
    let ours = |tasks: usize| {
        let scratch = repository(100, tasks, "echo x > new-$AXIOM_TASK_ID");
        time(&mut || run(&scratch, "4"))
    };
    let theirs = || {
        let scratch = repository(100, 0, "true");
        time(&mut || scratch.sh(LOOP))
    };
    let times: Vec<_> = (0..3).map(|_| (ours(TASKS), theirs())).collect();
    let (large, theirs): (Vec<_>, Vec<_>) = times.into_iter().unzip();
    let large = Samples::times(&large);
    let what = "200 trivial tasks with 4 agents";
    let beside = "a shell loop of worktree add, run, commit, merge --no-ff, worktree remove";
    bench.beside(what, beside, Goal::AtMost(1.0), (large.clone(), Samples::times(&theirs)));
    let small = Samples::times(&[ours(TASKS / 4), ours(TASKS / 4), ours(TASKS / 4)]);
    bench.growth("run of trivial tasks with 4 agents", "tasks", Goal::AtMost(1.1), (TASKS / 4, small), (TASKS, large));
}
