//! Going back in one worktree, and leaving the others alone.

use std::path::PathBuf;

use crate::support::{Scratch, contents};

/// With a worktree of the user's beside the repository, on `side`, and a task in work.
fn with_side() -> (Scratch, PathBuf) {
    let scratch = Scratch::new();
    let side = scratch.path().with_file_name("side");
    scratch.git(&["worktree", "add", "-q", "-b", "side", side.to_str().unwrap()]);
    scratch.open_task("t1");
    std::fs::write(side.join("loose"), "loose\n").unwrap();
    std::fs::write(side.join("a.txt"), "staged\n").unwrap();
    scratch.git(&["-C", side.to_str().unwrap(), "add", "a.txt"]);
    std::fs::write(scratch.workspace("t1").join("work"), "first\n").unwrap();
    scratch.axiom(&["checkpoint", "create", "safe"]);
    (scratch, side)
}

type Side = (Vec<(PathBuf, Vec<u8>)>, String, String);

fn view(scratch: &Scratch, at: &std::path::Path) -> Side {
    let git = |args: &[&str]| scratch.git(&[&["-C", at.to_str().unwrap()], args].concat());
    (contents(at), git(&["status", "--porcelain=v2", "--branch"]), git(&["diff", "--cached"]))
}

#[test]
fn one_worktree_goes_back_and_again_and_all_else_stays() {
    let (scratch, side) = with_side();
    let before = view(&scratch, &side);
    let git = |args: &[&str]| scratch.git(&[&["-C", side.to_str().unwrap()], args].concat());
    git(&["commit", "-q", "-a", "-m", "side goes on"]);
    std::fs::remove_file(side.join("loose")).unwrap();
    std::fs::write(side.join("a.txt"), "edited\n").unwrap();
    let wrecked = view(&scratch, &side);
    scratch.git(&["commit", "-q", "--allow-empty", "-m", "main goes on"]);
    scratch.write("a.txt", "main edited\n");
    std::fs::write(scratch.workspace("t1").join("work"), "second\n").unwrap();
    scratch.add_task("t2");
    let elsewhere = || (view(&scratch, &scratch.path()), view(&scratch, &scratch.workspace("t1")), scratch.task("t2").status);
    let stays = elsewhere();

    let path = side.to_str().unwrap();
    let dry = scratch.json(&["rollback", "checkpoint", "safe", "--worktree", path, "--dry-run"]);
    assert_eq!((dry["commits"].as_array().unwrap().len(), dry["tasks"].as_array().unwrap().len()), (1, 0));
    scratch.axiom(&["rollback", "checkpoint", "safe", "--worktree", "../side", "--yes"]);
    assert_eq!(view(&scratch, &side), before);
    assert_eq!(elsewhere(), stays);
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!(view(&scratch, &side), wrecked);
    assert_eq!(elsewhere(), stays);
    scratch.fsck();
}

#[test]
fn the_main_worktree_or_a_workspace_goes_back_alone() {
    let (scratch, side) = with_side();
    let (main, other) = (view(&scratch, &scratch.path()), view(&scratch, &side));
    scratch.write("a.txt", "edited\n");
    let work = scratch.workspace("t1").join("work");
    std::fs::write(&work, "second\n").unwrap();
    scratch.axiom(&["rollback", "checkpoint", "safe", "--worktree", ".", "--yes"]);
    assert_eq!((view(&scratch, &scratch.path()), view(&scratch, &side)), (main, other));
    assert_eq!(std::fs::read_to_string(&work).unwrap(), "second\n");
    let path = scratch.workspace("t1").display().to_string();
    scratch.axiom(&["rollback", "checkpoint", "safe", "--worktree", &path, "--yes"]);
    assert_eq!(std::fs::read_to_string(&work).unwrap(), "first\n");
}

#[test]
fn what_is_no_worktree_or_was_none_then_is_refused() {
    let (scratch, side) = with_side();
    scratch.refused(&["rollback", "checkpoint", "safe", "--worktree", "sub", "--yes"], "INVALID_INPUT", 2);
    let late = side.with_file_name("late");
    scratch.git(&["worktree", "add", "-q", "--detach", late.to_str().unwrap()]);
    scratch.refused(&["rollback", "checkpoint", "safe", "--worktree", "../late", "--yes"], "INVALID_INPUT", 2);
}

