//! Undo and redo, through the binary, on real repositories.

use std::os::unix::fs::PermissionsExt;

use crate::support::{Scratch, contents};

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
    assert!(!scratch.has("t1.txt") && scratch.task("t1").merged.is_none());
    assert_eq!(scratch.git(&["diff", "--cached", "--name-only"]), "later.txt\nstaged.txt");
    // What was done before it was not done by the user, and was built upon.
    scratch.refused(&["undo", "--yes"], "CHANGED_MEANWHILE", 4);
    scratch.axiom(&["redo", "--yes"]);
    assert_eq!((scratch.head(), scratch.read("t1.txt")), (merged, "t1\n".into()));
    assert!(scratch.task("t1").merged.is_some());
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
    // The way that is named leads on.
    let said = scratch.axiom_with(&["undo", "--yes"], &[]);
    assert!(String::from_utf8_lossy(&said.stderr).contains("git axiom rollback task t1 "), "{said:?}");
    scratch.axiom(&["rollback", "task", "t1", "--yes"]);
    assert!(!scratch.has("t1.txt"));
}

/// Merge and undo have one rule for what is in progress: during a bisect that left HEAD on its branch both pass.
#[test]
fn what_was_merged_during_a_bisect_is_undone_during_it() {
    let scratch = Scratch::new();
    scratch.done_task("t1");
    scratch.git(&["bisect", "start"]);
    let old = scratch.head();
    scratch.axiom(&["merge", "t1"]);
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!((scratch.head(), scratch.has("t1.txt")), (old, false));
    assert!(scratch.git(&["status"]).contains("currently bisecting"));
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
    for (id, case) in &restorable.tasks {
        assert_eq!(&now.tasks[id], case);
    }
    assert_eq!(scratch.task("later").status.as_str(), "pending");
    scratch.fsck();
    // And the undo is undone.
    scratch.axiom(&["redo", "--yes"]);
    assert!(!scratch.workspace("t2").exists() && scratch.workspace("t1").exists());
    assert!(scratch.task("t1").merged.is_none());
}

