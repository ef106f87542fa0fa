//! Stopping, killing, pausing and quitting, with and without a living supervisor.

use git_axiom::error::Code;

use crate::session_support::{Live, World, wait_until};

/// A task that leaves something and then never ends, ignoring SIGTERM where `stubborn`, with a child in another session.
fn endless(world: &World, id: &str, stubborn: bool) {
    let (beside, trap) = (world.env.root().display().to_string(), if stubborn { "trap '' TERM\n" } else { "" });
    let script = format!(
        "{trap}echo {id} >> '{beside}/counter'; echo half > {id}.txt; setsid sleep 2000 & touch '{beside}/begun-{id}'\n\
         while [ ! -f '{beside}/go' ]; do sleep 0.05; done; echo whole > {id}.txt"
    );
    world.task(id, &script, &[]);
}

fn started(world: &World, args: &[&str], tasks: &[&str]) -> Live {
    let live = world.start(&[&["--mode", "autopilot"], args].concat());
    for task in tasks {
        world.wait_for_file(&format!("begun-{task}"));
    }
    wait_until("they are known to run", || {
        world.agents().iter().filter(|agent| agent["state"] == "running").count() == tasks.len()
    });
    live
}

#[track_caller]
fn is_pending_with_its_work(world: &World, task: &str) {
    let found = world.find_task(task);
    assert_eq!((found["status"].as_str(), &found["retryCount"]), (Some("pending"), &0.into()), "{found}");
    assert_eq!(world.env.git(&["show", &format!("axiom/{task}:{task}.txt")]), "half", "its work is committed");
}

#[test]
fn stop_and_kill_leave_the_task_pending_and_what_it_did_committed() {
    let world = World::new();
    endless(&world, "t", false);
    endless(&world, "u", true);
    let live = started(&world, &["--agents", "2"], &["t", "u"]);
    world.env.axiom(&["pause"]).success();
    let agent_of = |task: &str| {
        let agents = world.agents();
        agents.iter().find(|agent| agent["taskId"] == task).unwrap()["id"].as_str().unwrap().to_owned()
    };
    let (first, second) = (agent_of("t"), agent_of("u"));
    assert_eq!(world.env.ok(&["stop", &first]), format!("Stopped {first}."));
    is_pending_with_its_work(&world, "t");
    world.env.ok(&["kill", &second]);
    is_pending_with_its_work(&world, "u");
    wait_until("sleepers are gone", || !world.processes().iter().any(|(_, words)| words.contains("2000")));
    world.env.axiom(&["stop", &first]).fails_with(Code::InvalidTransition);
    world.env.axiom(&["stop", "nobody-001"]).fails_with(Code::UnknownAgent);
    // Resumed, both go on where they were.
    world.signal_file("go");
    world.env.ok(&["resume"]);
    for task in ["t", "u"] {
        wait_until("merged", || world.find_task(task)["merged"]["commit"].is_string());
        assert_eq!(world.env.read(&format!("{task}.txt")), "whole\n");
    }
    world.env.ok(&["quit"]);
    live.wait().code(0);
    world.all_is_well();
}

#[test]
fn without_a_supervisor_stop_and_kill_work_too() {
    for verb in ["stop", "kill"] {
        let world = World::new();
        endless(&world, "t", false);
        let mut live = started(&world, &[], &["t"]);
        live.kill();
        assert!(world.processes().iter().any(|(_, words)| words.contains(" keeper ")), "the agent goes on");
        let recovery = world.env.json(&["recover"]);
        assert_eq!(recovery["resumable"][0]["id"], "t", "{recovery}");
        world.env.ok(&[verb, "--all"]);
        is_pending_with_its_work(&world, "t");
        world.all_is_well();
        world.env.axiom(&["pause"]).fails_with(Code::NoSupervisor);
        world.env.axiom(&["quit"]).fails_with(Code::NoSupervisor);
        assert_eq!(world.env.ok(&[verb, "--all"]), "No agent was running.");
    }
}

