//! Settling the conflict of a task's rollback by hand, in a worktree of its own.

use std::path::PathBuf;

use crate::common::git_since;
use crate::support::Scratch;

/// A task of three commits, the second one of which somebody built on.
fn in_conflict() -> Scratch {
    let scratch = Scratch::new();
    scratch.add_task("t1");
    for (file, text, message) in [
        ("one.txt", "1\n", "one #t1 @ed-001"),
        ("a.txt", "task\n", "two #t1 @ed-001"),
        ("three.txt", "3\n", "three #t1 @ed-001"),
        ("a.txt", "task, and more\n", "built on it"),
    ] {
        scratch.write(file, text);
        scratch.git(&["add", file]);
        scratch.git(&["commit", "-q", "-m", message]);
    }
    scratch
}

fn place(scratch: &Scratch) -> PathBuf {
    scratch.path().join(".worktrees/resolve-t1")
}

fn there(scratch: &Scratch, args: &[&str]) -> String {
    scratch.git(&[&["-C", place(scratch).to_str().unwrap()], args].concat())
}

fn settle(scratch: &Scratch) {
    std::fs::write(place(scratch).join("a.txt"), "a, and more\n").unwrap();
    there(scratch, &["add", "a.txt"]);
    there(scratch, &["-c", "core.editor=true", "revert", "--continue"]);
}

