//! What is said of agents after their session, and then their keeper, was killed: what they said meanwhile, what still runs, and what
//! their budget lets them do.

use crate::session_support::{World, wait_until};

/// Signals once, and again when nobody records it any more; then it stays.
fn talking(world: &World, more: &[&str]) {
    let beside = world.env.root().display().to_string();
    let script = format!(
        "git axiom signal progress 25; touch '{beside}/begun'; while [ ! -f '{beside}/go' ]; do sleep 0.02; done\n\
         git axiom signal progress 75; touch '{beside}/said'; exec sleep 1000"
    );
    world.task("t", &script, more);
}

/// The session is killed once the first signal is recorded; then the agent says more.
fn killed(world: &World) {
    let mut live = world.start_autopilot(&[]);
    world.wait_for_file("begun");
    wait_until("its progress is known", || world.agents().iter().any(|agent| agent["progress"] == 25));
    live.kill();
    std::fs::write(world.beside("go"), "").unwrap();
    world.wait_for_file("said");
}

#[test]
fn what_an_agent_says_without_a_session_is_seen_and_its_iteration_counts() {
    let world = World::new();
    talking(&world, &[]);
    killed(&world);
    let shown = world.env.json(&["task", "show", "t"]);
    assert_eq!((&shown["progress"], &shown["iterations"]), (&75.into(), &1.into()), "{shown}");
    assert_eq!(world.agents()[0]["progress"], 75);
    let all = [&["status"][..], &["task", "list"], &["recover", "--dry-run"]].map(|args| world.env.ok(args));
    for text in &all {
        assert!(text.contains("75%") && !text.contains("25%"), "{text}");
    }
    let before = world.agents()[0]["lastActivity"].clone();
    world.all_die();
    // What was said keeps its time, however much later it is recorded.
    world.env.ok(&["recover", "--yes"]);
    let audit = world.env.json(&["task", "audit", "t"]);
    let said = audit["entries"].as_array().unwrap().iter().rfind(|entry| entry["event"] == "signalled").unwrap();
    assert_eq!(said["at"], before, "{audit}");
    let text = said["text"].as_str().unwrap();
    assert!(text.contains("75"), "{text}");
}

#[test]
fn a_program_that_outlives_its_keeper_is_named_until_it_is_ended() {
    let world = World::new();
    talking(&world, &[]);
    killed(&world);
    world.keepers_die();
    assert_eq!(world.agents()[0]["state"], "orphaned");
    let agents = world.env.ok(&["agents"]);
    assert!(agents.contains("nobody (git axiom recover)") && !agents.contains("No agent works here"), "{agents}");
    let dry = world.env.ok(&["recover", "--dry-run"]);
    assert!(dry.contains("of a dead keeper: it is ended"), "{dry}");
    assert!(!world.processes().is_empty(), "looking ends nothing");
    world.env.ok(&["recover", "--yes"]);
    world.no_process_is_left();
    // From then on it waits like any other.
    let shown = [&["status"][..], &["task", "list"], &["task", "show", "t"]].map(|args| world.env.ok(args));
    for text in &shown {
        assert!(text.contains("pending") && !text.contains("interrupted"), "{text}");
    }
}

#[test]
fn a_budget_that_is_used_up_by_a_crash_waits_at_once() {
    let world = World::new();
    talking(&world, &["--max-time", "1s"]);
    let mut live = world.start_autopilot(&[]);
    world.wait_for_file("begun");
    wait_until("its progress is known", || world.agents().iter().any(|agent| agent["progress"] == 25));
    live.kill();
    // Its keeper goes on, and nobody looks at the clock.
    wait_until("the budget is used up", || world.env.ok(&["task", "show", "t"]).contains("over"));
    world.keepers_die();
    let dry = world.env.ok(&["recover", "--dry-run"]);
    assert!(dry.contains("waits for you at a gate: its budget is used up"), "{dry}");
    let done = world.env.ok(&["recover", "--yes"]);
    assert!(done.contains("its budget is used up") && !done.contains("t  goes on"), "{done}");
    assert!(done.contains("It waits for you") && !done.contains("To go on with the work"), "{done}");
    assert!(!done.contains("Estimated time"), "{done}");
    assert!(world.env.ok(&["gate", "list"]).contains("budget-t"));
}

#[test]
fn a_program_that_outlived_its_keeper_has_worked_until_it_was_ended() {
    let world = World::new();
    talking(&world, &[]);
    killed(&world);
    world.keepers_die();
    // The last sign of life of both is older than that.
    wait_until("its program has run on", || world.env.json(&["status"])["session"]["timeUsedMs"].as_u64().unwrap() > 4000);
    let foreseen = world.env.json(&["recover", "--dry-run"]);
    assert!(foreseen["crash"]["crashTime"].as_str() > foreseen["resumable"][0]["savedAt"].as_str(), "{foreseen}");
    world.env.ok(&["recover", "--yes"]);
    let after = world.env.json(&["status"]);
    assert!(after["session"]["timeUsedMs"].as_u64().unwrap() > 4000, "{after}");
    assert!(world.env.json(&["task", "show", "t"])["duration"].as_u64().unwrap() >= 4);
    // Nobody recorded its end.
    assert_eq!(after["session"]["timeUsedIsLeast"], true, "{after}");
    let told = [&["task", "show", "t"][..], &["stats"]].map(|args| world.env.ok(args));
    assert!(told[0].contains("at least ") && told[1].contains(">="), "{told:?}");
}
