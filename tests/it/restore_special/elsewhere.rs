//! Branches that another worktree works on while its HEAD is on none: git refuses to move them, and so does everything here.

use std::path::PathBuf;

use crate::support::Scratch;

/// A linked worktree on `work`, two commits on top of `main`, the first with the branch `below`; `side` conflicts with the
/// first in `a.txt`. There is a checkpoint `safe` from before.
fn linked() -> (Scratch, PathBuf) {
    let scratch = Scratch::new();
    let linked = scratch.path().parent().unwrap().join("linked");
    let place = linked.to_str().unwrap();
    for name in ["side", "work", "below"] {
        scratch.git(&["branch", name]);
    }
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.git(&["worktree", "add", "-q", place, "side"]);
    let there = |args: &[&str]| scratch.git(&[&["-C", place], args].concat());
    std::fs::write(linked.join("a.txt"), "side\n").unwrap();
    there(&["commit", "-q", "-a", "-m", "side"]);
    there(&["switch", "-q", "work"]);
    std::fs::write(linked.join("a.txt"), "below\n").unwrap();
    there(&["commit", "-q", "-a", "-m", "below"]);
    there(&["branch", "-f", "below"]);
    std::fs::write(linked.join("sub/b.txt"), "work\n").unwrap();
    there(&["commit", "-q", "-a", "-m", "work"]);
    (scratch, linked)
}

fn refused(scratch: &Scratch, args: &[&str], says: &[&str]) {
    let refs = scratch.git(&["for-each-ref", "refs/heads"]);
    let output = scratch.axiom_with(args, &[]);
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(4), "{words}");
    for one in ["error[BRANCH_IN_USE]"].iter().chain(says) {
        assert!(words.contains(one), "{one}: {words}");
    }
    assert_eq!(scratch.git(&["for-each-ref", "refs/heads"]), refs);
}

#[test]
fn a_rollback_does_not_move_a_branch_that_is_rebased_or_bisected_elsewhere() {
    let (scratch, linked) = linked();
    let place = linked.to_str().unwrap().to_owned();
    let rebase = ["-C", &place, "rebase", "-q", "--update-refs", "side"];
    // `work` is rebased there, and checked out here at the checkpoint.
    scratch.git(&["-C", &place, "switch", "-q", "--detach"]);
    scratch.git(&["switch", "-q", "work"]);
    scratch.axiom(&["checkpoint", "create", "at-work"]);
    scratch.git(&["commit", "-q", "--allow-empty", "-m", "more"]);
    scratch.git(&["switch", "-q", "main"]);
    scratch.git(&["-C", &place, "switch", "-q", "work"]);
    let back = ["rollback", "checkpoint", "at-work", "--yes"];
    refused(&scratch, &back, &["work is checked out in"]);
    assert!(!scratch.try_git(&rebase).status.success());
    refused(&scratch, &back, &["work is part of a rebase in", &place, "git rebase --continue, or git rebase --abort"]);
    scratch.git(&["-C", &place, "rebase", "--abort"]);
    scratch.git(&["-C", &place, "bisect", "start", "HEAD", "HEAD~2"]);
    refused(&scratch, &back, &["work is part of a bisect in", "git bisect reset"]);
    scratch.git(&["-C", &place, "bisect", "reset"]);
    scratch.git(&["-C", &place, "switch", "-q", "--detach"]);
    scratch.axiom(&back);
}

#[test]
fn nor_one_that_a_rebase_takes_along() {
    let (scratch, linked) = linked();
    let place = linked.to_str().unwrap().to_owned();
    scratch.git(&["switch", "-q", "below"]);
    scratch.axiom(&["checkpoint", "create", "at-below"]);
    scratch.git(&["switch", "-q", "main"]);
    assert!(!scratch.try_git(&["-C", &place, "rebase", "-q", "--update-refs", "side"]).status.success());
    assert!(!scratch.try_git(&["branch", "-f", "below", "main"]).status.success(), "git refuses it too");
    refused(&scratch, &["rollback", "checkpoint", "at-below", "--yes"], &["below is part of a rebase in", &place]);
}

#[test]
fn merges_and_their_undo_leave_a_target_that_is_rebased_elsewhere() {
    let (scratch, linked) = linked();
    let place = linked.to_str().unwrap().to_owned();
    scratch.done_task("t1");
    scratch.done_task("t2");
    scratch.git(&["config", "axiom.merge.target", "work"]);
    let rebase = || assert!(!scratch.try_git(&["-C", &place, "rebase", "-q", "side"]).status.success());
    rebase();
    refused(&scratch, &["merge", "t1"], &["work is part of a rebase in", &place]);
    scratch.git(&["-C", &place, "rebase", "--abort"]);
    scratch.git(&["-C", &place, "switch", "-q", "--detach"]);
    scratch.axiom(&["merge", "t1"]);
    scratch.git(&["-C", &place, "switch", "-q", "work"]);
    rebase();
    refused(&scratch, &["undo", "--yes"], &["work is part of a rebase in", &place]);
    scratch.git(&["-C", &place, "rebase", "--abort"]);
    scratch.git(&["-C", &place, "switch", "-q", "--detach"]);
    scratch.axiom(&["undo", "--yes"]);
}
