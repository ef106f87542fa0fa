//! The exit statuses of docs/COMMANDS.md.

use std::collections::BTreeSet;

use git_axiom::base::error::Code;

use crate::common::{Run, TestEnv};

/// The status of what a signal ended: tests of sessions and of merges see it.
const INTERRUPTED: i32 = 130;

/// An id that nothing has is an error of usage, whatever it is an id of.
#[test]
fn an_unknown_id_ends_with_2() {
    let env = TestEnv::new();
    env.ok(&["task", "add", "t", "--id", "t"]);
    env.ok(&["checkpoint", "create", "c1"]);
    env.ok(&["checkpoint", "create", "c2"]);
    let mut wrong = Vec::new();
    for args in [
        &["task", "show", "nope"][..],
        &["task", "edit", "nope", "--title", "x"],
        &["task", "block", "nope", "--reason", "x"],
        &["task", "unblock", "nope"],
        &["task", "archive", "nope"],
        &["task", "audit", "nope"],
        &["task", "add", "x", "--parent", "nope"],
        &["task", "add", "x", "--after", "nope"],
        &["task", "add", "x", "--id", "T"],
        &["task", "edit", "t", "--after", "t"],
        &["task", "list", "--status", "nope"],
        &["output", "nope"],
        &["merge", "nope"],
        &["stop", "nope-001"],
        &["kill", "nope-001"],
        &["gate", "approve", "nope"],
        &["gate", "reject", "nope"],
        &["gate", "answer", "nope", "x"],
        &["checkpoint", "create", "c1"],
        &["checkpoint", "show", "nope"],
        &["checkpoint", "show", "c"],
        &["checkpoint", "diff", "nope"],
        &["checkpoint", "diff", "c1", "nope"],
        &["checkpoint", "verify", "nope"],
        &["checkpoint", "delete", "nope", "--yes"],
        &["rollback", "checkpoint", "nope", "--yes"],
        &["rollback", "task", "nope", "--yes"],
        &["restore", "nope", "--yes", "--", "README"],
        &["undo", "nope", "--yes"],
        &["recover", "--from", "nope"],
        &["config", "show", "nope"],
        &["config", "show", "agents.nope"],
        &["completions", "nope"],
        &["man", "nope"],
        &["mode", "nope"],
    ] {
        let run = env.axiom(&[&["--json"], args].concat());
        let says_a_way_on = run.json()["error"]["hints"].as_array().is_some_and(|hints| !hints.is_empty());
        if run.code != Some(2) || !says_a_way_on {
            wrong.push(format!("{args:?}\n{run}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    env.ok(&["config", "show", "agents", "--changed"]);
}

/// The page's table, and each status of it by a verb that ends so.
#[test]
fn an_exit_status_means_what_the_page_says() {
    let env = TestEnv::new();
    let mut seen = BTreeSet::from([INTERRUPTED]);
    let mut ends_with = |run: Run, status: i32| {
        assert_eq!(run.code, Some(status), "{run}");
        seen.insert(status);
        run
    };
    ends_with(env.axiom(&["task", "add", "t", "--id", "t", "--body", "echo x > x"]), 0);
    ends_with(env.axiom(&["task", "show", "nope"]), 2);
    env.ok(&["checkpoint", "create", "c"]);
    ends_with(env.axiom(&["merge", "t"]), 1).fails_with(Code::InvalidTransition);
    env.write("README", "changed\n");
    let asked = ends_with(env.axiom(&["--json", "rollback", "checkpoint", "c"]), 3).fails_with(Code::NeedsConfirmation);
    assert_eq!(asked.json()["error"]["code"], "NEEDS_CONFIRMATION");
    let mut agent = env.axiom_command(&env.repo(), ["--json", "undo", "--yes"]);
    agent.env("AXIOM_TOKEN", "x");
    ends_with(env.run(agent, None), 3);
    env.ok(&["run", "--mode", "autopilot", "--until-idle"]);
    env.write("x", "mine\n");
    ends_with(env.axiom(&["--json", "undo", "--yes", &merge_of(&env)]), 4);
    let lock = env.axiom_dir().join("locks/supervisor");
    let held = std::fs::OpenOptions::new().write(true).open(lock).unwrap();
    rustix::fs::flock(&held, rustix::fs::FlockOperation::LockExclusive).unwrap();
    ends_with(env.axiom(&["--json", "run", "--until-idle"]), 5).fails_with(Code::SupervisorRunning);
    drop(held);
    env.killed_at(&["rollback", "checkpoint", "c", "--yes"], "journal.begun:1");
    ends_with(env.axiom(&["--json", "checkpoint", "create", "d"]), 6).fails_with(Code::OperationOpen);
    assert_eq!(seen, in_the_page());
}

/// The statuses in the page's table.
fn in_the_page() -> BTreeSet<i32> {
    let page = include_str!("../../../docs/COMMANDS.md");
    let section = page.split("\n## ").find(|section| section.starts_with("Exit status\n")).unwrap();
    section.lines().filter_map(|line| line.strip_prefix("| ")?.split(' ').next()?.parse().ok()).collect()
}

fn merge_of(env: &TestEnv) -> String {
    let log = env.json(&["log"]);
    let merge = log["operations"].as_array().unwrap().iter().find(|one| one["what"].as_str().unwrap().starts_with("merge"));
    merge.unwrap()["id"].as_str().unwrap().to_owned()
}
