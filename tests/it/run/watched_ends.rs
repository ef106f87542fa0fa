//! Lines that have to be so at ends: a merge that came back by another way, a program that has ended while its work is stored, a workspace
//! that is gone, a branch that was renamed, an edit that was undone.

use git_axiom::base::error::Code;
use serde_json::json;

use crate::session_support::{World, wait_until};

/// Takes back the newest thing that can be taken back.
fn undo_last(world: &World) {
    let last = world.env.json(&["log", "--undoable"])["operations"][0]["id"].as_str().unwrap().to_owned();
    world.env.ok(&["undo", &last, "--yes"]);
}

/// Its gate asked for a merge that main has, and tasks after it waited for ever.
#[test]
fn an_undone_merge_that_came_back_by_another_way_is_merged() {
    let world = World::new();
    world.task("one", "echo 1 > one.txt", &[]);
    world.autopilot(&[]).code(0);
    undo_last(&world);
    assert_eq!(world.gate_ids(), ["merge-one"]);
    // By hand.
    world.env.git(&["merge", "-q", "--no-edit", "axiom/one"]);
    world.task("two", "echo 2 > two.txt", &["--after", "one"]);
    world.autopilot(&[]).code(0);
    assert!(world.env.repo().join("two.txt").exists() && world.gate_ids().is_empty());
    // With the work of another task, which was begun on it.
    world.task("three", "echo 3 > three.txt", &[]);
    world.autopilot(&[]).code(0);
    let go = world.until_go();
    world.task("four", &format!("{go}; echo 4 > four.txt"), &["--after", "three"]);
    let live = world.start(&["--mode", "review", "--until-idle"]);
    world.wait_for_file("begun");
    let merges = world.env.json(&["log", "--undoable"]);
    let merge = merges["operations"].as_array().unwrap().iter().find(|one| one["what"] == "merge three into main").unwrap();
    world.env.ok(&["undo", merge["id"].as_str().unwrap(), "--yes"]);
    world.signal_file("go");
    live.wait();
    world.env.ok(&["gate", "approve", "merge-four"]);
    world.start(&["--mode", "review", "--until-idle"]).wait().code(0);
    assert!(world.find_task("three")["merged"]["commit"].is_string() && world.gate_ids().is_empty(), "{:?}", world.gate_ids());
    world.all_is_well();
}

/// A merge that its target had all along was taken back only here: it is asked about.
#[test]
fn what_the_target_had_when_a_merge_was_undone_does_not_merge_it_again() {
    let world = World::new();
    world.task("one", "echo 1 > one.txt", &[]);
    world.start(&["--mode", "review", "--until-idle"]).wait();
    world.env.git(&["merge", "-q", "--no-edit", "axiom/one"]);
    world.autopilot(&[]).code(0);
    undo_last(&world);
    assert!(world.find_task("one")["merged"].is_null());
    world.autopilot(&[]).code(1);
    assert_eq!(world.gate_ids(), ["merge-one"], "nothing has changed since it was taken back");
    world.env.ok(&["gate", "approve", "merge-one"]);
    world.autopilot(&[]).code(0);
    world.all_is_well();
}

/// They would be shown as the steps that it has passed, and never run.
#[test]
fn other_verify_steps_for_work_that_is_done_are_refused() {
    let world = World::new();
    world.task("t", "echo 1 > t.txt", &["--verify", "test -f t.txt"]);
    world.start(&["--mode", "review", "--until-idle"]).wait();
    let refused = world.env.axiom(&["task", "edit", "t", "--verify", "test -f other"]).fails_with(Code::InvalidTransition);
    assert!(refused.stderr.contains("git axiom gate reject merge-t"), "{}", refused.stderr);
    world.env.ok(&["task", "edit", "t", "--verify", "test -f t.txt"]);
    // The way that is named.
    world.env.ok(&["gate", "reject", "merge-t", "--reason", "R"]);
    world.start(&["--mode", "review", "--until-idle"]).wait();
    world.env.ok(&["task", "edit", "t", "--verify", "test -f other"]);
    world.env.ok(&["task", "unblock", "t"]);
    let ended = world.start(&["--mode", "review", "--until-idle"]).wait();
    assert!(ended.stderr.contains("verify step 'test -f other'"), "{}", ended.stderr);
    assert!(!world.env.repo().join("t.txt").exists());
}

