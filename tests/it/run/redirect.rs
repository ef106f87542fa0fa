//! An agent is sent to another task: what it did stays with its old one, and both go on where they are.

use git_axiom::base::error::Code;

use crate::session_support::{World, wait_until};
use crate::terminal::Terminal;

/// A task that writes, says that it has begun, and goes on once it is told to.
fn until_told(world: &World, id: &str, more: &[&str]) {
    let beside = world.env.root().display();
    let script = format!(
        "echo {id} > {id}.txt; echo built > out.ignored; pwd > '{beside}/place-{id}'; touch '{beside}/begun-{id}'\n\
         while [ ! -f '{beside}/go-{id}' ]; do sleep 0.02; done"
    );
    world.task(id, &script, more);
}

fn held(world: &World, task: &str) -> bool {
    world.gates().iter().any(|gate| gate["taskId"] == task && gate["held"] == "redirected" && gate["decision"].is_null())
}

#[test]
fn it_leaves_its_work_as_it_is_and_goes_on_in_a_workspace_of_the_other_task() {
    let world = World::new();
    until_told(&world, "v", &[]);
    until_told(&world, "t", &[]);
    until_told(&world, "u", &["--after", "t"]);
    world.task("w", "echo 1 > w.txt", &["--after", "v"]);
    world.task("x", "", &["--persona", "ed"]);
    let live = world.start(&["--mode", "autopilot", "--agents", "1"]);
    world.wait_for_file("begun-v");
    let env = &world.env;
    // It names what is ready where nobody can be asked, and sends nobody to what is not.
    let asked = env.axiom(&["redirect", "agent-001"]).fails_with(Code::Usage);
    assert!(asked.stderr.contains("the best first: t"), "{asked}");
    for (task, why) in [("u", "not ready"), ("v", "works on that already"), ("x", "persona 'ed'")] {
        let refused = env.axiom(&["redirect", "agent-001", task]).fails_with(Code::InvalidTransition);
        assert!(refused.stderr.contains(why), "{refused}");
    }
    env.axiom(&["redirect", "agent-002", "t"]).fails_with(Code::UnknownAgent);
    let done = env.json(&["redirect", "agent-001", "t"]);
    assert_eq!((&done["from"], &done["to"], &done["gateId"]), (&"v".into(), &"t".into(), &"claim-v".into()));
    let shown = env.json(&["checkpoint", "show", done["checkpoint"].as_str().unwrap()]);
    assert_eq!(shown["checkpoint"]["trigger"], "before-redirect");
    world.wait_for_file("begun-t");
    assert!(held(&world, "v"));
    // What it did is a commit of the task that it left, whose workspace is still there.
    assert_eq!(world.commits_of("v", "axiom/v").len(), 1);
    assert_eq!(env.read(".worktrees/agent-001-v/v.txt"), "v\n");
    assert_eq!(world.commits_of("v", "axiom/t").len(), 0);
    let log = env.ok(&["log"]);
    assert!(log.contains("redirect agent-001 to t"), "{log}");
    world.signal_file("go-t");
    world.wait_until_merged("t");
    // The task that it left goes on where it was, when a human says so.
    world.signal_file("go-v");
    world.signal_file("go-u");
    env.ok(&["gate", "approve", "claim-v"]);
    world.wait_until_merged("v");
    world.wait_until_merged("w");
    world.quits_well(live);
    let by: Vec<_> = ["t", "v"].iter().map(|task| world.commits_of(task, "main").len()).collect();
    assert!(by.iter().all(|commits| *commits >= 1), "{by:?}");
}

#[test]
fn in_the_same_workspace_the_branch_is_switched_and_ignored_files_stay() {
    let world = World::new();
    world.env.write(".gitignore", "*.ignored\n");
    world.env.git(&["add", ".gitignore"]);
    world.env.git(&["commit", "-q", "-m", "Ignore"]);
    until_told(&world, "a", &[]);
    until_told(&world, "b", &[]);
    let live = world.start(&["--mode", "review", "--agents", "1"]);
    world.wait_for_file("begun-a");
    world.env.ok(&["redirect", "agent-001", "b", "--same-workspace"]);
    world.wait_for_file("begun-b");
    let place = std::fs::read_to_string(world.beside("place-b")).unwrap();
    assert_eq!(place, std::fs::read_to_string(world.beside("place-a")).unwrap());
    let place = std::path::Path::new(place.trim());
    assert!(place.join("out.ignored").exists() && place.join("b.txt").exists() && !place.join("a.txt").exists());
    assert_eq!(world.env.git_in(place, &["symbolic-ref", "--short", "HEAD"]), "axiom/b");
    let told = world.env.ok(&["task", "audit", "a"]);
    assert!(
        told.contains("the workspace of a is another task's now, and its work is on its branch")
            && !told.contains("moved to the trash"),
        "{told}"
    );
    world.env.ok(&["checkpoint", "create", "amid"]);
    // Each commit is the task's whose branch it is on, and the task that was left goes on in another folder.
    world.signal_file("go-b");
    world.wait_for_gate("merge-b");
    world.signal_file("go-a");
    world.env.ok(&["gate", "approve", "claim-a"]);
    world.wait_for_gate("merge-a");
    assert_ne!(std::fs::read_to_string(world.beside("place-a")).unwrap().trim(), place.to_str().unwrap());
    let of = |branch: &str| ["a", "b"].map(|task| !world.commits_of(task, branch).is_empty());
    assert_eq!((of("axiom/a"), of("axiom/b")), ([true, false], [false, true]));
    world.env.ok(&["gate", "approve", "--all"]);
    world.wait_until_merged("a");
    world.wait_until_merged("b");
    world.quits_well(live);
}

