//! What is said while no session runs is what the next `git axiom run` does.

use git_axiom::base::error::Code;
use serde_json::json;

use crate::session_support::{World, wait_until};

/// The status says that `git axiom run` goes on from there.
#[test]
fn after_a_crash_run_goes_on_with_the_target_the_agents_and_the_budget() {
    let world = World::new();
    world.env.git(&["branch", "rel"]);
    world.waiting_task("t");
    let mut live = world.start(&["--mode", "autopilot", "--target", "rel", "--agents", "1", "--max-time", "1h"]);
    world.wait_for_file("begun");
    live.kill();
    world.signal_file("go");
    let live = world.start(&["--until-idle"]);
    world.wait_until_merged("t");
    let ended = live.wait().code(0);
    let said = "goes on as the session was begun that crashed, into rel, 1 agent at once, limits of the session 1h";
    assert!(ended.stderr.contains(said), "{}", ended.stderr);
    assert_eq!(world.find_task("t")["merged"]["target"], "refs/heads/rel");
    let session = world.env.json(&["status"])["session"].clone();
    assert_eq!((&session["limits"], &session["metadata"]["slots"]), (&json!({"maxTime": 3600}), &json!(1)));
    assert!(session["timeUsedMs"].as_u64() > Some(0), "what the crashed one used counts: {session}");
    // It ended in order: the next one is a new one.
    world.task("u", "echo 1 > u.txt", &[]);
    let ended = world.autopilot(&[]).code(0);
    assert!(!ended.stderr.contains("that crashed"), "{}", ended.stderr);
    assert_eq!(world.find_task("u")["merged"]["target"], "refs/heads/main");
    assert_eq!(world.env.json(&["status"])["session"]["limits"], json!({}));
    world.all_is_well();
}

/// A decision of a session that has ended changes nothing of the next one, so nobody is asked.
#[test]
fn the_gate_of_a_session_s_budget_ends_with_the_session() {
    let world = World::new();
    world.task("t", "echo half > t.txt; sleep 30; exit 1", &[]);
    world.autopilot(&["--agents", "1", "--max-time", "1s"]).code(1);
    let status = world.env.ok(&["status"]);
    assert!(!status.contains("budget--session") && status.contains("1 ready, 0 at gates"), "{status}");
    world.env.axiom(&["gate", "approve", "budget--session"]).fails_with(Code::UnknownGate);
    world.env.ok(&["task", "archive", "t"]);
    world.task("u", "echo 1 > u.txt", &[]);
    world.autopilot(&[]).code(0);
    assert!(world.env.ok(&["log", "--all"]).contains("budget--session closed: its session has ended"));
    world.all_is_well();
}

#[test]
fn a_merge_that_was_approved_into_another_branch_is_carried_out_by_the_command_that_is_said() {
    let world = World::new();
    world.env.git(&["branch", "rel"]);
    world.task("t", "echo 1 > t.txt", &[]);
    world.start(&["--mode", "review", "--target", "rel", "--until-idle"]).wait().code(1);
    let said = world.env.axiom(&["gate", "approve", "merge-t"]);
    assert!(said.stderr.contains("git axiom run --target rel --until-idle    carries it out"), "{}", said.stderr);
    let status = world.env.ok(&["status"]);
    assert!(status.contains("carried out by 'git axiom run --target rel', as soon"), "{status}");
    world.start(&["--target", "rel", "--until-idle"]).wait().code(0);
    assert_eq!(world.find_task("t")["merged"]["target"], "refs/heads/rel");
    world.all_is_well();
}

#[test]
fn what_the_mode_no_longer_asks_is_not_said_to_wait_for_a_human() {
    let world = World::new();
    world.task("t", "echo 1 > t.txt", &[]);
    world.start(&["--mode", "review", "--until-idle"]).wait().code(1);
    world.task("u", "echo 1 > u.txt", &[]);
    world.env.ok(&["mode", "semi-auto"]);
    world.start(&["--until-idle"]).wait().code(1);
    let counts = || {
        let status = world.env.json(&["status"]);
        let of = |name: &str| status["progress"][name].as_u64().unwrap();
        (of("ready"), of("atGates"), of("doneAtGates"), status["gates"].as_array().unwrap().len())
    };
    assert_eq!(counts(), (0, 1, 1, 2));
    world.env.ok(&["mode", "autopilot"]);
    assert_eq!(counts(), (1, 0, 0, 0));
    assert_eq!(world.env.json(&["status"])["toMerge"][0]["taskId"], "t");
    world.start(&["--until-idle"]).wait().code(0);
    world.all_is_well();
}

