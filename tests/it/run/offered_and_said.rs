//! What is offered can be done, what was refused is not told as done, and what git took out of the target is not called merged.

use git_axiom::base::error::Code;
use serde_json::json;

use crate::session_support::{World, wait_until};

/// A human's `git reset` takes merges out of the target, of which no event tells; a rebase makes them anew.
#[test]
fn what_the_target_no_longer_has_is_not_called_merged_and_what_was_made_anew_is() {
    let world = World::new();
    for name in ["one", "two"] {
        world.task(name, &format!("echo 1 > {name}"), &[]);
        world.autopilot(&[]).code(0);
    }
    let merged = || {
        let status = world.env.json(&["status"]);
        (status["progress"]["merged"].as_u64().unwrap(), status["lostMerges"].clone())
    };
    assert_eq!(merged(), (2, json!([])));
    world.env.git(&["checkout", "-q", "-b", "other", "HEAD~2"]);
    world.env.git(&["commit", "-q", "--allow-empty", "-m", "of another"]);
    world.env.git(&["checkout", "-q", "main"]);
    world.env.git(&["rebase", "-q", "other"]);
    assert_eq!(merged(), (2, json!([])), "the commits were made anew");
    world.env.git(&["reset", "-q", "--hard", "HEAD~1"]);
    assert_eq!(merged(), (1, json!(["two"])));
    let status = world.env.ok(&["status"]);
    assert!(status.contains("2 done (1 merged, 1 no longer)") && status.contains("no longer in the target: two"), "{status}");
    let list = world.env.ok(&["task", "list"]);
    assert!(list.contains("done, was merged") && list.contains("done, merged"), "{list}");
    // What is said to bring it back does.
    let refused = world.env.axiom(&["merge", "two"]).fails_with(Code::InvalidTransition);
    let commit = world.find_task("two")["merged"]["commit"].as_str().unwrap().to_owned();
    assert!(refused.stderr.contains(&format!("git merge {}", &commit[..10])), "{refused}");
    world.env.git(&["merge", "-q", "--no-edit", &commit]);
    assert_eq!(merged(), (2, json!([])));
    world.env.git(&["reset", "-q", "--hard", "HEAD~1"]);
    world.autopilot(&[]).code(0);
    let log = world.env.ok(&["log", "-n", "1"]);
    assert!(log.contains("every task was merged, and the target no longer has two"), "{log}");
    // What comes after it hides nothing.
    world.task("three", "echo 1 > three", &[]);
    world.autopilot(&[]).code(0);
    assert_eq!(merged(), (2, json!(["two"])));
    // What a human puts into one commit of their own words is there.
    let first = world.env.git(&["rev-list", "--max-parents=0", "HEAD"]);
    world.env.git(&["reset", "-q", "--soft", first.trim()]);
    world.env.git(&["commit", "-q", "-m", "all of it"]);
    assert_eq!(merged(), (2, json!(["two"])));
}

#[test]
fn a_request_that_the_session_refused_is_not_told_as_one_that_was_done() {
    let world = World::new();
    world.waiting_task("a");
    let live = world.start_until_begun();
    world.env.axiom(&["resume"]).fails_with(Code::InvalidTransition);
    let asked = |log: &str| log.lines().filter(|line| line.ends_with("resume")).count();
    assert_eq!(asked(&world.env.ok(&["log"])), 0);
    assert_eq!(asked(&world.env.ok(&["log", "--all"])), 1);
    world.env.ok(&["pause"]);
    world.env.ok(&["resume"]);
    assert_eq!(asked(&world.env.ok(&["log"])), 1);
    world.signal_file("go");
    live.wait().code(0);
}

