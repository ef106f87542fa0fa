//! Rollback and undo while agents are at work.

use git_axiom::base::error::Code;

use crate::session_support::{Live, World, wait_until};

/// A session with an agent that has written `half` and then waits for `go`.
fn at_work(world: &World) -> Live {
    let wait = world.until_go();
    let script = format!("echo half > t.txt; setsid sleep 2000 & {wait}; echo whole > t.txt");
    world.task("t", &script, &[]);
    world.env.ok(&["checkpoint", "create", "before"]);
    let live = world.start(&["--mode", "autopilot"]);
    world.wait_for_file("begun");
    wait_until("it is known to run", || world.agents().iter().any(|agent| agent["state"] == "running"));
    live
}

#[test]
fn agents_are_stopped_for_a_rollback_and_its_undo_and_the_session_goes_on() {
    let world = World::new();
    let mut live = at_work(&world);
    let (files, sleeps) = (world.users_things(), || world.processes().iter().any(|(_, words)| words.contains("2000")));
    world.env.axiom(&["rollback", "checkpoint", "before", "--yes", "--no-stop"]).fails_with(Code::Busy);
    assert!(sleeps() && live.runs(), "nothing was stopped");
    world.env.ok(&["rollback", "checkpoint", "before", "--yes"]);
    assert!(live.runs(), "the supervisor lives");
    assert_eq!(world.users_things(), files, "the main worktree is as it was");
    std::fs::remove_file(world.beside("begun")).unwrap();
    // The mode of then is back too: a claim would wait for a human.
    world.env.ok(&["mode", "autopilot"]);
    world.env.ok(&["gate", "approve", "--all"]);
    // It goes on: the task is claimed again, and waits again.
    wait_until("it is at work again", || world.agents().iter().any(|agent| agent["state"] == "running"));
    world.wait_for_file("begun");
    // Its new workspace is where the one is that an undo would bring back: refused, and the agent works on.
    let refused = world.env.axiom(&["undo", "--yes"]);
    assert!(refused.code != Some(0) && sleeps(), "{refused}");
    world.signal_file("go");
    wait_until("merged", || world.find_task("t")["merged"]["commit"].is_string());
    assert_eq!(world.env.read("t.txt"), "whole\n");
    world.env.ok(&["quit"]);
    live.wait();
    wait_until("sleepers are gone", || !sleeps());
    world.all_is_well();
}

#[test]
fn an_undo_stops_the_agents_too_and_lets_the_session_go_on() {
    let world = World::new();
    let mut live = at_work(&world);
    world.env.ok(&["checkpoint", "create", "during"]);
    // The session goes on before the command has returned.
    let at_work_again_after = |args: &[&str]| {
        std::fs::remove_file(world.beside("begun")).unwrap();
        world.env.ok(args);
        world.wait_for_file("begun");
        wait_until("at work again", || world.agents().iter().any(|agent| agent["state"] == "running"));
    };
    world.env.write("mine.txt", "mine\n");
    let main = world.env.repo().display().to_string();
    at_work_again_after(&["rollback", "checkpoint", "during", "--worktree", &main, "--yes"]);
    assert!(!world.env.repo().join("mine.txt").exists());
    at_work_again_after(&["undo", "--yes"]);
    assert_eq!(world.env.read("mine.txt"), "mine\n");
    world.signal_file("go");
    wait_until("merged", || world.find_task("t")["merged"]["commit"].is_string());
    assert!(live.runs());
    world.env.ok(&["quit"]);
    live.wait();
    world.all_is_well();
}

#[test]
fn a_merge_that_was_undone_waits_for_a_human_in_autopilot_too() {
    let world = World::new();
    world.task("t", "echo 1 > t.txt", &[]);
    world.task("u", "echo 1 > u.txt", &["--after", "t"]);
    world.autopilot(&[]).code(0);
    for merge in ["merge u", "merge t"] {
        let log = world.env.json(&["log", "--undoable"]);
        let all = log["operations"].as_array().unwrap();
        let one = all.iter().find(|one| one["what"].as_str().unwrap().starts_with(merge)).unwrap();
        assert_eq!(one["refs"][0]["name"], "refs/heads/main", "{one}");
        world.env.ok(&["undo", one["id"].as_str().unwrap(), "--yes"]);
    }
    assert!(!world.env.repo().join("t.txt").exists() && !world.env.repo().join("u.txt").exists());
    // The graph says so, and offers nothing that would take finished work away.
    let graph = world.env.ok(&["graph"]);
    let undone = |line: &&str| line.contains("merge t into main (undone by ") && line.ends_with(')');
    assert!(graph.lines().filter(undone).count() == 1 && !graph.contains("rollback task"), "{graph}");
    // It takes the session up again, but not the merges: whoever took them back does not want them at once.
    let ended = world.autopilot(&[]).code(1);
    assert!(ended.stdout.contains("t waits at gate merge-t: its merge was taken back"), "{}", ended.stdout);
    assert!(!world.env.repo().join("t.txt").exists() && !world.env.repo().join("u.txt").exists());
    let mut live = world.start(&["--mode", "autopilot"]);
    world.env.ok(&["gate", "approve", "merge-t"]);
    wait_until("merged", || world.find_task("t")["merged"]["commit"].is_string());
    assert_eq!(world.env.read("t.txt"), "1\n");
    assert!(!world.env.repo().join("u.txt").exists() && live.runs());
    world.env.ok(&["gate", "approve", "merge-u"]);
    wait_until("merged", || world.env.repo().join("u.txt").exists());
    world.quits_well(live);
}