#[test]
fn a_rollback_called_from_a_worktree_that_it_leaves_alone_is_refused_and_says_both_ways() {
    let (scratch, side) = with_side();
    scratch.write("a.txt", "main edited\n");
    std::fs::remove_file(side.join("loose")).unwrap();
    let (main, other) = (view(&scratch, &scratch.path()), view(&scratch, &side));
    let folder = side.join("sub");
    for args in [["--yes"], ["--dry-run"]] {
        let args = [&["-C", folder.to_str().unwrap(), "rollback", "checkpoint", "safe"], &args[..]].concat();
        let output = scratch.axiom_with(&args, &[]);
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(words.contains("error[INVALID_INPUT]") && words.contains("--worktree"), "{words}");
        assert!(words.contains(&format!("git -C {}", scratch.path().display())), "{words}");
        assert_eq!(output.status.code(), Some(2));
    }
    assert_eq!((view(&scratch, &scratch.path()), view(&scratch, &side)), (main.clone(), other));
    let top = side.to_str().unwrap();
    scratch.axiom(&["-C", top, "rollback", "checkpoint", "safe", "--worktree", ".", "--yes"]);
    assert!(side.join("loose").exists());
    assert_eq!(view(&scratch, &scratch.path()), main);
    // An agent's workspace goes back with everything else: there is nothing to be mistaken about.
    let workspace = scratch.workspace("t1");
    scratch.axiom(&["-C", workspace.to_str().unwrap(), "rollback", "checkpoint", "safe", "--yes"]);
    assert_eq!(scratch.read("a.txt"), "a\n");
}

#[test]
fn worktrees_that_stay_otherwise_than_the_checkpoint_has_them_are_named() {
    let (scratch, side) = with_side();
    let left = |args: &[&str]| scratch.json(&[&["rollback", "checkpoint", "safe"], args].concat())["leftAlone"].clone();
    assert_eq!(left(&["--dry-run"]), serde_json::json!([]));
    std::fs::remove_file(side.join("loose")).unwrap();
    let path = side.display().to_string();
    assert_eq!(left(&["--dry-run"]), serde_json::json!([path]));
    assert!(scratch.axiom(&["rollback", "checkpoint", "safe", "--dry-run"]).contains(&path));
    assert_eq!(left(&["--yes"]), serde_json::json!([path]));
    scratch.git(&["worktree", "remove", "--force", &path]);
    assert_eq!(left(&["--dry-run"]), serde_json::json!([path]));
}

#[test]
fn a_worktree_of_the_users_own_that_is_gone_comes_back_as_the_hint_says() {
    let (scratch, side) = with_side();
    std::fs::write(side.join("half.txt"), "half\n").unwrap();
    scratch.axiom(&["checkpoint", "create", "held"]);
    let before = contents(&side);
    std::fs::remove_dir_all(&side).unwrap();
    let path = side.display().to_string();
    let dry = scratch.json(&["rollback", "checkpoint", "held", "--dry-run"]);
    let made_by = dry["gone"][0]["madeBy"].as_str().unwrap().to_owned();
    assert_eq!((&dry["leftAlone"][0], &dry["gone"][0]["path"]), (&path.as_str().into(), &path.as_str().into()), "{dry}");
    let words = scratch.axiom(&["rollback", "checkpoint", "held", "--dry-run"]);
    assert!(words.contains(&made_by) && !words.contains("left as it is"), "{words}");
    let there = ["rollback", "checkpoint", "held", "--yes", "--worktree", "../side"];
    let there: Vec<&str> = there.iter().map(|word| if *word == "../side" { path.as_str() } else { word }).collect();
    let output = scratch.axiom_with(&there, &[]);
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(words.contains("WORKSPACE_BROKEN") && words.contains("is gone") && words.contains(&made_by), "{words}");
    assert!(made_by.starts_with("git worktree prune; git worktree add "), "{made_by}");
    assert!(scratch.command("sh").args(["-c", &made_by]).output().unwrap().status.success());
    scratch.axiom(&there);
    assert_eq!(contents(&side), before);
    // What was never one is no worktree, there or not.
    scratch.refused(&["rollback", "checkpoint", "held", "--worktree", "../nowhere"], "INVALID_INPUT", 2);
}

