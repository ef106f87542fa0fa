//! Pause, resume, block and quit: who runs is told, what is stopped goes on, and without a session as far as that makes sense.

use git_axiom::base::error::Code;

use crate::session_support::{World, wait_until};
use crate::terminal::Terminal;

/// A task that counts its beginnings, reports progress, and goes on once it is told to.
fn until_told(world: &World, id: &str) {
    let beside = world.env.root().display();
    let script = format!(
        "echo {id} >> '{beside}/counter'; echo half > {id}.txt; git axiom signal progress 40; touch '{beside}/begun-{id}'\n\
         while [ ! -f '{beside}/go' ]; do sleep 0.02; done; echo whole > {id}.txt"
    );
    world.task(id, &script, &[]);
}

#[test]
fn what_is_paused_at_once_goes_on_and_no_human_is_asked_again() {
    let world = World::new();
    until_told(&world, "t");
    let live = world.start(&["--mode", "semi-auto"]);
    world.wait_for_gate("claim-t");
    world.env.axiom(&["resume"]).fails_with(Code::InvalidTransition);
    world.env.ok(&["gate", "approve", "claim-t"]);
    world.wait_for_file("begun-t");
    wait_until("its progress is known", || world.agents().iter().any(|agent| agent["progress"] == 40));
    let pausing = world.env.json(&["pause"]);
    assert_eq!(pausing["running"], serde_json::json!([{"agent": "agent-001", "taskId": "t", "iteration": 1, "progress": 40}]));
    let said = world.env.ok(&["pause"]);
    assert!(said.contains("waiting for 1 iteration") && said.contains("runs, iteration 1"), "{said}");
    let paused = world.env.json(&["pause", "--force", "--wait"]);
    assert_eq!((&paused["running"], &paused["paused"][0]["agent"]), (&serde_json::json!([]), &"agent-001".into()));
    assert_eq!((world.status_of("t"), world.show("t")["retryCount"].clone()), ("pending".to_owned(), 0.into()));
    assert_eq!(world.commits_of("t", "axiom/t").len(), 1);
    world.env.ok(&["resume"]);
    wait_until("it is begun again", || world.lines("counter").len() == 2);
    world.env.axiom(&["resume"]).fails_with(Code::InvalidTransition);
    world.signal_file("go");
    world.wait_for_gate("merge-t");
    world.quits_well(live);
}

#[test]
fn without_a_session_what_is_left_is_paused_and_nothing_else() {
    let world = World::new();
    until_told(&world, "t");
    let mut live = world.start(&["--mode", "autopilot"]);
    world.wait_for_file("begun-t");
    live.kill();
    let said = world.env.json(&["pause"]);
    assert_eq!(said["running"][0]["taskId"], "t");
    world.env.axiom(&["resume"]).fails_with(Code::NoSupervisor);
    let said = world.env.json(&["pause", "--force"]);
    assert_eq!((&said["running"], &said["paused"][0]["taskId"]), (&serde_json::json!([]), &"t".into()));
    world.no_process_is_left();
    assert!(world.gates().is_empty() && world.status_of("t") == "pending");
    world.env.axiom(&["pause"]).fails_with(Code::NoSupervisor);
    world.signal_file("go");
    world.autopilot(&[]).code(0);
    world.all_is_well();
}

#[test]
fn a_task_is_blocked_while_an_agent_works_on_it() {
    let world = World::new();
    until_told(&world, "t");
    let mut live = world.start(&["--mode", "autopilot", "--agents", "1"]);
    world.wait_for_file("begun-t");
    world.task("u", "echo 1 > u.txt", &[]);
    let said = world.env.json(&["task", "block", "t", "--reason", "no database"]);
    assert_eq!(said["changed"], serde_json::json!(["t"]));
    let task = world.find_task("t");
    assert_eq!((&task["status"], &task["reason"]), (&"blocked".into(), &"no database".into()));
    assert_eq!(world.env.read(".worktrees/agent-001-t/t.txt"), "half\n");
    // Its slot is free.
    world.wait_until_merged("u");
    let log = world.env.ok(&["log"]);
    let line = log.lines().find(|line| line.ends_with("block t: no database")).unwrap_or_else(|| panic!("{log}"));
    let undone = world.env.axiom(&["undo", line.split_whitespace().next().unwrap()]).fails_with(Code::NotUndoable);
    assert!(undone.stderr.contains("git axiom task unblock t"), "{undone}");
    world.env.ok(&["task", "unblock", "t"]);
    wait_until("it is begun again", || world.lines("counter").len() == 2);
    // Without a session too.
    live.kill();
    world.env.ok(&["task", "block", "t", "--reason", "no database"]);
    world.no_process_is_left();
    assert_eq!(world.status_of("t"), "blocked");
    world.env.ok(&["task", "unblock", "t"]);
    world.signal_file("go");
    world.autopilot(&[]).code(0);
    world.all_is_well();
}

#[test]
fn review_claims_by_itself_and_asks_before_it_merges() {
    let world = World::new();
    world.task("t", "echo 1 > t.txt", &[]);
    let live = world.start(&["--mode", "review"]);
    world.wait_for_gate("merge-t");
    assert_eq!(world.env.ok(&["mode"]), "review");
    world.env.ok(&["gate", "approve", "merge-t"]);
    world.wait_until_merged("t");
    world.quits_well(live);
}