/// The newest transaction whose description has this word.
fn undoable(scratch: &Scratch, word: &str) -> String {
    let log = scratch.json(&["log"]);
    let all = log["operations"].as_array().unwrap();
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
    assert_eq!(scratch.task("t1").title, "first");
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!(scratch.task("t1").status.as_str(), "archived");
    scratch.refused(&["undo", "--yes"], "NOTHING_TO_UNDO", 1);
    scratch.axiom(&["redo", "--yes"]);
    scratch.axiom(&["redo", "--yes"]);
    assert_eq!((scratch.task("t1").title.as_str(), scratch.task("t1").status.as_str()), ("second", "pending"));
    scratch.refused(&["redo", "--yes"], "NOTHING_TO_UNDO", 1);
    scratch.refused(&["undo", "nope", "--yes"], "UNKNOWN_OPERATION", 2);
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

#[test]
fn an_undone_deletion_brings_checkpoints_back_whole() {
    let scratch = Scratch::new();
    let refs = || scratch.git(&["for-each-ref", "refs/axiom/captures", "refs/tags"]);
    let notes = || scratch.git(&["notes", "--ref=axiom", "list"]);
    // Nothing is compared that the safety checkpoints add.
    let ours = |text: String| text.lines().filter(|line| !line.contains("before-undo")).collect::<Vec<_>>().join("\n");
    let size = || {
        let list = scratch.json(&["checkpoint", "list"]);
        list["checkpoints"].as_array().unwrap().iter().find(|one| one["name"] == "one").unwrap()["size"].as_u64().unwrap()
    };
    scratch.write("new", "only in one\n");
    scratch.axiom(&["checkpoint", "create", "one"]);
    scratch.remove("new");
    scratch.axiom(&["checkpoint", "create", "two"]);
    let (before, noted, was) = (ours(refs()), notes(), size());
    scratch.axiom(&["checkpoint", "delete", "one", "two", "--protected", "--yes"]);
    assert_eq!((ours(refs()), notes()), (String::new(), String::new()));
    scratch.axiom(&["checkpoint", "compact"]);
    // What the state remembers of it is forgotten by now; what it needs is still there.
    scratch.git(&["config", "axiom.checkpoints.keepDeletedDays", "0"]);
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!(ours(refs()), before);
    assert!(noted.lines().all(|note| notes().lines().any(|now| now == note)), "{noted} {}", notes());
    assert!(scratch.axiom(&["checkpoint", "verify"]).contains("are intact"));
    assert_eq!(size(), was);
    // And they go again with tag and note.
    scratch.axiom(&["redo", "--yes"]);
    assert_eq!(ours(refs()), "");
    assert!(noted.lines().all(|note| !notes().lines().any(|now| now == note)));
    scratch.fsck();
}

#[test]
fn what_was_forgotten_of_a_deleted_checkpoint_is_in_the_log() {
    let scratch = Scratch::new();
    scratch.git(&["config", "axiom.checkpoints.keepDeletedDays", "0"]);
    scratch.write("new", "only in one\n");
    scratch.axiom(&["checkpoint", "create", "one"]);
    let before = scratch.json(&["checkpoint", "show", "one"])["checkpoint"].clone();
    scratch.axiom(&["checkpoint", "delete", "one", "--protected", "--yes"]);
    scratch.axiom(&["checkpoint", "compact"]);
    scratch.axiom(&["undo", "--yes"]);
    let after = scratch.json(&["checkpoint", "show", "one"])["checkpoint"].clone();
    for key in ["name", "type", "size", "capture", "createdAt"] {
        assert!(!before[key].is_null(), "{before}");
        assert_eq!(after[key], before[key], "{key}");
    }
}

#[test]
fn a_deletion_is_not_undone_where_the_name_is_taken_in_any_spelling() {
    let deleted = || {
        let scratch = Scratch::new();
        scratch.axiom(&["checkpoint", "create", "good"]);
        scratch.axiom(&["checkpoint", "delete", "good", "--protected", "--yes"]);
        let deletion = undoable(&scratch, "delete");
        (scratch, deletion)
    };
    let refused = |scratch: &Scratch, deletion: &str| {
        let refs = scratch.git(&["for-each-ref"]);
        for how in ["--dry-run", "--yes"] {
            scratch.refused(&["undo", deletion, how], "CHANGED_MEANWHILE", 4);
        }
        assert_eq!(scratch.git(&["for-each-ref"]), refs);
    };
    let (scratch, deletion) = deleted();
    scratch.axiom(&["checkpoint", "create", "Good"]);
    refused(&scratch, &deletion);
    let (scratch, deletion) = deleted();
    scratch.axiom(&["task", "add", "x", "--id", "GOOD"]);
    refused(&scratch, &deletion);
    scratch.axiom(&["task", "archive", "GOOD"]);
    refused(&scratch, &deletion);
    let (scratch, deletion) = deleted();
    scratch.git(&["tag", "axiom/good", "HEAD"]);
    refused(&scratch, &deletion);
    scratch.git(&["tag", "-d", "axiom/good"]);
    scratch.axiom(&["undo", &deletion, "--yes"]);
}

#[test]
fn the_preview_names_refs_files_and_tasks_and_a_redo_is_called_one() {
    let scratch = Scratch::new();
    scratch.done_task("t1");
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.axiom(&["merge", "t1"]);
    let (merged, words) = (scratch.head(), scratch.axiom(&["undo", "--dry-run"]));
    for part in [
        "Would take back",
        "1 ref brought back\n    branch axiom/t1 at ",
        "1 ref moved\n    branch main: ",
        "1 file deleted\n    t1.txt\n",
        "1 task changed\n    t1: no longer merged\n",
    ] {
        assert!(words.contains(part), "{part}: {words}");
    }
    let plan = scratch.json(&["undo", "--dry-run"]);
    assert_eq!((&plan["redo"], &plan["dryRun"]), (&false.into(), &true.into()));
    let moved = |name: &str| plan["refs"].as_array().unwrap().iter().find(|one| one["name"] == name).unwrap()["old"].clone();
    assert_eq!((moved("refs/heads/main"), moved("refs/heads/axiom/t1")), (merged.as_str().into(), serde_json::Value::Null));
    assert_eq!((&plan["files"][0]["path"], &plan["files"][0]["change"]), (&"t1.txt".into(), &"deleted".into()));
    assert_eq!(plan["tasks"][0]["id"], "t1");
    let done = scratch.json(&["undo", "--yes"]);
    for key in ["refs", "files", "tasks"] {
        assert_eq!(done[key], plan[key], "{key}");
    }
    // Also whichever way it is asked for.
    let undo = done["undo"].as_str().unwrap().strip_prefix("git axiom undo ").unwrap().to_owned();
    for args in [&["redo", "--dry-run"][..], &["undo", &undo, "--dry-run"]] {
        let words = scratch.axiom(args);
        assert!(words.starts_with("Would do again ") && words.contains("1 file brought back\n    t1.txt\n"), "{words}");
    }
    let words = scratch.axiom(&["redo", "--yes"]);
    assert!(words.starts_with("Did again ") && words.contains("To take it back again: git axiom undo"), "{words}");
    scratch.axiom(&["undo", "--yes"]);
    let log = scratch.axiom(&["log"]);
    assert!(!log.contains("undo of 'undo of") && log.contains("redo of 'merge") && !log.contains("redo of 'undo"), "{log}");
    // A rollback: a file that is only staged otherwise, a workspace, a branch.
    scratch.axiom(&["redo", "--yes"]);
    scratch.write("a.txt", "changed\n");
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    let plan = scratch.json(&["undo", "--dry-run"]);
    let actions: Vec<_> =
        plan["files"].as_array().unwrap().iter().map(|file| (file["path"].clone(), file["change"].clone())).collect();
    assert!(actions.contains(&("a.txt".into(), "modified".into())), "{plan}");
    assert!(actions.contains(&("t1.txt".into(), "added".into())), "{plan}");
}

#[test]
fn an_open_operation_is_told_of_before_there_is_nothing_to_undo() {
    let scratch = Scratch::new();
    scratch.axiom(&["checkpoint", "create", "base"]);
    scratch.write("a.txt", "changed\n");
    scratch.killed_at(&["rollback", "checkpoint", "base", "--yes"], "journal.begun:1");
    assert!(scratch.store().state().record.open.is_some(), "it was not killed in the middle");
    for args in [&["undo", "--yes"][..], &["undo", "--dry-run"], &["redo", "--yes"]] {
        scratch.refused(args, "OPERATION_OPEN", 6);
        let words = scratch.axiom_with(args, &[]);
        let words = String::from_utf8_lossy(&words.stderr);
        assert!(words.contains("rollback --continue") && words.contains("rollback --abort"), "{words}");
    }
    scratch.axiom(&["rollback", "--abort"]);
    scratch.refused(&["undo", "--yes"], "NOTHING_TO_UNDO", 1);
}

#[test]
fn an_undo_of_a_deletion_that_was_killed_before_the_tags_is_completed_by_the_next_look() {
    for point in ["undo.before-tags:1", "checkpoint.healing:1", "git.checkpoint-tagged:1"] {
        let scratch = Scratch::new();
        scratch.axiom(&["checkpoint", "create", "one"]);
        scratch.axiom(&["checkpoint", "create", "two"]);
        scratch.axiom(&["checkpoint", "delete", "one", "two", "--protected", "--yes"]);
        scratch.killed_at(&["undo", "--yes"], point);
        let found = scratch.axiom_with(&["checkpoint", "verify"], &[]);
        assert_eq!(found.status.code(), Some(1), "{point}: it was killed too late");
        scratch.axiom(&["checkpoint", "list"]);
        assert!(scratch.axiom(&["checkpoint", "verify"]).contains("All 3 checkpoints are intact"), "{point}");
        scratch.fsck();
    }
}

#[test]
fn ignored_files_that_a_rollback_found_as_the_checkpoint_has_them_stay_when_it_is_undone() {
    let scratch = Scratch::new();
    scratch.git(&["config", "core.autocrlf", "input"]);
    scratch.write(".env", "KEY=1\n");
    scratch.write("lines.env", "1\r\n2\r\n");
    scratch.write("cfg/k", "k\n");
    scratch.write("cfg/other", "then\n");
    std::os::unix::fs::symlink("k", scratch.path().join("cfg/link")).unwrap();
    scratch.axiom(&["checkpoint", "create", "c"]);
    scratch.write(".gitignore", ".env\nlines.env\ncfg/\n");
    scratch.git(&["add", ".gitignore"]);
    scratch.git(&["commit", "-q", "-m", "ignore"]);
    scratch.write("cfg/other", "now\n");
    let before = contents(&scratch.path());
    let preview = scratch.axiom(&["rollback", "checkpoint", "c", "--dry-run"]);
    assert!(preview.contains("cfg/other") && !preview.contains(".env"), "{preview}");
    let mut after = None;
    for _ in 0..2 {
        scratch.axiom(&["rollback", "checkpoint", "c", "--yes"]);
        assert_eq!(scratch.read("cfg/other"), "then\n");
        let there = contents(&scratch.path());
        assert_eq!(after.get_or_insert_with(|| there.clone()), &there);
        scratch.axiom(&["undo", "--yes"]);
        assert_eq!(contents(&scratch.path()), before);
        scratch.axiom(&["redo", "--yes"]);
        assert_eq!(contents(&scratch.path()), there);
        scratch.axiom(&["undo", "--yes"]);
        assert_eq!(contents(&scratch.path()), before);
    }
    assert_eq!(std::fs::read_link(scratch.path().join("cfg/link")).unwrap().to_str(), Some("k"));
    scratch.fsck();
}

fn mode(scratch: &Scratch) -> String {
    scratch.axiom(&["mode"]).trim().to_owned()
}

#[test]
fn an_undo_of_a_rollback_brings_the_mode_back() {
    let scratch = Scratch::new();
    scratch.axiom(&["checkpoint", "create", "careful"]);
    scratch.axiom(&["mode", "autopilot"]);
    scratch.write("a.txt", "two\n");
    scratch.axiom(&["rollback", "checkpoint", "careful", "--yes"]);
    assert_eq!(mode(&scratch), "semi-auto");
    let preview = scratch.json(&["undo", "--dry-run"]);
    assert_eq!(preview["mode"], serde_json::json!({"old": "semi-auto", "new": "autopilot"}));
    let undone = scratch.axiom(&["undo", "--yes"]);
    assert_eq!((mode(&scratch).as_str(), scratch.read("a.txt").as_str()), ("autopilot", "two\n"), "{undone}");
    scratch.axiom(&["redo", "--yes"]);
    assert_eq!((mode(&scratch).as_str(), scratch.read("a.txt").as_str()), ("semi-auto", "a\n"));
    // Somebody has changed it back already.
    scratch.axiom(&["mode", "autopilot"]);
    assert_eq!(scratch.json(&["undo", "--dry-run"])["mode"], serde_json::Value::Null);
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!(mode(&scratch), "autopilot");
    // A rollback that changes nothing else.
    scratch.axiom(&["checkpoint", "create", "bold"]);
    scratch.axiom(&["mode", "semi-auto"]);
    scratch.axiom(&["rollback", "checkpoint", "bold", "--yes"]);
    assert_eq!(mode(&scratch), "semi-auto", "it never becomes one that asks less unasked");
    scratch.axiom(&["rollback", "checkpoint", "bold", "--mode", "autopilot", "--yes"]);
    assert_eq!(mode(&scratch), "autopilot");
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!(mode(&scratch), "semi-auto");
    scratch.axiom(&["redo", "--yes"]);
    assert_eq!(mode(&scratch), "autopilot");
}

#[test]
fn an_import_of_done_tasks_is_undone_as_long_as_nobody_worked_on_them() {
    let scratch = Scratch::new();
    let lines = ["done", "failed", "pending", "archived"]
        .map(|status| format!("{{\"id\":\"{status}-one\",\"title\":\"x\",\"status\":\"{status}\"}}"));
    scratch.write(".git/tasks", lines.join("\n"));
    scratch.axiom(&["task", "import", ".git/tasks"]);
    let statuses = || ["done-one", "failed-one", "pending-one", "archived-one"].map(|id| scratch.task(id).status.as_str());
    assert_eq!(statuses(), ["done", "failed", "pending", "archived"]);
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!(statuses(), ["archived"; 4]);
    scratch.axiom(&["redo", "--yes"]);
    assert_eq!(statuses(), ["done", "failed", "pending", "archived"]);
    // It failed when it was added; since then it was tried again, and failed again it is another failure.
    scratch.axiom(&["task", "unblock", "failed-one"]);
    scratch.axiom(&["undo", "--yes", &undoable(&scratch, "import")]);
    assert_eq!(statuses(), ["archived"; 4]);
    scratch.axiom(&["redo", "--yes"]);
    scratch.reopen_task("pending-one");
    scratch.finish_task("pending-one");
    let log = scratch.json(&["log"]);
    let import = log["operations"].as_array().unwrap().iter().find(|one| one["what"] == "import 4 tasks").unwrap();
    assert_eq!(import["undoable"], false);
    scratch.refused(&["undo", "--yes", import["id"].as_str().unwrap()], "CHANGED_MEANWHILE", 4);
    assert_eq!(statuses(), ["done", "pending", "done", "archived"]);
}

/// Whatever happened since: `log` and a dry run of the undo say the same of every transaction.
#[track_caller]
fn log_is_right(scratch: &Scratch, when: &str) -> usize {
    let log = scratch.json(&["log"]);
    let mut possible = 0;
    for one in log["operations"].as_array().unwrap() {
        let tried = scratch.axiom_with(&["undo", one["id"].as_str().unwrap(), "--dry-run"], &[]);
        let said = String::from_utf8_lossy(&tried.stderr).into_owned();
        assert_eq!(one["undoable"], tried.status.success(), "{when}: {one}\n{said}");
        assert_eq!(one["obstacle"].is_null(), tried.status.success(), "{when}: {one}");
        possible += usize::from(tried.status.success());
    }
    let listed = scratch.json(&["log", "--undoable"]);
    assert_eq!(listed["operations"].as_array().unwrap().len(), possible, "{when}");
    possible
}

#[test]
fn log_says_yes_for_what_undo_does_and_for_nothing_else() {
    let scratch = Scratch::new();
    scratch.done_task("t1");
    scratch.done_task("t2");
    scratch.axiom(&["task", "add", "later", "--id", "t3"]);
    scratch.axiom(&["task", "edit", "t3", "--title", "even later"]);
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.axiom(&["merge", "t1"]);
    scratch.axiom(&["merge", "t2"]);
    assert_eq!(log_is_right(&scratch, "merged"), 3, "the last merge, and what concerns t3");
    scratch.write("t2.txt", "mine\n");
    assert_eq!(log_is_right(&scratch, "a file of the merge was changed"), 2);
    scratch.write("t2.txt", "t2\n");
    scratch.axiom(&["checkpoint", "delete", "safe", "--protected", "--yes"]);
    scratch.axiom(&["undo", "--yes"]);
    scratch.write("a.txt", "before\n");
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    assert!(log_is_right(&scratch, "rolled back") >= 2);
    scratch.write("a.txt", "after\n");
    log_is_right(&scratch, "a restored file was changed");
    scratch.write("a.txt", "a\n");
    scratch.axiom(&["undo", "--yes"]);
    scratch.git(&["checkout", "-q", "-b", "elsewhere"]);
    log_is_right(&scratch, "on another branch");
    let text = scratch.axiom(&["log"]);
    assert!(text.lines().any(|line| line.contains("  no  ")), "{text}");
}

#[test]
fn what_is_taken_back_already_is_not_undone_again() {
    let scratch = Scratch::new();
    scratch.axiom(&["checkpoint", "create", "before"]);
    scratch.axiom(&["task", "add", "one", "--id", "one"]);
    let added = undoable(&scratch, "add one");
    // Archives it, for it was added since.
    scratch.axiom(&["rollback", "checkpoint", "before", "--yes"]);
    scratch.refused(&["undo", &added, "--dry-run"], "NOT_UNDOABLE", 1);
    scratch.refused(&["undo", &added, "--yes"], "NOT_UNDOABLE", 1);
    log_is_right(&scratch, "with a task that is archived already");
}

#[test]
fn undo_without_an_id_means_what_was_done_last_whoever_did_it() {
    let scratch = Scratch::new();
    scratch.axiom(&["task", "add", "mine", "--id", "mine"]);
    scratch.axiom(&["checkpoint", "create", "safe"]);
    let undo = || {
        let refused = scratch.axiom_with(&["undo", "--yes"], &[]);
        (refused.status.code(), String::from_utf8_lossy(&refused.stderr).into_owned())
    };
    // As the supervisor would.
    scratch.add_task("theirs");
    let (code, said) = undo();
    let log = scratch.json(&["log"]);
    let all = log["operations"].as_array().unwrap();
    let id = all.iter().find(|one| one["what"].as_str().unwrap().starts_with("add theirs")).unwrap()["id"].as_str().unwrap();
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("by supervisor, not by you: add theirs"), "{said}");
    assert!(said.contains(&format!("git axiom undo {id} --yes")), "{said}");
    scratch.axiom(&["undo", id, "--yes"]);
    // A claim, an iteration, a gate are no change of their own. What cannot be taken back names no undo of it.
    scratch.done_task("t1");
    let (code, said) = undo();
    assert_eq!(code, Some(4), "{said}");
    assert!(said.contains("'t1' was worked on since it was added") && !said.contains("--yes"), "{said}");
    // What a human did last is meant, and the plan names what --yes takes back.
    scratch.axiom(&["merge", "t1"]);
    let planned = scratch.json(&["undo", "--dry-run"])["undoOf"].clone();
    assert_eq!(scratch.json(&["undo", "--yes"])["undoOf"], planned);
    // What cannot be taken back is not passed over: it says why, and what can.
    scratch.axiom(&["redo", "--yes"]);
    scratch.git(&["commit", "-q", "--allow-empty", "-m", "on top"]);
    let head = scratch.head();
    let (code, said) = undo();
    assert_eq!(code, Some(4), "{said}");
    assert!(said.contains("takes back: add mine: mine"), "{said}");
    assert_eq!((scratch.head(), scratch.task("mine").status.as_str()), (head, "pending"));
}

