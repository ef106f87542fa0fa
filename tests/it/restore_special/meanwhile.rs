//! What the user begins between a rollback and its undo: operations, conflicts and flags that the rollback has nothing to do
//! with.

use crate::support::{Scratch, contents};

/// After a rollback that only took `new` away; `side` conflicts with `main` in `a.txt`.
fn rolled_back() -> Scratch {
    let scratch = Scratch::new();
    scratch.branch_in_conflict("side");
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.write("new", "new\n");
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    assert!(!scratch.has("new"));
    scratch
}

fn view(scratch: &Scratch) -> (String, Vec<(std::path::PathBuf, Vec<u8>)>, String) {
    (scratch.users_view(), contents(&scratch.path()), scratch.git(&["ls-files", "-v", "--stage"]))
}

/// An undo or a redo that is refused and says this.
fn refused(scratch: &Scratch, verb: &str, says: &str) {
    let before = view(scratch);
    let output = scratch.axiom_with(&[verb, "--yes"], &[]);
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(words.contains("error[CHANGED_MEANWHILE]") && words.contains(says), "{words}");
    assert_eq!((output.status.code(), view(scratch)), (Some(4), before));
}

fn merge(scratch: &Scratch) {
    assert!(!scratch.try_git(&["merge", "-q", "side"]).status.success());
}

/// What git keeps of an operation and of the index, file by file: nothing of it may be touched.
fn gits_own(scratch: &Scratch) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let of_it = ["MERGE", "AUTO_MERGE", "REBASE", "rebase-", "CHERRY", "BISECT", "sequencer", "index", "HEAD"];
    let git_dir = scratch.path().join(".git");
    let all = walkdir::WalkDir::new(&git_dir).sort_by_file_name().into_iter().map(Result::unwrap);
    let files = all.filter(|entry| entry.file_type().is_file()).map(walkdir::DirEntry::into_path);
    let is_of_it = |path: &std::path::PathBuf| {
        let inside = path.strip_prefix(&git_dir).unwrap().to_str().unwrap();
        of_it.iter().any(|name| inside.starts_with(name))
    };
    files.filter(is_of_it).map(|path| (path.clone(), std::fs::read(&path).unwrap())).collect()
}

#[test]
fn a_merge_that_was_begun_since_stays_as_it_is_through_undo_and_redo() {
    let scratch = rolled_back();
    merge(&scratch);
    let merging = gits_own(&scratch);
    assert!(scratch.has(".git/MERGE_HEAD") && !scratch.git(&["ls-files", "-u"]).is_empty());
    for (verb, there) in [("undo", true), ("redo", false), ("undo", true)] {
        scratch.axiom(&[verb, "--yes"]);
        assert_eq!(scratch.has("new"), there, "{verb}");
        assert!(gits_own(&scratch) == merging && scratch.read("a.txt").contains("<<<<<<<"), "{verb}");
    }
    // Nothing of the undo is part of the merge, whichever way it ends.
    scratch.git(&["merge", "--abort"]);
    assert_eq!((scratch.read("new"), scratch.git(&["status", "--short"])), ("new\n".into(), "?? new".into()));
    scratch.fsck();
}

#[test]
fn a_merge_that_went_on_since_stays_as_far_as_it_is() {
    let scratch = rolled_back();
    merge(&scratch);
    scratch.axiom(&["checkpoint", "create", "merging"]);
    scratch.write("more", "more\n");
    scratch.axiom(&["rollback", "checkpoint", "merging", "--yes"]);
    scratch.write("a.txt", "settled\n");
    scratch.git(&["add", "a.txt"]);
    scratch.write(".git/MERGE_MSG", "half a message");
    // How it was settled is in the index alone.
    let merging = gits_own(&scratch);
    scratch.axiom(&["undo", "--yes"]);
    assert!(scratch.has("more") && gits_own(&scratch) == merging);
    scratch.git(&["commit", "-q", "--no-edit"]);
    scratch.axiom(&["redo", "--yes"]);
    assert!(!scratch.has("more") && scratch.read("a.txt") == "settled\n" && !scratch.has(".git/MERGE_HEAD"));
}

