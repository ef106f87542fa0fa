//! Bringing back some files: `rollback checkpoint NAME -- PATH…`, by its alias `restore`, and the checkpoint of a time.

use std::os::unix::fs::PermissionsExt;

use crate::support::{Scratch, contents};

/// All that must stay where only files come back: HEAD, index, refs but ours, tasks.
fn all_else(scratch: &Scratch) -> String {
    let all = scratch.git(&["for-each-ref"]);
    let ours = ["refs/axiom/", "refs/tags/axiom/", "refs/notes/"];
    let refs: Vec<&str> = all.lines().filter(|line| !ours.iter().any(|folder| line.contains(folder))).collect();
    let index =
        scratch.git(&["ls-files", "--stage", "--debug"]).lines().filter(|line| !line.starts_with("  ")).collect::<String>();
    let head = scratch.git(&["symbolic-ref", "HEAD"]);
    format!("{refs:?}\n{index}\n{head}\n{}", scratch.axiom(&["task", "list", "--all"]))
}

/// A checkpoint `then`, and much that was done since.
fn changed() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("sub/deep/c.txt", "c\n");
    scratch.write("run.sh", "#!/bin/sh\n");
    std::fs::set_permissions(scratch.path().join("run.sh"), PermissionsExt::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink("a.txt", scratch.path().join("link")).unwrap();
    scratch.axiom(&["checkpoint", "create", "then"]);
    scratch.write("a.txt", "a since\n");
    scratch.write("staged.txt", "s since\n");
    scratch.git(&["add", "staged.txt"]);
    scratch.git(&["commit", "-q", "-m", "since"]);
    scratch.write("staged.txt", "staged since\n");
    scratch.git(&["add", "staged.txt", "a.txt"]);
    scratch.write("sub/b.txt", "b since\n");
    scratch.write("sub/new.txt", "new\n");
    scratch.remove("sub/deep/c.txt");
    scratch.remove("link");
    std::fs::set_permissions(scratch.path().join("run.sh"), PermissionsExt::from_mode(0o644)).unwrap();
    scratch
}

/// What would be done to `a.txt`.
fn dry_run(scratch: &Scratch, to: &[&str]) -> serde_json::Value {
    let args = [&["restore"], to, &["--dry-run", "--json", "--", "a.txt"]].concat();
    serde_json::from_str(&scratch.axiom(&args)).unwrap()
}

#[test]
fn one_file_comes_back_and_everything_else_stays() {
    let scratch = changed();
    let (before, files) = (all_else(&scratch), contents(&scratch.path()));
    let dry = dry_run(&scratch, &["then"]);
    assert_eq!(dry["files"].as_array().unwrap().len(), 1, "{dry}");
    assert_eq!((&dry["paths"][0], &dry["refs"], &dry["tasks"]), (&"a.txt".into(), &[(); 0].into(), &[(); 0].into()), "{dry}");
    assert_eq!((all_else(&scratch), contents(&scratch.path())), (before.clone(), files.clone()));
    scratch.axiom(&["restore", "then", "--yes", "--", "a.txt"]);
    assert_eq!(scratch.read("a.txt"), "a\n");
    assert_eq!(all_else(&scratch), before);
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!((all_else(&scratch), contents(&scratch.path())), (before, files));
    scratch.fsck();
}

#[test]
fn a_folder_comes_back_as_it_was_with_modes_and_links_and_is_undone() {
    let scratch = changed();
    let (before, files) = (all_else(&scratch), contents(&scratch.path()));
    scratch.axiom(&["rollback", "checkpoint", "then", "--yes", "--", "sub", "run.sh", "link"]);
    assert_eq!((scratch.read("sub/b.txt"), scratch.read("sub/deep/c.txt")), ("b\n".into(), "c\n".into()));
    assert!(!scratch.has("sub/new.txt"), "made since, below what goes back");
    assert_eq!(std::fs::read_link(scratch.path().join("link")).unwrap().to_str(), Some("a.txt"));
    let mode = scratch.path().join("run.sh").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755);
    assert_eq!((scratch.read("a.txt"), all_else(&scratch)), ("a since\n".into(), before.clone()));
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!((all_else(&scratch), contents(&scratch.path())), (before, files));
    let mode = scratch.path().join("run.sh").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o644);
}

#[test]
fn a_merge_that_waits_goes_on_waiting() {
    let scratch = Scratch::new();
    scratch.axiom(&["checkpoint", "create", "then"]);
    scratch.git(&["checkout", "-q", "-b", "other"]);
    scratch.write("a.txt", "theirs\n");
    scratch.git(&["commit", "-q", "-a", "-m", "theirs"]);
    scratch.git(&["checkout", "-q", "main"]);
    scratch.write("a.txt", "ours\n");
    scratch.write("sub/b.txt", "ours too\n");
    scratch.git(&["commit", "-q", "-a", "-m", "ours"]);
    assert!(!scratch.try_git(&["merge", "other"]).status.success());
    let before = all_else(&scratch);
    scratch.axiom(&["restore", "then", "--yes", "--", "sub/b.txt"]);
    assert_eq!((scratch.read("sub/b.txt"), all_else(&scratch)), ("b\n".into(), before));
    assert!(scratch.has(".git/MERGE_HEAD") && scratch.read("a.txt").contains("<<<<<<<"));
}

