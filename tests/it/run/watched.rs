//! Lines that somebody who watches a session has to be able to believe: after a recovery of some tasks, a pause, and what is taken back.

use crate::session_support::{World, wait_until};

/// Says how far it is in its first iteration alone, and stays.
fn half_done(world: &World, id: &str) {
    let script = format!(
        "[ -e ../../../said-{id} ] || git axiom signal progress 50; touch '{0}/said-{id}'; echo {id} > {id}.txt; exec sleep 1000",
        world.env.root().display()
    );
    world.task(id, &script, &[]);
}

fn audit(world: &World, id: &str) -> String {
    world.env.ok(&["task", "audit", id])
}

#[test]
fn a_recovery_of_some_tasks_counts_what_it_ends_and_to_abandon_is_no_decision_to_go_on() {
    let world = World::new();
    ["a", "b"].iter().for_each(|id| half_done(&world, id));
    let mut live = world.start_autopilot(&["--agents", "2"]);
    world.wait_for_file("said-a");
    world.wait_for_file("said-b");
    wait_until("both are known", || world.agents().iter().filter(|agent| agent["progress"] == 50).count() == 2);
    live.kill();
    world.keepers_die();
    let left = world.processes().len();
    let dry = world.env.ok(&["recover", "--only", "a", "--dry-run"]);
    assert!(dry.contains(&format!("left       {} process", left / 2)), "{left} are left\n{dry}");
    let done = world.env.axiom(&["recover", "--only", "a", "--yes"]).success();
    assert!(done.stderr.contains("2 agents were at work"), "{done}");
    assert_eq!(world.processes().len(), left / 2, "those of b run as before");
    let (log, all) = (world.env.ok(&["log"]), world.env.ok(&["log", "--all"]));
    assert!(log.contains(" crashed, ") && !log.contains("ended its work"), "its steps are not listed\n{log}");
    assert!(all.contains("ended its work"), "{all}");
    world.env.ok(&["recover", "abandon", "b", "--yes"]);
    let text = audit(&world, "b");
    assert!(text.contains("it is abandoned") && !text.contains("a human decided so"), "{text}");
    world.no_process_is_left();
}

#[test]
fn how_far_a_task_is_stays_known_over_a_pause_and_nobody_has_approved_that_it_goes_on() {
    let world = World::new();
    half_done(&world, "t");
    let live = world.start(&["--mode", "autopilot"]);
    wait_until("its progress is known", || world.agents().iter().any(|agent| agent["progress"] == 50));
    world.env.ok(&["pause", "--force", "--wait"]);
    assert!(!world.env.ok(&["gate", "list"]).contains("approved"));
    world.env.ok(&["resume"]);
    let runs_again = || world.agents().iter().any(|agent| agent["state"] == "running" && agent["iteration"] == 2);
    wait_until("it goes on", runs_again);
    assert_eq!(world.agents()[0]["progress"], 50, "as in every other view");
    let text = audit(&world, "t");
    assert!(text.contains("it goes on after the pause") && !text.contains("closed: approved"), "{text}");
    world.env.ok(&["stop", "--all"]);
    world.quits_well(live);
    // What was reported of it goes with its work, and comes back with it.
    world.env.ok(&["rollback", "session", "--yes"]);
    assert!(world.env.json(&["task", "show", "t"])["reports"].is_null());
    world.env.ok(&["undo", "--yes"]);
    assert_eq!(world.env.json(&["task", "show", "t"])["progress"], 50);
}

#[test]
fn the_verification_of_a_merge_that_is_taken_back_is_none_of_the_next_one() {
    let world = World::new();
    world.env.git(&["config", "axiom.merge.verify", "seen=true"]);
    world.task("t", "echo 1 >> t.txt", &[]);
    world.autopilot(&[]).code(0);
    let shown = || world.env.ok(&["task", "show", "t"]);
    assert!(shown().contains("seen: true; passed"), "{}", shown());
    world.env.ok(&["rollback", "task", "t", "--yes"]);
    world.env.ok(&["gate", "approve", "claim-t"]);
    let live = world.start(&["--mode", "review"]);
    world.wait_for_gate("merge-t");
    assert!(!shown().contains("passed"), "{}", shown());
    world.quits_well(live);
}

#[test]
fn what_a_branch_has_of_a_merge_that_was_taken_back_is_not_said_to_be_its_own() {
    let world = World::new();
    world.task("t", "echo t > t.txt", &[]);
    world.autopilot(&[]).code(0);
    world.task("u", "echo u > u.txt", &[]);
    world.start(&["--mode", "semi-auto", "--until-idle"]).wait().code(1);
    world.env.ok(&["gate", "approve", "claim-u"]);
    world.start(&["--mode", "semi-auto", "--until-idle"]).wait().code(1);
    let shown = || world.env.ok(&["gate", "show", "merge-u"]);
    assert!(!shown().contains("With the work of"), "{}", shown());
    let log = world.env.json(&["log"]);
    let is_merge = |one: &&serde_json::Value| one["what"].as_str().unwrap().starts_with("merge t ");
    let merge = log["operations"].as_array().unwrap().iter().find(is_merge).unwrap()["id"].as_str().unwrap().to_owned();
    world.env.ok(&["undo", &merge, "--yes"]);
    let text = shown();
    assert!(text.contains("With the work of t, which the target does not have: merging this brings it too\n"), "{text}");
}

