//! Undo and redo, through the binary, on real repositories.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods
)]

mod support;

use support::{Scratch, contents};

#[test]
fn a_merge_is_undone_and_redone_and_what_changed_meanwhile_stays() {
    let scratch = Scratch::new();
    scratch.done_task("t1");
    scratch.make_dirty();
    let (view, old) = (scratch.users_view(), scratch.head());
    scratch.axiom(&["merge", "t1"]);
    let merged = scratch.head();
    scratch.write("later.txt", "later");
    scratch.git(&["add", "later.txt"]);
    scratch.refused(&["undo"], "NEEDS_CONFIRMATION", 3);
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!(scratch.head(), old);
    assert!(!scratch.has("t1.txt") && scratch.case("t1").merged.is_none());
    assert_eq!(scratch.git(&["diff", "--cached", "--name-only"]), "later.txt\nstaged.txt");
    scratch.refused(&["undo", "--yes"], "NOTHING_TO_UNDO", 1);
    scratch.axiom(&["redo", "--yes"]);
    assert_eq!((scratch.head(), scratch.read("t1.txt")), (merged, "t1\n".into()));
    assert!(scratch.case("t1").merged.is_some());
    scratch.git(&["rm", "-q", "--cached", "later.txt"]);
    scratch.remove("later.txt");
    assert_eq!(scratch.users_view(), view);
    scratch.fsck();
}

#[test]
fn an_undo_of_a_merge_is_refused_where_somebody_built_on_it() {
    let scratch = Scratch::new();
    scratch.done_task("t1");
    scratch.axiom(&["merge", "t1"]);
    scratch.git(&["commit", "-q", "--allow-empty", "-m", "on top"]);
    let (head, view) = (scratch.head(), scratch.users_view());
    scratch.refused(&["undo", "--yes"], "CHANGED_MEANWHILE", 4);
    assert_eq!((scratch.head(), scratch.users_view()), (head, view));
}

#[test]
fn a_rollback_is_undone_around_what_was_done_since() {
    let scratch = Scratch::new();
    scratch.done_task("t1");
    scratch.make_dirty();
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.axiom(&["merge", "t1"]);
    scratch.done_task("t2");
    std::fs::write(scratch.workspace("t2").join("loose.txt"), "loose\n").unwrap();
    scratch.write("sub/b.txt", "edited again\n");
    scratch.git(&["add", "sub/b.txt"]);
    let (view, files, head) = (scratch.users_view(), contents(&scratch.path()), scratch.head());
    let (two, restorable) = (contents(&scratch.workspace("t2")), scratch.store().state().restorable.clone());
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    assert!(!scratch.workspace("t2").exists());
    // Somebody goes on elsewhere.
    scratch.write("since.txt", "since\n");
    scratch.git(&["add", "since.txt"]);
    scratch.axiom(&["task", "add", "later", "--id", "later"]);
    scratch.axiom(&["undo", "--yes", &undoable(&scratch, "rollback")]);
    assert_eq!((scratch.head(), scratch.read("since.txt")), (head, "since\n".into()));
    assert_eq!(scratch.git(&["diff", "--cached", "--name-only", "--", "since.txt"]), "since.txt");
    scratch.git(&["rm", "-q", "--cached", "since.txt"]);
    scratch.remove("since.txt");
    assert_eq!(scratch.users_view(), view);
    assert_eq!(contents(&scratch.path()), files);
    assert_eq!(contents(&scratch.workspace("t2")), two);
    assert_eq!(scratch.git(&["-C", scratch.workspace("t2").to_str().unwrap(), "branch", "--show-current"]), "axiom/t2");
    let now = scratch.store().state().restorable.clone();
    assert_eq!(now.workspaces, restorable.workspaces);
    for (id, case) in &restorable.cases {
        assert_eq!(&now.cases[id], case);
    }
    assert_eq!(scratch.case("later").status.as_str(), "pending");
    scratch.fsck();
    // And the undo is undone.
    scratch.axiom(&["redo", "--yes"]);
    assert!(!scratch.workspace("t2").exists() && scratch.workspace("t1").exists());
    assert!(scratch.case("t1").merged.is_none());
}

/// The newest transaction whose description has this word.
fn undoable(scratch: &Scratch, word: &str) -> String {
    let log = scratch.json(&["log"]);
    let all = log["transactions"].as_array().unwrap();
    let one = all.iter().find(|one| one["what"].as_str().unwrap().contains(word) && one["undoable"] == true).unwrap();
    one["id"].as_str().unwrap().to_owned()
}

#[test]
fn an_undo_of_a_rollback_is_refused_where_a_restored_file_was_changed() {
    let scratch = Scratch::new();
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.write("a.txt", "two\n");
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    scratch.write("a.txt", "three\n");
    let before = scratch.store().state().seq;
    scratch.refused(&["undo", "--yes"], "CHANGED_MEANWHILE", 4);
    assert_eq!((scratch.read("a.txt"), scratch.store().state().seq), ("three\n".into(), before));
}

#[test]
fn changes_of_tasks_are_undone_one_after_the_other() {
    let scratch = Scratch::new();
    scratch.refused(&["undo", "--yes"], "NOTHING_TO_UNDO", 1);
    scratch.axiom(&["task", "add", "first", "--id", "t1"]);
    scratch.axiom(&["task", "edit", "t1", "--title", "second"]);
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!(scratch.case("t1").title, "first");
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!(scratch.case("t1").status.as_str(), "archived");
    scratch.refused(&["undo", "--yes"], "NOTHING_TO_UNDO", 1);
    scratch.axiom(&["redo", "--yes"]);
    scratch.axiom(&["redo", "--yes"]);
    assert_eq!((scratch.case("t1").title.as_str(), scratch.case("t1").status.as_str()), ("second", "pending"));
    scratch.refused(&["redo", "--yes"], "NOTHING_TO_UNDO", 1);
    scratch.refused(&["undo", "nope", "--yes"], "UNKNOWN_TRANSACTION", 1);
}

#[test]
fn a_merge_that_was_taken_back_waits_for_a_human() {
    let scratch = Scratch::new();
    scratch.axiom(&["mode", "autopilot"]);
    scratch.done_task("t1");
    scratch.axiom(&["checkpoint", "create", "before"]);
    scratch.axiom(&["merge", "t1"]);
    let gates = || scratch.json(&["gate", "list"])["gates"].clone();
    assert_eq!(gates().as_array().unwrap().len(), 0);
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!((gates()[0]["id"].as_str(), gates()[0]["kind"].as_str()), (Some("merge-t1"), Some("merge")));
    assert!(scratch.axiom(&["status"]).contains("its merge was taken back; approve to merge t1 again"));
    scratch.axiom(&["redo", "--yes"]);
    assert_eq!(gates().as_array().unwrap().len(), 0, "merged again, it waits no more");
    scratch.axiom(&["rollback", "checkpoint", "before", "--yes"]);
    assert_eq!(gates()[0]["id"], "merge-t1");
    scratch.axiom(&["merge", "t1"]);
    assert_eq!(gates().as_array().unwrap().len(), 0);
}