#[test]
fn quit_asks_at_a_terminal_and_can_make_a_checkpoint() {
    let world = World::new();
    until_told(&world, "t");
    let live = world.start(&["--mode", "autopilot"]);
    world.wait_for_file("begun-t");
    wait_until("its progress is known", || world.agents().iter().any(|agent| agent["progress"] == 40));
    let quit = || Terminal::start(world.env.axiom_command(&world.env.repo(), ["quit"]));
    let mut asks = quit();
    let seen = asks.wait_for("Cancel");
    assert!(seen.contains("agent-001 on t (40%)"), "{seen}");
    asks.keys(&["\x1b"]);
    assert!(!asks.end().0.success());
    assert_eq!(world.status_of("t"), "active");
    let mut asks = quit();
    asks.wait_for("Cancel");
    asks.keys(&["\x1b[B", "\r"]);
    let (status, seen) = asks.end();
    assert!(status.success() && seen.contains("Checkpoint: "), "{seen}");
    live.wait().code(0);
    world.all_is_well();
    let made = world.env.json(&["checkpoint", "list"]);
    let of = |trigger: &str| made["checkpoints"].as_array().unwrap().iter().filter(|made| made["trigger"] == trigger).count();
    assert_eq!((of("manual"), of("session-start")), (1, 1), "{made}");
}

#[test]
fn a_program_that_ended_without_a_session_is_waited_for_by_nobody() {
    let world = World::new();
    until_told(&world, "t");
    let mut live = world.start(&["--mode", "autopilot"]);
    world.wait_for_file("begun-t");
    live.kill();
    assert_eq!(world.env.json(&["pause"])["running"][0]["taskId"], "t");
    world.signal_file("go");
    world.no_process_is_left();
    world.env.axiom(&["pause"]).fails_with(Code::NoSupervisor);
    let refused = world.env.axiom(&["quit"]).fails_with(Code::NoSupervisor);
    assert!(!refused.stderr.contains("stop --all"), "{refused}");
    assert_eq!(world.agents()[0]["state"], "ended");
}

#[test]
fn what_stands_at_a_gate_is_not_ready() {
    let world = World::new();
    world.task("t", "true", &[]);
    assert_eq!(world.env.json(&["status"])["progress"]["ready"], 1);
    let live = world.start(&["--mode", "semi-auto"]);
    world.wait_for_gate("claim-t");
    let progress = world.env.json(&["status"])["progress"].clone();
    assert_eq!((&progress["ready"], &progress["atGates"], &progress["waiting"]), (&0.into(), &1.into(), &0.into()));
    world.quits_well(live);
}

#[test]
fn who_waits_for_an_answer_is_not_paused_and_a_session_says_that_it_goes_on() {
    let world = World::new();
    world.task("t", "[ $AXIOM_ITERATION = 1 ] && exec git axiom signal waiting 'what now?'; echo 1 > t.txt", &[]);
    let live = world.start(&["--mode", "autopilot"]);
    world.wait_for_gate("question-t");
    let paused = world.env.json(&["pause", "--wait"]);
    assert_eq!((&paused["running"], &paused["paused"]), (&serde_json::json!([]), &serde_json::json!([])), "{paused}");
    world.env.ok(&["resume"]);
    world.env.ok(&["gate", "answer", "t", "go on"]);
    wait_until("it is merged", || world.env.repo().join("t.txt").exists());
    world.env.ok(&["quit"]);
    let said = live.wait().code(0).stderr;
    assert!(said.contains("asked to pause") && said.contains("resumed"), "{said}");
    world.all_is_well();
}

#[test]
fn a_session_with_nothing_to_do_says_what_it_waits_for() {
    let world = World::new();
    let live = world.start(&["--mode", "autopilot"]);
    wait_until("a session runs", || world.env.json(&["status"])["session"]["state"] == "running");
    world.env.ok(&["quit"]);
    let ended = live.wait();
    assert!(ended.stderr.contains("no task is open: it waits for new ones"), "{}", ended.stderr);
    let idle = world.autopilot(&[]);
    assert!(!idle.stderr.contains("no task is open"), "it ends at once: {}", idle.stderr);
}

/// What a human may want next is said where it is wanted.
#[test]
fn what_ends_agents_at_once_and_what_ends_the_session_is_said() {
    let world = World::new();
    until_told(&world, "t");
    let mut live = world.start(&["--mode", "autopilot"]);
    world.wait_for_file("begun-t");
    let said = world.env.ok(&["pause"]);
    assert!(said.contains("git axiom pause --force") && said.contains("git axiom resume"), "{said}");
    world.env.ok(&["resume"]);
    let said = world.env.ok(&["stop", "--all"]);
    assert!(said.contains("The session runs on. To end it: git axiom quit"), "{said}");
    live.kill();
    let status = world.env.ok(&["status"]);
    assert!(
        status.contains("To be recovered: the last session ended unexpectedly; 'git axiom run' goes on from there"),
        "{status}"
    );
}
