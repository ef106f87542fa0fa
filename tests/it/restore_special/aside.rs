//! What no capture holds and is in the way: named before, put back by undo, and by whatever ends an interrupted rollback.

use std::os::unix::process::ExitStatusExt;

use crate::support::{Scratch, contents};

/// A checkpoint `safe` with the files `q`, `d/in/x` and `e`; by now there are an ignored folder `q` with an untracked file
/// beside what is ignored, an ignored file `d` and an ignored `e`.
fn in_the_way() -> Scratch {
    let scratch = Scratch::new();
    for path in ["q", "d/in/x", "e"] {
        scratch.write(path, "captured\n");
    }
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.remove("q");
    scratch.remove("e");
    std::fs::remove_dir_all(scratch.path().join("d")).unwrap();
    scratch.write(".git/info/exclude", "/.worktrees/\n*.ign\n/d\n/e\n");
    scratch.write("q/deep/x.ign", "ignored\n");
    scratch.write("q/untracked", "untracked\n");
    scratch.write("d", "ignored file\n");
    scratch.write("e", "ignored e\n");
    scratch
}

fn names(answer: &serde_json::Value, key: &str) -> Vec<String> {
    answer[key].as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect()
}

#[test]
fn it_is_named_before_and_put_back_by_undo_as_often_as_wanted() {
    let scratch = in_the_way();
    let before = contents(&scratch.path());
    let dry = scratch.json(&["rollback", "checkpoint", "safe", "--dry-run"]);
    let place = |name: &str| scratch.path().join(name).display().to_string();
    assert_eq!(names(&dry, "movedAside"), [place("d"), place("e"), place("q")]);
    let done = scratch.json(&["rollback", "checkpoint", "safe", "--yes"]);
    assert_eq!(names(&done, "movedAside").len(), 3);
    let after = contents(&scratch.path());
    assert_eq!((scratch.read("q"), scratch.read("d/in/x")), ("captured\n".into(), "captured\n".into()));
    for _ in 0..2 {
        let dry = scratch.json(&["undo", "--dry-run"]);
        assert_eq!(names(&dry, "broughtBack"), [place("d"), place("e"), place("q")]);
        let undone = scratch.json(&["undo", "--yes"]);
        assert_eq!(names(&undone, "broughtBack").len(), 3);
        assert!(names(&undone, "stillAside").is_empty());
        assert_eq!(contents(&scratch.path()), before);
        scratch.axiom(&["redo", "--yes"]);
        assert_eq!(contents(&scratch.path()), after);
    }
}

#[test]
fn what_is_as_the_checkpoint_wants_it_is_not_in_the_way() {
    let scratch = in_the_way();
    scratch.write("e", "captured\n");
    let dry = scratch.json(&["rollback", "checkpoint", "safe", "--dry-run"]);
    assert_eq!(names(&dry, "movedAside").len(), 2);
    let done = scratch.json(&["rollback", "checkpoint", "safe", "--yes"]);
    assert_eq!(names(&done, "movedAside").len(), 2);
}

#[test]
fn where_its_place_is_taken_it_stays_in_the_trash_and_is_named() {
    let scratch = in_the_way();
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    scratch.write(".git/info/exclude", "/.worktrees/\n*.ign\n/e\n");
    scratch.write("d/mine", "made since\n");
    let undone = scratch.json(&["undo", "--yes"]);
    let aside = names(&undone, "stillAside");
    assert_eq!((aside.len(), names(&undone, "broughtBack").len()), (1, 2));
    assert_eq!(std::fs::read_to_string(&aside[0]).unwrap(), "ignored file\n");
    assert_eq!((scratch.read("d/mine"), scratch.read("q/deep/x.ign")), ("made since\n".into(), "ignored\n".into()));
}