/// Where an agent would be stopped whose work is then committed, on a branch that the undo moves, it is refused.
#[test]
fn an_operation_that_moved_a_task_on_which_an_agent_works_again_is_not_offered_to_be_undone() {
    let world = World::new();
    world.task("slow", &format!("echo 1 >> s.txt; {}", world.until_go()), &[]);
    let live = world.start_staying("1");
    let works = || wait_until("it works", || world.works_on("slow") && world.env.ok(&["diff", "slow"]).contains("s.txt"));
    works();
    world.env.ok(&["checkpoint", "create", "mine"]);
    world.env.ok(&["rollback", "mine", "--yes"]);
    let newest = world.env.json(&["log", "-n", "1"])["operations"][0].clone();
    let id = newest["id"].as_str().unwrap().to_owned();
    let offered = || world.env.ok(&["log", "--undoable"]).contains(&id);
    assert!(newest["what"].as_str().unwrap().starts_with("rollback to checkpoint mine") && offered(), "{newest}");
    world.wait_for_gate("claim-slow");
    world.env.ok(&["gate", "approve", "claim-slow"]);
    works();
    world.env.axiom(&["undo", &id, "--yes"]).fails_with(Code::ChangedMeanwhile);
    assert!(!offered());
    world.signal_file("go");
    world.wait_until_merged("slow");
    world.quits_well(live);
}

#[test]
fn a_task_whose_start_was_rejected_is_not_ready() {
    let world = World::new();
    world.task("a", "true", &[]);
    let live = world.start(&["--mode", "semi-auto"]);
    world.wait_for_gate("claim-a");
    world.quits_well(live);
    world.env.ok(&["gate", "reject", "claim-a", "--reason", "no"]);
    let progress = world.env.json(&["status"])["progress"].clone();
    assert_eq!((&progress["ready"], &progress["atGates"]), (&json!(0), &json!(1)));
}

/// A picture names commands that do what is said of them.
#[test]
fn the_graph_offers_a_rollback_that_ends_in_a_conflict_as_one_to_be_resolved() {
    let world = World::new();
    world.env.write("a", "a\nb\nc\n");
    world.env.git(&["add", "a"]);
    world.env.git(&["commit", "-q", "-m", "a"]);
    for (name, edit) in [("one", "sed -i s/b/bb/ a"), ("two", "sed -i s/bb/bbb/ a"), ("apart", "echo 1 > other")] {
        world.task(name, edit, &[]);
        world.autopilot(&[]).code(0);
        world.env.git(&["commit", "-q", "--allow-empty", "-m", &format!("after {name}")]);
    }
    let graph = world.env.json(&["graph"]);
    let offered = |task: &str| {
        let moments = graph["moments"].as_array().unwrap().iter();
        let mut merge = moments.filter(|moment| moment["what"] == format!("merge {task} into main"));
        merge.next().unwrap()["command"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(offered("one"), "git axiom rollback task one --resolve");
    world.env.axiom(&["rollback", "task", "one", "--yes"]).fails_with(Code::MergeConflict);
    let last = offered("two");
    assert_eq!(last, "git axiom rollback task two");
    world.env.ok(&["rollback", "task", "two", "--yes"]);
}

/// A human's own change is in the way of a merge only as long as it is there.
#[test]
fn a_merge_goes_on_by_itself_once_what_was_in_its_way_is_gone() {
    let world = World::new();
    world.env.write("a", "a\n");
    world.env.git(&["add", "a"]);
    world.env.git(&["commit", "-q", "-m", "a"]);
    world.env.write("a", "mine\n");
    world.task("edit", "echo 1 >> a", &[]);
    let live = world.start_staying("1");
    let reason = world.wait_for_gate("merge-edit")["reason"].as_str().unwrap().to_owned();
    assert!(reason.contains("in the way: a"), "{reason}");
    world.env.write("b", "another change of mine\n");
    world.env.git(&["checkout", "-q", "--", "a"]);
    world.wait_until_merged("edit");
    world.quits_well(live);
}

/// A step of the session is called by what an undo of it takes back.
#[test]
fn a_step_that_deletes_a_branch_is_not_called_a_pause() {
    let world = World::new();
    for name in ["one", "two"] {
        world.task(name, &format!("echo 1 > {name}"), &[]);
    }
    let live = world.start_staying("1");
    world.wait_until_merged("one");
    world.wait_until_merged("two");
    let checkpoints = world.env.json(&["checkpoint", "list"]);
    let mut names = checkpoints["checkpoints"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap());
    let after = names.rfind(|name| name.starts_with("after-one")).unwrap().to_owned();
    world.env.ok(&["rollback", &after, "--yes"]);
    wait_until("the branch that came back is gone", || !world.env.git(&["branch"]).contains("axiom/one"));
    let all = world.env.json(&["log", "--all", "-n", "100"]);
    for step in all["operations"].as_array().unwrap().iter().filter(|step| step["undoable"] == true) {
        assert!(!step["what"].as_str().unwrap().starts_with("session"), "{step}");
    }
    world.quits_well(live);
}

/// The session waits for the other agent: of this one nothing runs, and no time passes for it.
#[test]
fn an_agent_whose_program_ended_while_the_session_ends_does_not_work() {
    let world = World::new();
    let (go, ended) = (world.beside("go-one"), world.beside("ended-one"));
    let until = format!("until [ -e '{}' ]; do sleep 0.1; done", go.display());
    world.task("one", &format!("{until}; touch '{}'; exit 1", ended.display()), &[]);
    world.waiting_task("two");
    let live = world.start(&["--mode", "autopilot", "--agents", "2"]);
    world.wait_for_file("begun");
    wait_until("both work", || world.agents().iter().filter(|agent| agent["state"] == "running").count() == 2);
    world.env.ok(&["quit"]);
    wait_until("it ends", || world.env.json(&["status"])["session"]["state"] == "ending");
    world.signal_file("go-one");
    let one = || world.agents().iter().find(|agent| agent["taskId"] == "one").cloned();
    wait_until("its program has ended", || one().is_some_and(|agent| agent["state"] == "ended"));
    let before = one().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1100));
    assert_eq!(one().unwrap()["duration"], before["duration"]);
    world.signal_file("go");
    live.wait();
    world.all_is_well();
}

