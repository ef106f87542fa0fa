//! Disasters that other tools' rewinds are known for, and that must not happen here.

use std::os::unix::fs::{MetadataExt, PermissionsExt};

use crate::support::{Scratch, contents};

#[test]
fn a_restored_gitignore_that_no_longer_ignores_deletes_nothing() {
    let scratch = Scratch::new();
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.write(".gitignore", "*.env\nnode_modules/\n");
    scratch.write("my.env", "secret\n");
    scratch.write("node_modules/x/y.js", "y\n");
    scratch.git(&["add", ".gitignore"]);
    scratch.git(&["commit", "-q", "-m", "ignore"]);
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    assert!(!scratch.has(".gitignore"));
    assert_eq!((scratch.read("my.env"), scratch.read("node_modules/x/y.js")), ("secret\n".into(), "y\n".into()));
    // Now they are untracked. Going back once more saves them first, and deletes only what is saved.
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!((scratch.read("my.env"), scratch.read("node_modules/x/y.js")), ("secret\n".into(), "y\n".into()));
}

#[test]
fn from_a_subdirectory_the_whole_worktree_goes_back_and_nothing_beside_it() {
    let scratch = Scratch::new();
    scratch.write("sub/deep/c.txt", "c\n");
    scratch.axiom(&["checkpoint", "create", "safe"]);
    let before = contents(&scratch.path());
    scratch.write("a.txt", "wrecked");
    scratch.write("sub/b.txt", "wrecked");
    scratch.remove("sub/deep/c.txt");
    scratch.axiom(&["-C", "sub", "rollback", "checkpoint", "safe", "--yes"]);
    assert_eq!(contents(&scratch.path()), before);
}

#[test]
fn whoever_stands_in_a_folder_stands_there_afterwards() {
    let scratch = Scratch::new();
    scratch.write("sub/a.txt", "a\n");
    scratch.axiom(&["checkpoint", "create", "safe"]);
    let folder = |name: &str| std::fs::metadata(scratch.path().join(name)).unwrap().ino();
    // All files of a folder are others then; its new ones go into the same folder.
    scratch.remove("sub/a.txt");
    scratch.write("sub/renamed.txt", "a\n");
    let sub = folder("sub");
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    assert_eq!((folder("sub"), scratch.read("sub/a.txt")), (sub, "a\n".into()));
    // One that goes, and that somebody stands in, stays with nothing in it, as git leaves it.
    scratch.write("new/deep/n.txt", "n\n");
    scratch.write("other/o.txt", "o\n");
    let new = folder("new/deep");
    let stands_in = |folder: &str, args: &[&str]| {
        let mut command = scratch.command(env!("CARGO_BIN_EXE_git-axiom"));
        let output = command.current_dir(scratch.path().join(folder)).args(args).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    };
    stands_in("new/deep", &["rollback", "checkpoint", "safe", "--yes"]);
    assert!(!scratch.has("other"));
    assert_eq!((folder("new/deep"), std::fs::read_dir(scratch.path().join("new/deep")).unwrap().count()), (new, 0));
    // Where a file has to stand, it does not.
    std::fs::remove_dir_all(scratch.path().join("sub")).unwrap();
    scratch.write("sub", "a file\n");
    scratch.axiom(&["checkpoint", "create", "file"]);
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    stands_in("sub", &["rollback", "checkpoint", "file", "--yes"]);
    assert_eq!(scratch.read("sub"), "a file\n");
}

/// A revert is a commit of the user's; a checkpoint needs nobody's name (`no_identity` has the rest).
#[test]
fn without_an_identity_no_revert_begins() {
    let scratch = Scratch::new();
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.write("w", "w\n");
    scratch.git(&["add", "w"]);
    scratch.git(&["commit", "-q", "-m", "work #t1 @a"]);
    scratch.write("a.txt", "edited\n");
    let (refs, seq) = (scratch.git(&["for-each-ref"]), scratch.store().state().seq);
    let mut command = scratch.command(env!("CARGO_BIN_EXE_git-axiom"));
    for name in ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"] {
        command.env_remove(name);
    }
    command.env("GIT_CONFIG_COUNT", "1").env("GIT_CONFIG_KEY_0", "user.useConfigOnly").env("GIT_CONFIG_VALUE_0", "true");
    let output = command.args(["rollback", "task", "t1", "--yes"]).output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(words.contains("IDENTITY_MISSING") && words.contains("hint: git config --global user.name"), "{words}");
    assert_eq!((scratch.git(&["for-each-ref"]), scratch.store().state().seq), (refs, seq));
    assert_eq!(scratch.read("a.txt"), "edited\n");
}

