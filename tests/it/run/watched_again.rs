//! Plans and hints that somebody who watches a session has to be able to believe: who is stopped, which gates open, where an agent may go,
//! and that what is offered can be done.

use git_axiom::base::error::Code;

use crate::session_support::{Live, World, wait_until};

const ASKS: &str = "test $AXIOM_ITERATION != 1 || git axiom signal waiting 'which one?'";

fn asks(world: &World) -> bool {
    world.gate_ids().contains(&"question-q".to_owned())
}

/// A session in which the agent of a task asks a question.
fn with_a_question(world: World) -> (World, Live) {
    world.task("q", ASKS, &[]);
    let live = world.start_staying("2");
    wait_until("it asks", || asks(&world));
    (world, live)
}

/// Agents that an undo stops are in its plan; what stopping them makes impossible is refused before it.
#[test]
fn an_undo_names_the_agents_that_it_stops_and_knows_what_they_leave() {
    let world = World::new();
    world.task("a", "echo a > a", &[]);
    let waits = world.until_go();
    world.task("b", &format!("date +%N > b; {waits}"), &["--after", "a"]);
    let live = world.start_staying("2");
    wait_until("b is worked on", || world.works_on("b"));
    world.env.ok(&["rollback", "task", "a", "--cascade", "--yes"]);
    let planned = world.env.ok(&["undo", "--dry-run"]);
    assert!(!planned.contains("stopped"), "b's agent is stopped already\n{planned}");
    world.env.ok(&["undo", "--yes"]);
    wait_until("b is worked on again", || world.works_on("b"));
    let path = world.show("b")["workspace"].as_str().unwrap().to_owned();
    wait_until("it has work", || !world.env.git_in(path.as_ref(), &["status", "--porcelain"]).is_empty());
    let refused = world.env.axiom(&["redo", "--yes"]).fails_with(Code::ChangedMeanwhile);
    assert!(refused.stderr.contains("agent-001 works on b"), "{refused}");
    assert!(world.works_on("b"), "nobody was stopped for nothing");
    world.task("free", "echo 1 > free", &[]);
    world.wait_until_merged("free");
    let planned = world.env.ok(&["undo", "--dry-run"]);
    assert!(!planned.contains("stopped"), "it changes no worktree in which an agent works\n{planned}");
    world.signal_file("go");
    world.quits_well(live);
}

/// A question that is open keeps its task from being taken up, whoever brought it back.
#[test]
fn a_question_is_open_until_it_is_answered() {
    let world = World::new();
    world.env.ok(&["checkpoint", "create", "start"]);
    let (world, live) = with_a_question(world);
    world.env.ok(&["rollback", "start", "--yes"]);
    world.env.ok(&["undo", "--yes"]);
    world.task("other", "echo 1 > other", &[]);
    world.wait_until_merged("other");
    assert!(asks(&world) && world.status_of("q") == "pending", "{:?}", world.gate_ids());
    world.env.ok(&["gate", "answer", "question-q", "this one"]);
    world.wait_until_merged("q");
    world.quits_well(live);
}

/// Who is stopped while it waits for an answer still waits for it, and no plan says that others stop it.
#[test]
fn who_waits_for_an_answer_is_not_stopped_by_others_and_keeps_its_question() {
    let world = World::new();
    world.task("q", ASKS, &[]);
    world.waiting_task("l");
    let live = world.start_staying("2");
    wait_until("both", || asks(&world) && world.works_on("l"));
    let planned = world.env.ok(&["rollback", "task", "l", "--dry-run"]);
    assert!(planned.contains("1 agent stopped") && planned.contains("which works on l"), "{planned}");
    let agent = world.agents().into_iter().find(|agent| agent["taskId"] == "q").unwrap();
    let said = world.env.ok(&["stop", agent["id"].as_str().unwrap()]);
    assert!(said.contains("gate approve claim-q") && said.contains("gate answer question-q"), "{said}");
    world.env.ok(&["gate", "approve", "claim-q"]);
    world.task("other", "echo 1 > other", &[]);
    world.wait_until_merged("other");
    assert!(asks(&world), "{:?}", world.gate_ids());
    world.env.ok(&["gate", "answer", "question-q", "this one"]);
    world.wait_until_merged("q");
    world.signal_file("go");
    world.quits_well(live);
}

/// A question that gets no answer blocks its task, though its agent was stopped.
#[test]
fn a_question_that_is_rejected_after_a_stop_blocks_its_task() {
    let (world, live) = with_a_question(World::new());
    world.env.ok(&["stop", "--all"]);
    world.env.ok(&["gate", "approve", "claim-q"]);
    world.env.ok(&["gate", "reject", "question-q", "--reason", "nobody knows"]);
    wait_until("it is blocked", || world.status_of("q") == "blocked");
    assert!(world.show("q")["reason"].as_str().unwrap().contains("nobody knows") && world.gate_ids().is_empty());
    world.quits_well(live);
}

