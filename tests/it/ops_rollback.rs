//! Going back, through the binary, on real repositories.

use crate::support::{Scratch, contents};

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
    let status = |id: &str| scratch.task(id).status.as_str();
    assert_eq!([status("t1"), status("t2"), status("t3")], ["done", "pending", "archived"]);
    assert!(scratch.task("t1").merged.is_none());
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
    scratch.git(&["commit", "-q", "--allow-empty", "-m", "not published"]);
    let own = scratch.head();
    let words = scratch.axiom(&["rollback", "checkpoint", "safe", "--dry-run"]);
    assert!(words.contains("(1 of 2 on an upstream)") && !words.contains("taken off"), "{words}");
    let done = scratch.json(&["rollback", "checkpoint", "safe", "--yes"]);
    assert_eq!(done["reverted"][0], "refs/heads/main");
    assert_eq!((&done["commits"], done["revertedCommits"].as_array().unwrap().len()), (&serde_json::json!([]), 2), "{done}");
    assert_eq!(done["revertedCommits"][1]["id"], published.as_str());
    assert_eq!(scratch.git(&["rev-parse", "HEAD^"]), own.as_str());
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

#[test]
fn what_the_checkpoint_left_out_stays_where_it_is() {
    let scratch = Scratch::new();
    scratch.write(".gitignore", ".env\n");
    scratch.git(&["add", ".gitignore"]);
    scratch.git(&["commit", "-q", "-m", "ignore"]);
    scratch.write(".env", "KEY=1\n");
    scratch.write(".worktrees/own.txt", "tracked\n");
    scratch.git(&["add", "-f", ".worktrees/own.txt"]);
    scratch.git(&["commit", "-q", "-m", "a file of ours among the workspaces"]);
    scratch.write(".worktrees/own.txt", "edited\n");
    scratch.axiom(&["checkpoint", "create", "safe"]);
    // Somebody rewrites the list of ignored files, so that .env is captured from now on.
    scratch.write(".gitignore", "nothing\n");
    scratch.write(".worktrees/own.txt", "wrecked\n");
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    assert_eq!(scratch.read(".env"), "KEY=1\n", "ignored then, so it is no matter of the checkpoint");
    assert_eq!(scratch.read(".gitignore"), ".env\n");
    assert_eq!(scratch.read(".worktrees/own.txt"), "edited\n", "tracked, so it is held wherever it is");
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!(scratch.read(".env"), "KEY=1\n");
    assert_eq!(scratch.read(".worktrees/own.txt"), "wrecked\n");
    scratch.fsck();
}

/// A task whose workspace somebody removed with `rm -rf`, after checkpoint `c0` from before it was begun.
fn with_lost_workspace() -> Scratch {
    let scratch = Scratch::new();
    scratch.add_task("t1");
    scratch.axiom(&["checkpoint", "create", "c0"]);
    scratch.reopen_task("t1");
    scratch.finish_task("t1");
    std::fs::remove_dir_all(scratch.workspace("t1")).unwrap();
    scratch
}

fn listed(scratch: &Scratch) -> usize {
    scratch.git(&["worktree", "list"]).lines().count()
}

#[test]
fn a_workspace_that_somebody_removed_is_forgotten_and_undo_knows_it_again() {
    for rollback in [&["rollback", "checkpoint", "c0"][..], &["rollback", "task", "t1"]] {
        let scratch = with_lost_workspace();
        let known = scratch.store().state().restorable.workspaces.clone();
        let branch = scratch.git(&["rev-parse", "axiom/t1"]);
        let dry = scratch.json(&[rollback, &["--dry-run"]].concat());
        assert_eq!((&dry["workspaces"][0]["action"], listed(&scratch)), (&"forgotten".into(), 2), "{dry}");
        let done = scratch.json(&[rollback, &["--yes"]].concat());
        assert_eq!((&done["workspaces"], listed(&scratch)), (&dry["workspaces"], 1));
        assert!(scratch.store().state().restorable.workspaces.is_empty());
        assert!(scratch.git(&["for-each-ref", "refs/heads/axiom/t1"]).is_empty());
        scratch.axiom(&["undo", "--yes"]);
        assert_eq!((scratch.git(&["rev-parse", "axiom/t1"]), listed(&scratch)), (branch, 2));
        assert_eq!(scratch.store().state().restorable.workspaces, known);
        scratch.axiom(&["redo", "--yes"]);
        assert_eq!((listed(&scratch), scratch.has(".worktrees/ed-001-t1")), (1, false));
        scratch.fsck();
    }
}

