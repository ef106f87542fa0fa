//! Merges of a session are git's: attributes, drivers, and the branch that is checked out where the session begins.

use crate::common::TestEnv;
use crate::session_support::wait_until;

fn on_main(env: &TestEnv, path: &str) -> bool {
    env.try_git(&["cat-file", "-e", &format!("main:{path}")]).code == Some(0)
}

/// A repository with a file of ten lines for each name, and these attributes.
fn with_attributes(attributes: &str, names: &[&str]) -> TestEnv {
    let env = TestEnv::new();
    let lines: String = (1..=10).map(|n| format!("{n}\n")).collect();
    names.iter().for_each(|name| env.write(name, &lines));
    env.write(".gitattributes", attributes);
    env.git(&["add", "-A"]);
    env.git(&["commit", "-q", "-m", "a beginning"]);
    env
}

fn add(env: &TestEnv, id: &str, body: &str) {
    env.ok(&["task", "add", id, "--id", id, "--body", body]);
}

#[test]
fn attributes_of_the_target_decide_what_conflicts() {
    let env = with_attributes("*.lock -merge\nCHANGES merge=union\n", &["a.lock", "CHANGES"]);
    // Nobody committed these.
    env.write(".gitattributes", "*.lock merge=union\nCHANGES -merge\n");
    add(&env, "x-1", "sed -i 's/^3$/three/' a.lock; sleep 1");
    add(&env, "x-2", "sed -i 's/^9$/nine/' a.lock; sleep 1");
    add(&env, "c-1", "echo first >> CHANGES; sleep 1");
    add(&env, "c-2", "echo second >> CHANGES; sleep 1");
    env.axiom(&["run", "--mode", "autopilot", "--agents", "4", "--until-idle"]);
    let (lock, changes) = (env.git(&["show", "main:a.lock"]), env.git(&["show", "main:CHANGES"]));
    assert!(lock.contains("three") != lock.contains("nine"), "one of them waits: {lock}");
    assert!(changes.contains("first") && changes.contains("second"), "{changes}");
    let gates = env.json(&["gate", "list"])["gates"].to_string();
    assert!(gates.contains("x-") && !gates.contains("c-"), "{gates}");
}

#[test]
fn a_merge_driver_finds_the_files_of_the_target_and_what_it_does_not_answer_holds_up_its_own_task_alone() {
    let env = with_attributes("*.lock merge=mine\n", &["a.lock"]);
    let go = env.root().join("go");
    env.write("tools/merge", format!("#!/bin/sh\nwhile ! [ -e '{}' ]; do sleep 0.1; done\necho merged > \"$1\"\n", go.display()));
    env.git(&["add", "-A"]);
    env.git(&["commit", "-q", "-m", "a driver"]);
    env.git(&["config", "merge.mine.driver", "sh tools/merge %A"]);
    add(&env, "l-1", "echo one > a.lock; sleep 1");
    add(&env, "l-2", "echo two > a.lock; sleep 1");
    add(&env, "later", "sleep 4; echo x > later.txt");
    env.ok(&["run", "--mode", "autopilot", "--agents", "3", "--detach"]);
    wait_until("another task is merged", || on_main(&env, "later.txt"));
    assert!(["one", "two"].contains(&env.git(&["show", "main:a.lock"]).as_str()), "the driver has not answered");
    let status = env.json(&["status"]).to_string();
    assert!(status.contains("waits for its merge driver"), "{status}");
    std::fs::write(&go, "").unwrap();
    wait_until("its own task is merged then", || env.git(&["show", "main:a.lock"]) == "merged");
    env.ok(&["quit"]);
    wait_until("the session ends", || env.ok(&["status"]).contains("No session runs"));
    assert!(!env.git(&["status", "--porcelain"]).contains("merge_file"));
    env.fsck();
}

#[test]
fn a_session_of_a_linked_worktree_works_for_its_branch_and_goes_back_there() {
    let env = TestEnv::new();
    let side = env.root().join("side");
    env.git(&["worktree", "add", "-q", side.to_str().unwrap(), "-b", "side"]);
    let (main, before) = (env.git(&["rev-parse", "main"]), env.git(&["rev-parse", "side"]));
    add(&env, "l", "echo l > l.txt");
    let ran = env.axiom_in(&side, &["run", "--mode", "autopilot", "--until-idle"]).success();
    assert!(ran.stderr.contains("side"), "{ran}");
    let merged = env.git(&["rev-parse", "side"]);
    assert!(side.join("l.txt").exists() && merged != before);
    assert_eq!(env.git(&["rev-parse", "main"]), main);
    env.write("README", "edited meanwhile\n");
    env.axiom_in(&side, &["rollback", "session", "--yes"]).success();
    assert_eq!((env.git(&["rev-parse", "side"]), side.join("l.txt").exists()), (before, false));
    assert_eq!((env.git(&["rev-parse", "main"]), env.read("README").as_str()), (main.clone(), "edited meanwhile\n"));
    assert!(env.git_in(&side, &["status", "--porcelain"]).is_empty());
    env.axiom_in(&side, &["undo", "--yes"]).success();
    assert_eq!((env.git(&["rev-parse", "side"]), side.join("l.txt").exists()), (merged, true));
    // Named, it is that branch, wherever the session begins.
    env.git(&["branch", "third"]);
    add(&env, "m", "echo m > m.txt");
    env.axiom_in(&side, &["run", "--target", "third", "--mode", "autopilot", "--until-idle"]).success();
    assert_eq!(env.git(&["show", "third:m.txt"]), "m");
    assert!(!side.join("m.txt").exists() && env.git(&["rev-parse", "main"]) == main);
    env.axiom(&["run", "--target", "nothing", "--until-idle"]).fails_with(git_axiom::base::error::Code::TargetMissing);
}

#[test]
fn a_rollback_makes_the_mode_stricter_and_never_looser_unless_it_is_named() {
    let env = TestEnv::new();
    let mode = || env.json(&["mode"])["mode"].as_str().unwrap().to_owned();
    env.ok(&["mode", "autopilot"]);
    env.ok(&["checkpoint", "create", "free"]);
    env.ok(&["mode", "semi-auto"]);
    env.ok(&["checkpoint", "create", "strict"]);
    env.write("README", "1\n");
    env.ok(&["rollback", "checkpoint", "free", "--yes"]);
    assert_eq!(mode(), "semi-auto");
    env.write("README", "2\n");
    env.ok(&["rollback", "checkpoint", "free", "--mode", "autopilot", "--yes"]);
    assert_eq!(mode(), "autopilot");
    env.ok(&["undo", "--yes"]);
    assert_eq!(mode(), "semi-auto", "the undo of that very change");
    env.ok(&["mode", "autopilot"]);
    env.ok(&["rollback", "checkpoint", "strict", "--yes"]);
    assert_eq!(mode(), "semi-auto");
}
