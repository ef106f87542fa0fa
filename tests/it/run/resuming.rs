//! An iteration that was cut off is gone on with in the program's own session, where all is as it was.

use serde_json::json;

use crate::session_support::{World, kill, wait_until};

/// The rules of the program: it counts the whole session.
const RULES: &str = r#"
[agents.mine.tools]
Bash = "shell"
Edit = "edit"
[agents.mine.stream]
format = "jsonLines"
usage = "cumulative"
cost = "cumulative"
rules = [
    { is = "session", when = { "/type" = "session" }, id = "/id" },
    { is = "text", when = { "/type" = "text" }, text = "/text" },
    { is = "toolStarted", when = { "/type" = "tool" }, name = "/name", id = "/id", input = "/input" },
    { is = "toolCompleted", when = { "/type" = "toolEnd" }, id = "/id", failed = { "/bad" = true } },
    { is = "usage", when = { "/type" = "usage" }, input = "/in", output = "/out", cost = "/cost" },
    { is = "error", when = { "/type" = "error" }, text = "/text" },
]
"#;

/// Begins a session, begins a command, and leaves a file.
const BEGINS: &str = r#"echo '{"type":"session","id":"s-1"}'; echo '{"type":"text","text":"I begin"}'
    echo '{"type":"tool","name":"Edit","id":"0","input":{"path":"x"}}'
    echo '{"type":"tool","name":"Bash","id":"1","input":{"command":"./deploy now"}}'; echo half > half.txt"#;

/// Waits to be ended.
const WAITS: &str = "touch BESIDE/begun; while :; do sleep 0.05; done";

/// The same, and breaks off its command when it is stopped, as programs do.
const BREAKS_OFF: &str = r#"trap 'echo "{\"type\":\"toolEnd\",\"id\":\"1\",\"bad\":true}"; exit 143' TERM
    touch BESIDE/begun; while :; do sleep 0.05; done"#;

/// A world whose program is a script that saves how it was called as `args.1`, `prompt.1` and so on, and then does what is given for that
/// number; later ones complete the task.
fn world_of(cases: &str) -> World {
    let world = World::new();
    let beside = world.env.root().display().to_string();
    let script = format!(
        "#!/bin/sh\nn=$(($(ls '{beside}' | grep -c '^args') + 1))\necho \"$*\" > '{beside}/args.'$n; cat > '{beside}/prompt.'$n\n\
         case $n in\n{}\n*) git axiom signal complete;;\nesac\n",
        cases.replace("BESIDE", &beside)
    );
    world.program_of_ones_own(&script, RULES);
    world.env.ok(&["task", "add", "T", "--id", "t", "--body", "Do it."]);
    world
}

/// Starts a session, and waits until the program has said and left what it should.
fn begun(world: &World) -> crate::session_support::Live {
    let live = world.start_autopilot(&[]);
    world.wait_for_file("begun");
    wait_until("it is heard", || world.env.ok(&["events"]).contains("tool Bash"));
    live
}

fn stopped(world: &World) {
    let live = begun(world);
    world.env.ok(&["stop", "--all"]);
    live.wait();
    world.env.ok(&["gate", "approve", "t"]);
}

#[track_caller]
fn has(world: &World, number: u32, parts: &[&str]) {
    let text = std::fs::read_to_string(world.beside(&format!("prompt.{number}"))).unwrap();
    for part in parts {
        assert!(text.contains(part), "{part}\n--- prompt {number}\n{text}");
    }
}

#[test]
fn what_was_stopped_goes_on_in_its_session() {
    let world = world_of(&format!("1) {BEGINS}; {BREAKS_OFF};;\n2) [ -f half.txt ] || exit 9; git axiom signal complete;;"));
    stopped(&world);
    world.autopilot(&[]).code(0);
    assert!(world.env.ok(&["events"]).contains("tool Bash failed"));
    assert_eq!(world.program_args(), ["anew", "on s-1"]);
    has(
        &world,
        2,
        &["# Go on with task t: T\n", "cut off: it was stopped.", "repeat one:\n\n- Bash: ./deploy now\n", " WIP: T #t @"],
    );
    let text = std::fs::read_to_string(world.beside("prompt.2")).unwrap();
    assert!(!text.contains("Do it.") && text.contains("- Edit had begun: x; whether it had its effect"), "{text}");
    assert!(world.env.ok(&["events"]).contains("goes on with session s-1"));
    world.all_is_well();
}

