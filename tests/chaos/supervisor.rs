//! SIGKILL to the supervisor, and to everything, at seeded moments over the length of an unkilled run.

use std::time::{Duration, Instant};

use crate::before_after::{Before, TASKS, all_is_done, planned};
use crate::session_support::{Random, World, kill};

const ARGS: [&str; 2] = ["--agents", "2"];

fn rounds() -> u64 {
    std::env::var("AXIOM_CHAOS").ok().and_then(|text| text.parse().ok()).unwrap_or(10)
}

/// How long the session takes when nobody disturbs it.
fn length_of_a_run() -> Duration {
    let world = planned();
    let begun = Instant::now();
    world.autopilot(&ARGS).code(0);
    let length = begun.elapsed();
    all_is_done(&world, "undisturbed");
    length
}

#[test]
fn a_killed_supervisor_loses_nothing_and_the_next_run_finishes() {
    let mut random = Random::seeded("kill the supervisor");
    let length = length_of_a_run();
    for round in 0..rounds() {
        let seed = random.0;
        let world = planned();
        let users = world.make_dirty();
        let mut note = format!("round {round}, AXIOM_CHAOS_SEED={seed} AXIOM_CHAOS=1");
        let mut before = None;
        // Every third time the recovering session is killed too.
        for _ in 0..=u64::from(round % 3 == 2) {
            let moment = length.mul_f64(random.below(1000) as f64 / 1000.0);
            note.push_str(&format!(", after {moment:.2?}"));
            let mut live = world.start_autopilot(&ARGS);
            std::thread::sleep(moment);
            live.kill();
            before.get_or_insert_with(|| Before::look(&world, users_of(&world)));
        }
        let before = before.unwrap();
        assert_eq!(world.users_things(), users, "{note}");
        let ended = world.autopilot(&ARGS);
        assert_eq!(ended.code, Some(0), "{note}\n{}", ended.stderr);
        assert_eq!(world.lines("counter"), TASKS, "{note}: agents are adopted, not started again\n{}", ended.stderr);
        before.nothing_is_lost(&world, &note);
        all_is_done(&world, &note);
    }
}

/// The user's things as they are between a crash and its recovery: they are compared with what they were before it too.
fn users_of(world: &World) -> crate::session_support::UsersThings {
    world.users_things()
}

#[test]
fn a_machine_that_dies_loses_nothing_and_the_next_run_finishes() {
    let mut random = Random::seeded("kill everything");
    let length = length_of_a_run();
    for round in 0..rounds().div_ceil(2) {
        let seed = random.0;
        let world = planned();
        let users = world.make_dirty();
        let moment = length.mul_f64(random.below(1000) as f64 / 1000.0);
        let note = format!("round {round}, AXIOM_CHAOS_SEED={seed} AXIOM_CHAOS=1, after {moment:.2?}");
        let mut live = world.start_autopilot(&ARGS);
        std::thread::sleep(moment);
        live.kill();
        while !world.processes().is_empty() {
            for (pid, _) in world.processes() {
                kill(pid);
            }
        }
        let before = Before::look(&world, users);
        let ended = world.autopilot(&ARGS);
        assert_eq!(ended.code, Some(0), "{note}\n{}", ended.stderr);
        before.nothing_is_lost(&world, &note);
        all_is_done(&world, &note);
        let counted = world.lines("counter");
        let retries: u64 = TASKS.iter().map(|task| world.find_task(task)["retryCount"].as_u64().unwrap()).sum();
        assert!(counted.len() <= TASKS.len() + 2 && retries <= 2, "{note}: {counted:?}, {retries} retries");
    }
}
