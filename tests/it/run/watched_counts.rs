//! What is said of the work on a task after somebody took it to another place: what a stop, a rollback or a human's git leaves of it.

use git_axiom::base::error::Code;

use crate::session_support::{World, wait_until};

/// A task that is merged in a session shows that the session had time for whatever else it would have begun.
fn the_session_goes_on(world: &World, name: &str) {
    world.task(name, &format!("echo 1 > {name}"), &[]);
    world.wait_until_merged(name);
}

/// What a human has stopped or taken back does not begin, and is not merged, because something else is undone.
#[test]
fn an_undo_of_an_archive_a_block_or_a_rejection_brings_back_the_gate_at_which_the_task_waited() {
    let world = World::new();
    let live = world.start_staying("4");
    let ways: [(&str, &[&str]); 3] = [
        ("archived", &["task", "archive", "archived"]),
        ("blocked", &["task", "block", "blocked", "--reason", "later"]),
        ("rejected", &["gate", "reject", "claim-rejected", "--reason", "no"]),
    ];
    for (task, away) in ways {
        world.waiting_task(task);
        wait_until("it works", || world.works_on(task));
        world.env.ok(&["stop", "--all"]);
        let gate = format!("claim-{task}");
        world.wait_for_gate(&gate);
        world.env.ok(away);
        wait_until("the gate is gone", || !world.gate_ids().contains(&gate));
        let newest = world.env.json(&["log", "--undoable"])["operations"][0]["id"].as_str().unwrap().to_owned();
        let planned = world.env.ok(&["undo", &newest, "--dry-run"]);
        assert!(planned.contains("1 gate opened") && planned.contains(&gate), "{task}\n{planned}");
        world.env.ok(&["undo", &newest, "--yes"]);
        world.env.ok(&["redo", "--yes"]);
        wait_until("the gate is gone again", || !world.gate_ids().contains(&gate));
        world.env.ok(&["undo", &newest, "--yes"]);
        the_session_goes_on(&world, &format!("after-{task}"));
        assert_eq!((world.status_of(task), world.gate_ids().contains(&gate)), ("pending".to_owned(), true), "{task}");
    }
    let merge = world.env.json(&["log", "--undoable"])["operations"][0].clone();
    assert_eq!(merge["what"], "merge after-rejected into main");
    let merge = merge["id"].as_str().unwrap().to_owned();
    world.env.ok(&["undo", &merge, "--yes"]);
    world.wait_for_gate("merge-after-rejected");
    world.env.ok(&["task", "archive", "after-rejected"]);
    wait_until("the gate is gone", || !world.gate_ids().contains(&"merge-after-rejected".to_owned()));
    world.env.ok(&["undo", "--yes"]);
    the_session_goes_on(&world, "last");
    assert!(
        world.find_task("after-rejected")["merged"].is_null() && world.gate_ids().contains(&"merge-after-rejected".to_owned())
    );
    world.quits_well(live);
}

/// Nobody has to stop for a task that no agent can take up.
#[test]
fn a_rollback_of_a_task_that_is_done_stops_nobody_who_works_on_another() {
    let world = World::new();
    world.task("done", "echo 1 > done", &[]);
    let live = world.start(&["--mode", "review", "--agents", "2"]);
    world.wait_for_gate("merge-done");
    world.waiting_task("other");
    wait_until("it works", || world.works_on("other"));
    let planned = world.env.ok(&["rollback", "task", "done", "--dry-run"]);
    assert!(!planned.contains("stopped") && planned.contains("progress 100% → 0%"), "{planned}");
    world.env.ok(&["rollback", "task", "done", "--no-stop", "--yes"]);
    assert!(world.works_on("other") && world.gate_ids().contains(&"claim-done".to_owned()));
    world.signal_file("go");
    world.quits_well(live);
}

