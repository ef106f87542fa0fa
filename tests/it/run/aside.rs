//! What a session does aside: no lock, no other task and no end waits for the programs of one task, and what runs is said.

use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::session_support::{World, wait_until};

fn executable(world: &World, path: &str, script: &str) {
    world.env.write(path, format!("#!/bin/sh\n{script}\n"));
    std::fs::set_permissions(world.env.repo().join(path), PermissionsExt::from_mode(0o755)).unwrap();
}

/// An approved hook of this clone.
fn hook(world: &World, name: &str, script: &str) {
    executable(world, &format!(".git/axiom/hooks/{name}"), script);
    world.env.ok(&["trust", "--yes"]);
}

/// A post-checkout hook that waits in the workspace of the task `slow`, until it is told to go on, at most for a minute.
fn slow_checkout(world: &World) {
    let beside = world.env.root().display();
    let script = format!(
        "case $PWD in *-slow) touch '{beside}/began'; n=0; while [ ! -e '{beside}/go' ] && [ $n -lt 600 ]; do sleep 0.1; \
         n=$((n + 1)); done; echo done >> installed;; esac"
    );
    executable(world, ".git/hooks/post-checkout", &script);
    world.env.write(".git/info/exclude", "installed\n");
}

fn doing(world: &World, what: &str) -> Option<Value> {
    let status = world.env.json(&["status"]);
    status["doing"].as_array().unwrap().iter().find(|one| one["what"] == what).cloned()
}

#[test]
fn while_git_makes_a_workspace_no_lock_is_held_and_other_tasks_start() {
    let world = World::new();
    slow_checkout(&world);
    world.task("slow", "test -e installed && echo 1 > slow.txt", &[]);
    world.task("quick", "echo 1 > quick.txt", &[]);
    let live = world.start_autopilot(&[]);
    world.wait_for_file("began");
    let begun = Instant::now();
    world.env.ok(&["checkpoint", "create", "meanwhile"]);
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
    world.wait_until_merged("quick");
    wait_until("it is said", || doing(&world, "makesWorkspace").is_some_and(|one| one["taskId"] == "slow"));
    assert!(world.env.ok(&["status"]).contains("slow: git makes its workspace"));
    world.signal_file("go");
    live.wait().code(0);
    assert_eq!(world.env.git(&["show", "main:slow.txt"]), "1");
    world.all_is_well();
}

#[test]
fn a_session_ends_while_git_makes_a_workspace_and_the_next_one_makes_it_whole() {
    let world = World::new();
    slow_checkout(&world);
    world.task("slow", "test -e installed && echo 1 > slow.txt", &[]);
    let live = world.start_autopilot(&[]);
    world.wait_for_file("began");
    let begun = Instant::now();
    live.interrupt();
    live.wait().code(130);
    assert!(begun.elapsed() < Duration::from_secs(14), "{:?}", begun.elapsed());
    world.no_process_is_left();
    world.signal_file("go");
    world.autopilot(&[]).code(0);
    world.all_is_well();
}

#[test]
fn a_workspace_that_the_git_of_a_killed_session_still_makes_is_waited_for() {
    let world = World::new();
    slow_checkout(&world);
    world.task("slow", "test -e installed && echo 1 > slow.txt", &[]);
    let mut live = world.start_autopilot(&[]);
    world.wait_for_file("began");
    live.kill();
    let live = world.start_autopilot(&[]);
    wait_until("it waits", || live.stderr().contains("is in use"));
    world.signal_file("go");
    live.wait().code(0);
    assert_eq!(world.env.git(&["show", "main:slow.txt"]), "1");
    world.all_is_well();
}

#[test]
fn a_hook_that_is_asked_keeps_no_other_task_from_a_free_slot() {
    let world = World::new();
    let wait = world.until_go();
    hook(&world, "pre-task-start", &format!("[ \"$AXIOM_TASK_ID\" = h ] || exit 0\n{wait}"));
    world.task("h", "echo 1 > h.txt", &[]);
    world.task("q", "echo 1 > q.txt", &[]);
    let live = world.start_autopilot(&[]);
    world.wait_for_file("begun");
    world.wait_until_merged("q");
    wait_until("it is said", || doing(&world, "asksHook").is_some_and(|one| one["taskId"] == "h"));
    assert_eq!(world.status_of("h"), "pending");
    world.signal_file("go");
    live.wait().code(0);
    world.all_is_well();
}

