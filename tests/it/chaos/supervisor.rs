//! SIGKILL to the supervisor, and to everything, at seeded moments over the length of an unkilled run.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use crate::chaos::before_after::{Before, TASKS, all_is_done, planned};
use crate::common::trials::{AskedCases, case_of};
use crate::session_support::{Random, several_at_a_time};

const ARGS: [&str; 2] = ["--agents", "2"];

/// One history: when to kill, one after the other, and how to repeat it.
struct Round {
    moments: Vec<Duration>,
    note: String,
}

/// Rounds in each of which sessions are killed at moments of an undisturbed one.
fn rounds(what: &str, usual: u64, kills: impl Fn(u64) -> usize) -> Vec<Round> {
    let seeds = AskedCases::read().seeds_or_clock(what, usual);
    let length = length_of_a_run();
    let round = |seed: u64| {
        let mut random = Random::of(seed);
        let moments: Vec<Duration> = (0..kills(seed)).map(|_| length.mul_f64(random.below(1000) as f64 / 1000.0)).collect();
        let note = format!("{what} ({}), after {moments:.2?}", case_of(seed));
        Round { moments, note }
    };
    seeds.map(round).collect()
}

/// Some sessions may have ended before their moment; most have not.
fn were_killed(killed: &AtomicUsize, rounds: usize) {
    let killed = killed.load(Relaxed);
    assert!(2 * killed >= rounds, "{killed} of {rounds} rounds met a session that ran");
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
    // Every third time the recovering session is killed too.
    let rounds = rounds("kill the supervisor", 6, |seed| if seed % 3 == 2 { 2 } else { 1 });
    let (wanted, killed) = (rounds.len(), AtomicUsize::new(0));
    several_at_a_time(rounds, |Round { moments, note }| {
        let world = planned();
        let users = world.make_dirty();
        let mut first = None;
        for moment in moments {
            let mut live = world.start_autopilot(&ARGS);
            std::thread::sleep(moment);
            killed.fetch_add(usize::from(live.kill()), Relaxed);
            let now = Before::look(&world, users.clone());
            if let Some(before) = first.replace(now) {
                before.nothing_is_lost(&world, &note);
            }
            assert_eq!(world.users_things().contents(), users.contents(), "{note}");
        }
        let ended = world.autopilot(&ARGS);
        assert_eq!(ended.code, Some(0), "{note}\n{}", ended.stderr);
        assert_eq!(world.lines("counter"), TASKS, "{note}: agents are adopted, not started again\n{}", ended.stderr);
        first.unwrap().nothing_is_lost_or_left(&world, &note);
        all_is_done(&world, &note);
    });
    were_killed(&killed, wanted);
}

#[test]
fn a_machine_that_dies_loses_nothing_and_the_next_run_finishes() {
    let rounds = rounds("kill everything", 3, |_| 1);
    let (wanted, killed) = (rounds.len(), AtomicUsize::new(0));
    several_at_a_time(rounds, |Round { moments, note }| {
        let world = planned();
        let users = world.make_dirty();
        let mut live = world.start_autopilot(&ARGS);
        std::thread::sleep(moments[0]);
        killed.fetch_add(usize::from(live.kill()), Relaxed);
        world.all_die();
        let before = Before::look(&world, users);
        let ended = world.autopilot(&ARGS);
        assert_eq!(ended.code, Some(0), "{note}\n{}", ended.stderr);
        before.nothing_is_lost_or_left(&world, &note);
        all_is_done(&world, &note);
        let counted = world.lines("counter");
        let retries: u64 = TASKS.iter().map(|task| world.find_task(task)["retryCount"].as_u64().unwrap()).sum();
        assert!(counted.len() <= TASKS.len() + 2 && retries <= 2, "{note}: {counted:?}, {retries} retries");
    });
    were_killed(&killed, wanted);
}