/// The work that is handed on stays what it was, for humans and for the next agent.
#[test]
fn a_task_whose_workspace_is_handed_on_keeps_its_progress_and_its_counts() {
    let world = World::new();
    let waits = world.until_go();
    let says = "git axiom signal progress 45";
    world.task("left", &format!("test -f left || {{ echo 1 > left; {says}; {waits}; }}; sleep 1000"), &[]);
    world.waiting_task("next");
    let live = world.start_staying("1");
    wait_until("it reports", || world.show("left")["progress"] == 45);
    world.env.ok(&["redirect", "agent-001", "next", "--same-workspace"]);
    wait_until("it goes on", || world.works_on("next"));
    assert_eq!(world.show("left")["progress"], 45);
    for (args, line, after) in [
        (&["rollback", "task", "left", "--yes"][..], "left: progress 45% → 0%", 0),
        (&["undo", "--yes"], "left: progress 0% → 45%", 45),
    ] {
        let said = world.env.ok(args);
        assert!(said.contains(line), "{args:?}\n{said}");
        assert_eq!(world.show("left")["progress"], after, "{args:?}");
    }
    assert!(world.works_on("next"), "nobody was stopped for it");
    world.env.write("human-1", "1\n");
    world.env.write("human-2", "2\n");
    world.env.git(&["add", "human-1", "human-2"]);
    world.env.git(&["commit", "-q", "-m", "A human's"]);
    world.env.ok(&["stop", "--all"]);
    world.env.ok(&["gate", "approve", "claim-left"]);
    wait_until("it goes on there", || world.works_on("left"));
    wait_until("its numbers go on", || world.show("left")["iterations"] == 2);
    assert_eq!(world.show("left")["progress"], 45);
    let diff = world.env.ok(&["diff", "left", "--stat"]);
    assert!(diff.contains("1 file, +1 -0"), "{diff}");
    world.env.ok(&["stop", "--all"]);
    world.quits_well(live);
}

/// A hint names all that keeps a task from going on.
#[test]
fn a_redirect_names_the_question_that_stays() {
    let world = World::new();
    world.task("q", "git axiom signal waiting 'which one?'", &[]);
    let live = world.start_staying("1");
    world.wait_for_gate("question-q");
    world.env.ok(&["pause"]);
    world.waiting_task("next");
    let said = world.env.ok(&["redirect", "agent-001", "next"]);
    assert!(said.contains("gate approve claim-q") && said.contains("gate answer question-q"), "{said}");
    world.env.ok(&["resume"]);
    world.signal_file("go");
    world.quits_well(live);
}

/// What becomes of the work is said though only what was reported of it goes: in the plan, its result, and the task's history.
#[test]
fn progress_that_goes_with_a_workspace_is_in_the_plan_and_comes_back() {
    let world = World::new();
    let waits = world.until_go();
    world.task("t", &format!("echo 1 > t; git axiom signal progress 40; {waits}"), &[]);
    let live = world.start_staying("1");
    wait_until("it reports", || world.show("t")["progress"] == 40);
    world.env.ok(&["stop", "--all"]);
    world.env.ok(&["quit"]);
    live.wait();
    for (args, line) in [
        (&["rollback", "session", "--dry-run"][..], "progress 40% → 0%"),
        (&["rollback", "session", "--yes"], "progress 40% → 0%"),
        (&["undo", "--dry-run"], "progress 0% → 40%"),
        (&["undo", "--yes"], "progress 0% → 40%"),
    ] {
        let said = world.env.ok(args);
        assert!(said.contains(line), "{args:?}\n{said}");
    }
    let history = world.env.ok(&["task", "audit", "t"]);
    assert!(history.contains("rollback to checkpoint session-start") && history.contains("undo of"), "{history}");
}

/// A human may take the target back by git alone.
#[test]
fn a_merge_that_the_target_has_no_more_is_not_said_to_be_in_it() {
    let world = World::new();
    world.task("t", "echo 1 > t", &[]);
    world.autopilot(&[]).code(0);
    let said = world.env.ok(&["task", "show", "t"]);
    assert!(said.contains("into main\n"), "{said}");
    world.env.git(&["reset", "-q", "--hard", "HEAD^"]);
    let said = world.env.ok(&["task", "show", "t"]);
    assert!(said.contains("into main, which does not have it any more\n"), "{said}");
}