#[test]
fn a_killed_keeper_and_a_killed_program_are_gone_on_with() {
    let world = world_of(&format!("1) {BEGINS}; {WAITS};;\n2) echo '{{\"type\":\"text\",\"text\":\"again\"}}'; kill -9 $$;;"));
    let live = begun(&world);
    for (pid, words) in world.processes() {
        if words.contains(" keeper ") {
            kill(pid);
        }
    }
    live.wait().code(0);
    assert_eq!(world.program_args(), ["anew", "on s-1", "on s-1"]);
    has(&world, 2, &["it ended by a crash", "- Bash: ./deploy now"]);
    has(&world, 3, &["signal 9 ended it"]);
    world.all_is_well();
}

/// Where the files are other ones, where it ended by itself, and where the program changed, it begins anew with what is there.
#[test]
fn what_is_not_as_it_was_begins_anew() {
    let world = world_of(&format!("1) {BEGINS}; {WAITS};;\n2) echo '{{\"type\":\"session\",\"id\":\"s-2\"}}'; exit 3;;"));
    stopped(&world);
    let workspace = world.env.repo().join(".worktrees/agent-001-t");
    std::fs::write(workspace.join("half.txt"), "mine\n").unwrap();
    world.autopilot(&[]).code(0);
    assert_eq!(world.program_args(), ["anew", "anew", "anew"]);
    has(
        &world,
        2,
        &[
            "# Task t: T\n\nDo it.\n",
            "is not gone on with: the files are not as it left them.\n",
            "- Bash: ./deploy now\n",
            "- half.txt (changed since the last iteration)\n",
        ],
    );
    has(&world, 3, &["it exited with status 3\n"]);
    world.all_is_well();
}

#[test]
fn a_session_that_the_program_does_not_know_is_no_iteration() {
    let world = world_of(&format!(
        "1) {BEGINS}; {WAITS};;\n2) echo '{{\"type\":\"error\",\"text\":\"No conversation found\"}}'; exit 1;;"
    ));
    stopped(&world);
    world.autopilot(&["--max-iterations", "1"]).code(0);
    assert_eq!(world.program_args(), ["anew", "on s-1", "anew"]);
    has(
        &world,
        3,
        &[
            "Iteration 1 was stopped before it had ended.\n",
            "could not be gone on with: No conversation found",
            "- Bash: ./deploy now\n",
            "This is iteration 1 of at most 1.",
        ],
    );
    assert_eq!(world.show("t")["iterations"], 2);
    world.all_is_well();
}

#[test]
fn what_a_session_counted_before_is_not_counted_again() {
    let world = world_of(
        r#"1) echo '{"type":"session","id":"s-1"}'; echo '{"type":"usage","in":70,"out":7,"cost":0.125}'
           echo '{"type":"usage","in":100,"out":10,"cost":0.5}'; kill -9 $$;;
        2) echo '{"type":"text","text":"a"}'; echo '{"type":"usage","in":150,"out":15,"cost":0.75}'; kill -9 $$;;
        3) echo '{"type":"text","text":"a"}'; kill -9 $$;;
        4) echo '{"type":"usage","in":160,"out":16,"cost":0.25}'; git axiom signal complete;;"#,
    );
    world.autopilot(&[]).code(0);
    assert_eq!(world.program_args(), ["anew", "on s-1", "on s-1", "on s-1"]);
    let task = world.show("t");
    // The cost of the last one began at 0 again.
    assert_eq!((&task["tokensUsed"], &task["costUsd"]), (&json!(176), &json!(1.0)), "{task}");
    world.all_is_well();
}

/// The supervisor dies around the start of the keeper that is to go on: the next one goes on all the same, and once.
#[test]
fn a_crash_of_the_supervisor_does_not_lose_the_session() {
    for point in ["iterate.spec-written:1", "iterate.intended:1", "iterate.keeper-started:1"] {
        let mut world = world_of(&format!("1) {BEGINS}; {WAITS};;"));
        stopped(&world);
        world.variables = vec![("AXIOM_TEST_FAULT".into(), point.into())];
        assert_eq!(world.autopilot(&[]).code, None, "{point}");
        world.variables.clear();
        world.autopilot(&[]).code(0);
        assert_eq!(world.program_args(), ["anew", "on s-1"], "{point}");
        has(&world, 2, &["cut off: it was stopped.", "- Bash: ./deploy now\n"]);
        world.all_is_well();
    }
}
