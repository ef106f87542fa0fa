//! SIGKILL to keepers: what they leave is ended, and their tasks are done again in the same session.

use crate::session_support::{World, kill, wait_until};

#[test]
fn a_killed_keeper_costs_a_retry_and_its_leftovers_are_ended() {
    let world = World::new();
    let beside = world.env.root().display().to_string();
    let script = format!(
        "echo t >> '{beside}/counter'; echo half > half.txt\n\
         if [ $(wc -l < '{beside}/counter') = 1 ]; then setsid sleep 1000 & sleep 1001 & touch '{beside}/first'; wait; fi\n\
         test -f half.txt && echo whole > whole.txt"
    );
    world.task("t", &script, &[]);
    let live = world.start_autopilot(&[]);
    world.wait_for_file("first");
    wait_until("the iteration is known to run", || world.agents().iter().any(|agent| agent["state"] == "running"));
    let sleepers = || world.processes().iter().filter(|(_, words)| words.starts_with("sleep 100")).count();
    wait_until("both children", || sleepers() == 2);
    for pid in world.keepers() {
        kill(pid);
    }
    let ended = live.wait().code(0);
    assert!(ended.stderr.contains("keeper of agent-001 died"), "{}", ended.stderr);
    assert_eq!(sleepers(), 0);
    let shown = world.find_task("t");
    assert_eq!(shown["retryCount"], 1, "{shown}");
    assert_eq!(world.env.git(&["show", "main:whole.txt"]), "whole");
    assert_eq!(
        world.commits_of("t", "main").len(),
        3,
        "what the first attempt left is committed, then the second, then the merge"
    );
    world.all_is_well();
}

#[test]
fn a_task_whose_keepers_die_again_and_again_is_failed() {
    let world = World::new();
    let script = format!("echo t >> '{}/counter'; exec sleep 1000", world.env.root().display());
    world.task("t", &script, &[]);
    let live = world.start_autopilot(&[]);
    let mut killed = 0;
    for attempt in 1..=4 {
        wait_until("the next attempt", || world.lines("counter").len() == attempt);
        // Only now: a keeper that is still being started would not have had its attempt.
        let now = world.keepers();
        assert!(!now.is_empty(), "attempt {attempt} has a keeper");
        killed += usize::from(now.into_iter().map(kill).fold(false, |any, killed| any | killed));
    }
    let ended = live.wait().code(1);
    assert!(ended.stdout.contains("t is failed: it crashed 4 times"), "{}{}", ended.stdout, ended.stderr);
    assert_eq!(killed, 4, "three retries");
    world.all_is_well();
}

#[test]
fn recover_puts_right_what_a_dead_machine_left_without_a_session() {
    let world = World::new();
    let beside = world.env.root().display().to_string();
    let script = format!(
        "if [ ! -f '{beside}/begun' ]; then echo half > half.txt; touch '{beside}/begun'; sleep 1000; fi; echo 1 > t.txt"
    );
    world.task("t", &script, &[]);
    let mut live = world.start_autopilot(&[]);
    world.wait_for_file("begun");
    live.kill();
    world.all_die();
    let events = || std::fs::read(world.env.axiom_dir().join("state/events.jsonl")).unwrap();
    let before = events();
    let looked = world.env.json(&["recover"]);
    assert_eq!((looked["needed"].as_bool(), looked["recovered"].as_bool()), (Some(true), Some(false)), "{looked}");
    let orphan = &looked["resumable"][0];
    assert_eq!((orphan["taskId"].as_str(), orphan["decision"].as_str()), (Some("t"), Some("continue_task")), "{looked}");
    assert_eq!(world.env.json(&["status"])["recovery"]["needed"], true);
    assert_eq!(events(), before, "looking changes nothing");
    world.env.ok(&["recover", "--yes"]);
    let task = world.find_task("t");
    assert_eq!((task["status"].as_str(), &task["retryCount"]), (Some("pending"), &1.into()), "{task}");
    assert_eq!(world.env.git(&["show", "axiom/t:half.txt"]), "half");
    world.all_is_well();
    // Again: nothing more.
    let before = events().len();
    world.env.ok(&["recover", "--yes"]);
    assert_eq!(world.env.json(&["recover"])["needed"], false);
    assert!(events().len() - before < 500, "a second recovery finds nothing to do");
    world.autopilot(&[]).code(0);
    world.all_is_well();
}
