//! Going back, through the binary, on real repositories.
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
fn a_rollback_brings_back_files_index_branches_workspaces_and_state() {
    let scratch = Scratch::new();
    scratch.done_task("t1");
    scratch.open_task("t2");
    std::fs::write(scratch.workspace("t2").join("half.txt"), "half\n").unwrap();
    scratch.make_dirty();
    scratch.axiom(&["checkpoint", "create", "safe"]);
    let (view, files, head) = (scratch.users_view(), contents(&scratch.path()), scratch.head());
    let half = contents(&scratch.workspace("t2"));

    scratch.axiom(&["merge", "t1"]);
    std::fs::write(scratch.workspace("t2").join("half.txt"), "wrecked\n").unwrap();
    scratch.finish_task("t2");
    scratch.done_task("t3");
    scratch.write("staged.txt", "wrecked");
    scratch.git(&["add", "staged.txt"]);
    scratch.remove("untracked.txt");
    scratch.write("later.txt", "later");
    scratch.git(&["switch", "-q", "-c", "elsewhere"]);

    let dry = scratch.json(&["rollback", "checkpoint", "safe", "--dry-run"]);
    assert_eq!(dry["merges"].as_array().unwrap().len(), 1);
    assert!(dry["files"].to_string().contains("later.txt"));
    scratch.refused(&["rollback", "checkpoint", "safe"], "NEEDS_CONFIRMATION", 3);
    let done = scratch.json(&["rollback", "checkpoint", "safe", "--yes"]);
    assert_eq!(done["tasks"], dry["tasks"]);
    assert_eq!(scratch.head(), head);
    assert_eq!(scratch.git(&["branch", "--show-current"]), "main");
    assert_eq!(scratch.users_view(), view);
    assert_eq!(contents(&scratch.path()), files);
    assert_eq!(contents(&scratch.workspace("t2")), half);
    assert!(scratch.workspace("t1").is_dir() && !scratch.workspace("t3").exists());
    assert!(scratch.git(&["for-each-ref", "refs/heads/axiom/t3"]).is_empty());
    let status = |id: &str| scratch.case(id).status.as_str();
    assert_eq!([status("t1"), status("t2"), status("t3")], ["done", "pending", "archived"]);
    assert!(scratch.case("t1").merged.is_none());
    let store = scratch.store();
    assert_eq!(store.state().restorable.workspaces.len(), 2);
    assert!(store.state().busy_agents().next().is_none());
    scratch.fsck();
    // The work goes on from there.
    scratch.axiom(&["merge", "t1"]);
    assert_eq!(scratch.read("t1.txt"), "t1\n");
}

#[test]
fn a_rollback_moves_what_no_capture_holds_out_of_the_way() {
    let scratch = Scratch::new();
    scratch.write("thing", "captured\n");
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.remove("thing");
    scratch.write(".git/info/exclude", "/.worktrees/\n/thing/\n");
    scratch.write("thing/precious", "ignored\n");
    let done = scratch.json(&["rollback", "checkpoint", "safe", "--yes"]);
    assert_eq!(scratch.read("thing"), "captured\n");
    let place = done["movedAside"][0].as_str().unwrap();
    assert_eq!(std::fs::read_to_string(format!("{place}/precious")).unwrap(), "ignored\n");
}

#[test]
fn a_rollback_is_refused_where_a_branch_is_checked_out_elsewhere() {
    let scratch = Scratch::new();
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.git(&["commit", "-q", "--allow-empty", "-m", "more"]);
    scratch.git(&["switch", "-q", "-c", "x"]);
    let other = scratch.path().join("../other");
    scratch.git(&["worktree", "add", "-q", other.to_str().unwrap(), "main"]);
    let before = scratch.git(&["for-each-ref"]);
    scratch.refused(&["rollback", "checkpoint", "safe", "--dry-run"], "BRANCH_IN_USE", 4);
    scratch.refused(&["rollback", "checkpoint", "safe", "--yes"], "BRANCH_IN_USE", 4);
    let after = scratch.git(&["for-each-ref", "refs/heads"]);
    assert!(before.contains(&after) && scratch.store().state().record.open.is_none());
}

#[test]
fn commits_that_an_upstream_has_are_reverted_instead_of_removed() {
    let scratch = Scratch::new();
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.write("a.txt", "published\n");
    scratch.git(&["commit", "-qam", "published"]);
    let published = scratch.head();
    scratch.git(&["update-ref", "refs/remotes/origin/main", published.as_str()]);
    let done = scratch.json(&["rollback", "checkpoint", "safe", "--yes"]);
    assert_eq!(done["reverted"][0], "refs/heads/main");
    assert_eq!(scratch.git(&["rev-parse", "HEAD^"]), published.as_str());
    assert_eq!((scratch.read("a.txt"), scratch.git(&["status", "--porcelain"])), ("a\n".into(), String::new()));
}

#[test]
fn a_preview_names_workspaces_that_change_and_commits_newest_first() {
    let scratch = Scratch::new();
    scratch.done_task("t1");
    scratch.open_task("t2");
    scratch.axiom(&["checkpoint", "create", "safe"]);
    let preview = || scratch.json(&["rollback", "checkpoint", "safe", "--dry-run"]);
    assert_eq!(preview()["workspaces"], serde_json::json!([]), "nothing was touched");
    std::fs::write(scratch.workspace("t2").join("half.txt"), "half\n").unwrap();
    assert_eq!(preview()["workspaces"][0]["action"], "restored");
    scratch.write("own.txt", "own\n");
    scratch.git(&["add", "own.txt"]);
    scratch.git(&["commit", "-q", "-m", "own"]);
    // git's times are in seconds.
    std::thread::sleep(std::time::Duration::from_millis(1100));
    scratch.axiom(&["merge", "t1"]);
    assert_eq!(preview()["commits"][0]["id"], scratch.head().as_str(), "newest first");
}
