//! Many agents and many short tasks, while agents, keepers and the supervisor are killed at seeded moments: every task is merged, or
//! has ended for a reason that is given, and nothing is left.

use std::collections::BTreeSet;
use std::time::Duration;

use crate::common::trials::AskedCases;
use crate::session_support::{Live, Random, World, kill};

/// A crowd: how many agents, tasks and kills.
struct Crowd {
    agents: usize,
    tasks: usize,
    kills: usize,
}

impl Crowd {
    /// A small one, or as many tasks as are asked for, for twenty agents.
    fn of(asked: &AskedCases) -> Self {
        match asked.rounds_asked().map(|tasks| tasks as usize) {
            Some(tasks) => Self { agents: 20, tasks, kills: tasks / 3 },
            None => Self { agents: 6, tasks: 30, kills: 15 },
        }
    }

    fn args(&self) -> [String; 2] {
        ["--agents".into(), self.agents.to_string()]
    }
}

/// What a task's agent does. It says who it is first, so that it can be killed.
fn script(world: &World, number: usize) -> String {
    let beside = world.env.root().display();
    let begin = format!("echo $$ >> '{beside}/pids'; echo half > {number}.txt; sleep 0.{}", number % 5);
    let end = match number % 7 {
        0 => format!("git add {number}.txt; git commit -qm 'by the agent'; git axiom signal complete"),
        1 => "git axiom signal progress 50; exit 0".to_owned(),
        2 => "echo about to fail >&2; exit 3".to_owned(),
        3 => "git axiom signal blocked 'a key is missing'".to_owned(),
        4 => format!("(setsid sleep 30 &) ; echo whole > {number}.txt"),
        _ => format!("echo whole > {number}.txt"),
    };
    format!("{begin}; {end}")
}

/// What the file of a task has to hold once it is merged.
fn written(number: usize) -> &'static str {
    if number % 7 < 2 { "half\n" } else { "whole\n" }
}

/// Whether the target holds what the merged tasks wrote, and nothing of the others.
fn holds_what_was_merged(world: &World, merged: &BTreeSet<String>, tasks: usize, note: &str) {
    let in_target = world.env.git(&["ls-tree", "--name-only", "main"]);
    for number in 0..tasks {
        let (id, file) = (format!("t-{number}"), format!("{number}.txt"));
        let is_there = in_target.lines().any(|line| line == file);
        assert_eq!(is_there, merged.contains(&id), "{note}: {file}\n{in_target}");
        if is_there {
            assert_eq!(
                world.env.git(&["cat-file", "blob", &format!("main:{file}")]),
                written(number).trim_end(),
                "{note}: {file}"
            );
            assert_eq!(world.env.read(&file), written(number), "{note}: {file} in the worktree");
        }
    }
}

/// Kills an agent, a keeper or the supervisor, of those that run. A killed supervisor is started again. Returns whether anything was killed.
pub fn strike(world: &World, random: &mut Random, live: &mut Live, args: &[&str]) -> bool {
    let of = |random: &mut Random, pids: Vec<i32>| match pids.len() {
        0 => false,
        count => kill(pids[usize::try_from(random.below(count as u64)).unwrap()]),
    };
    let running = world.processes();
    match random.below(10) {
        0..=5 => {
            let begun: Vec<String> = world.lines("pids");
            let agents = running.iter().map(|(pid, _)| *pid).filter(|pid| begun.contains(&pid.to_string())).collect();
            of(random, agents)
        }
        6..=7 => {
            let keepers = running.iter().filter(|(_, words)| words.contains(" keeper ")).map(|(pid, _)| *pid).collect();
            of(random, keepers)
        }
        _ => {
            let killed = live.kill();
            *live = world.start_autopilot(args);
            killed
        }
    }
}

#[test]
fn every_task_of_a_crowd_that_is_killed_at_ends_merged_or_for_a_stated_reason() {
    let asked = AskedCases::read();
    let (crowd, seed) = (Crowd::of(&asked), asked.seed_or_clock("a crowd"));
    let (mut random, note) = (Random::of(seed), format!("AXIOM_SEED={seed}"));
    let world = World::new();
    std::fs::write(world.beside("pids"), "").unwrap();
    for number in 0..crowd.tasks {
        world.task(&format!("t-{number}"), &script(&world, number), &[]);
    }
    let args = crowd.args();
    let args: Vec<&str> = args.iter().map(String::as_str).chain(["--max-iterations", "3"]).collect();
    let mut live = world.start_autopilot(&args);
    // Every so many iterations, so that there are kills until the end.
    let (mut begun, mut killed) = (0, 0);
    for _ in 0..crowd.kills {
        begun += random.below(5) as usize;
        while live.runs() && world.lines("pids").len() < begun {
            std::thread::sleep(Duration::from_millis(20));
        }
        std::thread::sleep(Duration::from_millis(random.below(400)));
        if !live.runs() {
            break;
        }
        killed += usize::from(strike(&world, &mut random, &mut live, &args));
    }
    assert!(killed > 0, "{note}: nothing that ran was killed");
    drop(live.wait());
    // Once more: nothing is left to do.
    drop(world.autopilot(&args));
    let listed = world.env.json(&["task", "list"]);
    let tasks = listed["tasks"].as_array().unwrap();
    assert_eq!(tasks.len(), crowd.tasks, "{note}: {listed}");
    let (mut kept, mut merged) = (0, BTreeSet::new());
    for task in tasks {
        let id = task["id"].as_str().unwrap();
        let shown = world.show(id);
        let (status, reason) = (shown["status"].as_str().unwrap(), shown["reason"].as_str().unwrap_or_default());
        match status {
            "done" => {
                assert!(shown["merged"].is_object(), "{note}: {shown}");
                merged.insert(id.to_owned());
            }
            "failed" | "blocked" => {
                kept += 1;
                assert!(!reason.trim().is_empty(), "{note}: {shown}");
            }
            _ => panic!("{note}: {shown}"),
        }
    }
    println!("{note}: {} of {} tasks ended without being merged", kept, crowd.tasks);
    holds_what_was_merged(&world, &merged, crowd.tasks, &note);
    let worktrees = world.env.git(&["worktree", "list", "--porcelain"]).matches("worktree ").count();
    assert!(worktrees <= 1 + kept, "{note}: {worktrees} worktrees, {kept} tasks that are not merged");
    world.env.git(&["fsck", "--full", "--strict"]);
    world.no_process_is_left();
    world.all_is_well();
}