#[test]
fn a_checkpoint_counts_tasks_as_status_does() {
    let world = World::new();
    world.env.ok(&["task", "add", "Group", "--id", "g", "--kind", "group"]);
    world.env.ok(&["task", "add", "Part", "--id", "t", "--parent", "g"]);
    world.env.ok(&["checkpoint", "create", "c"]);
    let shown = world.env.ok(&["checkpoint", "show", "c"]);
    let tasks = shown.lines().find(|line| line.starts_with("tasks ")).unwrap();
    assert!(tasks.ends_with(" 1 pending"), "{shown}");
    assert!(world.env.ok(&["status"]).contains("Tasks: 1 pending"));
}

/// What a rollback takes back of a task beside its files comes back with an undo: what was reported, and where it waits. Both say so before.
#[test]
fn an_undo_of_a_rollback_to_a_checkpoint_brings_back_progress_and_gates() {
    let world = World::new();
    let script = "n=$(ls | grep -c '^it'); touch it$n; git axiom signal progress $((n*20+20)); git add it$n; git commit -qm $n\n\
                  git axiom signal waiting \"which $n?\"";
    world.task("t", script, &[]);
    world.autopilot(&[]).code(1);
    world.env.ok(&["checkpoint", "create", "first"]);
    world.env.ok(&["gate", "answer", "question-t", "yes"]);
    world.autopilot(&[]).code(1);
    let standing = || {
        let (task, gates) = (world.env.json(&["task", "show", "t"]), world.env.json(&["gate", "list"]));
        let gates = gates["gates"].as_array().unwrap();
        let asks = gates.iter().find(|gate| gate["id"] == "question-t").map(|gate| gate["reason"].clone());
        (task["progress"].clone(), asks, gates.len())
    };
    let before = standing();
    assert_eq!(before, (40.into(), Some("which 1?".into()), 1));
    let plan = world.env.ok(&["rollback", "first", "--dry-run"]);
    for line in ["t: active → pending, progress 40% → 20%", "question-t: which 1?", "question-t: which 0?"] {
        assert!(plan.contains(line), "{line} is missing\n{plan}");
    }
    world.env.ok(&["rollback", "first", "--yes"]);
    assert_eq!(standing(), (20.into(), Some("which 0?".into()), 2), "and it waits before it starts again");
    let plan = world.env.ok(&["undo", "--dry-run"]);
    for line in ["t: progress 20% → 40%", "claim-t: t was taken back", "question-t: which 0?", "question-t: which 1?"] {
        assert!(plan.contains(line), "{line} is missing\n{plan}");
    }
    world.env.ok(&["undo", "--yes"]);
    assert_eq!(standing(), before);
    let text = audit(&world, "t");
    assert!(text.contains("rollback to checkpoint first") && text.contains("undo of 'rollback to checkpoint first'"), "{text}");
    world.env.ok(&["redo", "--yes"]);
    assert_eq!(standing().1, Some("which 0?".into()), "as the redo of the rollback");
    world.all_is_well();
}

/// What was said, and approved, of a merge into one branch is not about another.
#[test]
fn a_merge_that_was_approved_for_one_branch_is_asked_again_for_another() {
    let world = World::new();
    world.env.git(&["branch", "dev"]);
    world.task("t", "echo t > t.txt; git axiom signal complete", &[]);
    world.start(&["--until-idle", "--mode", "review", "--target", "dev"]).wait().code(1);
    world.env.ok(&["gate", "approve", "merge-t"]);
    let asks = || world.gates().iter().find(|gate| gate["id"] == "merge-t").map(|gate| gate["reason"].clone());
    assert_eq!(asks(), Some("merge t into dev".into()));
    world.start(&["--until-idle", "--mode", "review"]).wait().code(1);
    assert_eq!(asks(), Some("merge t into main".into()), "nobody has approved that");
    world.env.ok(&["gate", "approve", "merge-t"]);
    world.start(&["--until-idle", "--mode", "review"]).wait().code(0);
    world.all_is_well();
}

#[test]
fn the_gate_of_a_start_has_the_title_that_the_task_has_now() {
    let world = World::new();
    world.task("t", "git axiom signal complete", &[]);
    world.start(&["--until-idle", "--mode", "semi-auto"]).wait().code(1);
    world.env.ok(&["task", "edit", "t", "--title", "Another"]);
    assert_eq!(world.gates()[0]["reason"], "start t: Another");
    world.env.ok(&["undo", "--yes"]);
    assert_eq!(world.gates()[0]["reason"], "start t: t");
}

