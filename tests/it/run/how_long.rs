//! How long a run has lasted whose end nobody saw: as long as it is known to have lived, not until it said something last.

use std::time::{Duration, Instant, SystemTime};

use jiff::Timestamp;

use crate::session_support::{Live, World, kill, wait_until};

/// The pause between the last word of a program and its end.
const SILENCE: Duration = Duration::from_millis(1500);

/// A session whose only program says that it is at 30%, and then is silent.
fn silent() -> (World, Live, SystemTime) {
    let world = World::new();
    world.task("t", "git axiom signal progress 30; exec sleep 1000", &[]);
    let live = world.start_autopilot(&[]);
    wait_until("it is heard", || world.agents().iter().any(|agent| agent["progress"] == 30));
    (world, live, SystemTime::now())
}

#[test]
fn a_run_that_was_cut_off_in_silence_lasted_until_its_keeper_was_seen_alive() {
    let (world, mut live, heard) = silent();
    let runs = world.env.axiom_dir().join("agents/agent-001/runs");
    let lock = std::fs::read_dir(runs).unwrap().next().unwrap().unwrap().path().join("keeper.lock");
    let seen = || lock.metadata().unwrap().modified().unwrap();
    wait_until("its keeper is seen alive", || seen().duration_since(heard).is_ok_and(|silent| silent >= SILENCE));
    live.kill();
    world.all_die();
    let told = world.env.ok(&["status"]);
    assert!(told.contains("; agents ran at least ") && !told.contains(" 0:00"), "{told}");
    assert!(world.env.json(&["status"])["agents"][0]["duration"].as_u64().unwrap() >= 1, "{told}");
    let told = world.env.ok(&["recover"]);
    assert!(told.contains(", or later: at most ") && !told.contains("time: 0s"), "{told}");
    let crash = world.env.json(&["recover"])["crash"].clone();
    let crashed: Timestamp = crash["crashTime"].as_str().unwrap().parse().unwrap();
    assert!(SystemTime::from(crashed).duration_since(heard).is_ok_and(|silent| silent >= Duration::from_secs(1)), "{crash}");
    let told = world.env.ok(&["recover", "--yes"]);
    assert!(!told.contains("completion: 0s"), "{told}");
    let stats = world.env.json(&["stats"]);
    assert!(stats["total"]["duration"].as_u64().unwrap() >= 1, "{stats}");
}

#[test]
fn a_program_that_ended_while_no_session_ran_worked_until_then() {
    let (world, mut live, _) = silent();
    live.kill();
    let begun = Instant::now();
    wait_until("it is silent for a while", || begun.elapsed() >= SILENCE);
    for (pid, _) in world.processes().iter().filter(|(_, words)| words.starts_with("sleep ")) {
        kill(*pid);
    }
    wait_until("its end is recorded", || world.agents()[0]["state"] == "ended");
    let agent = world.agents()[0].clone();
    assert!(agent["duration"].as_u64().unwrap() >= 1, "{agent}");
}