/// A human approves again what was in the way, once it is not.
#[test]
fn in_review_a_merge_that_was_kept_up_asks_again_once_the_way_is_free() {
    let world = World::new();
    world.env.write("a.txt", "a\n");
    world.env.git(&["add", "a.txt"]);
    world.env.git(&["commit", "-q", "-m", "a file"]);
    world.task("t", "echo t > a.txt", &[]);
    world.env.write("a.txt", "mine\n");
    let live = world.start(&["--mode", "review", "--agents", "1"]);
    world.wait_for_gate("merge-t");
    world.env.ok(&["gate", "approve", "merge-t"]);
    let reason = || world.gates().first().map(|gate| gate["reason"].as_str().unwrap().to_owned()).unwrap_or_default();
    wait_until("it is kept up", || reason().starts_with("could not be merged: ") && reason().contains("in the way: a.txt"));
    world.env.git(&["checkout", "-q", "--", "a.txt"]);
    wait_until("it asks again", || reason() == "merge t into main");
    world.env.ok(&["gate", "approve", "merge-t"]);
    world.wait_until_merged("t");
    world.quits_well(live);
}

/// What opens is counted and named before as after.
#[test]
fn the_plan_of_a_rollback_names_the_gates_that_it_opens() {
    let world = World::new();
    world.waiting_task("t");
    let live = world.start_until_begun();
    world.env.ok(&["checkpoint", "create", "cp"]);
    world.signal_file("go");
    live.wait().code(0);
    let opened = |answer: &serde_json::Value| answer["gates"].as_array().map_or(0, Vec::len);
    let plan = world.env.json(&["rollback", "cp", "--dry-run"]);
    let done = world.env.json(&["rollback", "cp", "--yes"]);
    assert_eq!((opened(&plan), opened(&done)), (1, 1), "{plan:#}\n{done:#}");
    assert_eq!(plan["gates"][0]["id"], world.gate_ids()[0]);
}