#[test]
fn a_worktree_that_was_removed_since_is_left_out_of_an_undo_and_named() {
    let (scratch, side) = with_side();
    let path = side.to_str().unwrap();
    let there = |args: &[&str]| scratch.git(&[&["-C", path], args].concat());
    let then = scratch.git(&["rev-parse", "side"]);
    there(&["commit", "-q", "-a", "-m", "side goes on"]);
    let since = scratch.git(&["rev-parse", "side"]);
    scratch.axiom(&["rollback", "checkpoint", "safe", "--worktree", path, "--yes"]);
    assert_eq!(scratch.git(&["rev-parse", "side"]), then);
    let undo = scratch.json(&["log", "-n", "1"])["operations"][0]["id"].as_str().unwrap().to_owned();
    scratch.git(&["worktree", "remove", "--force", path]);
    let dry = scratch.json(&["undo", &undo, "--dry-run"]);
    assert_eq!((&dry["leftOut"], &dry["files"]), (&serde_json::json!([path]), &serde_json::json!([])), "{dry}");
    let words = scratch.axiom(&["undo", &undo, "--dry-run"]);
    assert!(words.contains(&format!("would leave out, since the worktree was removed: {path}")), "{words}");
    let words = scratch.axiom(&["undo", &undo, "--yes"]);
    assert!(words.contains(&format!("left out, since the worktree was removed: {path}")), "{words}");
    assert_eq!(scratch.git(&["rev-parse", "side"]), since);
    scratch.axiom(&["redo", "--yes"]);
    assert_eq!(scratch.git(&["rev-parse", "side"]), then);
    scratch.fsck();
}

#[test]
fn where_all_that_changed_was_in_a_removed_worktree_that_is_said() {
    let (scratch, side) = with_side();
    std::fs::write(side.join("loose"), "edited\n").unwrap();
    scratch.axiom(&["rollback", "checkpoint", "safe", "--worktree", side.to_str().unwrap(), "--yes"]);
    let id = scratch.json(&["log", "-n", "1"])["operations"][0]["id"].as_str().unwrap().to_owned();
    scratch.git(&["worktree", "remove", "--force", side.to_str().unwrap()]);
    scratch.refused(&["undo", &id, "--dry-run"], "NOT_UNDOABLE", 1);
    scratch.refused(&["undo", &id, "--yes"], "NOT_UNDOABLE", 1);
}

#[test]
fn a_workspace_that_came_back_and_was_removed_since_is_left_out_and_nothing_of_another_worktree_is_touched() {
    let (scratch, _side) = with_side();
    let workspace = scratch.workspace("t1");
    let path = workspace.to_str().unwrap();
    scratch.write("a.txt", "edited\n");
    std::fs::remove_dir_all(&workspace).unwrap();
    scratch.git(&["worktree", "prune"]);
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    let id = scratch.json(&["log", "-n", "1"])["operations"][0]["id"].as_str().unwrap().to_owned();
    assert!(workspace.join("work").exists());
    scratch.git(&["worktree", "remove", "--force", path]);
    // Of the same name elsewhere: git gives it the same registration.
    let other = scratch.path().with_file_name("other").join("ed-001-t1");
    scratch.git(&["worktree", "add", "-q", "--detach", other.to_str().unwrap()]);
    let dry = scratch.json(&["undo", &id, "--dry-run"]);
    assert_eq!(dry["leftOut"], serde_json::json!([path]), "{dry}");
    scratch.axiom(&["undo", &id, "--yes"]);
    assert_eq!(scratch.read("a.txt"), "edited\n");
    scratch.git(&["-C", other.to_str().unwrap(), "status"]);
    scratch.axiom(&["redo", "--yes"]);
    assert_eq!(scratch.read("a.txt"), "a\n");
    scratch.git(&["-C", other.to_str().unwrap(), "status"]);
}

#[test]
fn a_merge_into_a_worktree_that_was_removed_since_is_taken_back_on_its_branch() {
    let (scratch, side) = with_side();
    scratch.finish_task("t1");
    scratch.git(&["config", "axiom.merge.target", "side"]);
    let path = side.to_str().unwrap().to_owned();
    scratch.git(&["-C", &path, "reset", "-q", "--hard"]);
    let before = scratch.git(&["rev-parse", "side"]);
    scratch.axiom(&["merge", "t1"]);
    assert_ne!(scratch.git(&["rev-parse", "side"]), before);
    scratch.git(&["worktree", "remove", "--force", &path]);
    let id = scratch.json(&["log", "-n", "1"])["operations"][0]["id"].as_str().unwrap().to_owned();
    let undone = scratch.json(&["undo", &id, "--yes"]);
    assert_eq!(undone["leftOut"], serde_json::json!([path]), "{undone}");
    assert_eq!(scratch.git(&["rev-parse", "side"]), before);
}
