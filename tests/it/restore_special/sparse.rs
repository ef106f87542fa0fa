//! Sparse checkouts, and entries that the user told git not to look at.

use crate::support::{Scratch, contents};

/// A sparse checkout of `sub`; `out/x` is outside of it, and `two` is a commit ahead that changes that.
fn sparse() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("out/x", "one\n");
    scratch.write("out/gone", "gone\n");
    scratch.git(&["add", "-A"]);
    scratch.git(&["commit", "-q", "-m", "one"]);
    scratch.git(&["switch", "-q", "-c", "two"]);
    scratch.write("out/x", "two\n");
    scratch.write("sub/b.txt", "two\n");
    scratch.git(&["rm", "-q", "out/gone"]);
    scratch.git(&["commit", "-q", "-a", "-m", "two"]);
    scratch.git(&["switch", "-q", "main"]);
    scratch.git(&["sparse-checkout", "set", "sub"]);
    assert!(!scratch.has("out"));
    scratch
}

fn view(scratch: &Scratch) -> (String, Vec<(std::path::PathBuf, Vec<u8>)>, String) {
    (scratch.users_view(), contents(&scratch.path()), scratch.git(&["ls-files", "-v", "--stage"]))
}

#[test]
fn a_rollback_over_changes_outside_of_the_sparse_part_works_and_is_undone() {
    let scratch = sparse();
    scratch.write("sub/b.txt", "edited\n");
    let before = view(&scratch);
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.git(&["checkout", "-q", "--", "sub/b.txt"]);
    scratch.git(&["merge", "-q", "--ff-only", "two"]);
    let merged = view(&scratch);
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    assert_eq!(view(&scratch), before);
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!(view(&scratch), merged);
    assert!(!scratch.has("out"));
}

#[test]
fn files_come_and_go_with_the_sparse_part_of_the_checkpoint() {
    let scratch = sparse();
    let before = view(&scratch);
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.git(&["sparse-checkout", "set", "out"]);
    assert!(scratch.has("out/x") && !scratch.has("sub/b.txt"));
    let other = view(&scratch);
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    assert_eq!(view(&scratch), before);
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!(view(&scratch), other);
    // What was edited since and would be left out again is not taken away.
    scratch.axiom(&["redo", "--yes"]);
    scratch.axiom(&["undo", "--yes"]);
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    scratch.write("sub/b.txt", "edited since\n");
    scratch.refused(&["undo", "--yes"], "CHANGED_MEANWHILE", 4);
    assert_eq!(scratch.read("sub/b.txt"), "edited since\n");
}

/// The trees say the same of a file that a sparse checkout leaves out, and yet it comes or goes.
#[test]
fn a_dry_run_names_the_files_that_come_and_go_with_the_sparse_part() {
    let named = |scratch: &Scratch, args: &[&str]| {
        let document: serde_json::Value = serde_json::from_str(&scratch.axiom(&[&["--json"], args].concat())).unwrap();
        let files = document["files"].as_array().unwrap().iter();
        files.map(|file| format!("{} {}", file["path"].as_str().unwrap(), file["change"].as_str().unwrap())).collect::<Vec<_>>()
    };
    let scratch = sparse();
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.git(&["sparse-checkout", "set", "out"]);
    let to_safe = named(&scratch, &["rollback", "checkpoint", "safe", "--dry-run"]);
    assert!(to_safe.contains(&"out/x deleted".to_owned()) && to_safe.contains(&"sub/b.txt added".to_owned()), "{to_safe:?}");
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    let back = named(&scratch, &["undo", "--dry-run"]);
    assert!(back.contains(&"out/x added".to_owned()) && back.contains(&"sub/b.txt deleted".to_owned()), "{back:?}");
}

#[test]
fn a_checkpoint_of_a_sparse_checkout_comes_back_whole_where_it_is_none_any_more() {
    let scratch = sparse();
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.git(&["sparse-checkout", "disable"]);
    scratch.write("out/x", "edited\n");
    let wrecked = view(&scratch);
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    // Nothing is hidden from git, which takes the checkout for a whole one.
    assert_eq!((scratch.read("out/x"), scratch.read("out/gone")), ("one\n".into(), "gone\n".into()));
    assert_eq!(scratch.git(&["status", "--porcelain"]), "");
    assert!(!scratch.git(&["ls-files", "-v"]).contains("S "));
    let back = view(&scratch);
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!(view(&scratch), wrecked);
    scratch.axiom(&["redo", "--yes"]);
    assert_eq!(view(&scratch), back);
}

#[test]
fn an_undo_after_the_sparse_checkout_ended_hides_nothing() {
    let scratch = sparse();
    scratch.write("sub/b.txt", "edited\n");
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.write("sub/b.txt", "edited again\n");
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    scratch.git(&["sparse-checkout", "disable"]);
    assert!(scratch.has("out/x"));
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!((scratch.read("sub/b.txt"), scratch.read("out/x")), ("edited again\n".into(), "one\n".into()));
    assert!(!scratch.git(&["ls-files", "-v"]).contains("S "));
}

#[test]
fn a_merge_that_changes_what_is_left_out_goes_in_and_is_undone() {
    let scratch = sparse();
    scratch.open_task("t1");
    let workspace = scratch.workspace("t1");
    scratch.git(&["-C", workspace.to_str().unwrap(), "sparse-checkout", "disable"]);
    std::fs::write(workspace.join("out/x"), "by the agent\n").unwrap();
    scratch.finish_task("t1");
    let before = view(&scratch);
    scratch.axiom(&["merge", "t1"]);
    assert!(!scratch.has("out") && scratch.git(&["status", "--porcelain"]).is_empty());
    assert_eq!(scratch.git(&["show", "HEAD:out/x"]), "by the agent");
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!(view(&scratch), before);
}

#[test]
fn marked_files_go_back_and_forth() {
    for (mark, unmark) in [("--assume-unchanged", "--no-assume-unchanged"), ("--skip-worktree", "--no-skip-worktree")] {
        let scratch = Scratch::new();
        scratch.git(&["update-index", mark, "a.txt"]);
        scratch.write("a.txt", "local\n");
        let before = view(&scratch);
        scratch.axiom(&["checkpoint", "create", "safe"]);
        scratch.git(&["update-index", unmark, "a.txt"]);
        scratch.git(&["commit", "-q", "-a", "-m", "all of it"]);
        scratch.write("a.txt", "more\n");
        let after = view(&scratch);
        scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
        assert_eq!(view(&scratch), before, "{mark}");
        scratch.axiom(&["undo", "--yes"]);
        assert_eq!(view(&scratch), after, "{mark}");
    }
}
