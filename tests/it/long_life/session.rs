//! A session that goes on and on while tasks come, are merged, and checkpoints come and go.

use std::path::Path;

use crate::long_life::rounds_of;
use crate::session_support::{World, wait_until};

/// Pages of the program and of its data that were touched so far are in memory after so many rounds.
const WARM_UP: usize = 4;

/// Each merged task stays in the state of the session: its fields, names and places. A snapshot has a kilobyte of each.
const MEMORY_OF_A_TASK: usize = 16 * 1024;

/// What an allocator takes at once.
const MEMORY_AT_ONCE: usize = 4 * 1024 * 1024;

#[test]
fn a_long_session_keeps_neither_memory_nor_open_files() {
    let rounds = rounds_of(WARM_UP + 8);
    let world = World::new();
    world.env.git(&["config", "axiom.checkpoints.maxCount", "5"]);
    let mut session = world.start(&["--mode", "autopilot"]);
    let process = format!("/proc/{}", session.pid());
    let mut warm = None;
    for number in 0..rounds {
        let task = format!("t{number}");
        world.task(&task, &format!("echo {number} > made"), &[]);
        wait_until("the task is merged", || !world.show(&task)["merged"].is_null());
        world.env.ok(&["checkpoint", "create"]);
        wait_until("the agent is free", || world.agents().iter().all(|agent| agent["taskId"].is_null()));
        if number + 1 == WARM_UP {
            warm = Some((open_files(&process), memory(&process)));
        }
    }
    let (files, before) = warm.unwrap();
    // The session may be between two events, with something open for a moment.
    wait_until("no more files are open than in the beginning", || open_files(&process) <= files);
    let (now, allowed) = (memory(&process), before + MEMORY_AT_ONCE + (rounds - WARM_UP) * MEMORY_OF_A_TASK);
    assert!(now <= allowed, "{before} bytes after {WARM_UP} tasks, {now} after {rounds}; at most {allowed} were expected");
    session.interrupt();
    wait_until("the session ends", || !session.runs());
    world.all_is_well();
}

fn open_files(process: &str) -> usize {
    std::fs::read_dir(Path::new(process).join("fd")).unwrap().count()
}

fn memory(process: &str) -> usize {
    let status = std::fs::read_to_string(Path::new(process).join("status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<usize>().unwrap() * 1024
}
