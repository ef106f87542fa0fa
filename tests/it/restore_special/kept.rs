//! What undo and redo need outlives a `git gc --prune=now`; where it does not any more, they say so.

use crate::support::{Scratch, contents};

/// Forgets everything that nothing refers to.
fn forget(scratch: &Scratch) {
    scratch.git(&["reflog", "expire", "--expire=now", "--all"]);
    scratch.git(&["gc", "-q", "--prune=now"]);
    scratch.fsck();
}

/// After a rollback of `new` and of an edit, around which the user went on in the index and beside it.
fn rolled_back() -> Scratch {
    let scratch = Scratch::new();
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.write("new", "new\n");
    scratch.write("a.txt", "staged\n");
    scratch.git(&["add", "a.txt"]);
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    scratch.write("since", "since\n");
    scratch.write("since-staged", "since\n");
    scratch.git(&["add", "since-staged"]);
    scratch
}

#[test]
fn what_was_composed_for_an_undo_outlives_a_gc() {
    let scratch = rolled_back();
    scratch.axiom(&["undo", "--yes"]);
    let undone = (contents(&scratch.path()), scratch.git(&["ls-files", "--stage"]));
    // So that the tree of now is none that the undo knew.
    scratch.write("later", "later\n");
    scratch.write("later-staged", "later\n");
    scratch.git(&["add", "later-staged"]);
    forget(&scratch);
    scratch.axiom(&["redo", "--yes"]);
    assert!(!scratch.has("new") && scratch.has("since") && scratch.has("later"));
    scratch.write("last", "last\n");
    forget(&scratch);
    scratch.axiom(&["undo", "--yes"]);
    for path in ["last", "later", "later-staged"] {
        scratch.git(&["rm", "-q", "--cached", "--ignore-unmatch", path]);
        scratch.remove(path);
    }
    assert_eq!((contents(&scratch.path()), scratch.git(&["ls-files", "--stage"])), undone);
}

#[test]
fn a_merge_that_was_undone_is_kept_though_its_branch_and_checkpoints_are_gone() {
    let scratch = Scratch::new();
    scratch.git(&["config", "axiom.checkpoints.beforeMerge", "false"]);
    scratch.done_task("t1");
    scratch.axiom(&["merge", "t1"]);
    let merged = scratch.head();
    scratch.axiom(&["undo", "--yes"]);
    let names = scratch.git(&["for-each-ref", "--format=%(refname)", "refs/axiom/captures", "refs/tags", "refs/notes"]);
    for name in names.lines() {
        scratch.git(&["update-ref", "-d", name]);
    }
    forget(&scratch);
    scratch.axiom(&["redo", "--yes"]);
    assert_eq!((scratch.head(), scratch.read("t1.txt")), (merged, "t1\n".into()));
}

