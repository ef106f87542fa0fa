//! Lines that somebody who looks while no session runs has to be able to believe: gates, what does not go on, who worked, signs of life.

use git_axiom::base::error::Code;

use crate::session_support::{World, wait_until};

/// A task that cannot start any more is nobody's question, whatever was asked before; what comes back is asked about as before.
#[test]
fn a_gate_of_a_task_that_cannot_start_asks_nobody() {
    let world = World::new();
    world.env.ok(&["task", "add", "Group", "--id", "g", "--kind", "group"]);
    ["archived", "waits", "open"].iter().for_each(|id| world.task(id, "true", &[]));
    world.task("part", "true", &["--parent", "g"]);
    world.task("blocked", "true", &[]);
    world.start(&["--until-idle", "--mode", "semi-auto"]).wait();
    assert_eq!(world.gate_ids().len(), 5, "{:?}", world.gate_ids());
    world.env.ok(&["gate", "approve", "claim-blocked"]);
    world.env.ok(&["task", "archive", "archived"]);
    world.env.ok(&["task", "edit", "waits", "--after", "open"]);
    world.env.ok(&["task", "block", "g", "--reason", "later"]);
    world.env.ok(&["task", "block", "blocked", "--reason", "later"]);
    assert_eq!(world.gate_ids(), ["claim-open"]);
    let status = world.env.ok(&["status"]);
    assert!(!status.contains("Decided") && status.contains("2 waiting"), "{status}");
    for gate in ["claim-archived", "claim-waits", "claim-part"] {
        let refused = world.env.axiom(&["gate", "approve", gate]).fails_with(Code::UnknownGate);
        assert!(refused.stderr.contains("has nothing to decide any more"), "{}", refused.stderr);
    }
    world.env.ok(&["task", "unblock", "g"]);
    assert_eq!(world.gate_ids(), ["claim-open", "claim-part"]);
    let approved = world.env.ok(&["gate", "approve", "--all"]);
    assert!(
        approved.contains("claim-open") && approved.contains("claim-part") && !approved.contains("claim-waits"),
        "{approved}"
    );
}

/// What is blocked is named, groups too, and each command that is named works.
#[test]
fn what_does_not_go_on_is_named_with_commands_that_work() {
    let world = World::new();
    world.env.ok(&["task", "add", "Group", "--id", "g", "--kind", "group"]);
    world.task("part", "true", &["--parent", "g"]);
    world.env.ok(&["task", "block", "g", "--reason", "later"]);
    let status = world.env.ok(&["status"]);
    let told = status.split("Not going on:").nth(1).unwrap_or_else(|| panic!("{status}"));
    assert!(told.contains("g  blocked  later") && told.contains("git axiom task unblock g"), "{status}");
    assert!(!told.contains("git axiom output"), "no agent has worked on it\n{status}");
    world.env.ok(&["task", "unblock", "g"]);
    world.autopilot(&[]).code(0);
    assert!(!world.env.ok(&["status"]).contains("Not going on"));
}

/// A recovery is none: what is known of an agent's last sign of life stays.
#[test]
fn the_last_sign_of_life_is_not_that_of_the_recovery() {
    let world = World::new();
    world.task("t", &format!("echo 1 > t.txt; echo works; {}", world.until_go()), &[]);
    let mut live = world.start_autopilot(&[]);
    wait_until("it is known to run", || world.agents().iter().any(|agent| agent["state"] == "running"));
    wait_until("it has begun", || world.env.axiom(&["output", "t"]).stdout.contains("works"));
    live.kill();
    world.all_die();
    let sign = |of: &[&str]| world.env.json(of)["tasks"][0]["savedAt"].as_str().unwrap().to_owned();
    let before = sign(&["recover", "inspect"]);
    std::thread::sleep(std::time::Duration::from_millis(2100));
    world.env.ok(&["recover", "--yes"]);
    let seconds = |at: &str| at.parse::<jiff::Timestamp>().unwrap().as_second();
    let later = seconds(&sign(&["recover", "inspect", "t"])) - seconds(&before);
    assert!(later < 2, "{later} s later");
    let agents = world.env.json(&["agents"]);
    assert_eq!(
        (agents["working"].as_array().unwrap().len(), agents["idle"][0]["id"].as_str()),
        (0, Some("agent-001")),
        "{agents}"
    );
}

