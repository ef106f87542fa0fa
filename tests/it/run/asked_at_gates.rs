//! A session that was to run until nothing more can be done comes to rest at gates: a terminal asks about them, and what is said else leads
//! to the next command.

use std::process::Command;

use crate::session_support::World;
use crate::terminal::Terminal;

fn two_tasks() -> World {
    let world = World::new();
    for task in ["t", "u"] {
        world.task(task, &format!("echo 1 > {task}.txt"), &[]);
    }
    world
}

fn until_idle(world: &World) -> Command {
    world.env.axiom_command(&world.env.repo(), ["run", "--until-idle", "--mode", "semi-auto"])
}

#[test]
fn one_command_at_a_terminal_goes_from_the_tasks_to_their_merges() {
    let world = two_tasks();
    let mut terminal = Terminal::start(until_idle(&world));
    let seen = terminal.wait_for("Approve 2 gates, and go on?");
    assert!(seen.contains("Waiting for you:") && seen.contains("start t: "), "{seen}");
    terminal.keys(&["y", "\r"]);
    terminal.wait_for("merge u into main");
    terminal.wait_for("Approve 2 gates, and go on?");
    assert!(!world.env.repo().join("t.txt").exists(), "nothing is merged unasked");
    terminal.keys(&["y", "\r"]);
    let (status, seen) = terminal.end();
    assert!(status.success() && seen.contains("every task is merged"), "{seen}");
    assert!(world.env.repo().join("t.txt").exists() && world.env.repo().join("u.txt").exists());
    world.all_is_well();
}

#[test]
fn a_no_ends_as_it_ends_without_a_terminal_and_leaves_the_gates() {
    let world = two_tasks();
    let mut terminal = Terminal::start(until_idle(&world));
    terminal.wait_for("Approve 2 gates, and go on?");
    terminal.keys(&["n", "\r"]);
    let (status, seen) = terminal.end();
    assert!(status.code() == Some(1) && seen.contains("error[NOT_IDLE]"), "{seen}");
    assert_eq!(world.gates().len(), 2);
}

/// Without a terminal three calls are enough for what waits: the way is in what each says.
#[test]
fn without_a_terminal_each_answer_names_the_next_command() {
    let world = two_tasks();
    let ended = world.start(&["--until-idle", "--mode", "semi-auto"]).wait().code(1);
    for hint in ["git axiom gate approve --all ", "git axiom run --until-idle ", "git axiom run --until-idle --mode review "] {
        assert!(ended.stderr.contains(&format!("hint: {hint}")), "{hint}: {}", ended.stderr);
    }
    world.start(&["--until-idle", "--mode", "review"]).wait().code(1);
    let status = world.env.ok(&["status"]);
    assert!(status.contains("2 done (0 merged, 2 at gates)"), "{status}");
    let approved = world.env.axiom(&["gate", "approve", "--all"]).success();
    assert!(approved.stderr.contains("hint: git axiom run --until-idle "), "{approved}");
    world.start(&["--until-idle"]).wait().code(0);
    assert!(world.env.repo().join("t.txt").exists() && world.env.repo().join("u.txt").exists());
}
