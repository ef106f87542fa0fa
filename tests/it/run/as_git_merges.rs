//! Merges of a session are git's: attributes, drivers, and the branch that is checked out where the session begins.

use std::time::{Duration, Instant};

use crate::common::TestEnv;

fn on_main(env: &TestEnv, path: &str) -> bool {
    env.try_git(&["cat-file", "-e", &format!("main:{path}")]).code == Some(0)
}

fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(100));
    }
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
    wait_for("another task is merged", || on_main(&env, "later.txt"));
    assert!(["one", "two"].contains(&env.git(&["show", "main:a.lock"]).as_str()), "the driver has not answered");
    let status = env.json(&["status"]).to_string();
    assert!(status.contains("waits for its merge driver"), "{status}");
    std::fs::write(&go, "").unwrap();
    wait_for("its own task is merged then", || env.git(&["show", "main:a.lock"]) == "merged");
    env.ok(&["quit"]);
    wait_for("the session ends", || env.ok(&["status"]).contains("No session runs"));
    assert!(!env.git(&["status", "--porcelain"]).contains("merge_file"));
    env.fsck();
}
