//! The stash is one for all worktrees: what an agent takes from it is named, keeps its merge waiting, and comes back.

use crate::session_support::World;

/// The user's unfinished work is in the stash.
fn world_with_a_stash() -> World {
    let world = World::new();
    let env = &world.env;
    env.write("base.txt", "base\n");
    env.git(&["add", "-A"]);
    env.git(&["commit", "-qm", "base"]);
    env.write("base.txt", "the user's\n");
    env.git(&["stash", "push", "-q", "-m", "mine"]);
    world
}

fn stash(world: &World) -> String {
    world.env.git(&["stash", "list", "--format=%gs"]).trim().to_owned()
}

/// The reason of the gate at which the merge waits, and the command that it names.
fn gate(world: &World) -> (String, String) {
    let gates = world.gates();
    assert_eq!(gates.len(), 1, "{gates:?}");
    assert_eq!(gates[0]["id"], "merge-t");
    let reason = gates[0]["reason"].as_str().unwrap().to_owned();
    let undo = reason.split("git axiom undo ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    (reason, undo)
}

#[test]
fn an_entry_that_an_agent_takes_is_named_and_comes_back() {
    let world = world_with_a_stash();
    world.task("t", "git stash pop -q; echo 1 > t.txt", &[]);
    let ended = world.autopilot(&[]).code(1);
    assert!(ended.stderr.contains("'On main: mine' went while an agent worked on 't'"), "{}", ended.stderr);
    let (reason, undo) = gate(&world);
    assert!(reason.contains("the stash entry 'On main: mine' went"), "{reason}");
    assert_eq!((stash(&world).as_str(), world.env.repo().join("t.txt").exists()), ("", false));
    assert!(world.env.ok(&["log"]).contains("the stash entry 'On main: mine' went"));
    world.env.git(&["gc", "-q", "--prune=now"]);
    world.env.ok(&["undo", &undo, "--yes"]);
    // A human takes it out too: then its redo has nothing to do, and names no undo.
    world.env.git(&["stash", "drop", "-q"]);
    let redone = world.env.json(&["redo", "--yes"]);
    assert!(redone["undo"].is_null(), "{redone}");
    world.env.ok(&["undo", &undo, "--yes"]);
    assert_eq!(stash(&world), "On main: mine");
    // What was taken is in the merge still: it waits for the human all the same.
    world.autopilot(&[]).code(1);
    world.env.ok(&["gate", "approve", "merge-t"]);
    world.autopilot(&[]).code(0);
    assert_eq!((stash(&world).as_str(), world.env.read("t.txt").as_str()), ("On main: mine", "1\n"));
    world.all_is_well();
}

#[test]
fn the_undo_of_the_merge_brings_the_entry_back() {
    let world = world_with_a_stash();
    world.task("t", "git stash pop -q; echo 1 > t.txt", &[]);
    world.autopilot(&[]).code(1);
    world.env.ok(&["gate", "approve", "merge-t"]);
    world.autopilot(&[]).code(0);
    assert_eq!((stash(&world).as_str(), world.env.read("base.txt").as_str()), ("", "the user's\n"));
    let log = world.env.json(&["log"]);
    let merge = log["operations"].as_array().unwrap().iter().find(|one| one["what"].as_str().unwrap().starts_with("merge t"));
    world.env.ok(&["undo", merge.unwrap()["id"].as_str().unwrap(), "--yes"]);
    assert_eq!((stash(&world).as_str(), world.env.read("base.txt").as_str()), ("On main: mine", "base\n"));
    world.all_is_well();
}

/// Agents stash too, several at once: each takes its own.
#[test]
fn what_agents_put_there_themselves_is_theirs() {
    let world = world_with_a_stash();
    world.task("t", "echo x > base.txt; git stash -q; git stash pop -q; echo 1 > t.txt", &[]);
    world.task("u", "echo y > u.txt; git add u.txt; git stash -q; git stash drop -q; echo 1 > u2.txt", &[]);
    world.autopilot(&[]).code(0);
    assert_eq!(stash(&world), "On main: mine");
    world.all_is_well();
}