#[test]
fn without_a_session_the_next_one_goes_on_with_the_other_task() {
    let world = World::new();
    until_told(&world, "a", &[]);
    until_told(&world, "b", &[]);
    let mut live = world.start(&["--mode", "autopilot", "--agents", "1"]);
    world.wait_for_file("begun-a");
    live.kill();
    let said = world.env.ok(&["redirect", "agent-001", "b", "--retry"]);
    assert!(said.contains("git axiom run"), "{said}");
    assert!(!held(&world, "a"));
    assert_eq!((world.status_of("a"), world.status_of("b")), ("pending".to_owned(), "pending".to_owned()));
    // Semi-auto asks about the one that was left, and not about the one that a human chose.
    let live = world.start(&["--mode", "semi-auto", "--agents", "1"]);
    world.wait_for_file("begun-b");
    assert_eq!(world.agents()[0]["taskId"], "b");
    world.signal_file("go-b");
    world.wait_for_gate("merge-b");
    world.quits_well(live);
}

#[test]
fn while_the_session_pauses_it_says_what_the_agent_waits_for() {
    let world = World::new();
    until_told(&world, "a", &[]);
    until_told(&world, "b", &[]);
    let live = world.start(&["--mode", "autopilot", "--agents", "1"]);
    world.wait_for_file("begun-a");
    world.env.ok(&["pause"]);
    let said = world.env.ok(&["redirect", "agent-001", "b", "--retry"]);
    assert!(said.contains("goes on, after 'git axiom resume', with b"), "{said}");
    assert!(!world.beside("begun-b").exists());
    world.signal_file("go-a");
    world.signal_file("go-b");
    world.env.ok(&["resume"]);
    world.wait_until_merged("b");
    world.wait_until_merged("a");
    world.quits_well(live);
}

/// Killed at any step on the way: the next session sends the agent there, or the verb says that it has to be asked again.
#[test]
fn a_supervisor_that_dies_on_the_way_forgets_neither_task() {
    for (point, is_on_its_way) in [("redirect.noted:1", false), ("git.switched:1", true), ("redirect.switched:1", true)] {
        let mut world = World::new();
        until_told(&world, "a", &[]);
        until_told(&world, "b", &[]);
        world.variables = vec![("AXIOM_TEST_FAULT".into(), point.into())];
        let live = world.start(&["--mode", "autopilot", "--agents", "1"]);
        world.variables.clear();
        world.wait_for_file("begun-a");
        wait_until("it is known to run", || world.agents().iter().any(|agent| agent["state"] == "running"));
        let sends = ["redirect", "agent-001", "b", "--same-workspace"];
        let said = world.env.axiom(&sends);
        assert_eq!((live.wait().code, said.code == Some(0)), (None, is_on_its_way), "{point}: {said}");
        let live = world.start(&["--mode", "autopilot", "--agents", "1"]);
        if !is_on_its_way {
            assert!(said.stderr.contains("run the command again"), "{point}: {said}");
            wait_until("it was taken over", || world.agents().iter().any(|agent| agent["state"] == "running"));
            world.env.ok(&sends);
        }
        world.wait_for_file("begun-b");
        let [from, to] = ["place-a", "place-b"].map(|name| std::fs::read_to_string(world.beside(name)).unwrap());
        assert_eq!(from, to, "{point}");
        world.signal_file("go-b");
        world.wait_until_merged("b");
        assert!(held(&world, "a"), "{point}");
        world.signal_file("go-a");
        world.env.ok(&["gate", "approve", "claim-a"]);
        world.wait_until_merged("a");
        assert_eq!((world.env.read("a.txt").as_str(), world.env.read("b.txt").as_str()), ("a\n", "b\n"), "{point}");
        world.quits_well(live);
        world.all_is_well();
    }
}

#[test]
fn at_a_terminal_it_asks_and_the_best_is_marked() {
    let world = World::new();
    until_told(&world, "a", &[]);
    world.task("g", "", &["--kind", "group"]);
    until_told(&world, "b", &["--parent", "g"]);
    until_told(&world, "c", &[]);
    world.task("d", "", &["--after", "c"]);
    let live = world.start(&["--mode", "semi-auto"]);
    world.wait_for_gate("claim-a");
    world.env.ok(&["gate", "approve", "claim-a"]);
    world.wait_for_file("begun-a");
    wait_until("it is known to run", || world.agents().iter().any(|agent| agent["state"] == "running"));
    let mut asks = Terminal::start(world.env.axiom_command(&world.env.repo(), ["redirect", "agent-001"]));
    let seen = asks.wait_for("(atomic)");
    let (best, other) = (seen.find("c  c").unwrap(), seen.find("b  b  g").unwrap());
    assert!(best < other && seen.contains("(unblocks 1)  recommended"), "{seen}");
    asks.keys(&["\x1b"]);
    let (status, _) = asks.end();
    assert!(!status.success() && world.status_of("a") == "active");
    let mut asks = Terminal::start(world.env.axiom_command(&world.env.repo(), ["redirect", "agent-001"]));
    asks.wait_for("(atomic)");
    asks.keys(&["\r"]);
    assert!(asks.end().0.success());
    world.wait_for_file("begun-c");
    world.signal_file("go-c");
    world.quits_well(live);
}