#[test]
fn a_verification_is_said_by_step_and_a_pause_waits_for_it() {
    let world = World::new();
    let wait = world.until_go();
    world.task("v", "echo 1 > v.txt", &["--verify", "fast=true", "--verify", &format!("slow={wait}")]);
    let live = world.start_autopilot(&[]);
    world.wait_for_file("begun");
    wait_until("the second step is said", || doing(&world, "verifies").is_some_and(|one| one["name"] == "slow"));
    let step = doing(&world, "verifies").unwrap();
    assert_eq!((&step["taskId"], &step["place"], &step["of"]), (&"v".into(), &2.into(), &2.into()), "{step}");
    let said = world.env.ok(&["pause"]);
    assert!(said.contains("waiting for 1 verification") && said.contains("still merged"), "{said}");
    assert_eq!(world.env.json(&["status"])["session"]["state"], "pausing");
    assert!(world.env.ok(&["recover"]).contains("a session runs, and sees to its agents"));
    world.signal_file("go");
    wait_until("paused", || world.env.json(&["status"])["session"]["state"] == "paused");
    world.wait_until_merged("v");
    // It is not said to be paused before.
    let events = world.env.json(&["events"]);
    let last = |is_it: &dyn Fn(&serde_json::Value) -> bool| events["events"].as_array().unwrap().iter().rposition(is_it).unwrap();
    let paused = last(&|one| one["data"]["state"] == "paused");
    assert!(paused > last(&|one| one["event"] == "operationEnded"), "{events}");
    let ended = world.env.json(&["quit", "--wait"]);
    assert_eq!((&ended["ended"], &world.env.json(&["status"])["supervisor"]["alive"]), (&true.into(), &false.into()));
    live.wait().code(0);
}

#[test]
fn a_session_that_is_interrupted_ends_whatever_a_hook_does_and_says_what_it_waits_for() {
    let world = World::new();
    hook(&world, "on-pause", "exec sleep 300");
    world.waiting_task("t");
    let live = world.start_until_begun();
    let begun = Instant::now();
    live.interrupt();
    let ended = live.wait().code(130);
    assert!(begun.elapsed() < Duration::from_secs(14), "{:?}", begun.elapsed());
    assert!(ended.stderr.contains("waiting: ") && ended.stderr.contains("hook on-pause"), "{}", ended.stderr);
    world.no_process_is_left();
}

#[test]
fn a_hangup_that_is_ignored_ends_nothing() {
    let world = World::new();
    world.waiting_task("t");
    let run = world.run_command(&["--mode", "autopilot", "--until-idle"]);
    let mut command = world.env.program("sh", &world.env.repo());
    command.args(["-c", "trap '' HUP; exec \"$@\"", "sh"]).arg(run.get_program()).args(run.get_args());
    for (name, value) in run.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let live = crate::session_support::Live::start(command, world.env.root(), "ignored");
    world.wait_for_file("begun");
    crate::session_support::signal(live.pid(), rustix::process::Signal::HUP);
    std::thread::sleep(Duration::from_millis(300));
    world.signal_file("go");
    let ended = live.wait().code(0);
    assert!(!ended.stderr.contains("shutting down"), "{}", ended.stderr);
}

