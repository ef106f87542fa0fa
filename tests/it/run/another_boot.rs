//! What an agent did before the machine stopped: believed only where it was on disk before its end was recorded.
//!
//! The machine stops by losing its processes and what they wrote last; which start of it this is, a variable says.

use std::path::PathBuf;

use git_axiom::model::base::sealed;
use serde_json::Value;

use crate::session_support::{World, wait_until};

/// A task that says it is complete and then waits to end; an attempt leaves a line.
fn world() -> World {
    let mut world = World::new();
    let beside = world.env.root().display().to_string();
    let script = format!(
        "echo t >> '{beside}/counter'; echo whole > t.txt; git axiom signal complete; touch '{beside}/begun'\n\
         while [ ! -f '{beside}/go' ]; do sleep 0.02; done"
    );
    world.task("t", &script, &[]);
    world.variables = vec![("AXIOM_TEST_BOOT".into(), "one".into())];
    world
}

fn workspace_file(world: &World) -> PathBuf {
    world.env.repo().join(".worktrees/agent-001-t/t.txt")
}

/// The file of the only run.
fn file_of_run(world: &World, name: &str) -> PathBuf {
    let runs = world.env.axiom_dir().join("agents/agent-001/runs");
    let run = std::fs::read_dir(runs).unwrap().next().unwrap().unwrap().path();
    run.join(name)
}

/// Starts the session, loses the supervisor, and lets the agent and its keeper end; `fault` is where the keeper is lost.
fn stopped(world: &mut World, fault: Option<&str>) {
    if let Some(fault) = fault {
        world.variables.push(("AXIOM_TEST_FAULT".into(), fault.into()));
    }
    let mut live = world.start_autopilot(&[]);
    world.wait_for_file("begun");
    wait_until("it is known to run", || world.agents().iter().any(|agent| agent["state"] == "running"));
    live.kill();
    world.signal_file("go");
    wait_until("its keeper is gone", || !world.processes().iter().any(|(_, words)| words.contains(" keeper ")));
    world.variables.retain(|(name, _)| name == "AXIOM_TEST_BOOT");
}

/// The next run after another start of the machine.
fn next_boot(world: &mut World) -> String {
    world.variables = vec![("AXIOM_TEST_BOOT".into(), "two".into())];
    let look = world.env.json(&["recover"]);
    assert_eq!(look["needed"], true, "{look}");
    let ended = world.autopilot(&[]).code(0);
    assert_eq!(world.env.read("t.txt"), "whole\n", "{}", ended.stderr);
    ended.stderr
}

fn was_tried_again(world: &World, said: &str) {
    assert!(said.contains("the machine stopped before the work of agent-001 on t was on disk"), "{said}");
    assert_eq!(world.lines("counter"), ["t", "t"], "{said}");
    assert_eq!(world.find_task("t")["retryCount"], 1, "it counts as a crash");
    let audit = world.env.ok(&["task", "audit", "t"]);
    assert!(audit.contains("files may be empty or incomplete"), "{audit}");
    assert_eq!(world.env.git(&["show", "refs/axiom/live/t:t.txt"]), "", "what was left is captured as it was");
    world.all_is_well();
}

#[test]
fn an_end_that_was_recorded_after_its_work_was_synced_is_believed() {
    let mut world = world();
    stopped(&mut world, None);
    let exit: Value = serde_json::from_slice(&std::fs::read(file_of_run(&world, "exit.json")).unwrap()).unwrap();
    assert_eq!(exit["work"]["is"], "synced", "{exit}");
    next_boot(&mut world);
    assert_eq!(world.lines("counter"), ["t"], "its result is taken up");
    world.all_is_well();
}

#[test]
fn what_was_said_before_the_work_was_on_disk_is_not_believed() {
    for fault in ["keeper.ended:1", "keeper.work-synced:1"] {
        let mut world = world();
        stopped(&mut world, Some(fault));
        assert!(!file_of_run(&world, "exit.json").exists(), "{fault}: the work is synced before its end is recorded");
        std::fs::write(workspace_file(&world), "").unwrap();
        let said = next_boot(&mut world);
        was_tried_again(&world, &said);
    }
}