/// Also where the target has its work already: nobody but a human says again that it is merged.
#[test]
fn a_merge_of_nothing_that_was_undone_waits_for_a_human_too() {
    let world = World::new();
    world.task("t", "echo 1 > t.txt", &[]);
    let live = world.start(&["--mode", "review"]);
    world.wait_for_gate("merge-t");
    world.env.git(&["merge", "--quiet", "--no-edit", "axiom/t"]);
    world.wait_until_merged("t");
    world.env.ok(&["mode", "autopilot"]);
    let noted = world.env.json(&["log", "--undoable"])["operations"].as_array().unwrap().clone();
    let noted = noted.iter().find(|one| one["what"] == "t has nothing to merge").unwrap();
    world.env.ok(&["undo", noted["id"].as_str().unwrap(), "--yes"]);
    // The session goes on meanwhile, and merges what comes after.
    world.task("u", "echo 1 > u.txt", &[]);
    world.wait_until_merged("u");
    assert!(world.find_task("t")["merged"].is_null(), "{}", world.find_task("t"));
    let gate = world.wait_for_gate("merge-t");
    assert!(gate["reason"].as_str().unwrap().starts_with("its merge was taken back"), "{gate}");
    let total = world.env.json(&["stats"])["total"].clone();
    assert_eq!((&total["merged"], &total["takenBack"]), (&2.into(), &1.into()), "t once and u: {total}");
    world.env.ok(&["gate", "approve", "merge-t"]);
    world.wait_until_merged("t");
    world.quits_well(live);
}

#[test]
fn a_task_at_work_is_planned_as_after_the_stop_and_its_agent_is_named() {
    let world = World::new();
    let mut live = at_work(&world);
    let dry = world.env.json(&["rollback", "task", "t", "--dry-run"]);
    let agent = world.agents()[0]["id"].clone();
    assert_eq!((&dry["agents"][0]["id"], &dry["agents"][0]["taskId"]), (&agent, &"t".into()), "{dry}");
    let status = serde_json::json!({"field": "status", "old": "active", "new": "pending"});
    assert_eq!(dry["tasks"][0]["changes"][0], status, "{dry}");
    let whole = world.env.json(&["rollback", "checkpoint", "before", "--dry-run"]);
    assert_eq!((&whole["agents"], &whole["tasks"]), (&dry["agents"], &dry["tasks"]), "{whole}");
    let words = world.env.ok(&["rollback", "task", "t", "--dry-run"]);
    assert!(words.contains("1 agent stopped") && words.contains(agent.as_str().unwrap()), "{words}");
    for what in [&["checkpoint", "before"][..], &["task", "t"]] {
        let args = [&["rollback"], what, &["--dry-run", "--no-stop"]].concat();
        world.env.axiom(&args).fails_with(Code::Busy);
    }
    assert!(live.runs() && world.agents()[0]["state"] == "running", "nothing was stopped");
    world.env.ok(&["pause"]);
    let done = world.env.json(&["rollback", "task", "t", "--yes"]);
    assert_eq!((&done["agents"][0]["id"], &done["tasks"]), (&agent, &dry["tasks"]), "{done}");
    assert_eq!(world.status_of("t"), "pending");
    world.env.ok(&["quit"]);
    live.wait();
    world.all_is_well();
}

#[test]
fn a_rollback_while_a_session_ends_waits_for_its_end_only() {
    let world = World::new();
    world.env.git(&["config", "axiom.agents.graceSeconds", "3"]);
    let live = at_work(&world);
    let begun = std::time::Instant::now();
    std::fs::remove_file(world.beside("begun")).unwrap();
    world.env.ok(&["quit"]);
    let done = world.env.json(&["rollback", "checkpoint", "before", "--yes"]);
    assert!(begun.elapsed().as_secs() < 40, "{:?}", begun.elapsed());
    assert!(done["safety"].is_string(), "{done}");
    live.wait();
    assert_eq!(world.status_of("t"), "pending");
    world.all_is_well();
}
