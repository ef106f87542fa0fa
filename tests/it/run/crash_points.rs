//! The documented points at which a crash may come, with real processes. The rules alone are in `model::recovery::scenarios`, by the
//! same names.

use super::recovering::{decided, dies, recovers, world};
use crate::session_support::{World, wait_until};
use crate::terminal::Terminal;

#[test]
fn crash_point_implementation() {
    let told = "seq 245 > catalog.ts; git axiom signal file list.ts --done --confidence 0.9 && \
                git axiom signal file catalog.ts --section searchProducts --next filterProducts --line 245 --confidence 0.82 && \
                git axiom signal progress 80";
    let world = world(told, "test $(wc -l < catalog.ts) = 245 && echo done > t.txt");
    dies(&world);
    recovers(&world);
    decided(&world, "continue_task: 80% of it was reported as done");
    world.autopilot(&[]).code(0);
    assert_eq!(world.env.read("catalog.ts").lines().count(), 245);
    world.all_is_well();
}

/// The step that ran runs again, whole; what had passed before it is not run again.
#[test]
fn crash_point_tests() {
    let world = World::new();
    let beside = world.env.root().display().to_string();
    let tests = format!(
        "echo from the first on >> '{beside}/tests'; echo 15/20 passed; [ -f '{beside}/begun' ] || {{ touch '{beside}/begun'; sleep 1000; }}; {}",
        world.until_go()
    );
    let built = format!("echo built >> '{beside}/built'");
    world.task("t", "echo 1 > t.txt", &["--verify", &format!("build={built}"), "--verify", &format!("tests={tests}")]);
    let mut live = world.start_autopilot(&[]);
    world.wait_for_file("begun");
    wait_until("the first result is recorded", || world.show("t")["verification"][0]["state"] == "passed");
    live.kill();
    world.all_die();
    assert!(world.env.ok(&["output", "t", "--step", "tests"]).contains("15/20 passed"));
    let looked = world.env.json(&["recover"]);
    let reason = "its work is complete; 1 of 2 verify steps passed, and next runs, from its beginning, 'tests', which had printed: 15/20 passed";
    assert_eq!(looked["resumable"][0]["reason"], reason, "{looked}");
    // It waits for the step, and says so.
    let mut recovery = Terminal::start(world.env.axiom_command(&world.env.repo(), ["recover", "--yes"]));
    recovery.wait_for("t: its verify step 'tests' runs");
    world.signal_file("go");
    let (status, seen) = recovery.end();
    assert!(status.success(), "{seen}");
    world.autopilot(&[]).code(0);
    assert_eq!((world.lines("built").len(), world.lines("tests").len()), (1, 2));
    assert_eq!(world.find_task("t")["retryCount"], 0, "its work was done");
    world.all_is_well();
}

/// What the first validator said stays; the second one, which was cut off, looks again.
#[test]
fn crash_point_validation() {
    let world = World::new();
    let beside = world.env.root().display().to_string();
    let waits = format!("[ -f '{beside}/begun' ] || {{ touch '{beside}/begun'; sleep 1000; }}");
    for (persona, then) in [("first", "true"), ("second", waits.as_str())] {
        world.env.git(&["config", &format!("axiom.personas.{persona}.agent"), "shell"]);
        let prompt = format!("echo looked >> '{beside}/{persona}'; {then}");
        world.env.git(&["config", &format!("axiom.personas.{persona}.prompt"), &prompt]);
    }
    world.task("t", "echo 1 > t.txt", &["--verify", "@first", "--verify", "@second"]);
    let mut live = world.start_autopilot(&[]);
    world.wait_for_file("begun");
    wait_until("the first result is recorded", || world.show("t")["verification"][0]["state"] == "passed");
    live.kill();
    world.all_die();
    let said = recovers(&world);
    assert!(said.contains("t: its verify step '@second' runs\n"), "{said}");
    world.autopilot(&[]).code(0);
    assert_eq!((world.lines("first").len(), world.lines("second").len()), (1, 2));
    assert_eq!(world.find_task("t")["retryCount"], 0, "its work was done");
    world.all_is_well();
}

#[test]
fn crash_point_waiting() {
    let world = world("echo half > half.txt", "echo done > t.txt");
    let beside = world.env.root().display().to_string();
    world.task("later", &format!("echo later >> '{beside}/counter'; test -f t.txt && echo 1 > later.txt"), &["--after", "t"]);
    dies(&world);
    recovers(&world);
    let waiting = world.find_task("later");
    assert_eq!((waiting["status"].as_str(), &waiting["retryCount"]), (Some("pending"), &0.into()), "{waiting}");
    world.autopilot(&[]).code(0);
    assert_eq!((world.lines("counter").len(), world.env.read("later.txt")), (1, "1\n".into()));
    world.all_is_well();
}
