//! Rows of the source documents that no other page of tests has: what a human may say of work that was cut off, and what is shown of it.

use super::prompts::{has, world_of};
use super::recovering::{decided, dies, recovers, world};
use crate::session_support::{World, wait_until};
use crate::terminal::Terminal;
use git_axiom::base::error::Code;

/// A task whose agent died, and that waits for a human.
fn waits_for_a_human(again: &str) -> World {
    let world = world("seq 100 > auth.py; git axiom signal progress 60", again);
    world.env.git(&["config", "axiom.recovery.autoResetOrphaned", "false"]);
    dies(&world);
    recovers(&world);
    let gate = world.wait_for_gate("human-review-t");
    let details = gate["details"]["notes"].to_string();
    assert!(details.contains("human-review-t complete") && details.contains("human-review-t anew"), "{gate}");
    world
}

#[test]
fn at_a_gate_after_a_crash_a_human_says_that_the_work_is_complete() {
    let world = waits_for_a_human("touch ../../../again");
    world.env.axiom(&["gate", "answer", "human-review-t", "it is fine"]).fails_with(Code::InvalidInput);
    assert!(world.wait_for_gate("human-review-t")["decision"].is_null(), "other words decide nothing");
    let step = format!("wc -l < auth.py > '{}'", world.beside("verified").display());
    world.env.ok(&["task", "edit", "t", "--verify", &step]);
    world.env.ok(&["gate", "answer", "human-review-t", "complete"]);
    world.autopilot(&[]).code(0);
    assert_eq!(world.lines("verified"), ["100"], "verified as anything else");
    assert!(!world.beside("again").exists(), "no agent was started again");
    assert_eq!(world.env.read("auth.py").lines().count(), 100);
    world.all_is_well();
}

#[test]
fn at_a_gate_after_a_crash_a_human_says_that_the_task_begins_anew() {
    let world = waits_for_a_human("ls > ../../../sees; echo new > new.txt");
    world.env.ok(&["gate", "answer", "human-review-t", "anew"]);
    world.env.git(&["config", "axiom.recovery.autoResetOrphaned", "true"]);
    world.autopilot(&[]).code(0);
    assert!(!world.lines("sees").contains(&"auth.py".to_owned()), "{:?}", world.lines("sees"));
    assert_eq!(world.env.read("new.txt"), "new\n");
    world.all_is_well();
}

#[test]
fn a_gate_without_a_question_takes_no_answer_in_words() {
    let world = World::new();
    world.task("t", "echo 1 > t.txt", &[]);
    world.start(&["--until-idle"]).wait().code(1);
    world.env.axiom(&["gate", "answer", "claim-t", "go"]).fails_with(Code::InvalidInput);
    assert!(world.wait_for_gate("claim-t")["decision"].is_null());
}

#[test]
fn after_a_crash_the_project_is_active_and_its_changed_files_are_those_of_the_newest_capture() {
    let world = world("for n in 1 2 3; do echo $n > f$n; done", "true");
    world.env.git(&["config", "axiom.agents.captureInterval", "1"]);
    let mut live = world.start_autopilot(&[]);
    wait_until("it is captured", || world.env.try_git(&["cat-file", "-e", "refs/axiom/live/t:f3"]).code == Some(0));
    wait_until("that is recorded", || world.env.ok(&["events"]).contains("workspaceCaptured"));
    live.kill();
    world.all_die();
    let status = world.env.json(&["status"]);
    assert_eq!((&status["project"]["status"], &status["session"]["state"]), (&"active".into(), &"crashed".into()), "{status}");
    assert_eq!(status["project"]["metadata"]["filesModified"], 3, "{status}");
    let shown = world.env.ok(&["recover", "inspect", "t"]);
    assert!(shown.contains("3 files"), "{shown}");
    recovers(&world);
    decided(&world, "continue_task");
}

#[test]
fn a_pause_without_a_session_says_that_nothing_is_paused() {
    let world = World::new();
    world.waiting_task("t");
    let mut live = world.start_until_begun();
    live.kill();
    let said = world.env.ok(&["pause"]);
    assert!(
        said.starts_with("No session runs that could be paused. Still to end, as the last one left them: 1 iteration."),
        "{said}"
    );
    world.signal_file("go");
    world.autopilot(&[]).code(0);
}

#[test]
fn a_session_that_ends_while_it_is_paused_is_shown_as_that() {
    let world = World::new();
    world.waiting_task("t");
    let live = world.start_until_begun();
    world.env.ok(&["pause", "--force", "--wait"]);
    world.env.ok(&["quit", "--yes"]);
    live.wait();
    let status = world.env.json(&["status"]);
    assert_eq!((&status["project"]["status"], &status["session"]["setAside"]), (&"paused".into(), &1.into()), "{status}");
    let text = world.env.ok(&["status"]);
    assert!(text.contains("'git axiom run' goes on with 1 task that a pause left"), "{text}");
    world.signal_file("go");
    world.autopilot(&[]).code(0);
    assert_eq!(world.env.json(&["status"])["project"]["status"], "completed");
}

#[test]
fn what_an_agent_says_of_its_work_is_asked_for_and_shown_loop_by_loop() {
    let world = world_of(
        "1) for n in 1 2; do git axiom signal phase loop$n --confidence 0.$n; done; git axiom signal learning 'keys expire'; \
            touch ../../../begun; sleep 1000;;\n\
         *) git axiom signal complete; echo x > x;;",
    );
    world.env.ok(&["task", "add", "T", "--id", "t", "--body", "Do it."]);
    dies(&world);
    has(&world, 1, &["signal phase NAME", "signal estimate", "signal subtask NAME", "signal file PATH"]);
    for args in [&["recover", "inspect", "t"][..], &["task", "show", "t"]] {
        let shown = world.env.ok(args);
        assert!(shown.contains("loop1 0.10, loop2 0.20"), "{args:?}: {shown}");
    }
    let inspected = world.env.json(&["recover", "inspect", "t"]);
    let series = &inspected["tasks"][0]["reported"]["confidences"];
    assert_eq!((&series[0]["phase"], &series[0]["confidence"]), (&"loop1".into(), &0.1.into()), "{inspected}");
    assert!(world.env.ok(&["recover"]).contains("loop2"), "{}", world.env.ok(&["recover"]));
}

#[test]
fn a_task_is_edited_in_the_editor_where_nothing_is_given_at_a_terminal() {
    let world = World::new();
    world.task("t", "echo 1", &[]);
    world.env.axiom(&["task", "edit", "t"]).fails_with(Code::Usage);
    let mut command = world.env.axiom_command(&world.env.repo(), ["task", "edit", "t"]);
    command.env("GIT_EDITOR", "f() { echo 'and 2' >> \"$1\"; }; f");
    let (status, seen) = Terminal::start(command).end();
    assert!(status.success(), "{seen}");
    assert_eq!(world.show("t")["body"], "echo 1and 2");
}