#[test]
fn pause_lets_iterations_end_and_begins_no_more() {
    let world = World::new();
    endless(&world, "t", false);
    world.task("u", "echo 1 > u.txt", &["--after", "t"]);
    let live = started(&world, &[], &["t"]);
    world.env.ok(&["pause"]);
    assert_eq!(world.env.json(&["status"])["session"]["state"], "pausing");
    let waiting = Live::start(world.env.axiom_command(&world.env.repo(), ["pause", "--wait"]), world.env.root(), "pause");
    world.signal_file("go");
    waiting.wait().code(0);
    let status = world.env.json(&["status"]);
    assert_eq!(status["session"]["state"], "paused");
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert_eq!(world.status_of("u"), "pending", "nothing new begins");
    world.env.ok(&["resume"]);
    wait_until("u is merged", || world.env.repo().join("u.txt").exists());
    // A forced pause stops what runs.
    std::fs::remove_file(world.beside("go")).unwrap();
    endless(&world, "v", false);
    world.wait_for_file("begun-v");
    world.env.ok(&["pause", "--force", "--wait"]);
    is_pending_with_its_work(&world, "v");
    world.env.ok(&["quit"]);
    live.wait().code(0);
    world.all_is_well();
}

#[test]
fn one_interrupt_stops_the_agents_and_keeps_their_work() {
    let world = World::new();
    endless(&world, "t", false);
    let live = started(&world, &[], &["t"]);
    live.interrupt();
    let ended = live.wait().code(130);
    assert!(ended.stderr.contains("shutting down"), "{}", ended.stderr);
    is_pending_with_its_work(&world, "t");
    world.all_is_well();
    world.signal_file("go");
    world.autopilot(&[]).code(0);
    assert_eq!(world.env.read("t.txt"), "whole\n");
    assert_eq!(world.lines("counter"), ["t", "t"]);
    world.all_is_well();
}

#[test]
fn a_second_interrupt_leaves_at_once_and_says_what_still_runs() {
    let world = World::new();
    endless(&world, "t", true);
    let live = started(&world, &[], &["t"]);
    live.interrupt();
    wait_until("it shuts down", || live.stderr().contains("shutting down"));
    std::thread::sleep(std::time::Duration::from_millis(300));
    live.interrupt();
    let ended = live.wait().code(130);
    assert!(ended.stderr.contains("still running: agent-001"), "{}", ended.stderr);
    assert!(ended.stderr.contains("git axiom stop --all"), "{}", ended.stderr);
    world.signal_file("go");
    world.autopilot(&[]).code(0);
    assert_eq!(world.lines("counter"), ["t"], "it was taken over");
    world.all_is_well();
}

#[test]
fn quitting_releases_what_waits_at_a_question() {
    let world = World::new();
    world.task("t", "echo half > t.txt; git axiom signal waiting 'what now?'", &[]);
    let live = world.start(&["--mode", "autopilot"]);
    world.wait_for_gate("question-t");
    world.env.ok(&["quit"]);
    live.wait().code(0);
    is_pending_with_its_work(&world, "t");
    world.all_is_well();
}

#[test]
fn stopping_an_agent_ends_its_verification_too() {
    let world = World::new();
    let beside = world.env.root().display().to_string();
    world.task("t", "echo half > t.txt", &["--verify", &format!("touch '{beside}/verifying'; sleep 3000")]);
    let live = world.start(&["--mode", "autopilot"]);
    world.wait_for_file("verifying");
    world.env.ok(&["pause"]);
    world.env.ok(&["stop", "agent-001"]);
    is_pending_with_its_work(&world, "t");
    wait_until("the step is ended", || !world.processes().iter().any(|(_, words)| words.contains("3000")));
    world.env.ok(&["quit"]);
    live.wait().code(0);
    world.all_is_well();
}

#[test]
fn the_verification_of_a_supervisor_that_was_killed_is_ended_and_done_again() {
    let world = World::new();
    let beside = world.env.root().display().to_string();
    let step = format!("if [ ! -f '{beside}/verifying' ]; then touch '{beside}/verifying'; sleep 3000; fi");
    world.task("t", "echo 1 > t.txt", &["--verify", &step]);
    let mut live = world.start(&["--mode", "autopilot"]);
    world.wait_for_file("verifying");
    live.kill();
    world.autopilot(&[]).code(0);
    assert_eq!(world.env.read("t.txt"), "1\n");
    world.all_is_well();
}