#[test]
fn a_task_whose_limit_was_raised_waits_at_no_gate() {
    let world = World::new();
    world.task("t", "echo half > t.txt; [ -e ../../../go ] || sleep 30", &["--max-time", "1s"]);
    world.autopilot(&[]).code(1);
    assert_eq!(world.gate_ids(), ["budget-t"]);
    world.env.ok(&["task", "edit", "t", "--max-time", "1h"]);
    let status = world.env.ok(&["status"]);
    assert!(status.contains("1 ready, 0 at gates") && !status.contains("used up its budget"), "{status}");
    world.signal_file("go");
    world.autopilot(&[]).code(0);
    world.all_is_well();
}

fn undoes_the_newest(world: &World) {
    let newest = world.env.json(&["log", "--undoable"])["operations"][0]["id"].as_str().unwrap().to_owned();
    world.env.ok(&["undo", &newest, "--yes"]);
}

/// What was approved into one branch is asked anew for another.
#[test]
fn an_undone_merge_that_was_approved_again_goes_into_its_own_branch_alone() {
    let world = World::new();
    world.env.git(&["branch", "rel"]);
    world.task("t", "echo 1 > t.txt", &[]);
    world.start(&["--mode", "autopilot", "--target", "rel", "--until-idle"]).wait().code(0);
    undoes_the_newest(&world);
    world.env.ok(&["mode", "review"]);
    let said = world.env.axiom(&["gate", "approve", "merge-t"]);
    assert!(said.stderr.contains("git axiom run --target rel --until-idle    carries it out"), "{}", said.stderr);
    world.start(&["--until-idle"]).wait().code(1);
    let asks = || world.gates()[0]["reason"].as_str().unwrap().starts_with("its merge was taken back");
    assert!(asks(), "nobody has approved that: {:?}", world.gates());
    world.env.ok(&["gate", "approve", "merge-t"]);
    world.autopilot(&["--target", "rel"]).code(1);
    assert!(asks() && world.find_task("t")["merged"].is_null(), "autopilot neither: {:?}", world.gates());
    world.all_is_well();
}

/// A redo of what somebody did to work that is merged by now would say of merged work that it is not.
#[test]
fn a_block_is_not_done_again_once_the_task_is_merged() {
    let world = World::new();
    world.task("t", "echo 1 > t.txt", &[]);
    let live = world.start(&["--mode", "review", "--agents", "1"]);
    world.wait_for_gate("merge-t");
    world.env.ok(&["gate", "reject", "merge-t", "--reason", "oops"]);
    wait_until("it is blocked", || world.status_of("t") == "blocked");
    undoes_the_newest(&world);
    world.wait_for_gate("merge-t");
    world.env.ok(&["gate", "approve", "merge-t"]);
    world.wait_until_merged("t");
    world.env.axiom(&["redo", "--yes"]).fails_with(Code::ChangedMeanwhile);
    assert_eq!(world.status_of("t"), "done");
    world.quits_well(live);
}

/// It is said that the supervisor acts on it within a second.
#[test]
fn a_rejected_start_blocks_a_task_that_waits_for_another_too() {
    let world = World::new();
    world.task("a", "echo 1 > a.txt", &[]);
    world.task("b", "echo 1 > b.txt", &["--after", "a"]);
    world.autopilot(&[]).code(0);
    world.env.ok(&["rollback", "task", "a", "--cascade", "--yes"]);
    let live = world.start(&["--mode", "autopilot", "--agents", "1"]);
    world.env.ok(&["gate", "reject", "claim-b", "--reason", "never"]);
    wait_until("it is blocked", || world.status_of("b") == "blocked");
    world.quits_well(live);
}

/// A laptop that was off all night has run no program.
#[test]
fn the_time_in_which_a_crashed_session_lay_there_is_not_used() {
    let world = World::new();
    world.task("t", "touch ../../../begun; [ -e ../../../go ] || sleep 1000", &[]);
    let mut live = world.start(&["--mode", "autopilot", "--agents", "1", "--max-time", "8s"]);
    world.wait_for_file("begun");
    live.kill();
    world.all_die();
    std::thread::sleep(std::time::Duration::from_secs(9));
    world.signal_file("go");
    let ended = world.autopilot(&[]).code(0);
    assert!(!ended.stderr.contains("budget--session"), "{}", ended.stderr);
    world.all_is_well();
}