#[test]
fn a_lost_workspace_that_git_has_forgotten_or_that_is_locked_is_told_apart() {
    for rollback in [&["rollback", "checkpoint", "c0"][..], &["rollback", "task", "t1"]] {
        let scratch = with_lost_workspace();
        let path = scratch.workspace("t1").display().to_string();
        scratch.git(&["worktree", "lock", &path, "--reason", "on a stick"]);
        let output = scratch.axiom_with(&[rollback, &["--dry-run"]].concat(), &[]);
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(words.contains("IN_THE_WAY") && words.contains("on a stick") && words.contains("worktree unlock"), "{words}");
        scratch.git(&["worktree", "unlock", &path]);
        scratch.git(&["worktree", "prune"]);
        // A worktree of the user's own has taken the name in git's list.
        let other = scratch.path().join("../ed-001-t1");
        scratch.git(&["worktree", "add", "-q", "-b", "mine", other.to_str().unwrap()]);
        scratch.axiom(&[rollback, &["--yes"]].concat());
        assert_eq!((listed(&scratch), scratch.store().state().restorable.workspaces.len()), (2, 0));
        scratch.axiom(&["undo", "--yes"]);
        assert_eq!((listed(&scratch), scratch.store().state().restorable.workspaces.len()), (2, 1));
    }
}

#[test]
fn a_lost_worktree_of_the_users_own_is_pruned_by_its_user() {
    let scratch = Scratch::new();
    scratch.axiom(&["checkpoint", "create", "c0"]);
    scratch.write("later", "l\n");
    scratch.git(&["add", "later"]);
    scratch.git(&["commit", "-q", "-m", "later"]);
    scratch.git(&["switch", "-q", "-c", "side"]);
    let other = scratch.path().join("../other");
    scratch.git(&["worktree", "add", "-q", other.to_str().unwrap(), "main"]);
    std::fs::remove_dir_all(&other).unwrap();
    let output = scratch.axiom_with(&["rollback", "checkpoint", "c0", "--yes"], &[]);
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(words.contains("BRANCH_IN_USE") && words.contains("git worktree prune"), "{words}");
    assert!(!words.contains("switch --detach"), "{words}");
    scratch.git(&["worktree", "prune"]);
    scratch.axiom(&["rollback", "checkpoint", "c0", "--yes"]);
    assert!(!scratch.has("later"));
}

/// What a preview and the outcome say in JSON must be the same, but for what only one of them knows.
fn dry_and_done(scratch: &Scratch, args: &[&str]) -> (serde_json::Value, String, String) {
    let rollback = [&["rollback", "checkpoint"], args].concat();
    let dry = scratch.json(&[&rollback[..], &["--dry-run"]].concat());
    let would = scratch.axiom(&[&rollback[..], &["--dry-run"]].concat());
    let did = scratch.axiom(&[&rollback[..], &["--yes"]].concat());
    (dry, would, did)
}

