//! Every fault point that a session reaches: stopped there, the next session finishes, also when it is stopped itself.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use crate::chaos::before_after::Before;
use crate::common::trials::AskedCases;
use crate::session_support::{Random, World, several_at_a_time};

/// How long a supervisor that was not the one to be stopped (a keeper was) goes on before it is killed.
const GOES_ON: Duration = Duration::from_millis(250);

/// Two tasks, the second after the first, and signals, so that a session reaches as much as possible.
fn planned() -> World {
    let world = World::new();
    // A point in a keeper is reached by every keeper.
    world.env.git(&["config", "axiom.recovery.maxRetries", "1000"]);
    let signal = format!("'{}' signal progress 50", env!("CARGO_BIN_EXE_git-axiom"));
    world.task("one", &format!("{signal}; echo 1 > one.txt"), &[]);
    world.task("two", "echo 2 > two.txt; git add two.txt; git commit -qm two; echo 3 > three.txt", &["--after", "one"]);
    world
}

#[track_caller]
fn is_done(world: &World, note: &str) {
    for (file, content) in [("one.txt", "1"), ("two.txt", "2"), ("three.txt", "3")] {
        assert_eq!(world.env.git(&["show", &format!("main:{file}")]), content, "{note}");
        assert_eq!(world.env.read(file).trim(), content, "{note}");
    }
    assert!(world.find_task("two")["merged"]["commit"].is_string(), "{note}");
    world.all_is_well();
}

/// The fault points that an undisturbed session reaches, and how often.
fn points() -> Vec<String> {
    let mut world = planned();
    let log = world.beside("faults");
    world.variables.push(("AXIOM_TEST_FAULT_LOG".into(), log.display().to_string()));
    world.autopilot(&[]).code(0);
    is_done(&world, "undisturbed");
    let reached: BTreeSet<String> = std::fs::read_to_string(log).unwrap().lines().map(str::to_owned).collect();
    reached.into_iter().collect()
}

/// Starts a session that is stopped when it, or a keeper of its, reaches `point` for the `count`-th time. Returns whether it came by there.
fn stopped_at(world: &mut World, point: &str, count: u64) -> bool {
    let log = world.beside("reached");
    let _ = std::fs::remove_file(&log);
    world.variables =
        vec![("AXIOM_TEST_FAULT".into(), format!("{point}:{count}")), ("AXIOM_TEST_FAULT_LOG".into(), log.display().to_string())];
    let mut live = world.start_autopilot(&[]);
    let reached = || std::fs::read_to_string(&log).unwrap_or_default().lines().filter(|line| *line == point).count() as u64;
    let mut since = None;
    while live.runs() {
        if reached() >= count && since.get_or_insert_with(Instant::now).elapsed() > GOES_ON {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    live.kill();
    world.variables.clear();
    reached() >= count
}

/// Returns whether the first session was stopped where it should.
fn survives(outer: &str, count: u64, inner: Option<&str>) -> bool {
    let note = format!("stopped at {outer}:{count}, then at {inner:?}");
    let mut world = planned();
    let users = world.make_dirty();
    let is_stopped = stopped_at(&mut world, outer, count);
    let before = Before::look(&world, users);
    if let Some(inner) = inner {
        stopped_at(&mut world, inner, 1);
    }
    let ended = world.autopilot(&[]);
    assert_eq!(ended.code, Some(0), "{note}\n{}", ended.stderr);
    before.nothing_is_lost_or_left(&world, &note);
    is_done(&world, &note);
    is_stopped
}

#[test]
fn stopped_at_any_fault_point_the_next_session_finishes() {
    let asked = AskedCases::read();
    let mut random = Random::of(asked.seed_or_clock("fault points"));
    let points = points();
    assert!(points.len() > 40, "{points:?}");
    let mut work = Vec::new();
    for outer in points.iter().filter(|point| asked.has(point)) {
        if asked.are_all() {
            work.push((outer.clone(), 2, None));
            work.extend(points.iter().map(|inner| (outer.clone(), 1, Some(inner.clone()))));
        } else {
            let inner = points[random.below(points.len() as u64) as usize].clone();
            // Every second recovery is stopped too.
            work.push((outer.clone(), 1 + random.below(2), (random.below(2) == 0).then_some(inner)));
        }
    }
    println!("{} fault points, {} combinations", points.len(), work.len());
    // Most points are reached once, and some sometimes.
    let (wanted, stopped) = (work.iter().filter(|(_, count, _)| *count == 1).count(), AtomicUsize::new(0));
    several_at_a_time(work, |(outer, count, inner)| {
        let is_stopped = survives(&outer, count, inner.as_deref());
        stopped.fetch_add(usize::from(is_stopped && count == 1), Relaxed);
    });
    let stopped = stopped.into_inner();
    assert!(4 * stopped >= 3 * wanted, "{stopped} of {wanted} sessions came by their point");
}
