//! Bad moments, from outside: whatever makes a verb refuse is found by `recover`, with a way out that works; what runs
//! elsewhere is busy and not "interrupted"; limits of the system are said in words.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failing test may panic, and tests prepare files

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::common::{Run, TestEnv};
use git_axiom::base::error::Code;
use serde_json::Value;

/// What `recover` names: the reasons, in order.
fn reasons(env: &TestEnv) -> Vec<String> {
    let looked = env.json(&["recover"]);
    looked["wedges"].as_array().unwrap().iter().map(|one| one["reason"].as_str().unwrap().to_owned()).collect()
}

/// The commands that `recover` offers, without the words behind them.
fn commands(env: &TestEnv, reason: &str) -> Vec<String> {
    let looked = env.json(&["recover"]);
    let wedges = looked["wedges"].as_array().unwrap();
    let wedge = wedges.iter().find(|one| one["reason"] == reason).unwrap_or_else(|| panic!("no {reason}: {looked}"));
    let hints = wedge["hints"].as_array().unwrap();
    hints.iter().map(|hint| hint.as_str().unwrap().split("    ").next().unwrap().to_owned()).collect()
}

/// Runs a command that was offered, as a user would paste it, with `ELSEWHERE` and `ANOTHER` filled in.
fn paste(env: &TestEnv, line: &str) {
    let ours = Path::new(env!("CARGO_BIN_EXE_git-axiom")).parent().unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let path = std::env::join_paths([ours.to_owned()].into_iter().chain(std::env::split_paths(&path))).unwrap();
    let line = line.replace("ELSEWHERE", &env.root().join("elsewhere").display().to_string()).replace("ANOTHER", "kept");
    let mut shell = env.program("sh", &env.repo());
    shell.env("PATH", path).args(["-c", &line]);
    env.run(shell, None).success();
}

/// `sh -c LIMIT; exec git-axiom …`.
fn limited(env: &TestEnv, limit: &str, args: &[&str]) -> Run {
    let mut shell = env.program("sh", &env.repo());
    shell.args(["-c", &format!("{limit}; exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_git-axiom")]).args(args);
    env.run(shell, None)
}

#[test]
fn recovery_needs_no_branch_and_counts_a_dead_lock() {
    let env = TestEnv::new();
    env.ok(&["checkpoint", "create", "c"]);
    env.git(&["checkout", "-q", "--detach"]);
    env.write(".git/index.lock", "");
    std::thread::sleep(Duration::from_millis(3100));
    let looked = env.json(&["recover"]);
    assert_eq!((&looked["needed"], reasons(&env)), (&true.into(), vec!["deadLock".to_owned()]));
    env.ok(&["recover", "--yes"]);
    assert!(!env.repo().join(".git/index.lock").exists());
    assert_eq!(env.json(&["recover"])["needed"], false);
}

#[test]
fn damage_that_a_snapshot_covers_is_named_with_a_way_on_that_works() {
    let env = TestEnv::new();
    env.ok(&["task", "add", "first", "--id", "t1"]);
    env.ok(&["checkpoint", "create", "c"]);
    // A snapshot, and something after it.
    env.ok(&["recover", "--yes"]);
    env.ok(&["task", "add", "later", "--id", "t2"]);
    let log = env.read(".git/axiom/state/events.jsonl");
    let mut lines: Vec<String> = log.lines().map(str::to_owned).collect();
    lines[0] = lines[0].replace("first", "FIRST");
    env.write(".git/axiom/state/events.jsonl", lines.join("\n") + "\n");
    // What is after an older snapshot is known without the damaged line, and without such a snapshot it is not.
    assert!(env.ok(&["undo", "--dry-run"]).contains("add t2"));
    for entry in std::fs::read_dir(env.repo().join(".git/axiom/state")).unwrap().map(Result::unwrap) {
        if entry.file_name().to_string_lossy().starts_with("anchor-") {
            std::fs::remove_file(entry.path()).unwrap();
        }
    }
    for verb in [&["log"][..], &["events"], &["undo", "--dry-run"]] {
        env.axiom(verb).fails_with(Code::EventLogCorrupted);
    }
    let told = env.axiom(&["events", "--json"]).json();
    assert!(
        told["error"]["code"] == "EVENT_LOG_CORRUPTED" && told["events"].is_null(),
        "one document, and not half a list: {told}"
    );
    assert_eq!(env.json(&["recover"])["needed"], true);
    let [way] = &commands(&env, "earlierDamage")[..] else { panic!() };
    paste(&env, way);
    assert_eq!(reasons(&env), [] as [&str; 0]);
    env.ok(&["log"]);
    env.ok(&["events"]);
    env.ok(&["rollback", "checkpoint", "c", "--yes"]);
    assert_eq!(env.json(&["task", "list"])["tasks"].as_array().unwrap().len(), 2);
}