#[test]
fn a_preview_names_what_is_staged_which_head_moves_and_which_operation_ends() {
    let scratch = Scratch::new();
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.git(&["switch", "-q", "-c", "side"]);
    scratch.write("a.txt", "side\n");
    scratch.git(&["commit", "-qam", "side"]);
    scratch.git(&["switch", "-q", "-c", "feat", "main"]);
    scratch.write("a.txt", "feat\n");
    scratch.git(&["commit", "-qam", "feat"]);
    assert!(!scratch.try_git(&["merge", "-q", "side"]).status.success(), "a conflict");
    scratch.write("staged.txt", "STAGED\n");
    scratch.git(&["add", "staged.txt"]);
    scratch.write("staged.txt", "s\n");
    scratch.write("announced.txt", "announced\n");
    scratch.git(&["add", "-N", "announced.txt"]);
    scratch.write("new.txt", "new\n");
    scratch.write("sub/b.txt", "edited\n");
    let (dry, would, did) = dry_and_done(&scratch, &["safe"]);
    assert_eq!(dry["heads"][0]["old"]["branch"], "refs/heads/feat", "{dry}");
    assert_eq!(dry["heads"][0]["new"]["branch"], "refs/heads/main", "{dry}");
    let staged: Vec<&str> = dry["staged"].as_array().unwrap().iter().map(|one| one["path"].as_str().unwrap()).collect();
    assert!(staged.contains(&"staged.txt") && staged.contains(&"announced.txt"), "{dry}");
    assert_eq!((&dry["operations"][0]["what"], &dry["operations"][0]["action"]), (&"a merge".into(), &"ended".into()));
    let files: Vec<String> = dry["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| format!("{} {} {}", one["path"].as_str().unwrap(), one["change"].as_str().unwrap(), one["uncommitted"]))
        .collect();
    assert_eq!(files, ["a.txt modified true", "announced.txt deleted true", "new.txt deleted true", "sub/b.txt modified true"]);
    for words in [&would, &did] {
        for wanted in ["feat → main", "a merge in ", ": ended", "2 files with uncommitted content deleted", "no longer staged"]
        {
            assert!(words.contains(wanted), "{wanted}: {words}");
        }
    }
    assert_eq!(would.replacen("Would go", "Went", 1), did[..would.len() - 4], "what is said before and after is the same");
    assert!(!scratch.git(&["status"]).contains("merging"));
}

#[test]
fn commits_that_only_a_detached_head_has_and_branches_that_go_are_named() {
    let scratch = Scratch::new();
    scratch.add_task("t1");
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.reopen_task("t1");
    scratch.finish_task("t1");
    scratch.git(&["switch", "-q", "--detach"]);
    scratch.write("a.txt", "lonely\n");
    scratch.git(&["commit", "-qam", "lonely"]);
    let lonely = scratch.head();
    let (dry, would, _) = dry_and_done(&scratch, &["safe"]);
    assert_eq!(dry["heads"][0]["old"]["detached"], lonely.as_str(), "{dry}");
    let gone = |one: &&serde_json::Value| one["new"].is_null();
    let gone: Vec<_> = dry["refs"].as_array().unwrap().iter().filter(gone).map(|one| &one["name"]).collect();
    assert_eq!(gone, ["refs/heads/axiom/t1"], "{dry}");
    let commits = dry["commits"].as_array().unwrap();
    let branch_of = |subject: &str| &commits.iter().find(|one| one["subject"] == subject).unwrap()["branch"];
    assert_eq!((branch_of("lonely").is_null(), branch_of("work #t1 @ed-001")), (true, &"refs/heads/axiom/t1".into()), "{dry}");
    assert!(would.contains("1 commit that no branch will contain") && would.contains("(axiom/t1)"), "{would}");
    assert_eq!((&dry["files"][0]["path"], &dry["files"][0]["uncommitted"]), (&"a.txt".into(), &false.into()), "{dry}");
}

#[test]
fn a_mode_that_goes_back_and_a_rollback_of_one_worktree_are_said() {
    let scratch = Scratch::new();
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.axiom(&["mode", "autopilot"]);
    scratch.write("a.txt", "edited\n");
    let here = scratch.path().display().to_string();
    let (dry, would, did) = dry_and_done(&scratch, &["safe", "--worktree", &here]);
    assert_eq!((&dry["worktree"], dry["mode"].is_null()), (&here.as_str().into(), true), "{dry}");
    for words in [would, did] {
        assert!(words.contains(&format!("in '{here}' only")), "{words}");
    }
    let (dry, would, _) = dry_and_done(&scratch, &["safe"]);
    assert_eq!((&dry["mode"]["old"], &dry["mode"]["new"]), (&"autopilot".into(), &"semi-auto".into()), "{dry}");
    assert!(would.contains("autopilot → semi-auto") && dry["worktree"].is_null(), "{would}");
}