/// What was done since a checkpoint is counted, whatever of before is taken back.
#[test]
fn a_checkpoint_counts_what_was_done_since() {
    let world = World::new();
    world.task("a", "echo a > a.txt", &[]);
    world.autopilot(&[]).code(0);
    world.env.ok(&["checkpoint", "create", "c"]);
    world.task("b", "echo b > b.txt", &[]);
    world.autopilot(&[]).code(0);
    world.env.ok(&["rollback", "task", "a", "--yes"]);
    let since = || {
        let all = world.env.json(&["checkpoint", "list"]);
        all["checkpoints"].as_array().unwrap().iter().find(|one| one["name"] == "c").unwrap()["tasksSince"].clone()
    };
    assert_eq!(since(), 1);
    world.env.ok(&["rollback", "task", "b", "--yes"]);
    assert_eq!(since(), 0);
}

/// What is over its session's budget waits at that gate, in each view, while that session lasts.
#[test]
fn a_budget_of_a_session_that_has_ended_is_not_that_of_the_next() {
    let world = World::new();
    world.task("t", &format!("test -e '{0}' || {{ touch '{0}'; sleep 2; exit 7; }}", world.beside("once").display()), &[]);
    world.task("u", "true", &[]);
    let live = world.start(&["--mode", "autopilot", "--agents", "1", "--max-time", "1s"]);
    world.wait_for_gate("budget--session");
    wait_until("its agent is ended", || world.status_of("t") == "pending");
    let status = world.env.ok(&["status"]);
    assert!(status.contains("2 pending (0 ready, 2 at gates, 0 waiting)"), "{status}");
    let refused = world.env.axiom(&["gate", "show", "u"]).fails_with(Code::UnknownGate);
    assert!(refused.stderr.contains("waits at no gate of its own"), "{}", refused.stderr);
    world.env.ok(&["gate", "reject", "budget--session"]);
    live.wait().code(0);
    assert!(world.gate_ids().is_empty());
    let ended = world.autopilot(&["--agents", "1"]).code(0);
    assert!(!ended.stdout.contains("asked to quit") && world.status_of("u") == "done", "{}", ended.stdout);
}

/// Of several agents that are named, all are ended or none; a group is of the status that its parts have come to.
#[test]
fn who_does_nothing_is_named_before_anybody_is_stopped_and_a_whole_group_is_not_pending() {
    let world = World::new();
    world.env.ok(&["task", "add", "Group", "--id", "g", "--kind", "group"]);
    world.waiting_task("t");
    world.env.ok(&["task", "edit", "t", "--parent", "g"]);
    world.task("q", "true", &[]);
    let live = world.start_autopilot(&["--agents", "2"]);
    world.wait_for_file("begun");
    wait_until("one of them does nothing", || world.status_of("q") == "done");
    let refused = world.env.axiom(&["stop", "agent-001", "agent-002"]).fails_with(Code::InvalidTransition);
    assert!(refused.stderr.contains("is not working"), "{}", refused.stderr);
    assert_eq!(world.status_of("t"), "active");
    let listed = |status: &str| world.env.ok(&["task", "list", "--status", status]).contains("Group");
    assert_eq!(["pending", "active", "done"].map(listed), [false, true, false]);
    world.signal_file("go");
    live.wait().code(0);
    assert_eq!(["pending", "active", "done"].map(listed), [false, false, true]);
}

/// What had nothing to merge shows no work of others as its own, whatever the target's newest commit is.
#[test]
fn what_had_nothing_to_merge_changed_nothing() {
    let world = World::new();
    world.task("n", "true", &[]);
    world.autopilot(&[]).code(0);
    let shown = world.env.axiom(&["diff", "n"]);
    assert!(!shown.stdout.contains("diff --git"), "{}", shown.stdout);
    let history = world.env.ok(&["task", "audit", "n"]);
    assert!(history.contains("n has nothing to merge") && !history.contains("merged none"), "{history}");
}