#[test]
fn a_crash_leaves_it_in_one_place_or_the_other_and_the_end_is_before_or_after() {
    let points = ["git.restore-before-aside", "git.restore-placed", "journal.files-restored", "journal.before-end"];
    for point in points {
        for (count, way) in [(1, "--continue"), (1, "--abort"), (2, "--continue"), (2, "--abort")] {
            let scratch = in_the_way();
            let before = contents(&scratch.path());
            let fault = format!("{point}:{count}");
            let crashed = scratch.axiom_with(&["rollback", "checkpoint", "safe", "--yes"], &[("AXIOM_TEST_FAULT", &fault)]);
            assert!(count > 1 || crashed.status.signal() == Some(9), "{fault} was not reached");
            scratch.axiom(&["rollback", way]);
            if way == "--continue" || crashed.status.success() {
                assert_eq!(scratch.read("d/in/x"), "captured\n", "{fault} {way}");
                scratch.axiom(&["undo", "--yes"]);
            }
            assert_eq!(contents(&scratch.path()), before, "{fault} {way}");
        }
    }
}

#[test]
fn an_interrupted_undo_is_finished_or_taken_back() {
    for point in ["git.before-put-back", "git.restore-in-trash", "journal.before-end"] {
        for (count, way) in [(1, "--continue"), (1, "--abort"), (2, "--continue"), (2, "--abort")] {
            let scratch = in_the_way();
            let before = contents(&scratch.path());
            scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
            let after = contents(&scratch.path());
            let fault = format!("{point}:{count}");
            let crashed = scratch.axiom_with(&["undo", "--yes"], &[("AXIOM_TEST_FAULT", &fault)]);
            assert!(count > 1 || crashed.status.signal() == Some(9), "{fault} was not reached");
            scratch.axiom(&["rollback", way]);
            let wanted = if way == "--abort" && !crashed.status.success() { &after } else { &before };
            assert_eq!(&contents(&scratch.path()), wanted, "{fault} {way}");
        }
    }
}

#[test]
fn what_somebody_deleted_in_the_trash_is_named_before_and_after() {
    let scratch = in_the_way();
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    std::fs::remove_dir_all(scratch.path().join(".git/axiom/trash")).unwrap();
    let lost = ["d", "e", "q"].map(|name| scratch.path().join(name).display().to_string());
    assert_eq!(names(&scratch.json(&["undo", "--dry-run"]), "lost"), lost);
    assert!(scratch.axiom(&["undo", "--dry-run"]).contains("cannot be restored, since it is no longer in the trash"));
    let undone = scratch.json(&["undo", "--yes"]);
    assert_eq!(names(&undone, "lost"), lost);
    assert!(names(&undone, "broughtBack").is_empty() && names(&undone, "stillAside").is_empty(), "{undone}");
    // What the capture holds of the folder is back all the same.
    assert_eq!((scratch.read("q/untracked"), scratch.has("q/deep")), ("untracked\n".into(), false));
    scratch.axiom(&["redo", "--yes"]);
    assert_eq!(scratch.read("q"), "captured\n");
}

#[test]
fn a_workspace_whose_trash_somebody_deleted_is_made_again_and_that_is_said() {
    for gone in [&[".worktrees/trash"][..], &[".git/axiom/trash"], &[".worktrees/trash", ".git/axiom/trash"]] {
        let scratch = Scratch::new();
        scratch.axiom(&["checkpoint", "create", "safe"]);
        scratch.open_task("t1");
        let workspace = scratch.workspace("t1");
        std::fs::write(workspace.join("new"), "not committed\n").unwrap();
        scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
        assert!(!workspace.exists());
        for folder in gone {
            std::fs::remove_dir_all(scratch.path().join(folder)).unwrap();
        }
        for (args, words) in [(["undo", "--dry-run"], "cannot be restored"), (["undo", "--yes"], "not restored")] {
            let said = scratch.axiom(&args);
            assert!(said.contains(words) && said.contains("ignored files"), "{gone:?}: {said}");
        }
        assert_eq!(std::fs::read_to_string(workspace.join("new")).unwrap(), "not committed\n");
        assert_eq!(scratch.git(&["-C", workspace.to_str().unwrap(), "status", "--porcelain"]), "?? new");
        scratch.axiom(&["redo", "--yes"]);
        assert!(!workspace.exists());
        scratch.axiom(&["undo", "--yes"]);
        assert_eq!(std::fs::read_to_string(workspace.join("new")).unwrap(), "not committed\n");
    }
}