/// A group is not said to be kept from agents while one works on what is in it.
#[test]
fn an_undo_does_not_block_a_group_at_which_an_agent_works() {
    let world = World::new();
    world.env.ok(&["task", "add", "g", "--kind", "group", "--id", "g"]);
    let waits = world.until_go();
    world.task("t", &format!("echo 1 > t; {waits}"), &["--parent", "g"]);
    let live = world.start_staying("1");
    wait_until("it works", || world.works_on("t"));
    world.env.ok(&["task", "block", "g", "--reason", "later"]);
    world.env.ok(&["task", "unblock", "g"]);
    wait_until("it works again", || world.works_on("t"));
    let refused = world.env.axiom(&["undo", "--yes"]).fails_with(Code::ChangedMeanwhile);
    assert!(refused.stderr.contains("agent-001") && refused.stderr.contains("git axiom stop agent-001"), "{refused}");
    assert!(world.works_on("t"));
    world.env.ok(&["quit", "--checkpoint", "--yes"]);
    live.wait();
    let log = world.env.ok(&["log"]);
    assert!(log.contains("checkpoint manual-") && log.contains("end the session"), "{log}");
    world.all_is_well();
}

/// What waited for a human before its merge waits for the same afterwards.
#[test]
fn a_rollback_brings_back_the_gate_of_a_conflict_for_its_own_reason() {
    let world = World::new();
    for task in ["a", "b"] {
        world.task(task, &format!("echo {task} > same"), &[]);
    }
    let live = world.start(&["--mode", "review", "--agents", "2"]);
    for task in ["a", "b"] {
        world.wait_for_gate(&format!("merge-{task}"));
    }
    world.env.ok(&["gate", "approve", "a"]);
    world.wait_until_merged("a");
    world.env.ok(&["gate", "approve", "b"]);
    let reason = || world.gates().iter().find(|gate| gate["id"] == "merge-b").map(|gate| gate["reason"].clone());
    wait_until("it conflicts", || reason().is_some_and(|reason| reason.as_str().unwrap().contains("conflicted")));
    let then = reason();
    world.env.ok(&["checkpoint", "create", "conflict"]);
    let place = world.show("b")["workspace"].as_str().unwrap().to_owned();
    world.env.try_git_in(place.as_ref(), &["merge", "main"]);
    std::fs::write(std::path::Path::new(&place).join("same"), "both\n").unwrap();
    world.env.git_in(place.as_ref(), &["commit", "-qam", "Settled"]);
    world.env.ok(&["gate", "approve", "b"]);
    world.wait_until_merged("b");
    world.env.ok(&["rollback", "conflict", "--yes"]);
    assert_eq!(reason(), then);
    world.quits_well(live);
}

/// Nobody asked for the end of a task's budget, and the log does not say so.
#[test]
fn the_log_says_that_a_budget_ended_the_work_and_which_gate_opened() {
    let world = World::new();
    world.task("t", "sleep 1000", &["--max-time", "1s"]);
    let live = world.start_staying("1");
    world.wait_for_gate("budget-t");
    let log = world.env.json(&["log", "--all"]);
    let said = log["operations"].as_array().unwrap().iter().filter_map(|one| one["what"].as_str()).collect::<Vec<_>>().join("\n");
    assert!(said.contains("pending: its budget is used up; gate budget-t: ") && !said.contains("on request"), "{said}");
    world.quits_well(live);
}

/// A merge that a rollback took back is a human's to make again, also where only the mode had asked about it then.
#[test]
fn a_merge_that_a_rollback_took_back_is_not_made_again_by_another_mode() {
    let world = World::new();
    world.task("t", "echo 1 > t", &[]);
    let live = world.start(&["--mode", "review"]);
    world.wait_for_gate("merge-t");
    world.env.ok(&["checkpoint", "create", "asked"]);
    world.env.ok(&["gate", "approve", "t"]);
    world.wait_until_merged("t");
    world.env.ok(&["rollback", "asked", "--yes"]);
    world.env.ok(&["mode", "autopilot"]);
    the_session_goes_on(&world, "next");
    assert!(world.find_task("t")["merged"].is_null() && world.gate_ids().contains(&"merge-t".to_owned()));
    world.quits_well(live);
}