#[test]
fn an_agent_is_not_stopped_for_a_task_that_a_hook_keeps_from_starting() {
    let world = World::new();
    hook(&world, "pre-task-start", "[ \"$AXIOM_TASK_ID\" = b ] && { echo 'not b'; exit 1; }\nexit 0");
    world.waiting_task("a");
    let live = world.start(&["--mode", "autopilot", "--agents", "1"]);
    world.wait_for_file("begun");
    world.task("b", "echo 1 > b.txt", &[]);
    let refused = world.env.axiom(&["redirect", "agent-001", "b"]);
    assert!(refused.code != Some(0) && refused.stderr.contains("not b"), "{refused}");
    assert_eq!((world.status_of("a"), world.status_of("b")), ("active".to_owned(), "pending".to_owned()));
    assert!(world.gates().is_empty());
    world.signal_file("go");
    world.wait_until_merged("a");
    world.env.ok(&["quit", "--wait"]);
    live.wait().code(0);
}

#[test]
fn a_group_holds_what_is_in_it_and_lets_it_go() {
    let world = World::new();
    for (id, parent) in [("o", None), ("p", Some("o"))] {
        let parent: Vec<&str> = parent.iter().flat_map(|parent| ["--parent", parent]).collect();
        world.task(id, "", &[&["--kind", "group"], parent.as_slice()].concat());
    }
    let wait = world.until_go();
    world.task("a", &format!("echo 1 > a.txt; {wait}"), &["--parent", "o"]);
    world.task("c", "echo 1 > c.txt", &["--parent", "p"]);
    let live = world.start(&["--mode", "autopilot", "--agents", "1"]);
    world.wait_for_file("begun");
    world.env.ok(&["task", "block", "o", "--reason", "not this week"]);
    assert_eq!(world.status_of("a"), "pending");
    assert!(world.env.ok(&["task", "list"]).contains("waiting"));
    world.env.ok(&["quit", "--wait"]);
    live.wait().code(0);
    let ended = world.autopilot(&[]).code(1);
    assert!(ended.stdout.contains("c waits for o, which is blocked: not this week"), "{}", ended.stdout);
    world.env.ok(&["task", "archive", "p"]);
    assert_eq!(world.status_of("c"), "archived");
    world.signal_file("go");
    world.env.ok(&["task", "unblock", "o"]);
    world.autopilot(&[]).code(0);
    assert_eq!((world.status_of("a"), world.status_of("c")), ("done".to_owned(), "archived".to_owned()));
    world.all_is_well();
}

#[test]
fn hooks_hear_once_of_a_gate_of_what_failed_and_that_nothing_is_left_to_do() {
    let world = World::new();
    let beside = world.env.root().display().to_string();
    hook(&world, "on-gate", &format!("echo \"$AXIOM_GATE $AXIOM_KIND $AXIOM_TASK_ID $AXIOM_COMMAND\" >> '{beside}/gates'"));
    hook(&world, "on-idle", &format!("echo \"$AXIOM_STATUS\" >> '{beside}/idle'"));
    hook(&world, "on-error", &format!("echo \"$AXIOM_ERROR_TYPE $AXIOM_TASK_ID\" >> '{beside}/errors'"));
    hook(&world, "on-learning", &format!("echo \"$AXIOM_LEARNING_ID\" >> '{beside}/learnt'"));
    world.task("x", "git axiom signal learning tabs; exit 3", &[]);
    world.task("q", "git axiom signal learning tabs; echo 1 > q.txt", &[]);
    world.autopilot(&["--max-iterations", "2"]).code(1);
    assert_eq!((world.lines("idle"), world.lines("errors")), (vec!["failed".to_owned()], vec!["AGENT_FAILED x".to_owned()]));
    assert_eq!(world.lines("learnt").len(), 1);
    world.task("y", "echo 1 > y.txt", &[]);
    for _ in 0..2 {
        let live = world.start(&["--mode", "semi-auto"]);
        world.wait_for_gate("claim-y");
        wait_until("it is said that nothing goes on", || world.lines("idle").contains(&"waiting".to_owned()));
        wait_until("the session runs", || world.env.json(&["status"])["supervisor"]["alive"] == true);
        world.env.ok(&["quit", "--wait"]);
        live.wait().code(0);
    }
    assert_eq!(world.lines("gates"), ["claim-y claim y git axiom gate approve claim-y"]);
    assert_eq!(world.lines("idle"), ["failed", "waiting"]);
}