#[test]
fn an_undo_that_would_get_into_a_merge_is_refused_and_names_the_way_out() {
    let scratch = rolled_back();
    let again = |name: &str| {
        scratch.axiom(&["checkpoint", "create", name]);
    };
    // What it would stage would be part of the merge, or go with its abort.
    again("one");
    scratch.write("extra", "extra\n");
    scratch.git(&["add", "extra"]);
    scratch.axiom(&["rollback", "checkpoint", "one", "--yes"]);
    merge(&scratch);
    refused(&scratch, "undo", "a merge is in progress in");
    refused(&scratch, "undo", "the undo would stage 'extra' in the middle of it");
    refused(&scratch, "undo", "hint: end it first (git merge --continue, or git merge --abort), then try again");
    scratch.git(&["merge", "--abort"]);
    // A file that is in conflict by now.
    again("two");
    scratch.write("a.txt", "edited\n");
    scratch.axiom(&["rollback", "checkpoint", "two", "--yes"]);
    merge(&scratch);
    refused(&scratch, "undo", "a.txt");
    scratch.git(&["merge", "--abort"]);
    // The branch that it is on.
    again("three");
    scratch.write("sub/b.txt", "committed\n");
    scratch.git(&["commit", "-q", "-a", "-m", "committed"]);
    scratch.axiom(&["rollback", "checkpoint", "three", "--yes"]);
    merge(&scratch);
    refused(&scratch, "undo", "it is on main, which the undo would move");
    scratch.git(&["merge", "--abort"]);
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!(scratch.read("sub/b.txt"), "committed\n");
}

#[test]
fn a_rebase_and_a_bisect_stay_with_the_head_that_they_have() {
    let scratch = rolled_back();
    assert!(!scratch.try_git(&["rebase", "-q", "side"]).status.success());
    let rebasing = gits_own(&scratch);
    scratch.axiom(&["undo", "--yes"]);
    assert!(scratch.has("new") && gits_own(&scratch) == rebasing);
    scratch.git(&["rebase", "--abort"]);
    assert_eq!((scratch.git(&["branch", "--show-current"]), scratch.read("new")), ("main".into(), "new\n".into()));
    scratch.git(&["bisect", "start", "HEAD", "HEAD~1"]);
    scratch.git(&["checkout", "-q", "HEAD~1"]);
    let bisecting = gits_own(&scratch);
    scratch.axiom(&["redo", "--yes"]);
    assert!(!scratch.has("new") && gits_own(&scratch) == bisecting);
    scratch.git(&["bisect", "reset"]);
    // Nor does it matter on which branch the user is by now.
    scratch.git(&["switch", "-q", "side"]);
    scratch.axiom(&["undo", "--yes"]);
    assert!(scratch.has("new") && scratch.git(&["branch", "--show-current"]) == "side");
    scratch.fsck();
}

#[test]
fn what_the_abort_of_a_rebase_would_overwrite_is_not_undone_in_the_middle_of_it() {
    let scratch = rolled_back();
    scratch.axiom(&["checkpoint", "create", "again"]);
    scratch.write("sub/b.txt", "edited\n");
    scratch.axiom(&["rollback", "checkpoint", "again", "--yes"]);
    assert!(!scratch.try_git(&["rebase", "-q", "side"]).status.success());
    refused(&scratch, "undo", "it concerns 'sub/b.txt' too");
    refused(&scratch, "undo", "git rebase --continue, or git rebase --abort");
    scratch.git(&["rebase", "--abort"]);
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!(scratch.read("sub/b.txt"), "edited\n");
}

