//! Taking one task back, through the binary, on real repositories.

use crate::support::{Scratch, contents};
use git_axiom::model::work::tasks::task::TaskStatus;

/// Commits a file with a message, as a person or an agent without git axiom would.
fn commit(scratch: &Scratch, file: &str, text: &str, message: &str) -> String {
    scratch.write(file, text);
    scratch.git(&["add", file]);
    scratch.git(&["commit", "-q", "-m", message]);
    scratch.head().to_string()
}

fn subjects(scratch: &Scratch) -> Vec<String> {
    scratch.git(&["log", "--first-parent", "--format=%s"]).lines().map(str::to_owned).collect()
}

#[test]
fn a_merged_task_is_reverted_and_done_again_it_merges_whole() {
    let scratch = Scratch::new();
    scratch.done_task("t1");
    scratch.axiom(&["merge", "t1"]);
    scratch.done_task("t2");
    scratch.axiom(&["merge", "t2"]);
    scratch.make_dirty();
    let (view, merge) = (scratch.users_view(), scratch.git(&["rev-parse", "HEAD^"]));
    let dry = scratch.json(&["rollback", "task", "t1", "--dry-run"]);
    assert_eq!((dry["commits"][0]["id"].as_str(), dry["commits"].as_array().unwrap().len()), (Some(merge.as_str()), 1));
    assert_eq!(dry["merges"][0]["brings"].as_array().unwrap().len(), 1);
    assert_eq!((dry["files"][0]["path"].as_str(), dry["undo"].is_null()), (Some("t1.txt"), true));
    assert_eq!(dry["tasks"][0]["changes"][0], serde_json::json!({"field": "status", "old": "done", "new": "pending"}));
    assert!(scratch.has("t1.txt"));
    scratch.refused(&["rollback", "task", "t1"], "NEEDS_CONFIRMATION", 3);
    let done = scratch.json(&["rollback", "task", "t1", "--yes"]);
    assert_eq!((&done["commits"], &done["refs"]), (&dry["commits"], &dry["refs"]));
    assert!(!scratch.has("t1.txt") && scratch.has("t2.txt"));
    assert_eq!(scratch.users_view(), view);
    let message = scratch.git(&["log", "-1", "--format=%B"]);
    assert!(message.contains(&format!("Axiom-Reverts: {merge}\nAxiom-Task: t1")), "{message}");
    let case = scratch.task("t1");
    assert_eq!((case.status.as_str(), case.merged.is_none()), ("pending", true));
    assert_eq!(scratch.task("t2").status.as_str(), "done");
    assert!(scratch.git(&["for-each-ref", "refs/heads/axiom/t1"]).is_empty());
    // Twice is once.
    scratch.refused(&["rollback", "task", "t1", "--yes"], "NO_TASK_COMMITS", 1);
    // The next attempt does part of the same again: nothing of it may be missing after the merge.
    scratch.reopen_task("t1");
    std::fs::write(scratch.workspace("t1").join("t1.txt"), "t1\n").unwrap();
    std::fs::write(scratch.workspace("t1").join("more.txt"), "more\n").unwrap();
    scratch.finish_task("t1");
    scratch.axiom(&["merge", "t1"]);
    assert_eq!((scratch.read("t1.txt"), scratch.read("more.txt")), ("t1\n".into(), "more\n".into()));
    scratch.fsck();
}

#[test]
fn undo_takes_all_of_it_back_and_redo_does_it_again() {
    let scratch = Scratch::new();
    scratch.done_task("t1");
    std::fs::write(scratch.workspace("t1").join("loose.txt"), "loose\n").unwrap();
    let (inside, branch) = (contents(&scratch.workspace("t1")), scratch.git(&["rev-parse", "axiom/t1"]));
    let (before, files) = (scratch.store().state().restorable.clone(), contents(&scratch.path()));
    let done = scratch.json(&["rollback", "task", "t1", "--yes"]);
    assert_eq!(done["workspaces"].as_array().unwrap().len(), 1);
    assert!(!scratch.workspace("t1").exists() && scratch.store().state().restorable.workspaces.is_empty());
    let undo: Vec<&str> = done["undo"].as_str().unwrap().split(' ').skip(2).collect();
    scratch.axiom(&[&undo[..], &["--yes"]].concat());
    assert_eq!((contents(&scratch.workspace("t1")), scratch.git(&["rev-parse", "axiom/t1"])), (inside, branch));
    let now = scratch.store().state().restorable.clone();
    assert_eq!((&now.tasks, &now.workspaces), (&before.tasks, &before.workspaces));
    assert_eq!(contents(&scratch.path()), files);
    scratch.axiom(&["redo", "--yes"]);
    assert!(!scratch.workspace("t1").exists());
    assert_eq!(scratch.task("t1").status.as_str(), "pending");
    scratch.fsck();
}