/// The worktree to settle it in is there, and nothing is taken back yet: that is a conflict for whoever looks at the status.
fn left_open(scratch: &Scratch, args: &[&str]) -> serde_json::Value {
    let output = scratch.axiom_with(&[args, &["--json"]].concat(), &[]);
    assert_eq!(output.status.code(), Some(4), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

const RESOLVE: [&str; 5] = ["rollback", "task", "t1", "--resolve", "--yes"];

#[test]
fn a_conflict_is_settled_in_a_worktree_and_the_rollback_goes_on_and_can_be_undone() {
    let scratch = in_conflict();
    scratch.make_dirty_elsewhere();
    let (head, view) = (scratch.head(), scratch.users_view());
    scratch.refused(&["rollback", "task", "t1", "--yes"], "MERGE_CONFLICT", 4);
    assert!(!place(&scratch).exists(), "a conflict by itself changes nothing");
    // Without a terminal and without --yes: nothing that is there changes, so nobody has to be asked.
    let answer = left_open(&scratch, &["rollback", "task", "t1", "--resolve"]);
    assert_eq!(answer["error"]["code"], "MERGE_CONFLICT");
    assert_eq!(answer["resolveIn"].as_str().unwrap(), place(&scratch).to_str().unwrap());
    assert_eq!(answer["conflicts"][0]["path"], "a.txt");
    assert_eq!((scratch.head(), scratch.users_view()), (head.clone(), view.clone()));
    assert!(scratch.task("t1").merged.is_none());
    let status = scratch.json(&["status"]);
    assert_eq!(status["settling"][0]["taskId"], "t1");
    assert!(scratch.axiom(&["status"]).contains("has a conflict to resolve in"));
    // What went by itself is done, git waits in the middle of the next one.
    assert!(!place(&scratch).join("three.txt").exists());
    scratch.refused(&RESOLVE, "NOT_SETTLED", 4);
    // A checkpoint holds it like any other worktree.
    scratch.axiom(&["checkpoint", "create", "amid"]);
    settle(&scratch);
    assert!(!place(&scratch).join("one.txt").exists(), "git went on with the rest");
    let dry = scratch.json(&["rollback", "task", "t1", "--resolve", "--dry-run"]);
    assert_eq!(dry["commits"].as_array().unwrap().len(), 3);
    assert_eq!(scratch.head(), head);
    let done = scratch.json(&RESOLVE);
    assert_eq!(scratch.read("a.txt"), "a, and more\n");
    assert!(!scratch.has("one.txt") && !scratch.has("three.txt"));
    assert_eq!(scratch.users_view(), view);
    assert!(!place(&scratch).exists());
    assert_eq!(scratch.json(&["status"])["settling"].as_array().unwrap().len(), 0);
    assert_eq!(scratch.git(&["worktree", "list"]).lines().count(), 1);
    scratch.refused(&RESOLVE, "NO_TASK_COMMITS", 1);
    let undo = done["undo"].as_str().unwrap().strip_prefix("git axiom undo ").unwrap();
    scratch.axiom(&["undo", undo, "--yes"]);
    assert_eq!((scratch.head(), scratch.users_view()), (head, view));
    scratch.axiom(&["redo", "--yes"]);
    assert_eq!(scratch.read("a.txt"), "a, and more\n");
    scratch.fsck();
}

#[test]
fn it_is_settled_where_refs_are_in_a_reftable_too() {
    if !git_since(46, "git refs migrate") {
        return;
    }
    let scratch = in_conflict();
    std::fs::remove_dir_all(scratch.path().join(".git/logs")).unwrap();
    scratch.git(&["refs", "migrate", "--ref-format=reftable"]);
    left_open(&scratch, &RESOLVE[..4]);
    assert!(!place(&scratch).join("three.txt").exists());
    scratch.refused(&RESOLVE, "NOT_SETTLED", 4);
    settle(&scratch);
    scratch.axiom(&RESOLVE);
    assert_eq!(scratch.read("a.txt"), "a, and more\n");
    assert!(!scratch.has("one.txt") && !place(&scratch).exists());
}

#[test]
fn what_is_not_settled_yet_is_said_and_nothing_is_changed() {
    let scratch = in_conflict();
    let head = scratch.head();
    left_open(&scratch, &RESOLVE);
    std::fs::write(place(&scratch).join("a.txt"), "a, and more\n").unwrap();
    scratch.refused(&RESOLVE, "NOT_SETTLED", 4);
    there(&scratch, &["revert", "--abort"]);
    // All is clean, and nothing is reverted.
    let output = scratch.axiom_with(&RESOLVE, &[]);
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(words.contains("NOT_SETTLED") && words.contains("not reverted") && words.contains("revert -m 1"), "{words}");
    // Settled otherwise: by hand, in commits that say so.
    let reverted: Vec<String> = ["built on it", "two #t1", "one #t1"]
        .iter()
        .map(|subject| scratch.git(&["log", "--format=%H", "--fixed-strings", &format!("--grep={subject}"), head.as_str()]))
        .collect();
    std::fs::write(place(&scratch).join("a.txt"), "by hand\n").unwrap();
    scratch.refused(&RESOLVE, "NOT_SETTLED", 4);
    there(&scratch, &["rm", "-q", "one.txt"]);
    there(&scratch, &["add", "a.txt"]);
    let message = format!("by hand\n\nAxiom-Reverts: {}\nAxiom-Reverts: {}", reverted[1], reverted[2]);
    there(&scratch, &["commit", "-q", "-m", &message]);
    assert_eq!(scratch.head(), head);
    scratch.axiom(&RESOLVE);
    assert_eq!(scratch.read("a.txt"), "by hand\n");
}

#[test]
fn a_target_that_went_on_meanwhile_is_rebased_onto() {
    let scratch = in_conflict();
    left_open(&scratch, &RESOLVE);
    settle(&scratch);
    scratch.write("meanwhile.txt", "m\n");
    scratch.git(&["add", "-A"]);
    scratch.git(&["commit", "-qm", "meanwhile"]);
    scratch.refused(&RESOLVE, "CHANGED_MEANWHILE", 4);
    there(&scratch, &["rebase", "-q", "main"]);
    scratch.axiom(&RESOLVE);
    assert_eq!((scratch.read("a.txt").as_str(), scratch.has("meanwhile.txt")), ("a, and more\n", true));
    assert!(!scratch.has("one.txt") && !place(&scratch).exists());
}

#[test]
fn removing_the_worktree_gives_it_up_and_a_folder_of_somebody_elses_is_left_alone() {
    let scratch = in_conflict();
    std::fs::create_dir_all(place(&scratch)).unwrap();
    std::fs::write(place(&scratch).join("mine"), "m").unwrap();
    scratch.refused(&RESOLVE, "WORKSPACE_IN_THE_WAY", 1);
    assert!(place(&scratch).join("mine").exists());
    std::fs::remove_dir_all(place(&scratch)).unwrap();
    left_open(&scratch, &RESOLVE);
    scratch.git(&["worktree", "remove", "--force", place(&scratch).to_str().unwrap()]);
    assert_eq!(scratch.json(&["status"])["settling"].as_array().unwrap().len(), 0);
    left_open(&scratch, &RESOLVE);
    assert!(place(&scratch).join("a.txt").exists());
}

#[test]
fn a_crash_anywhere_is_followed_by_the_same_command() {
    let before = [
        "resolve.before-worktree",
        "git.before-worktree-add",
        "git.after-worktree-add",
        "resolve.worktree-made",
        "resolve.reverting",
    ];
    for point in before {
        let scratch = in_conflict();
        let head = scratch.head();
        scratch.killed_at(&RESOLVE, &format!("{point}:1"));
        assert_eq!(scratch.head(), head);
        left_open(&scratch, &RESOLVE);
        assert!(place(&scratch).join("a.txt").exists(), "{point}");
        settle(&scratch);
        scratch.axiom(&RESOLVE);
        assert_eq!(scratch.read("a.txt"), "a, and more\n", "{point}");
    }
    for point in [
        "resolve.noted",
        "rollback-task.safe",
        "journal.begun",
        "journal.before-advance",
        "journal.ended",
        "resolve.before-aside",
        "git.aside-moved",
    ] {
        let scratch = in_conflict();
        if point == "resolve.noted" {
            scratch.killed_at(&RESOLVE, "resolve.noted:1");
        } else {
            left_open(&scratch, &RESOLVE);
        }
        settle(&scratch);
        if point != "resolve.noted" {
            scratch.killed_at(&RESOLVE, &format!("{point}:1"));
        }
        scratch.axiom(&["recover", "--yes"]);
        if scratch.has("one.txt") {
            scratch.axiom(&RESOLVE);
        }
        assert_eq!(scratch.read("a.txt"), "a, and more\n", "{point}");
        assert_eq!(scratch.json(&["status"])["settling"].as_array().unwrap().len(), 0, "{point}");
        assert!(!place(&scratch).exists(), "{point}");
        scratch.fsck();
    }
}