/// The command that takes the undo back is printed, and works, whoever works on the task meanwhile.
#[test]
fn an_undone_edit_of_a_task_at_work_can_be_done_again() {
    let world = World::new();
    world.task("t", &world.until_go(), &[]);
    let live = world.start_autopilot(&[]);
    wait_until("it works", || world.agents().iter().any(|agent| agent["state"] == "running"));
    world.env.ok(&["task", "edit", "t", "--max-time", "1min"]);
    let undone = world.env.ok(&["undo", "--yes"]);
    let command = undone.lines().find_map(|line| line.strip_prefix("To take the undo back: git axiom undo ")).unwrap();
    world.env.ok(&["undo", command, "--yes"]);
    assert_eq!(world.show("t")["limits"], json!({"maxTime": 60}));
    world.signal_file("go");
    live.wait().code(0);
    world.all_is_well();
}

/// A repository in which each file of a task waits for this piece of script when it is stored.
fn slowly_stored(wait: &str) -> World {
    let world = World::new();
    world.env.git(&["config", "filter.slow.clean", &format!("{wait}; cat")]);
    world.env.git(&["config", "filter.slow.smudge", "cat"]);
    world.env.git(&["config", "filter.slow.required", "true"]);
    world.env.write(".gitattributes", "*.bin filter=slow\n");
    world.env.git(&["add", "-A"]);
    world.env.git(&["commit", "-qm", "attributes"]);
    world
}

/// What is stored afterwards is not its time: no budget is used up by it, and nobody is said to run.
#[test]
fn a_program_that_has_ended_does_not_run_while_its_work_is_stored() {
    let world = slowly_stored("sleep 3");
    world.task("t", "echo 1 > t.bin", &[]);
    let live = world.start_autopilot(&["--max-time", "2s"]);
    let stores = || world.env.ok(&["status"]).contains("filters store what its agent left");
    wait_until("its work is stored", stores);
    std::thread::sleep(std::time::Duration::from_millis(1500));
    let status = world.env.json(&["status"]);
    assert_eq!(status["agents"][0]["state"], "ended", "{status}");
    assert!(status["session"]["timeUsedMs"].as_u64().unwrap() < 1000, "{status}");
    live.wait().code(0);
    assert!(world.gate_ids().is_empty());
    world.all_is_well();
}

/// Filters have the grace time of a program: what was complete is not begun again because they take a while.
#[test]
fn who_is_stopped_while_its_work_is_stored_has_completed_it() {
    let world = slowly_stored("sleep 4");
    world.task("t", "echo line >> t.bin; git axiom signal complete", &[]);
    let live = world.start_staying("1");
    wait_until("its work is stored", || world.env.ok(&["status"]).contains("filters store what its agent left"));
    let said = world.env.ok(&["stop", "--all"]);
    assert!(said.contains("It had completed t, and that stands"), "{said}");
    wait_until("merged", || world.find_task("t")["merged"]["commit"].is_string());
    assert_eq!(world.env.read("t.bin"), "line\n");
    world.env.ok(&["quit", "--yes", "--wait"]);
    live.wait();
    world.all_is_well();
}

/// Nothing in it can be committed any more: it is not tried again and again, and the task goes on from what was saved.
#[test]
fn a_workspace_that_goes_while_its_agent_works_is_brought_back() {
    let world = slowly_stored("true");
    let script = format!(
        "if [ -e '{0}' ]; then echo 1 > t.txt; else echo half > t.txt; touch '{0}'; sleep 1000; fi",
        world.beside("begun").display()
    );
    world.task("t", &script, &[]);
    let live = world.start_autopilot(&[]);
    world.wait_for_file("begun");
    wait_until("it works", || world.agents().iter().any(|agent| agent["state"] == "running"));
    std::fs::remove_dir_all(world.env.repo().join(".worktrees/agent-001-t")).unwrap();
    let ended = live.wait().code(0);
    assert!(!ended.stderr.contains("tried again"), "{}", ended.stderr);
    assert!(world.env.repo().join("t.txt").exists());
    world.all_is_well();
}

/// Approving alone would only open the gate again: it names the command that leads out.
#[test]
fn a_workspace_whose_branch_was_renamed_is_usable_after_the_command_that_its_gate_names() {
    let world = World::new();
    let beside = world.env.root().display().to_string();
    let script = format!(
        "echo e > e.txt; git add .; git commit -qm e; [ -e '{beside}/once' ] || {{ touch '{beside}/once'; git branch -m axiom/renamed; }}"
    );
    world.task("t", &script, &[]);
    world.autopilot(&[]).code(1);
    let gate = world.wait_for_gate("claim-t");
    let told = gate.to_string();
    let command = told.split("'git -C ").nth(1).and_then(|rest| rest.split('\'').next()).unwrap_or_else(|| panic!("{told}"));
    world.env.git(&[&["-C"], command.split(' ').collect::<Vec<_>>().as_slice()].concat());
    world.env.ok(&["gate", "approve", "claim-t"]);
    world.autopilot(&[]).code(0);
    assert!(world.env.repo().join("e.txt").exists());
    world.all_is_well();
}