#[test]
fn a_repository_where_only_commit_messages_know_is_enough() {
    let scratch = Scratch::new();
    let one = commit(&scratch, "one", "1", "WIP: one #job-7 @claude");
    commit(&scratch, "two", "2", "something else #job-8 @claude");
    let three = commit(&scratch, "three", "3", "more\n\nAxiom-Task: job-7");
    commit(&scratch, "four", "4", "a person's");
    let old = scratch.head();
    let done = scratch.json(&["rollback", "task", "job-7", "--yes"]);
    let ids: Vec<&str> = done["commits"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
    assert_eq!(ids, [three.as_str(), one.as_str()]);
    assert!(!scratch.has("one") && scratch.has("two") && !scratch.has("three") && scratch.has("four"));
    assert_eq!(subjects(&scratch)[..2], ["Revert \"WIP: one #job-7 @claude\"", "Revert \"more\""]);
    assert_eq!(scratch.git(&["status", "--porcelain"]), "");
    scratch.refused(&["rollback", "task", "job-7", "--yes"], "NO_TASK_COMMITS", 1);
    // A revert of a revert brings it to life again, and it can be taken back again.
    scratch.git(&["revert", "--no-edit", "HEAD"]);
    assert!(scratch.has("one"));
    let again = scratch.json(&["rollback", "task", "job-7", "--yes"]);
    assert_eq!(again["commits"][0]["id"], one.as_str());
    assert_eq!(again["skipped"][0]["id"], three.as_str());
    assert!(!scratch.has("one"));
    scratch.axiom(&["undo", "--yes"]);
    assert!(scratch.has("one"));
    scratch.git(&["reset", "-q", "--keep", "HEAD^"]);
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!(scratch.head(), old);
}

#[test]
fn a_contiguous_tail_comes_out_as_git_revert_makes_it() {
    let scratch = Scratch::new();
    for number in 0..5 {
        commit(&scratch, "a.txt", &format!("{number}\n"), &format!("step {number} #t @a"));
    }
    scratch.git(&["branch", "by-git"]);
    scratch.axiom(&["rollback", "task", "t", "--yes"]);
    let git = scratch.path().join("../by-git");
    scratch.git(&["worktree", "add", "-q", git.to_str().unwrap(), "by-git"]);
    scratch.git(&["-C", git.to_str().unwrap(), "revert", "--no-edit", "HEAD~5..HEAD"]);
    let trees = |branch: &str| scratch.git(&["log", "--format=%T", branch]);
    assert_eq!(trees("main"), trees("by-git"));
    assert_eq!(subjects(&scratch).len(), 11);
}

#[test]
fn what_others_did_on_top_of_a_row_of_commits_stays() {
    let scratch = Scratch::new();
    commit(&scratch, "one", "1", "one #t @a");
    commit(&scratch, "two", "2", "two #t @a");
    commit(&scratch, "three", "3", "three #t @a");
    commit(&scratch, "theirs", "x", "somebody else's");
    scratch.axiom(&["rollback", "task", "t", "--yes"]);
    assert!(scratch.has("theirs") && !scratch.has("one") && !scratch.has("two") && !scratch.has("three"));
    assert_eq!(scratch.git(&["diff", "--name-only", "HEAD~3", "HEAD"]), "one\nthree\ntwo");
    assert_eq!(scratch.git(&["diff", "--name-only", "HEAD~1", "HEAD"]), "one");
}

#[test]
fn a_conflict_changes_nothing_and_names_files_and_the_commits_behind_them() {
    let scratch = Scratch::new();
    let work = commit(&scratch, "a.txt", "by the task\n", "work #t1 @ed-001");
    let since = commit(&scratch, "a.txt", "built on it\n", "since");
    let refs = scratch.git(&["for-each-ref"]);
    for args in [&["rollback", "task", "t1", "--dry-run"][..], &["rollback", "task", "t1", "--yes"]] {
        scratch.refused(args, "MERGE_CONFLICT", 4);
        let output = scratch.axiom_with(&[args, &["--json"]].concat(), &[]);
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(json["conflicts"][0]["path"], "a.txt");
        assert_eq!(json["conflicts"][0]["commit"], work.as_str());
        assert_eq!(json["conflicts"][0]["behind"][0]["id"], since.as_str());
    }
    assert_eq!(scratch.git(&["for-each-ref"]), refs);
    assert_eq!(scratch.read("a.txt"), "built on it\n");
}

#[test]
fn a_merge_by_hand_and_recorded_work_without_marks_are_found() {
    let scratch = Scratch::new();
    scratch.open_task("t1");
    let workspace = scratch.workspace("t1");
    let at = |args: &[&str]| scratch.git(&[&["-C", workspace.to_str().unwrap()], args].concat());
    std::fs::write(workspace.join("quiet.txt"), "q\n").unwrap();
    at(&["add", "-A"]);
    at(&["commit", "-q", "-m", "no mark at all"]);
    std::fs::write(workspace.join("t1.txt"), "t1\n").unwrap();
    scratch.finish_task("t1");
    scratch.git(&["merge", "-q", "--ff-only", "axiom/t1"]);
    let done = scratch.json(&["rollback", "task", "t1", "--yes"]);
    assert_eq!(done["commits"].as_array().unwrap().len(), 2);
    assert!(!scratch.has("quiet.txt") && !scratch.has("t1.txt"));
    scratch.done_task("t2");
    scratch.git(&["merge", "-q", "--no-ff", "-m", "merged by hand", "axiom/t2"]);
    let done = scratch.json(&["rollback", "task", "t2", "--yes"]);
    assert_eq!(done["merges"].as_array().unwrap().len(), 1);
    assert!(!scratch.has("t2.txt"));
    scratch.fsck();
}

#[test]
fn dependents_are_named_and_taken_along_in_the_right_order_by_cascade() {
    let scratch = Scratch::new();
    scratch.done_task("t1");
    scratch.axiom(&["merge", "t1"]);
    scratch.open_task("t2");
    std::fs::write(scratch.workspace("t2").join("t1.txt"), "t1, improved by t2\n").unwrap();
    scratch.finish_task("t2");
    scratch.axiom(&["merge", "t2"]);
    scratch.done_task("t3");
    scratch.axiom(&["task", "edit", "t2", "--after", "t1"]);
    scratch.axiom(&["task", "edit", "t3", "--after", "t2"]);
    let output = scratch.axiom_with(&["rollback", "task", "t1", "--yes"], &[]);
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(words.contains("HAS_DEPENDENTS") && words.contains("t2, t3") && words.contains("--cascade"), "{words}");
    assert_eq!(output.status.code(), Some(3));
    let done = scratch.json(&["rollback", "task", "t1", "--cascade", "--yes"]);
    let order: Vec<&str> = done["commits"].as_array().unwrap().iter().map(|one| one["taskId"].as_str().unwrap()).collect();
    assert_eq!(order, ["t2", "t1"]);
    assert!(!scratch.has("t1.txt") && !scratch.workspace("t3").exists());
    for task in ["t1", "t2", "t3"] {
        assert_eq!(scratch.task(task).status.as_str(), "pending", "{task}");
    }
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!(scratch.read("t1.txt"), "t1, improved by t2\n");
    assert!(scratch.workspace("t3").is_dir() && scratch.task("t2").merged.is_some());
}

#[test]
fn what_cannot_be_taken_back_says_so_and_changes_nothing() {
    let scratch = Scratch::new();
    scratch.axiom(&["task", "add", "x", "--id", "idle"]);
    scratch.axiom(&["task", "add", "g", "--id", "group", "--kind", "group"]);
    let task = |id: &str, more: &[&str], code: &str, exit: i32| {
        scratch.refused(&[&["rollback", "task", id, "--yes"], more].concat(), code, exit);
    };
    task("idle", &[], "NO_TASK_COMMITS", 1);
    task("IDLE", &[], "UNKNOWN_TASK", 2);
    task("nobody", &[], "UNKNOWN_TASK", 2);
    task("group", &[], "INVALID_TRANSITION", 1);
    task("idle", &["--target", "nope"], "TARGET_MISSING", 1);
    // Only on another branch.
    scratch.git(&["switch", "-q", "-c", "other"]);
    commit(&scratch, "o", "o", "work #else @a");
    scratch.git(&["switch", "-q", "main"]);
    task("else", &[], "NO_TASK_COMMITS", 1);
    let words = String::from_utf8_lossy(&scratch.axiom_with(&["rollback", "task", "else"], &[]).stderr).into_owned();
    assert!(words.contains("on other") && words.contains("--target other"), "{words}");
    scratch.axiom(&["rollback", "task", "else", "--target", "other", "--yes"]);
    assert_eq!(scratch.git(&["ls-tree", "--name-only", "other", "o"]), "");
    // Something of the user's in the way, an operation in progress, a detached HEAD, a branch in use.
    commit(&scratch, "w", "w", "work #t1 @a");
    scratch.write("w", "edited");
    task("t1", &[], "IN_THE_WAY", 4);
    assert_eq!(scratch.read("w"), "edited");
    scratch.write("w", "w");
    let head = scratch.head().to_string();
    scratch.write(".git/CHERRY_PICK_HEAD", &head);
    task("t1", &[], "IN_THE_WAY", 4);
    scratch.remove(".git/CHERRY_PICK_HEAD");
    scratch.git(&["switch", "-q", "--detach"]);
    task("t1", &[], "DETACHED_HEAD", 1);
    scratch.axiom(&["rollback", "task", "t1", "--target", "main", "--yes"]);
    assert_eq!((scratch.head().as_str(), scratch.git(&["ls-tree", "--name-only", "main", "w"]).as_str()), (head.as_str(), ""));
    scratch.git(&["switch", "-q", "main"]);
    scratch.done_task("t5");
    scratch.git(&["config", "axiom.agents.keepMerged", "true"]);
    scratch.axiom(&["merge", "t5"]);
    scratch.git(&["worktree", "remove", "--force", scratch.workspace("t5").to_str().unwrap()]);
    scratch.git(&["switch", "-q", "axiom/t5"]);
    task("t5", &[], "BRANCH_IN_USE", 4);
    assert_eq!(scratch.task("t5").status.as_str(), "done");
}

#[test]
fn the_edge_of_a_shallow_clone_is_no_root_commit() {
    let scratch = Scratch::new();
    commit(&scratch, "w", "w", "work #t1 @a");
    let url = format!("file://{}", scratch.path().display());
    let clone = Scratch::empty();
    clone.git(&["fetch", "-q", "--update-head-ok", "--depth=1", &url, "main:main"]);
    clone.git(&["reset", "-q", "--hard"]);
    clone.refused(&["rollback", "task", "t1", "--yes"], "HISTORY_MISSING", 1);
    assert!(clone.has("a.txt"));
}

/// Whatever was scanned before, and however the history went on since, the answer is the one of a whole scan.
#[test]
fn what_is_remembered_of_a_history_changes_no_answer() {
    let scratch = Scratch::new();
    let memory = scratch.path().join(".git/axiom/tmp/scanned.json");
    let answer = |task: &str| {
        let output = scratch.axiom_with(&["rollback", "task", task, "--dry-run", "--json"], &[]);
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        // The ids of revert commits are of the second in which they are made; they are not in the answer.
        (text(&output.stdout), text(&output.stderr).lines().next().unwrap_or_default().to_owned())
    };
    let check = |what: &str| {
        for task in ["t1", "t2", "t3", "free", "none"] {
            let remembered = answer(task);
            let kept = std::fs::read(&memory).ok();
            let _ = std::fs::remove_file(&memory);
            assert_eq!(answer(task), remembered, "{task} after {what}");
            // On with the old memory, or the new one, in turns.
            if let Some(kept) = kept.filter(|_| task.len() == 2) {
                std::fs::write(&memory, kept).unwrap();
            }
        }
    };
    commit(&scratch, "before.txt", "1", "before anything");
    scratch.done_task("t1");
    scratch.axiom(&["merge", "t1"]);
    check("a merge");
    commit(&scratch, "free.txt", "1", "by hand #free @ed-001");
    scratch.done_task("t2");
    check("a commit");
    commit(&scratch, "between.txt", "1", "between");
    scratch.axiom(&["merge", "t2"]);
    check("a merge of what began earlier");
    scratch.git(&["revert", "--no-edit", "-m", "1", "HEAD"]);
    check("a revert");
    scratch.git(&["switch", "-q", "-c", "side", "HEAD~3"]);
    commit(&scratch, "side.txt", "1", "on the side\n\nAxiom-Task: t3");
    scratch.git(&["switch", "-q", "main"]);
    scratch.git(&["merge", "-q", "--no-ff", "--no-edit", "side"]);
    check("a merge of the side");
    commit(&scratch, "last.txt", "1", "last");
    check("one more");
    scratch.git(&["reset", "-q", "--hard", "HEAD~3"]);
    check("a rewritten history");
    scratch.git(&["switch", "-q", "-c", "other", "side"]);
    scratch.git(&["merge", "-q", "--no-ff", "--no-edit", "main"]);
    scratch.git(&["branch", "-f", "main", "other"]);
    scratch.git(&["switch", "-q", "main"]);
    check("another first parent");
    let bytes = std::fs::read(&memory).unwrap();
    for damaged in [&bytes[..bytes.len() / 2], b"", b"00000000\n{}"] {
        std::fs::write(&memory, damaged).unwrap();
        check("damage");
    }
    let text = String::from_utf8(bytes).unwrap();
    std::fs::write(&memory, text.replace("\"lowest\":{", "\"lowest\":{\"t1\":999,")).unwrap();
    check("a memory that lies");
}

#[test]
fn what_a_shallow_clone_may_lack_is_no_unknown_task() {
    let scratch = Scratch::new();
    commit(&scratch, "one", "1", "one #job-1 @claude");
    commit(&scratch, "two", "2", "two");
    let clone = scratch.path().join("../shallow");
    let (from, to) = (format!("file://{}", scratch.path().display()), clone.display().to_string());
    scratch.git(&["clone", "-q", "--depth", "1", &from, &to]);
    let said = |folder: &str| {
        let output = scratch.axiom_with(&["-C", folder, "rollback", "task", "job-9", "--dry-run"], &[]);
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let words = said(&to);
    assert!(words.contains("HISTORY_MISSING") && words.contains("git fetch --unshallow"), "{words}");
    let words = said(".");
    assert!(words.contains("UNKNOWN_TASK") && words.contains("no commit of main names it"), "{words}");
}

/// The supervisor died; whoever rolls back ends what is left of the agent's work, in the same transaction.
#[test]
fn the_rollback_of_a_task_whose_agent_had_to_be_ended_is_undone() {
    let scratch = Scratch::new();
    scratch.open_task("t1");
    std::fs::write(scratch.workspace("t1").join("work.txt"), "work\n").unwrap();
    let rolled = scratch.json(&["rollback", "task", "t1", "--yes"]);
    let undo = rolled["undo"].as_str().unwrap();
    let words: Vec<&str> = undo.split(' ').skip(2).chain(["--yes"]).collect();
    assert!(!scratch.workspace("t1").exists());
    scratch.axiom(&words);
    assert_eq!(std::fs::read_to_string(scratch.workspace("t1").join("work.txt")).unwrap(), "work\n");
    assert_eq!(scratch.task("t1").status, TaskStatus::Pending, "an undo starts no agent");
}
