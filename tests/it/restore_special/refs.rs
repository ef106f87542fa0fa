//! Every local ref is held by a checkpoint: what was deleted comes back, what moved is named, and undo and redo know all of it.

use crate::common::git_since;
use crate::support::Scratch;

/// Forgets everything that nothing refers to.
fn forget(scratch: &Scratch) {
    scratch.git(&["reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all"]);
    scratch.git(&["gc", "-q", "--prune=now"]);
    scratch.fsck();
}

/// A branch, a tag of a tag, and two entries of the stash, each with content of its own.
fn with_refs(scratch: &Scratch) {
    scratch.git(&["switch", "-q", "-c", "side"]);
    scratch.write("side.txt", "side\n");
    scratch.git(&["add", "-A"]);
    scratch.git(&["commit", "-q", "-m", "side"]);
    scratch.git(&["tag", "-a", "-m", "first", "v1"]);
    scratch.git(&["tag", "-a", "-m", "of a tag", "nested", "v1"]);
    scratch.git(&["switch", "-q", "main"]);
    for text in ["one", "two"] {
        scratch.write("a.txt", text);
        scratch.git(&["stash", "push", "-q", "-m", text]);
    }
}

fn delete_them(scratch: &Scratch) {
    scratch.git(&["branch", "-q", "-D", "side"]);
    scratch.git(&["tag", "-d", "v1", "nested"]);
    scratch.git(&["stash", "clear"]);
}

#[test]
fn what_refs_name_outlives_them_and_is_verified() {
    let scratch = Scratch::new();
    with_refs(&scratch);
    let side = scratch.git(&["rev-parse", "side"]);
    let stash = scratch.git(&["rev-parse", "refs/stash@{1}"]);
    scratch.axiom(&["checkpoint", "create", "safe"]);
    delete_them(&scratch);
    forget(&scratch);
    for commit in [&side, &stash] {
        scratch.git(&["rev-list", "--objects", "--quiet", commit]);
    }
    assert_eq!(scratch.json(&["checkpoint", "verify"])["whole"], true);
}

/// As [`forget`], where the stash is to stay: it is a log.
fn forget_refs(scratch: &Scratch) {
    let branches = scratch.git(&["for-each-ref", "--format=%(refname)", "refs/heads"]);
    for name in branches.lines().chain(["HEAD"]) {
        scratch.git(&["reflog", "expire", "--expire=now", "--expire-unreachable=now", name]);
    }
    scratch.git(&["gc", "-q", "--prune=now"]);
    scratch.fsck();
}

/// Local refs with what they name, and the stash.
fn all_refs(scratch: &Scratch) -> String {
    let refs = scratch.git(&["for-each-ref", "--format=%(objectname) %(refname)"]);
    let ours = [" refs/axiom/", " refs/tags/axiom/", " refs/notes/axiom"];
    let refs: Vec<&str> = refs.lines().filter(|line| !ours.iter().any(|ours| line.contains(ours))).collect();
    format!("{}\n{}", refs.join("\n"), stash(scratch))
}

fn stash(scratch: &Scratch) -> String {
    scratch.git(&["stash", "list", "--format=%H %gs"])
}

/// The refs that come back.
fn back(document: &serde_json::Value) -> Vec<&str> {
    let refs = document["refs"].as_array().unwrap().iter().filter(|one| one["old"].is_null());
    refs.map(|one| one["name"].as_str().unwrap()).collect()
}

