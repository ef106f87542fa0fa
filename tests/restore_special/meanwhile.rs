//! What the user begins between a rollback and its undo: operations, conflicts and flags that the rollback has nothing to do
//! with.

use crate::support::{Scratch, contents};

/// After a rollback that only took `new` away; `side` conflicts with `main` in `a.txt`.
fn rolled_back() -> Scratch {
    let scratch = Scratch::new();
    scratch.git(&["switch", "-q", "-c", "side"]);
    scratch.write("a.txt", "side\n");
    scratch.git(&["commit", "-q", "-a", "-m", "side"]);
    scratch.git(&["switch", "-q", "main"]);
    scratch.write("a.txt", "main\n");
    scratch.git(&["commit", "-q", "-a", "-m", "main"]);
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

#[test]
fn a_merge_that_was_begun_since_stops_undo_and_redo_and_stays_whole() {
    let scratch = rolled_back();
    let merge = || assert!(!scratch.try_git(&["merge", "-q", "side"]).status.success());
    merge();
    refused(&scratch, "undo", "a merge is in progress");
    refused(&scratch, "undo", "hint: finish what git has in progress");
    assert!(scratch.has(".git/MERGE_HEAD") && !scratch.git(&["ls-files", "-u"]).is_empty());
    scratch.git(&["merge", "--abort"]);
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!(scratch.read("new"), "new\n");
    merge();
    refused(&scratch, "redo", "a merge is in progress");
    scratch.git(&["merge", "--abort"]);
    scratch.axiom(&["redo", "--yes"]);
    assert!(!scratch.has("new"));
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