/// The time of who waits for a human stands still, with a supervisor and without; a gate that a stop opens is in the task's history.
#[test]
fn who_waits_for_a_human_does_not_work_meanwhile() {
    let world = World::new();
    world.task("q", "git axiom signal waiting 'which one?'", &[]);
    let mut live = world.start_autopilot(&[]);
    wait_until("it asks", || world.gate_ids() == ["question-q"]);
    let worked = || world.env.json(&["status"])["agents"][0]["duration"].as_u64().unwrap();
    let before = worked();
    std::thread::sleep(std::time::Duration::from_millis(2100));
    assert!(worked() <= before + 1, "{before} s, then {} s", worked());
    live.kill();
    assert!(worked() <= before + 1, "{before} s, then {} s", worked());
    world.all_die();
    world.env.ok(&["recover", "--yes"]);
    world.env.ok(&["stop", "agent-001"]);
    let left = ["claim-q", "question-q"].map(str::to_owned);
    assert_eq!((world.status_of("q"), world.gate_ids()), ("pending".to_owned(), left.to_vec()));
    let history = world.env.ok(&["task", "audit", "q"]);
    assert!(history.contains("; gate claim-q: "), "{history}");
}

/// A question that a rollback brings back stays until its task is taken up again, and the next prompt has the answer.
#[test]
fn a_question_that_is_open_again_can_be_answered() {
    let world = World::new();
    world.task("q", "test $AXIOM_ITERATION != 1 || git axiom signal waiting 'which one?'", &[]);
    world.waiting_task("other");
    let live = world.start_autopilot(&["--agents", "2"]);
    wait_until("it asks", || world.gate_ids() == ["question-q"]);
    world.env.ok(&["checkpoint", "create", "asked"]);
    world.env.ok(&["gate", "answer", "question-q", "this one"]);
    wait_until("it is merged", || !world.find_task("q")["merged"].is_null());
    let said = world.env.ok(&["rollback", "asked", "--yes"]);
    assert!(said.contains("3 gates opened"), "{said}");
    live.wait().code(1);
    assert_eq!(world.gate_ids(), ["claim-other", "claim-q", "question-q"]);
    world.env.ok(&["gate", "answer", "question-q", "that one"]);
    world.env.ok(&["gate", "approve", "--all"]);
    world.signal_file("go");
    world.autopilot(&["--agents", "2"]).code(0);
    let history = world.env.ok(&["task", "audit", "q"]);
    assert!(history.contains("gate question-q closed: the next prompt has the answer"), "{history}");
}

/// What a plan says of gates, as (id, what waits there), sorted.
fn opened(plan: &serde_json::Value) -> Vec<(String, String)> {
    let lines = plan["gates"].as_array().unwrap().iter().filter(|line| line["action"] == "opened");
    let words = |line: &serde_json::Value, key: &str| line[key].as_str().unwrap().to_owned();
    let mut all: Vec<_> = lines.map(|line| (words(line, "id"), words(line, "reason"))).collect();
    all.sort();
    all
}

#[test]
fn a_rollback_names_the_gates_that_are_open_after_it() {
    for (mode, waits_at_gate) in [("review", true), ("autopilot", false)] {
        let world = World::new();
        world.task("t", "echo 1 > t.txt", &[]);
        let go = world.beside("go").display().to_string();
        world.env.git(&["config", "axiom.merge.verify", &format!("while [ ! -f '{go}' ]; do sleep 0.05; done")]);
        let live = world.start(&["--mode", mode, "--agents", "1"]);
        if waits_at_gate {
            world.wait_for_gate("merge-t");
        } else {
            wait_until("its merge is verified", || world.status_of("t") == "done");
        }
        world.env.ok(&["checkpoint", "create", "then"]);
        world.signal_file("go");
        if waits_at_gate {
            world.env.ok(&["gate", "approve", "merge-t"]);
        }
        world.wait_until_merged("t");
        world.quits_well(live);
        let plan = world.env.json(&["rollback", "checkpoint", "then", "--dry-run"]);
        let done = world.env.json(&["rollback", "checkpoint", "then", "--yes"]);
        let gates = world.gates();
        let mut now: Vec<(String, String)> =
            gates.iter().map(|gate| ["id", "reason"].map(|key| gate[key].as_str().unwrap().to_owned()).into()).collect();
        now.sort();
        assert!(now.iter().any(|(id, reason)| id == "merge-t" && reason.contains("taken back")), "{mode}: {now:?}");
        assert_eq!((opened(&plan), opened(&done)), (now.clone(), now), "{mode}");
    }
}