#[test]
fn an_undone_merge_of_a_task_does_not_move_the_branch_of_a_merge() {
    let scratch = rolled_back();
    scratch.done_task("t1");
    scratch.axiom(&["merge", "t1"]);
    merge(&scratch);
    refused(&scratch, "undo", "a merge is in progress in");
    scratch.git(&["merge", "--abort"]);
    scratch.axiom(&["undo", "--yes"]);
    assert!(!scratch.has("t1.txt"));
}

#[test]
fn a_merge_that_the_rollback_ended_comes_back_and_one_that_it_brought_goes() {
    let scratch = rolled_back();
    assert!(!scratch.try_git(&["merge", "-q", "side"]).status.success());
    let merging = view(&scratch);
    scratch.axiom(&["checkpoint", "create", "merging"]);
    scratch.git(&["merge", "--abort"]);
    let ended = view(&scratch);
    scratch.axiom(&["rollback", "checkpoint", "merging", "--yes"]);
    assert_eq!(view(&scratch), merging);
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!((view(&scratch), scratch.has(".git/MERGE_HEAD")), (ended, false));
    scratch.axiom(&["redo", "--yes"]);
    assert_eq!(view(&scratch), merging);
    scratch.git(&["merge", "--abort"]);
    refused(&scratch, "undo", "a merge has ended");
}

#[test]
fn flags_that_were_set_since_stay_through_undo_and_redo() {
    let scratch = rolled_back();
    scratch.git(&["update-index", "--assume-unchanged", "a.txt"]);
    scratch.git(&["update-index", "--skip-worktree", "sub/b.txt"]);
    scratch.write("announced", "soon\n");
    scratch.git(&["add", "--intent-to-add", "announced"]);
    let flags = || scratch.git(&["ls-files", "-v", "--stage"]);
    let before = flags();
    assert!(before.contains("h 100644") && before.contains("S 100644") && before.contains("announced"));
    for (verb, there) in [("undo", true), ("redo", false), ("undo", true)] {
        scratch.axiom(&[verb, "--yes"]);
        assert_eq!((scratch.has("new"), flags()), (there, before.clone()), "{verb}");
        assert_eq!(scratch.git(&["diff", "--name-only"]), "announced", "{verb}");
    }
    scratch.fsck();
}

#[test]
fn a_conflict_without_an_operation_stays_too() {
    let scratch = rolled_back();
    scratch.write("a.txt", "stashed\n");
    scratch.git(&["stash", "-q"]);
    scratch.write("a.txt", "other\n");
    scratch.git(&["add", "a.txt"]);
    scratch.git(&["checkout", "-q", "stash@{0}", "--", "staged.txt"]);
    scratch.git(&["commit", "-q", "-m", "other"]);
    scratch.axiom(&["checkpoint", "create", "again"]);
    scratch.write("new", "new\n");
    scratch.axiom(&["rollback", "checkpoint", "again", "--yes"]);
    assert!(!scratch.try_git(&["stash", "pop", "-q"]).status.success());
    let stages = scratch.git(&["ls-files", "-u"]);
    assert!(!stages.is_empty());
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!((scratch.git(&["ls-files", "-u"]), scratch.read("new")), (stages, "new\n".to_owned()));
    assert!(scratch.read("a.txt").contains("<<<<<<<"));
}

#[test]
fn a_merge_stays_through_a_crash_of_the_undo_whichever_way_that_ends() {
    for fault in ["journal.begun:1", "git.restore-before-sync:1", "journal.files-restored:1", "journal.before-end:1"] {
        for (end, there) in [("--continue", true), ("--abort", false)] {
            let scratch = rolled_back();
            merge(&scratch);
            let merging = gits_own(&scratch);
            scratch.killed_at(&["undo", "--yes"], fault);
            scratch.axiom(&["rollback", end]);
            assert_eq!(scratch.has("new"), there, "{fault} {end}");
            assert!(gits_own(&scratch) == merging && scratch.read("a.txt").contains("<<<<<<<"), "{fault} {end}");
        }
    }
}