/// Where it is not said whether the disk took the work, and where it did not.
#[test]
fn an_end_whose_work_nobody_synced_is_not_believed() {
    for work in [Value::Null, serde_json::json!({"is": "failed", "why": "an error of the disk"})] {
        let mut world = world();
        stopped(&mut world, None);
        let path = file_of_run(&world, "exit.json");
        let mut exit: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        let record = exit.as_object_mut().unwrap();
        record.remove("sum");
        record.remove("work");
        if !work.is_null() {
            record.insert("work".into(), work);
        }
        std::fs::write(&path, sealed::seal(serde_json::to_vec(&exit).unwrap(), &[])).unwrap();
        std::fs::write(workspace_file(&world), "").unwrap();
        let said = next_boot(&mut world);
        was_tried_again(&world, &said);
    }
}

/// In the same start of the machine nothing is lost with the keeper: what the agent said counts.
#[test]
fn without_a_restart_of_the_machine_what_was_said_counts() {
    let mut world = world();
    stopped(&mut world, Some("keeper.ended:1"));
    world.autopilot(&[]).code(0);
    assert_eq!(world.lines("counter"), ["t"]);
    assert_eq!(world.env.read("t.txt"), "whole\n");
    world.all_is_well();
}

/// What the agent committed is gone with the machine: what is left in its workspace is committed, and it is tried again.
#[test]
fn a_commit_that_the_machine_lost_is_no_end_of_the_session() {
    let mut world = World::new();
    let beside = world.env.root().display().to_string();
    let wait = world.until_go();
    let script = format!(
        "echo t >> '{beside}/counter'; echo whole > t.txt; git add t.txt; git commit -q -m work; git axiom signal complete\n\
         {wait}"
    );
    world.task("t", &script, &[]);
    world.variables = vec![("AXIOM_TEST_BOOT".into(), "one".into())];
    stopped(&mut world, Some("keeper.ended:1"));
    let commit = world.env.git(&["rev-parse", "axiom/t"]);
    let object = world.env.repo().join(format!(".git/objects/{}/{}", &commit[..2], &commit[2..]));
    std::fs::remove_file(&object).unwrap();
    std::fs::write(&object, "").unwrap();
    let said = next_boot(&mut world);
    assert!(said.contains(&commit), "the lost commit is named: {said}");
    assert_eq!(world.lines("counter"), ["t", "t"]);
    assert_eq!(world.find_task("t")["retryCount"], 1);
    world.no_process_is_left();
}

/// Git cannot read what an agent left: its task waits for a human, as often as it is tried, and others go on.
#[test]
fn work_that_cannot_be_committed_costs_its_task_alone() {
    let world = World::new();
    world.task("t", "echo 1 > t.txt; echo no index > \"$(git rev-parse --git-dir)/index\"", &[]);
    let ended = world.autopilot(&[]).code(1);
    assert!(ended.stdout.contains("t waits at gate claim-t: t has an unusable workspace"), "{}{}", ended.stdout, ended.stderr);
    world.no_process_is_left();
}

/// git syncs nothing of what it makes: a task that was claimed, and whose agent was not begun, has no work in its workspace.
#[test]
fn a_workspace_that_was_just_being_made_is_made_again() {
    for (what, has_branch) in [("empty", true), ("gone", true), ("gone", false)] {
        let mut world = world();
        world.variables.push(("AXIOM_TEST_FAULT".into(), "git.after-worktree-add:1".into()));
        let ended = world.start_autopilot(&[]).wait();
        assert_eq!(ended.code, None);
        let workspace = world.env.repo().join(".worktrees/agent-001-t");
        std::fs::remove_file(workspace.join("README")).unwrap();
        match what {
            "empty" => std::fs::write(workspace.join(".git"), "").unwrap(),
            _ => std::fs::remove_file(workspace.join(".git")).unwrap(),
        }
        if !has_branch {
            std::fs::remove_file(world.env.repo().join(".git/refs/heads/axiom/t")).unwrap();
        }
        world.signal_file("go");
        let said = next_boot(&mut world);
        assert!(world.env.repo().join("README").exists(), "{what}: {said}");
        assert!(world.env.git(&["ls-tree", "main"]).contains("README"), "{what}: {said}");
        world.all_is_well();
    }
}