/// Runs a verb in so many days.
fn in_days(scratch: &Scratch, args: &[&str], days: i64) {
    let then = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(24 * days);
    let output = scratch.axiom_with(args, &[("AXIOM_TEST_NOW", &then.to_string())]);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn what_an_undo_needs_is_let_go_of_after_its_time_and_not_before() {
    let scratch = Scratch::new();
    let kept = || scratch.git(&["for-each-ref", "--format=%(refname)", "refs/axiom/kept"]).lines().count();
    let deleted = |name: &str, days: i64| {
        in_days(&scratch, &["checkpoint", "create", name], days);
        in_days(&scratch, &["checkpoint", "delete", name, "--protected", "--yes"], days);
    };
    deleted("first", 0);
    deleted("second", 3);
    let after = |days: i64| {
        in_days(&scratch, &["checkpoint", "create"], days);
        kept()
    };
    assert_eq!([4, 6].map(after), [2, 2]);
    let mark = scratch.path().join(".git/axiom/tmp/oldest-kept");
    assert!(std::fs::read_to_string(&mark).is_ok(), "nothing is read until the oldest has had its time");
    assert_eq!(after(8), 1);
    for wrong in ["no time", "2099-01-01T00:00:00Z"] {
        // Of a crash, and of a clock that was ahead.
        std::fs::write(&mark, wrong).unwrap();
        assert_eq!(after(9), 1);
    }
    std::fs::write(&mark, "2099-01-01T00:00:00Z").unwrap();
    assert_eq!(after(11), 0);
    std::fs::remove_file(&mark).unwrap();
    assert_eq!(after(12), 0);
    scratch.fsck();
}

/// The captures of workspaces that there are.
fn live(scratch: &Scratch) -> String {
    scratch.git(&["for-each-ref", "--format=%(refname:lstrip=3)", "refs/axiom/live"])
}

#[test]
fn the_capture_of_a_workspace_ends_after_its_time_and_never_while_that_stands() {
    let scratch = Scratch::new();
    scratch.done_task("merged");
    std::fs::write(scratch.workspace("merged").join("left.txt"), "uncommitted\n").unwrap();
    scratch.axiom(&["merge", "merged"]);
    assert_eq!(live(&scratch), "merged");
    scratch.open_task("stands");
    let old = |name: &str| drop(scratch.git(&["update-ref", &format!("refs/axiom/live/{name}"), "HEAD~"]));
    old("stands");
    let in_days = |args: &[&str], days: i64| in_days(&scratch, args, days);
    in_days(&["checkpoint", "create"], 6);
    assert_eq!(live(&scratch), "merged\nstands");
    assert_eq!(scratch.git(&["show", "refs/axiom/live/merged:left.txt"]), "uncommitted");
    in_days(&["checkpoint", "create"], 8);
    assert_eq!(live(&scratch), "stands", "by retention");
    old("forgotten");
    in_days(&["recover", "--yes"], 8);
    assert_eq!(live(&scratch), "stands", "by recover");
    for number in 0..4 {
        in_days(&["checkpoint", "create", &format!("c{number}")], 8);
    }
    old("forgotten");
    in_days(&["checkpoint", "cleanup", "--older-than", "0d", "--keep", "1", "--protected", "--yes"], 8);
    assert_eq!(live(&scratch), "stands", "by cleanup");
    scratch.fsck();
}

#[test]
fn what_was_let_go_of_is_not_undone_and_that_is_said() {
    let scratch = rolled_back();
    scratch.axiom(&["undo", "--yes"]);
    scratch.write("later", "later\n");
    for kept in scratch.git(&["for-each-ref", "--format=%(refname)", "refs/axiom/kept"]).lines() {
        scratch.git(&["update-ref", "-d", kept]);
    }
    forget(&scratch);
    let before = contents(&scratch.path());
    scratch.refused(&["redo", "--yes"], "NOT_UNDOABLE", 1);
    let words = scratch.axiom_with(&["redo", "--yes"], &[]);
    assert!(String::from_utf8_lossy(&words.stderr).contains("checkpoints.keepDeletedDays"));
    assert_eq!(contents(&scratch.path()), before);
}

/// After a deletion of `c`, which alone holds the file `new`, that nothing keeps any more.
fn deleted_and_let_go_of() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("new", "only in the checkpoint\n");
    scratch.axiom(&["checkpoint", "create", "c"]);
    scratch.axiom(&["checkpoint", "delete", "c", "--protected", "--yes"]);
    for kept in scratch.git(&["for-each-ref", "--format=%(refname)", "refs/axiom/kept"]).lines() {
        scratch.git(&["update-ref", "-d", kept]);
    }
    scratch
}

#[test]
fn a_checkpoint_of_which_anything_is_gone_does_not_come_back() {
    let words = |scratch: &Scratch| String::from_utf8_lossy(&scratch.axiom_with(&["undo", "--dry-run"], &[]).stderr).into_owned();
    // One blob of many objects: only the proof finds it.
    let scratch = deleted_and_let_go_of();
    let blob = scratch.git(&["hash-object", "new"]);
    scratch.remove("new");
    std::fs::remove_file(scratch.path().join(".git/objects").join(&blob[..2]).join(&blob[2..])).unwrap();
    let before = scratch.git(&["for-each-ref"]);
    for args in [&["undo", "--yes"][..], &["undo", "--dry-run"]] {
        scratch.refused(args, "NOT_UNDOABLE", 1);
    }
    assert!(
        words(&scratch).contains(&blob) && words(&scratch).contains("7 days: checkpoints.keepDeletedDays"),
        "{}",
        words(&scratch)
    );
    assert_eq!(scratch.git(&["for-each-ref"]), before);
    // All of it: the log knows, too.
    let scratch = deleted_and_let_go_of();
    assert_eq!(scratch.json(&["log", "--undoable"])["operations"].as_array().unwrap().len(), 1);
    forget(&scratch);
    scratch.refused(&["undo", "--yes"], "NOT_UNDOABLE", 1);
    assert!(words(&scratch).contains("they were kept until 20"), "{}", words(&scratch));
    let log = scratch.json(&["log"]);
    let deletion = &log["operations"][0];
    assert_eq!((&deletion["what"], &deletion["undoable"]), (&"delete checkpoint c".into(), &false.into()));
    assert!(deletion["obstacle"].as_str().unwrap().contains("checkpoints.keepDeletedDays"), "{deletion}");
    assert!(scratch.axiom(&["log"]).lines().any(|line| line.contains("gone") && line.contains("delete checkpoint c")));
    assert_eq!(scratch.axiom(&["log", "--undoable"]), "");
    scratch.fsck();
}