#[test]
fn what_an_archive_ends_is_counted_and_comes_back_with_its_undo() {
    let world = World::new();
    world.env.ok(&["task", "add", "Group", "--id", "g", "--kind", "group"]);
    world.task("q", "git axiom signal waiting 'Which?'", &["--parent", "g"]);
    world.waiting_task("works");
    world.env.ok(&["task", "edit", "works", "--parent", "g"]);
    let live = world.start_staying("2");
    world.wait_for_gate("question-q");
    wait_until("both are at work", || world.works_on("works"));
    let agents = world.agents();
    let asks = agents.iter().find(|agent| agent["taskId"] == "q").unwrap();
    world.env.ok(&["stop", asks["id"].as_str().unwrap()]);
    world.wait_for_gate("claim-q");
    world.env.ok(&["task", "archive", "g"]);
    assert!(world.env.ok(&["log"]).contains("archive 3 tasks"), "{}", world.env.ok(&["log"]));
    wait_until("the session has closed them", || world.gate_ids().is_empty());
    let undone = world.env.json(&["undo", "--yes"]);
    assert_eq!(opened(&undone).iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), ["claim-q", "question-q"], "{undone}");
    world.env.ok(&["gate", "answer", "question-q", "blue"]);
    world.quits_well(live);
}

#[test]
fn the_last_operation_is_a_block_of_what_is_worked_on_too() {
    let world = World::new();
    world.waiting_task("t");
    let live = world.start_until_begun();
    world.env.ok(&["task", "block", "t", "--reason", "no"]);
    let refused = world.env.axiom(&["undo", "--yes"]).fails_with(Code::NotUndoable);
    assert!(refused.stderr.contains("git axiom task unblock t"), "{refused}");
    assert_eq!(world.status_of("t"), "blocked");
    live.wait();
}

#[test]
fn what_no_program_ran_for_has_no_output_to_look_at() {
    let world = World::new();
    world.env.ok(&["task", "add", "Without a body", "--id", "t"]);
    let said = world.autopilot(&[]);
    let status = world.env.ok(&["status"]);
    assert!(status.contains("git axiom task unblock t"), "{status}");
    assert!(!status.contains("axiom output t") && !said.stderr.contains("axiom output t"), "{status}{}", said.stderr);
}

/// With a session, which closes it, and without.
#[test]
fn a_question_of_what_is_put_away_asks_nobody() {
    let world = World::new();
    world.task("q", "git axiom signal waiting 'Which?'", &[]);
    let live = world.start_staying("1");
    world.wait_for_gate("question-q");
    world.env.ok(&["stop", "--all"]);
    world.quits_well(live);
    assert_eq!(world.gate_ids(), ["claim-q", "question-q"]);
    world.env.ok(&["task", "archive", "q"]);
    assert_eq!(world.gate_ids(), [""; 0]);
    world.env.ok(&["undo", "--yes"]);
    assert_eq!(world.gate_ids(), ["claim-q", "question-q"]);
}

/// Its next session blocks it at once, as one whose claim was rejected.
#[test]
fn a_task_whose_review_was_rejected_is_not_ready() {
    let world = World::new();
    world.task("t", "true", &["--verify", "false"]);
    let live = world.start_staying("1");
    world.wait_for_gate("human-review-t");
    world.quits_well(live);
    let counts = || {
        let progress = world.env.json(&["status"])["progress"].clone();
        (progress["ready"].as_u64(), progress["atGates"].as_u64())
    };
    assert_eq!(counts(), (Some(0), Some(1)));
    world.env.ok(&["gate", "reject", "human-review-t", "--reason", "no"]);
    assert_eq!(counts(), (Some(0), Some(1)));
}