#[test]
fn every_way_of_beginning_anew_that_is_offered_works_without_a_readable_line() {
    let damaged = || {
        let env = TestEnv::new();
        env.ok(&["task", "add", "x", "--id", "t1"]);
        env.ok(&["checkpoint", "create", "c"]);
        let log = env.read(".git/axiom/state/events.jsonl");
        env.write(".git/axiom/state/events.jsonl", log.lines().map(|_| "garbage\n").collect::<String>());
        env
    };
    let looked = damaged().axiom(&["--json", "recover"]);
    let document: Value = serde_json::from_str(looked.stdout.lines().next().unwrap()).unwrap();
    let choices = document["damage"]["choices"].as_array().unwrap().clone();
    assert!(choices.len() >= 3, "{looked}");
    for choice in choices {
        let (env, from) = (damaged(), choice["source"].as_str().unwrap().to_owned());
        env.ok(&["recover", "--from", &from, "--yes"]);
        assert_eq!(env.json(&["recover"])["needed"], false, "{from}");
        assert_eq!(env.json(&["task", "list"])["tasks"].as_array().unwrap().len(), 1, "{from}");
        env.ok(&["rollback", "checkpoint", "c", "--yes"]);
    }
}

#[test]
fn a_state_of_another_repository_is_named_and_given_up() {
    for original_stays in [true, false] {
        let other = TestEnv::new();
        other.ok(&["task", "add", "x", "--id", "t1"]);
        other.ok(&["checkpoint", "create", "c"]);
        let env = TestEnv::new();
        let copied = env.program("cp", env.root()).arg("-a").arg(other.axiom_dir()).arg(env.axiom_dir()).status().unwrap();
        assert!(copied.success());
        if !original_stays {
            drop(other);
        }
        env.ok(&["recover", "--yes"]);
        env.axiom(&["rollback", "checkpoint", "c", "--yes"]).fails_with(Code::CheckpointDamaged);
        assert_eq!(env.json(&["recover"])["needed"], true);
        let [way] = &commands(&env, "checkpointsGone")[..] else { panic!() };
        paste(&env, way);
        assert_eq!(env.json(&["recover"])["needed"], false, "{original_stays}");
        assert_eq!(env.json(&["checkpoint", "list"])["checkpoints"].as_array().unwrap().len(), 0);
        assert_eq!(env.json(&["task", "list"])["tasks"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn one_checkpoint_of_which_nothing_is_left_can_be_forgotten() {
    let env = TestEnv::new();
    env.ok(&["checkpoint", "create", "c1"]);
    env.ok(&["checkpoint", "create", "c2"]);
    for name in ["refs/axiom/captures/c1", "refs/tags/axiom/c1", "refs/notes/axiom"] {
        env.git(&["update-ref", "-d", name]);
    }
    env.git(&["reflog", "expire", "--expire=now", "--all"]);
    env.git(&["gc", "-q", "--prune=now"]);
    let [way] = &commands(&env, "checkpointsGone")[..] else { panic!() };
    paste(&env, way);
    assert_eq!((reasons(&env), env.json(&["recover"])["needed"].clone()), (Vec::new(), false.into()));
}

#[test]
fn what_is_in_the_place_of_a_users_worktree_is_named_and_stops_nothing() {
    let env = TestEnv::new();
    let place = env.root().join("wt");
    env.git(&["worktree", "add", "-q", "-b", "b", place.to_str().unwrap()]);
    env.ok(&["checkpoint", "create", "c"]);
    std::fs::remove_dir_all(&place).unwrap();
    env.git_in(env.root(), &["init", "-q", "wt"]);
    env.git_in(&place, &["commit", "-q", "--allow-empty", "-m", "of its own"]);
    env.ok(&["checkpoint", "create", "c2"]);
    env.ok(&["rollback", "checkpoint", "c2", "--yes"]);
    assert_eq!(reasons(&env), ["notTheWorktree"]);
    env.ok(&["recover", "--yes"]);
    env.git_in(&place, &["log", "-1"]);
    paste(&env, &commands(&env, "notTheWorktree")[0]);
    assert_eq!(reasons(&env), [] as [&str; 0]);
    env.git_in(&env.root().join("elsewhere"), &["log", "-1"]);
}

#[test]
fn a_moved_worktree_is_found_beside_its_place() {
    let env = TestEnv::new();
    let place = env.root().join("w\nt");
    env.git(&["worktree", "add", "-q", "-b", "b", place.to_str().unwrap()]);
    env.ok(&["checkpoint", "create", "c"]);
    assert_eq!(reasons(&env), [] as [&str; 0]);
    std::fs::rename(&place, env.root().join("moved")).unwrap();
    assert_eq!(reasons(&env), ["worktreeMoved"]);
    paste(&env, &commands(&env, "worktreeMoved")[0]);
    assert_eq!(reasons(&env), [] as [&str; 0]);
    std::fs::remove_dir_all(env.root().join("moved")).unwrap();
    paste(&env, &commands(&env, "worktreeMoved")[1]);
    assert_eq!(reasons(&env), [] as [&str; 0]);
}

#[test]
fn a_repository_whose_path_has_a_line_feed_is_refused_in_true_words() {
    let env = TestEnv::empty();
    env.git_in(env.root(), &["init", "-q", "a\nb"]);
    for verb in [&["status"][..], &["recover"], &["checkpoint", "create"]] {
        let run = env.axiom_in(&env.root().join("a\nb"), verb).fails_with(Code::RepositoryUnsupported);
        assert!(run.stderr.contains("line feed"), "{run}");
    }
}

#[test]
fn workspaces_and_branches_of_a_state_that_is_gone_are_named_with_a_way_on() {
    let env = TestEnv::new();
    let work = |env: &TestEnv, script: &str| {
        env.ok(&["task", "add", "t", "--id", "t", "--body", script]);
        env.axiom(&["run", "--mode", "autopilot", "--until-idle", "--max-iterations", "1"])
    };
    work(&env, "echo old > old.txt; exit 1").fails_with(Code::NotIdle);
    std::fs::remove_dir_all(env.axiom_dir()).unwrap();
    for name in env.git(&["for-each-ref", "--format=%(refname)", "refs/axiom", "refs/tags/axiom", "refs/notes"]).lines() {
        env.git(&["update-ref", "-d", name]);
    }
    assert_eq!(reasons(&env), ["leftWorkspace"]);
    work(&env, "echo new > new.txt").fails_with(Code::NotIdle);
    paste(&env, &commands(&env, "leftWorkspace")[0]);
    assert_eq!(reasons(&env), [] as [&str; 0]);
    env.ok(&["task", "unblock", "t"]);
    env.ok(&["run", "--mode", "autopilot", "--until-idle"]);
    assert_eq!(env.read("new.txt"), "new\n");
    assert_eq!(std::fs::read_to_string(env.root().join("elsewhere/old.txt")).unwrap(), "old\n");
    // A branch alone.
    env.git(&["branch", "axiom/u"]);
    env.ok(&["task", "add", "u", "--id", "u", "--body", "echo u > u.txt"]);
    paste(&env, &commands(&env, "leftBranch")[0].replace("ANOTHER", "kept-u"));
    env.ok(&["run", "--mode", "autopilot", "--until-idle"]);
    assert_eq!(reasons(&env), [] as [&str; 0]);
}

#[test]
fn what_is_staged_and_lost_is_named_by_the_checkpoint_and_by_recover() {
    let env = TestEnv::new();
    env.ok(&["status"]);
    env.write("a.x", "x\n");
    env.git(&["add", "a.x"]);
    let blob = env.git(&["rev-parse", ":a.x"]);
    std::fs::remove_file(env.repo().join(".git/objects").join(&blob[..2]).join(&blob[2..])).unwrap();
    env.write("a.x", "another\n");
    let made = env.axiom(&["checkpoint", "create"]).success();
    assert!(made.stderr.contains("1 staged content that is lost (the file is held) (a.x)"), "{made}");
    assert_eq!(reasons(&env), ["gitDamage"]);
    let run = env.axiom(&["recover", "--yes"]).success();
    assert!(run.stdout.contains("except for what you have to do by hand"), "{run}");
    env.git(&["add", "a.x"]);
    assert_eq!(reasons(&env), [] as [&str; 0]);
}

#[test]
fn a_lock_on_the_notes_is_called_what_it_is() {
    let env = TestEnv::new();
    env.ok(&["checkpoint", "create", "c"]);
    env.write(".git/refs/notes/axiom.lock", "");
    for verb in [&["checkpoint", "create", "d"][..], &["checkpoint", "delete", "c", "--protected", "--yes"]] {
        let run = env.axiom(verb).fails_with(Code::GitLocked);
        assert!(run.stderr.contains("refs/notes/axiom.lock") && run.stderr.contains("git axiom recover --yes"), "{run}");
    }
    env.ok(&["recover", "--yes"]);
    env.ok(&["checkpoint", "create", "d"]);
}

#[test]
fn limits_of_the_system_are_said_in_words() {
    let env = TestEnv::new();
    env.ok(&["status"]);
    let run = limited(&env, "ulimit -n 7", &["checkpoint", "create"]).fails_with(Code::IoFailed);
    assert!(run.stderr.contains("ulimit -n") && !run.stderr.contains("install git"), "{run}");
    let run = limited(&env, "ulimit -v 80000", &["checkpoint", "create"]).fails_with(Code::IoFailed);
    assert!(run.stderr.contains("ulimit -v"), "{run}");
    // Nothing may be printed to a file then.
    let run = limited(&env, "ulimit -f 0", &["checkpoint", "create"]);
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stderr.contains("error[DISK_FULL]") && run.stderr.contains("ulimit -f"), "{run}");
    env.ok(&["checkpoint", "create"]);
}

/// A repository with a checkpoint and much to be rolled back, and the rollback, at work.
fn rollback_under_way(env: &TestEnv) -> std::process::Child {
    env.ok(&["checkpoint", "create", "c"]);
    // Each step of the way waits for this hook; the first one after the operation has begun tells us.
    let hook = env.repo().join(".git/hooks/reference-transaction");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    env.write("README", "changed\n");
    env.git(&["commit", "-q", "-a", "-m", "second"]);
    std::fs::write(
        &hook,
        format!(
            "#!/bin/sh\n[ \"$1\" = prepared ] || exit 0\ngrep -q operationBegan '{log}' || exit 0\ntouch '{root}/begun'\n\
             while [ ! -e '{root}/go' ]; do sleep 0.05; done\n",
            log = env.axiom_dir().join("state/events.jsonl").display(),
            root = env.root().display()
        ),
    )
    .unwrap();
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut command = env.axiom_command(&env.repo(), ["rollback", "checkpoint", "c", "--yes"]);
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    while !env.root().join("begun").exists() {
        assert!(begun.elapsed() < Duration::from_secs(60), "the rollback does not begin");
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}

fn send(child: &std::process::Child, signal: rustix::process::Signal) {
    rustix::process::kill_process(rustix::process::Pid::from_child(child), signal).unwrap();
}

#[test]
fn an_operation_under_way_elsewhere_is_busy_and_not_interrupted() {
    let env = TestEnv::new();
    let child = rollback_under_way(&env);
    for verb in [&["rollback", "checkpoint", "c", "--dry-run"][..], &["undo", "--yes"], &["recover"]] {
        let run = env.axiom(verb).fails_with(Code::Busy);
        assert!(!run.stderr.contains("--abort") && !run.stderr.contains("interrupted"), "{run}");
    }
    assert_eq!(env.json(&["status"])["recovery"]["needed"], false);
    std::fs::write(env.root().join("go"), "").unwrap();
    assert!(child.wait_with_output().unwrap().status.success());
    assert_eq!(env.read("README"), "a project\n");
}

#[test]
fn a_signal_waits_until_a_rollback_is_finished() {
    for signal in [rustix::process::Signal::TERM, rustix::process::Signal::INT, rustix::process::Signal::HUP] {
        let env = TestEnv::new();
        let child = rollback_under_way(&env);
        send(&child, signal);
        std::thread::sleep(Duration::from_millis(200));
        std::fs::write(env.root().join("go"), "").unwrap();
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(130), "{signal:?}: {stderr}");
        assert!(stderr.contains("finishes what it is doing") && stderr.contains("finished first"), "{stderr}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("git axiom undo"), "how to take it back");
        assert_eq!((env.read("README"), env.json(&["recover"])["needed"].clone()), ("a project\n".into(), false.into()));
    }
}

#[test]
fn a_session_does_not_end_an_interrupted_rollback_unasked() {
    let env = TestEnv::new();
    let mut child = rollback_under_way(&env);
    // The second signal leaves at once.
    for _ in 0..2 {
        send(&child, rustix::process::Signal::TERM);
        std::thread::sleep(Duration::from_millis(200));
    }
    std::fs::write(env.root().join("go"), "").unwrap();
    assert!(!child.wait().unwrap().success());
    std::fs::remove_file(env.repo().join(".git/hooks/reference-transaction")).unwrap();
    env.ok(&["task", "add", "t", "--id", "t", "--body", "echo t > t.txt"]);
    let run = env.axiom(&["run", "--mode", "autopilot", "--until-idle"]).fails_with(Code::OperationOpen);
    assert!(run.stderr.contains("rollback --abort"), "{run}");
    assert!(env.json(&["recover"])["openOperation"].is_string());
    env.ok(&["stop", "--all"]);
    assert!(env.json(&["recover"])["openOperation"].is_string());
    env.ok(&["rollback", "--abort"]);
    assert_eq!(env.read("README"), "changed\n");
    env.ok(&["run", "--mode", "autopilot", "--until-idle"]);
    assert_eq!(env.json(&["recover"])["needed"], false);
}

#[test]
fn notes_of_a_deletion_that_was_taken_back_and_killed_late_come_back() {
    let env = TestEnv::new();
    for name in ["c1", "c2", "c3", "c4"] {
        env.ok(&["checkpoint", "create", name]);
    }
    let notes = |env: &TestEnv| env.git(&["notes", "--ref=axiom", "list"]).lines().count();
    assert_eq!(notes(&env), 4);
    env.ok(&["checkpoint", "delete", "c2", "c3", "--protected", "--yes"]);
    env.killed_at(&["undo", "--yes"], "git.checkpoint-tagged:1");
    env.ok(&["recover", "--yes"]);
    let all = env.json(&["checkpoint", "list"])["checkpoints"].as_array().unwrap().len();
    assert_eq!(notes(&env), all, "{}", env.git(&["for-each-ref", "refs/tags/axiom"]));
}