/// Else the new attempt would be taken for the rest of what is merged, and put aside by the next `recover` or `run`.
#[test]
fn a_merge_comes_not_back_over_another_attempt_at_its_task() {
    let scratch = Scratch::new();
    scratch.done_task("t1");
    scratch.axiom(&["merge", "t1"]);
    scratch.axiom(&["undo", "--yes"]);
    scratch.axiom(&["rollback", "task", "t1", "--yes"]);
    if !scratch.git(&["branch", "--list", "axiom/t1"]).is_empty() {
        scratch.git(&["branch", "-D", "axiom/t1"]);
    }
    scratch.reopen_task("t1");
    std::fs::write(scratch.workspace("t1").join("again.txt"), "again\n").unwrap();
    scratch.finish_task("t1");
    for last in ["--dry-run", "--yes"] {
        scratch.refused(&["redo", last], "CHANGED_MEANWHILE", 4);
    }
    assert!(scratch.workspace("t1").join("again.txt").exists() && scratch.task("t1").merged.is_none());
    // The way on that it names.
    scratch.axiom(&["rollback", "task", "t1", "--yes"]);
    scratch.axiom(&["redo", "--yes"]);
    assert!(scratch.task("t1").merged.is_some() && scratch.has("t1.txt"));
}

/// A secret that was closed to others since it came must not come back open.
#[test]
fn what_an_undo_removes_comes_back_with_the_permissions_that_it_had_then() {
    let scratch = Scratch::new();
    scratch.write("keys/secret.txt", "secret\n");
    scratch.axiom(&["checkpoint", "create", "then"]);
    std::fs::remove_dir_all(scratch.path().join("keys")).unwrap();
    scratch.axiom(&["rollback", "checkpoint", "then", "--yes"]);
    let place = |path: &str| scratch.path().join(path);
    for (path, mode) in [("keys/secret.txt", 0o600), ("keys", 0o700)] {
        std::fs::set_permissions(place(path), PermissionsExt::from_mode(mode)).unwrap();
    }
    scratch.axiom(&["undo", "--yes"]);
    assert!(!scratch.has("keys"));
    scratch.axiom(&["redo", "--yes"]);
    let mode = |path: &str| std::fs::metadata(place(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("keys/secret.txt"), mode("keys")), (0o600, 0o700));
}