#[test]
fn what_cannot_be_saved_is_not_replaced() {
    let scratch = Scratch::new();
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.write("a.txt", "edited\n");
    // No note can be written, and so the safety checkpoint fails.
    scratch.write("x.secret", "precious\n");
    scratch.write(".git/refs/notes/axiom.lock", "");
    let (before, refs) = (contents(&scratch.path()), scratch.git(&["for-each-ref"]));
    let output = scratch.axiom_with(&["rollback", "checkpoint", "safe", "--yes"], &[]);
    assert!(!output.status.success());
    assert_eq!((contents(&scratch.path()), scratch.git(&["for-each-ref"])), (before, refs));
    assert!(scratch.store().state().record.open.is_none());
}

#[test]
fn an_undo_in_one_worktree_leaves_the_others_alone() {
    let scratch = Scratch::new();
    let other = scratch.path().join("../other");
    scratch.git(&["worktree", "add", "-q", "-b", "mine", other.to_str().unwrap()]);
    scratch.open_task("t1");
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.write("a.txt", "edited\n");
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    std::fs::write(other.join("a.txt"), "my work\n").unwrap();
    std::fs::write(other.join("new"), "my work\n").unwrap();
    std::fs::write(scratch.workspace("t1").join("half.txt"), "an agent's work\n").unwrap();
    let theirs = (contents(&other), contents(&scratch.workspace("t1")));
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!(scratch.read("a.txt"), "edited\n");
    assert_eq!((contents(&other), contents(&scratch.workspace("t1"))), theirs);
}

#[test]
fn a_second_agents_work_is_untouched_when_one_task_is_taken_back() {
    let scratch = Scratch::new();
    scratch.done_task("t1");
    scratch.axiom(&["merge", "t1"]);
    scratch.done_task("t2");
    scratch.axiom(&["merge", "t2"]);
    scratch.open_task("t3");
    std::fs::write(scratch.workspace("t3").join("half.txt"), "half\n").unwrap();
    let third = contents(&scratch.workspace("t3"));
    let branch = scratch.git(&["rev-parse", "axiom/t3"]);
    scratch.axiom(&["rollback", "task", "t1", "--yes"]);
    assert!(!scratch.has("t1.txt") && scratch.has("t2.txt"));
    assert_eq!((contents(&scratch.workspace("t3")), scratch.git(&["rev-parse", "axiom/t3"])), (third, branch));
    assert_eq!((scratch.task("t2").status.as_str(), scratch.task("t3").status.as_str()), ("done", "active"));
    assert!(scratch.task("t2").merged.is_some());
}

#[test]
fn a_file_that_cannot_be_read_stays_and_the_rollback_goes_on() {
    let scratch = Scratch::new();
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.write("a.txt", "edited\n");
    scratch.write("locked", "x\n");
    std::fs::set_permissions(scratch.path().join("locked"), std::fs::Permissions::from_mode(0o000)).unwrap();
    let output = scratch.bound_by_permissions().args(["rollback", "checkpoint", "safe", "--yes"]).output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && words.contains("locked") && words.contains("could not be read"), "{words}");
    assert_eq!((scratch.read("a.txt").as_str(), scratch.has("locked")), ("a\n", true));
}

#[test]
fn a_session_goes_back_to_its_start() {
    let scratch = Scratch::new();
    scratch.refused(&["rollback", "session", "--yes"], "UNKNOWN_CHECKPOINT", 2);
    scratch.axiom(&["task", "add", "write a file", "--id", "t1", "--body", "echo one > one.txt"]);
    let before = (contents(&scratch.path()), scratch.head());
    scratch.axiom(&["run", "--until-idle", "--mode", "autopilot"]);
    assert_eq!(scratch.read("one.txt"), "one\n");
    let dry = scratch.json(&["rollback", "session", "--dry-run"]);
    assert_eq!(dry["merges"].as_array().unwrap().len(), 1);
    scratch.axiom(&["rollback", "session", "--yes"]);
    assert_eq!((contents(&scratch.path()), scratch.head()), before);
    assert_eq!(scratch.task("t1").status.as_str(), "pending");
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!(scratch.read("one.txt"), "one\n");
}