#[test]
fn paths_are_those_of_the_folder_and_the_worktree_one_stands_in() {
    let scratch = changed();
    let sub = scratch.path().join("sub");
    let at = |folder: &std::path::Path, args: &[&str]| {
        let mut command = scratch.command(env!("CARGO_BIN_EXE_git-axiom"));
        command.current_dir(folder).args(args).output().unwrap()
    };
    let run = at(&sub, &["restore", "then", "--yes", "--", "b.txt", "../a.txt"]);
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    assert_eq!((scratch.read("sub/b.txt"), scratch.read("a.txt")), ("b\n".into(), "a\n".into()));
    // A worktree of the user's own.
    scratch.git(&["worktree", "add", "-q", "../linked"]);
    let linked = scratch.path().parent().unwrap().join("linked");
    scratch.axiom(&["checkpoint", "create", "both"]);
    std::fs::write(linked.join("a.txt"), "there\n").unwrap();
    scratch.write("a.txt", "here\n");
    let run = at(&linked, &["restore", "both", "--yes", "--", "a.txt"]);
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    assert_eq!(std::fs::read_to_string(linked.join("a.txt")).unwrap(), "a\n");
    assert_eq!(scratch.read("a.txt"), "here\n");
    scratch.refused(&["restore", "both", "--yes", "--", "a.txt", "../linked/a.txt"], "INVALID_INPUT", 2);
}

#[test]
fn what_names_nothing_is_refused_before_anything_is_made() {
    let scratch = changed();
    let count = |scratch: &Scratch| scratch.json(&["checkpoint", "list"])["checkpoints"].as_array().unwrap().len();
    let before = count(&scratch);
    scratch.refused(&["restore", "then", "--yes", "--", "a.txtt"], "INVALID_INPUT", 2);
    scratch.refused(&["restore", "then", "--yes", "--", "/etc/passwd"], "INVALID_INPUT", 2);
    scratch.refused(&["restore", "then", "--yes", "--", ".git/config"], "INVALID_INPUT", 2);
    scratch.refused(&["restore", "then", "--refs", "--yes", "--", "a.txt"], "USAGE", 2);
    scratch.refused(&["restore", "then", "--", "a.txt"], "NEEDS_CONFIRMATION", 3);
    assert_eq!(count(&scratch), before);
}

#[test]
fn a_time_means_the_newest_checkpoint_that_was_there() {
    let scratch = Scratch::new();
    let create = |name: &str, at: &str, text: &str| {
        scratch.write("a.txt", text);
        assert!(scratch.axiom_with(&["checkpoint", "create", name], &[("AXIOM_TEST_NOW", at)]).status.success());
    };
    create("first", "2026-01-13T10:00:00Z", "first\n");
    create("second", "2026-01-13T11:00:00Z", "second\n");
    scratch.write("a.txt", "now\n");
    let named = |at: &str| dry_run(&scratch, &["--at", at])["checkpoint"]["name"].clone();
    assert_eq!(named("2026-01-13T10:59:59Z"), "first");
    assert_eq!(named("2026-01-13T11:00:00Z"), "second");
    assert_eq!(named("@1768303000"), "second");
    scratch.refused(&["restore", "--at", "2026-01-13T09:59:59Z", "--", "a.txt"], "UNKNOWN_CHECKPOINT", 2);
    let early = scratch.axiom_with(&["rollback", "--at", "2026-01-13T09:59:59Z", "--dry-run"], &[]);
    let words = String::from_utf8_lossy(&early.stderr).into_owned();
    assert!(words.contains("hint: git axiom checkpoint show first    shows the oldest, from 2026-01-13 1"), "{words}");
    scratch.refused(&["restore", "--at", "nonsense", "--", "a.txt"], "INVALID_INPUT", 2);
    // A forgotten path must not take commits off the branch.
    for args in
        [&["restore", "first", "--yes"][..], &["restore", "first", "--yes", "--"], &["restore", "--at", "now", "--dry-run"]]
    {
        scratch.refused(args, "USAGE", 2);
    }
    scratch.refused(&["restore", "first", "--at", "now"], "USAGE", 2);
    scratch.axiom(&["restore", "--at", "2026-01-13T10:30:00Z", "--yes", "--", "a.txt"]);
    assert_eq!(scratch.read("a.txt"), "first\n");
}

/// `-- $FILES` of a script, where nothing was found: not a word of everything.
#[test]
fn an_empty_list_of_paths_is_no_rollback_of_everything() {
    let scratch = changed();
    let (before, files) = (all_else(&scratch), contents(&scratch.path()));
    scratch.refused(&["restore", "then", "--yes", "--"], "USAGE", 2);
    scratch.refused(&["rollback", "checkpoint", "then", "--yes", "--"], "USAGE", 2);
    assert_eq!((all_else(&scratch), contents(&scratch.path())), (before, files));
}