fn names(value: &serde_json::Value, key: &str) -> Vec<String> {
    let mut names: Vec<String> =
        value[key].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

fn of_every_format() -> Vec<Scratch> {
    let kinds = [&[][..], &["--ref-format=reftable"], &["--object-format=sha256"]].into_iter();
    let kinds = kinds.filter(|kind| !kind.contains(&"--ref-format=reftable") || git_since(45, "reftables"));
    let made = kinds.map(|kind| {
        let scratch = Scratch::new();
        if !kind.is_empty() {
            std::fs::remove_dir_all(scratch.path().join(".git")).unwrap();
            scratch.git(&[&["init", "-q", "-b", "main"], kind].concat());
            scratch.write(".git/info/exclude", "/.worktrees/\n");
            scratch.git(&["add", "-A"]);
            scratch.git(&["commit", "-q", "-m", "first"]);
        }
        scratch
    });
    made.collect()
}

#[test]
fn what_was_deleted_comes_back_named_and_undo_and_redo_know_all_of_it() {
    for scratch in of_every_format() {
        with_refs(&scratch);
        scratch.git(&["update-ref", "refs/worktree/own", "side"]);
        let then = all_refs(&scratch);
        scratch.axiom(&["checkpoint", "create", "safe"]);
        delete_them(&scratch);
        scratch.git(&["update-ref", "-d", "refs/worktree/own"]);
        scratch.git(&["branch", "since"]);
        scratch.write("a.txt", "three");
        scratch.git(&["stash", "push", "-q", "-m", "three"]);
        forget_refs(&scratch);
        let before = all_refs(&scratch);
        let dry = scratch.json(&["rollback", "checkpoint", "safe", "--dry-run"]);
        let words = scratch.axiom(&["rollback", "checkpoint", "safe", "--dry-run"]);
        assert!(
            words.contains("branch side at") && words.contains("tag nested at") && words.contains("On main: one ("),
            "{words}"
        );
        assert_eq!(all_refs(&scratch), before);
        let done = scratch.json(&["rollback", "checkpoint", "safe", "--yes"]);
        for key in ["refs", "refsMoved", "refsLeft", "stash"] {
            assert_eq!(dry[key], done[key], "{key}");
        }
        assert_eq!(back(&done), ["refs/heads/side", "refs/tags/nested", "refs/tags/v1", "refs/worktree/own"]);
        let after = all_refs(&scratch);
        for line in then.lines() {
            assert!(after.contains(line), "{line}: {after}");
        }
        assert!(after.contains("refs/heads/since"), "what was made since stays");
        let stashed = stash(&scratch);
        let order: Vec<&str> = stashed.lines().filter_map(|line| line.split(' ').next_back()).collect();
        assert_eq!(order, ["two", "one", "three"]);
        let undo = scratch.json(&["undo", "--yes"]);
        assert_eq!(undo["stash"].as_array().unwrap().len(), 2);
        assert_eq!(all_refs(&scratch), before);
        // What redo needs is kept, tag objects too.
        forget_refs(&scratch);
        scratch.axiom(&["redo", "--yes"]);
        assert_eq!(all_refs(&scratch), after);
        scratch.git(&["cat-file", "tag", "nested"]);
        forget_refs(&scratch);
        scratch.axiom(&["undo", "--yes"]);
        assert_eq!(all_refs(&scratch), before);
        scratch.fsck();
    }
}

#[test]
fn with_no_refs_what_was_deleted_stays_deleted_and_a_checkpoint_without_refs_brings_none_back() {
    let scratch = Scratch::new();
    with_refs(&scratch);
    scratch.axiom(&["checkpoint", "create", "safe"]);
    delete_them(&scratch);
    let before = all_refs(&scratch);
    let done = scratch.json(&["rollback", "checkpoint", "safe", "--yes", "--no-refs"]);
    assert_eq!((back(&done).len(), done["stash"].as_array().unwrap().len()), (0, 0));
    assert_eq!(all_refs(&scratch), before);
}

#[test]
fn refs_that_moved_are_named_and_move_only_where_that_is_asked_for() {
    let scratch = Scratch::new();
    with_refs(&scratch);
    let (side, tag) = (scratch.git(&["rev-parse", "side"]), scratch.git(&["rev-parse", "v1"]));
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.git(&["branch", "-q", "-f", "side", "main"]);
    scratch.git(&["tag", "-f", "v1", "main"]);
    let before = all_refs(&scratch);
    let named = scratch.json(&["rollback", "checkpoint", "safe", "--yes"]);
    assert_eq!(names(&named, "refsMoved"), ["refs/heads/side", "refs/tags/v1"]);
    assert!(named["refsMoved"].as_array().unwrap().iter().all(|one| one["moves"] == false));
    assert_eq!(all_refs(&scratch), before);
    let linked = scratch.path().join("../linked");
    scratch.git(&["worktree", "add", "-q", linked.to_str().unwrap(), "side"]);
    scratch.refused(&["rollback", "checkpoint", "safe", "--yes", "--refs"], "BRANCH_IN_USE", 4);
    scratch.git(&["worktree", "remove", linked.to_str().unwrap()]);
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes", "--refs"]);
    assert_eq!((scratch.git(&["rev-parse", "side"]), scratch.git(&["rev-parse", "v1"])), (side, tag));
    let moved = all_refs(&scratch);
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!(all_refs(&scratch), before);
    forget_refs(&scratch);
    scratch.axiom(&["redo", "--yes"]);
    assert_eq!(all_refs(&scratch), moved);
}

#[test]
fn a_ref_whose_name_is_taken_by_others_is_named_and_stays_away() {
    let scratch = Scratch::new();
    scratch.git(&["branch", "deep"]);
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.git(&["branch", "-q", "-D", "deep"]);
    scratch.git(&["branch", "deep/er"]);
    let done = scratch.json(&["rollback", "checkpoint", "safe", "--yes"]);
    assert_eq!(names(&done, "refsLeft"), ["refs/heads/deep"]);
    assert_eq!(scratch.git(&["branch", "--list", "deep*", "--format=%(refname:short)"]), "deep/er");
}

#[test]
fn a_ref_of_one_linked_worktree_comes_back_where_that_is() {
    for scratch in of_every_format() {
        let linked = scratch.path().join("../linked");
        let there = linked.to_str().unwrap().to_owned();
        scratch.git(&["worktree", "add", "-q", &there]);
        scratch.git(&["-C", &there, "update-ref", "refs/worktree/own", "HEAD"]);
        scratch.axiom(&["checkpoint", "create", "safe"]);
        scratch.git(&["-C", &there, "update-ref", "-d", "refs/worktree/own"]);
        let own = || scratch.git(&["-C", &there, "for-each-ref", "--format=%(refname)", "refs/worktree"]);
        let done = scratch.json(&["rollback", "checkpoint", "safe", "--yes"]);
        assert_eq!(back(&done), ["worktrees/linked/refs/worktree/own"]);
        assert_eq!(own(), "refs/worktree/own");
        scratch.axiom(&["undo", "--yes"]);
        assert_eq!(own(), "");
        scratch.git(&["worktree", "remove", &there]);
        let done = scratch.json(&["rollback", "checkpoint", "safe", "--yes"]);
        assert_eq!(names(&done, "refsLeft"), ["worktrees/linked/refs/worktree/own"]);
    }
}

#[test]
fn what_came_back_by_a_rollback_that_died_is_finished_or_goes_again() {
    for fault in ["journal.before-refs", "git.before-stash", "git.after-stash", "journal.before-end"] {
        let scratch = Scratch::new();
        with_refs(&scratch);
        let then = all_refs(&scratch);
        scratch.axiom(&["checkpoint", "create", "safe"]);
        delete_them(&scratch);
        forget(&scratch);
        let before = all_refs(&scratch);
        for (end, expected) in [("--abort", &before), ("--continue", &then)] {
            let fault = format!("{fault}:1");
            scratch.killed_at(&["rollback", "checkpoint", "safe", "--yes"], &fault);
            // Tags that are back already may go again with what nothing names.
            scratch.git(&["prune", "--expire=now"]);
            scratch.axiom(&["rollback", end]);
            assert_eq!(&all_refs(&scratch), expected, "{fault} {end}");
        }
        scratch.fsck();
    }
}
