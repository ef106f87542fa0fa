//! `git axiom recover` where events are lost, from outside: it is damage and never "nothing there", and checkpoints stay.

#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // a failing test may panic, and tests prepare files

use crate::common::TestEnv;
use git_axiom::base::error::Code;

fn with_checkpoints() -> TestEnv {
    let env = TestEnv::new();
    for name in ["c1", "c2"] {
        env.write("README", name);
        env.ok(&["checkpoint", "create", name]);
    }
    env
}

fn lose_the_log(env: &TestEnv) {
    std::fs::remove_file(env.axiom_dir().join("state/events.jsonl")).unwrap();
}

#[test]
fn a_log_that_is_gone_is_damage_where_tasks_are_left() {
    let env = TestEnv::new();
    env.ok(&["status"]);
    env.ok(&["task", "add", "x"]);
    for empty in [false, true] {
        if empty {
            env.write(".git/axiom/state/events.jsonl", "");
        } else {
            lose_the_log(&env);
        }
        for verb in [&["status"][..], &["task", "add", "y"], &["checkpoint", "create", "c"], &["recover"]] {
            env.axiom(verb).fails_with(Code::EventLogTruncated);
        }
    }
    env.axiom(&["recover", "--from", "cases", "--yes"]).success();
    assert_eq!(env.ok(&["task", "add", "y"]), "task-002");
}

#[test]
fn a_log_that_is_gone_is_damage_where_checkpoints_are_left() {
    let env = with_checkpoints();
    lose_the_log(&env);
    let look = env.axiom(&["recover"]).fails_with(Code::EventLogTruncated);
    for text in ["there are checkpoints", "\n[G] checkpoint: "] {
        assert!(look.stdout.contains(text), "{text}\n{look}");
    }
    assert!(!look.stderr.contains("'git axiom recover'"), "a hint at the very command\n{look}");
    let asked = env.axiom(&["recover", "--from", "fresh"]).fails_with(Code::NeedsConfirmation);
    assert!(
        asked.stderr.contains("hint: git axiom recover --from fresh --yes") && !asked.stderr.contains("--dry-run"),
        "{asked}"
    );
    // One source that gives nothing is not every way.
    let other = env.axiom(&["recover", "--from", "backup", "--yes"]).fails_with(Code::InvalidInput);
    assert!(other.stderr.contains("with another one of: ") && other.stderr.contains("checkpoint, fresh\n"), "{other}");
    // Without the folder, too.
    std::fs::remove_dir_all(env.axiom_dir()).unwrap();
    env.axiom(&["status"]).fails_with(Code::EventLogTruncated);
}

#[test]
fn checkpoints_survive_every_way_of_beginning_anew() {
    for source in ["fresh", "checkpoint"] {
        let env = with_checkpoints();
        lose_the_log(&env);
        let done = env.json(&["recover", "--from", source, "--yes"]);
        assert_eq!(done["checkpoints"], serde_json::json!([{"name": "c1"}, {"name": "c2"}]), "{source}");
        env.ok(&["checkpoint", "create", "c3"]);
        assert_eq!(env.checkpoints(), ["c1", "c2", "c3"], "{source}: the newest is the last");
        env.axiom(&["checkpoint", "create", "c1"]).fails_with(Code::DuplicateId);
        env.ok(&["rollback", "checkpoint", "c1", "--yes"]);
        assert_eq!(env.read("README"), "c1", "{source}");
    }
}

#[test]
fn recover_takes_up_checkpoints_that_the_state_does_not_know() {
    let env = with_checkpoints();
    let before = env.read(".git/axiom/state/events.jsonl");
    env.ok(&["checkpoint", "create", "c3"]);
    env.write(".git/axiom/state/events.jsonl", before);
    let look = env.json(&["recover"]);
    assert_eq!((&look["needed"], &look["forgottenCheckpoints"]), (&true.into(), &serde_json::json!(["c3"])));
    env.ok(&["recover", "--yes"]);
    assert_eq!(env.json(&["recover"])["needed"], false);
    env.ok(&["rollback", "checkpoint", "c3", "--yes"]);
}

/// Neither asks, so neither needs it: a script that says `-y` to all that changes something is understood all the same.
#[test]
fn the_ends_of_an_interrupted_rollback_take_a_yes() {
    for (end, left) in [("--continue", "a project\n"), ("--abort", "changed\n")] {
        for yes in ["-y", "--yes"] {
            let env = TestEnv::new();
            env.ok(&["checkpoint", "create", "c"]);
            env.write("README", "changed\n");
            env.killed_at(&["rollback", "checkpoint", "c", "--yes"], "journal.begun:1");
            env.ok(&["rollback", end, yes]);
            assert_eq!(env.read("README"), left, "{end} {yes}");
        }
    }
    // By itself it says of nothing that it shall be done.
    assert_eq!(TestEnv::new().axiom(&["rollback", "-y"]).code, Some(2));
}

/// Verbs that only look change nothing, and what they see may be a line that is just being written.
#[test]
fn an_incomplete_end_of_the_log_is_told_once_by_the_verb_that_cuts_it_off() {
    let env = TestEnv::new();
    env.ok(&["task", "add", "A", "--id", "a"]);
    let log = env.axiom_dir().join("state/events.jsonl");
    let tear = || {
        let mut bytes = std::fs::read(&log).unwrap();
        bytes.extend_from_slice(b"{\"axiom\":1,\"seq\":");
        std::fs::write(&log, bytes).unwrap();
    };
    let said = "bytes was cut off the event log";
    tear();
    for verb in [&["status"][..], &["task", "list"], &["log"], &["task", "show", "a"], &["recover"]] {
        let looked = env.axiom(verb).success();
        assert!(!looked.stderr.contains("EVENT_LOG_TRUNCATED"), "{verb:?}\n{looked}");
    }
    for (verb, code) in [
        (&["task", "add", "B", "--id", "b"][..], 0),
        (&["task", "add", "A", "--id", "a"], 2),
        (&["checkpoint", "create", "c", "--json"], 0),
        (&["recover", "--yes"], 0),
    ] {
        tear();
        let run = env.axiom(verb);
        assert_eq!((run.code, run.stderr.matches(said).count()), (Some(code), 1), "{verb:?}\n{run}");
        let again = env.axiom(&["mode", "review"]).success();
        assert!(!again.stderr.contains("EVENT_LOG_TRUNCATED"), "{verb:?}\n{again}");
    }
    assert_eq!(env.axiom(&["recover", "--from", "events", "--yes"]).success().stderr.matches("EVENT_LOG").count(), 0);
}

#[test]
fn half_of_a_copy_of_the_state_is_removed() {
    let env = TestEnv::new();
    env.ok(&["task", "add", "A"]);
    let half = env.axiom_dir().join("state/.tmp-0123456789abcdef");
    std::fs::write(&half, "{").unwrap();
    let file = std::fs::File::options().write(true).open(&half).unwrap();
    file.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(600)).unwrap();
    let look = env.ok(&["recover"]);
    assert!(look.contains(".tmp-0123456789abcdef', half of a file that was being written"), "{look}");
    env.ok(&["recover", "--yes"]);
    assert!(!half.exists());
}