/// A line of an earlier attempt is nothing that an agent does now, and what is gone was not never there.
#[test]
fn what_an_earlier_attempt_left_is_not_shown_as_what_is_now() {
    let world = World::new();
    world.task("t", "echo OLD; echo 1 > t.txt; exit 1", &[]);
    world.start(&["--until-idle", "--mode", "autopilot", "--max-iterations", "1"]).wait().code(1);
    world.env.ok(&[
        "task",
        "edit",
        "t",
        "--body",
        "touch ../../../begun; while [ ! -e ../../../go ]; do sleep 0.02; done; git axiom signal complete",
    ]);
    world.env.ok(&["task", "unblock", "t"]);
    let live = world.start_autopilot(&[]);
    world.wait_for_file("begun");
    assert!(!world.env.ok(&["status"]).contains("OLD"), "{}", world.env.ok(&["status"]));
    world.env.write("../go", "");
    live.wait().code(0);
    assert_eq!(world.show("t")["reports"]["filesModified"], 1);
    world.env.ok(&["rollback", "task", "t", "--yes"]);
    let refused = world.env.axiom(&["diff", "t"]);
    assert!(refused.stderr.contains("nothing is there of the work on 't' now"), "{refused}");
}

/// What a verb finds of other agents that a crash has left is recovery: the human asked for nothing of that.
#[test]
fn a_verb_after_a_crash_says_of_others_that_recovery_ended_them() {
    let world = World::new();
    ["x", "y"].iter().for_each(|id| half_done(&world, id));
    let mut live = world.start_autopilot(&["--agents", "2"]);
    world.wait_for_file("said-x");
    world.wait_for_file("said-y");
    wait_until("both are known", || world.agents().iter().filter(|agent| agent["progress"] == 50).count() == 2);
    live.kill();
    world.all_die();
    world.env.ok(&["task", "block", "x", "--reason", "later"]);
    let by = |id: &str| {
        let events = world.env.json(&["task", "audit", id]);
        let ended = events["entries"].as_array().unwrap().iter().find(|one| one["event"] == "iterationEnded").cloned();
        ended.map(|one| (one["by"].clone(), one["operation"].clone()))
    };
    assert_eq!(by("y").unwrap().0, "recovery");
    let log = world.env.json(&["log", "--all"]);
    let of_block =
        log["operations"].as_array().unwrap().iter().find(|one| one["what"].as_str().unwrap().starts_with("block x")).unwrap();
    assert!(!of_block["tasks"].to_string().contains("\"y\""), "{of_block}");
    assert_eq!((world.status_of("x").as_str(), world.status_of("y").as_str()), ("blocked", "pending"));
}

/// What is counted of merges and of completed tasks is what is so, whatever was taken back and done again.
#[test]
fn what_is_taken_back_and_done_again_is_counted_once() {
    let world = World::new();
    ["a", "b"].iter().for_each(|id| world.task(id, &format!("echo {id} > {id}.txt"), &[]));
    world.autopilot(&[]).code(0);
    let since = |task_count: u64| {
        let all = world.env.json(&["checkpoint", "list"])["checkpoints"].as_array().unwrap().clone();
        let first = all.iter().find(|one| one["trigger"] == "session-start").unwrap().clone();
        assert_eq!(first["tasksSince"], task_count, "{first}");
    };
    let merged = |times: u64, back: u64| {
        let sums = world.env.json(&["stats"])["sums"].as_array().unwrap().clone();
        let of_a = sums.iter().find(|one| one["name"] == "a").unwrap().clone();
        assert_eq!((of_a["merged"].as_u64(), of_a["takenBack"].as_u64()), (Some(times), Some(back)), "{of_a}");
    };
    let offered = || world.env.ok(&["graph"]).lines().filter(|line| line.contains("git axiom rollback task a")).count();
    since(2);
    merged(1, 0);
    world.env.ok(&["rollback", "task", "a", "--yes"]);
    since(1);
    merged(1, 1);
    assert_eq!(offered(), 0);
    let shown = world.env.ok(&["task", "show", "a"]);
    assert!(!shown.contains("git axiom diff a") && shown.contains("git axiom output a"), "nothing is there of it\n{shown}");
    world.env.ok(&["undo", "--yes"]);
    since(2);
    merged(1, 0);
    world.env.ok(&["redo", "--yes"]);
    since(1);
    merged(1, 1);
    world.env.ok(&["gate", "approve", "claim-a"]);
    world.autopilot(&[]).code(0);
    since(2);
    merged(2, 1);
    assert_eq!(offered(), usize::from(world.env.ok(&["log", "--undoable"]).lines().all(|line| !line.contains("merge a"))));
    assert!(world.env.ok(&["task", "show", "a"]).contains("git axiom diff a"));
    world.env.ok(&["rollback", "session", "--yes"]);
    // Of the first session's, b is left.
    since(1);
}