/// Who waits for an answer has no program that could be stopped, and its task is taken back all the same, with its question.
#[test]
fn a_task_whose_agent_waits_for_an_answer_is_taken_back() {
    let (world, live) = with_a_question(World::new());
    world.env.ok(&["pause"]);
    world.env.ok(&["rollback", "task", "q", "--yes"]);
    world.env.ok(&["undo", "--yes"]);
    world.env.ok(&["resume"]);
    assert!(asks(&world), "{:?}", world.gate_ids());
    world.env.ok(&["rollback", "task", "q", "--yes"]);
    assert_eq!((world.status_of("q"), world.gate_ids()), ("pending".to_owned(), vec!["claim-q".to_owned()]));
    world.env.ok(&["undo", "--yes"]);
    world.task("other", "echo 1 > other", &[]);
    world.wait_until_merged("other");
    world.quits_well(live);
}

/// Nobody is sent to a task that would wait at once.
#[test]
fn a_task_whose_budget_is_used_up_is_not_ready_for_an_agent() {
    let world = World::new();
    let waits = world.until_go();
    world.task("b", &waits, &["--max-time", "1s"]);
    world.waiting_task("l");
    let live = world.start_staying("2");
    world.wait_for_gate("budget-b");
    let agent = world.agents().into_iter().find(|agent| agent["taskId"] == "l").unwrap();
    let id = agent["id"].as_str().unwrap();
    let refused = world.env.axiom(&["redirect", id, "b"]).fails_with(Code::InvalidTransition);
    assert!(refused.stderr.contains("waits at gate budget-b") && !refused.stderr.contains("best first"), "{refused}");
    assert!(world.works_on("l"));
    world.signal_file("go");
    world.quits_well(live);
}

/// The workspace that a task left to another one comes back to its place, and goes again.
#[test]
fn a_rollback_to_before_a_workspace_was_handed_on_is_made_and_undone() {
    let world = World::new();
    let waits = world.until_go();
    world.task("l1", &format!("echo one > one; {waits}"), &[]);
    world.task("l2", &format!("echo two > two; {waits}"), &[]);
    let live = world.start_staying("1");
    let place = world.env.repo().join(".worktrees/agent-001-l1");
    wait_until("it works", || place.join("one").exists());
    world.env.ok(&["redirect", "agent-001", "l2", "--same-workspace"]);
    wait_until("it goes on", || place.join("two").exists());
    let checkpoints = world.env.json(&["checkpoint", "list"]);
    let all = checkpoints["checkpoints"].as_array().unwrap().iter();
    let before = all.filter_map(|one| one["name"].as_str()).find(|name| name.starts_with("before-redirect")).unwrap().to_owned();
    world.env.ok(&["rollback", &before, "--dry-run"]);
    world.env.ok(&["rollback", &before, "--yes"]);
    assert_eq!(world.env.git_in(&place, &["branch", "--show-current"]).trim(), "axiom/l1");
    assert!(place.join("one").exists() && !place.join("two").exists());
    world.env.ok(&["undo", "--yes"]);
    assert_eq!(world.env.git_in(&place, &["branch", "--show-current"]).trim(), "axiom/l2");
    assert!(place.join("two").exists());
    world.signal_file("go");
    world.quits_well(live);
    world.env.git(&["fsck"]);
}

/// The gate that keeps a merge which was taken back from being made again is in the plan.
#[test]
fn the_gate_of_an_undone_merge_is_in_its_plan() {
    let world = World::new();
    world.task("t", "echo 1 > t", &[]);
    world.autopilot(&[]).code(0);
    let merge = world.env.json(&["log", "--undoable"])["operations"][0]["id"].as_str().unwrap().to_owned();
    for args in [&["undo", &merge, "--dry-run"], &["undo", &merge, "--yes"], &["redo", "--dry-run", "--yes"]] {
        let said = world.env.ok(args);
        let word = if args[0] == "redo" { "1 gate closed" } else { "1 gate opened" };
        assert!(said.contains(word) && said.contains("merge-t: its merge was taken back"), "{args:?}\n{said}");
    }
}

/// What another mode does by itself waits for nobody in it, and who cannot be taken up is not said to be.
#[test]
fn a_session_says_what_waits_in_its_own_mode_and_a_hint_what_a_task_waits_for() {
    let world = World::new();
    world.task("t", "echo 1 > t", &[]);
    world.task("after", "true", &["--after", "t"]);
    world.start(&["--until-idle", "--mode", "review"]).wait();
    assert_eq!(world.gate_ids(), ["merge-t"]);
    let refused = world.env.axiom(&["task", "unblock", "after"]).fails_with(Code::InvalidTransition);
    assert!(refused.stderr.contains("waits for others: git axiom task show after"), "{refused}");
    let ended = world.autopilot(&[]);
    assert!(!ended.stderr.contains("from before"), "{}", ended.stderr);
}
