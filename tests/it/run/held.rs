//! Agents are held still while they are captured, and always go on afterwards.

use std::time::Duration;

use crate::session_support::{Live, World};

/// Counts in two files, always in the first one first, until it is told to end.
/// `between` files stand between the two, in the order in which they are read.
fn counting(world: &World, between: u32) -> Live {
    let beside = world.env.root().display();
    let script = format!(
        "mkdir many; echo 0 > many/0; i=0; while [ $i -lt {between} ]; do i=$((i + 1)); echo $i > many/$i; done\n\
         i=0; while [ ! -f '{beside}/end' ]; do\n\
           i=$((i + 1)); echo $i > .t; mv .t first.txt; echo $i > .t; mv .t zecond.txt; echo $i > '{beside}/count'\n\
         done; rm -f .t"
    );
    world.task("t", &script, &[]);
    let live = world.start_autopilot(&[]);
    world.wait_for_file("count");
    live
}

fn count(world: &World) -> u64 {
    loop {
        // Between truncation and writing the file is empty.
        if let Ok(count) = std::fs::read_to_string(world.beside("count")).unwrap().trim().parse() {
            return count;
        }
    }
}

#[track_caller]
fn goes_on(world: &World) {
    let before = count(world);
    crate::session_support::wait_until("the agent goes on", || count(world) > before);
}

/// The two numbers in the capture of the agent's workspace.
fn captured(world: &World, name: &str) -> (u64, u64) {
    let shown = world.env.json(&["checkpoint", "show", name]);
    let capture = shown["checkpoint"]["document"]["workspaces"][0]["capture"].as_str().unwrap().to_owned();
    let number = |file: &str| world.env.git(&["show", &format!("{capture}:{file}")]).trim().parse().unwrap();
    (number("first.txt"), number("zecond.txt"))
}

#[test]
fn a_capture_sees_an_agent_at_one_moment() {
    let world = World::new();
    let live = counting(&world, 3000);
    for number in 0..8 {
        let name = format!("c{number}");
        world.env.ok(&["checkpoint", "create", &name]);
        let (first, second) = captured(&world, &name);
        assert!(first == second || first == second + 1, "{name}: {first} and {second}");
        goes_on(&world);
    }
    world.signal_file("end");
    live.wait().code(0);
    world.all_is_well();
}

#[test]
fn agents_go_on_when_the_checkpoint_fails_or_is_killed_in_the_middle() {
    let world = World::new();
    let live = counting(&world, 0);
    // Killed while the agent is held: nobody lets it go but its keeper.
    world.env.killed_at(&["checkpoint", "create", "killed"], "git.capture-before-objects:1");
    goes_on(&world);
    // Fails while the agent is held: at this file git would wait for ever.
    let fifo = world.env.repo().join(".git/info/attributes");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    assert_ne!(world.env.axiom(&["checkpoint", "create", "fails"]).code, Some(0));
    goes_on(&world);
    std::fs::remove_file(fifo).unwrap();
    world.signal_file("end");
    live.wait().code(0);
    world.all_is_well();
}

#[test]
fn an_agent_that_makes_a_checkpoint_itself_is_not_held_for_ever() {
    let world = World::new();
    world.task("t", "echo 1 > t.txt; git axiom checkpoint create mine || exit 1; echo 2 > t.txt", &[]);
    let begun = std::time::Instant::now();
    world.autopilot(&["--max-iterations", "1"]).code(0);
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
    let shown = world.env.json(&["checkpoint", "show", "mine"]);
    let capture = shown["checkpoint"]["document"]["workspaces"][0]["capture"].as_str().unwrap().to_owned();
    assert_eq!(world.env.git(&["show", &format!("{capture}:t.txt")]), "1");
    assert_eq!(world.env.read("t.txt"), "2\n");
    world.all_is_well();
}
