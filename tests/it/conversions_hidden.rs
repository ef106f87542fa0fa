//! Files of which nothing differs but the bytes that git's conversions hide: a rollback brings the held ones back and says so, and
//! undo and redo are exact.

use std::path::Path;

use crate::conversion_rules::{LOSSY, SECRETS, bytes, commit_settled, converted, with_lossy};
use crate::support::{Scratch, contents};

/// Has git write a file anew: what only its bytes had is gone, and git takes it for unchanged as before.
fn check_out(scratch: &Scratch, folder: &Path, path: &str) {
    std::fs::remove_file(folder.join(path)).unwrap();
    scratch.git(&["-C", folder.to_str().unwrap(), "checkout", "-q", "--", path]);
    assert_eq!(scratch.git(&["-C", folder.to_str().unwrap(), "status", "--porcelain"]), "");
}

/// Writes bytes that git takes for what is committed; where their size is another, once they were staged.
fn hide(scratch: &Scratch, path: &str, bytes: &[u8]) {
    std::fs::write(scratch.path().join(path), bytes).unwrap();
    scratch.git(&["add", path]);
    assert_eq!(scratch.git(&["status", "--porcelain"]), "");
}

/// The files that a dry run names, with what becomes of each.
fn named(scratch: &Scratch, args: &[&str]) -> Vec<(String, String)> {
    let document: serde_json::Value = serde_json::from_str(&scratch.axiom(&[&["--json"], args].concat())).unwrap();
    let text = |line: &serde_json::Value, key: &str| line[key].as_str().unwrap().to_owned();
    document["files"].as_array().unwrap().iter().map(|line| (text(line, "path"), text(line, "change"))).collect()
}

fn modified(path: &str) -> Vec<(String, String)> {
    vec![(path.to_owned(), "modified".to_owned())]
}

/// A rollback to `safe` makes `before` of `wrecked`, undo and redo go there and back, and each says so before.
fn there_and_back(scratch: &Scratch, to_safe: &[&str], before: &[u8], wrecked: &[u8], what: &str) {
    let rollback = [&["rollback", "checkpoint", "safe"], to_safe].concat();
    let with = |more: &'static str| {
        let (options, paths) = rollback.split_at(rollback.iter().position(|one| *one == "--").unwrap_or(rollback.len()));
        [options, &[more], paths].concat()
    };
    assert_eq!(named(scratch, &with("--dry-run")), modified("f.txt"), "{what}");
    assert_eq!(bytes(scratch, "f.txt"), wrecked, "{what}");
    let all_else = |scratch: &Scratch| {
        let is_other = |(path, _): &(std::path::PathBuf, Vec<u8>)| path.file_name().unwrap() != "f.txt";
        contents(&scratch.path()).into_iter().filter(is_other).collect::<Vec<_>>()
    };
    let others = all_else(scratch);
    scratch.axiom(&with("--yes"));
    assert_eq!(bytes(scratch, "f.txt"), before, "{what}");
    assert_eq!(scratch.git(&["status", "--porcelain"]), "", "{what}");
    for (verb, bytes_then) in [("undo", wrecked), ("redo", before)] {
        assert_eq!(named(scratch, &[verb, "--dry-run"]), modified("f.txt"), "{verb} {what}");
        scratch.axiom(&[verb, "--yes"]);
        assert_eq!(bytes(scratch, "f.txt"), bytes_then, "{verb} {what}");
        assert_eq!(scratch.git(&["status", "--porcelain"]), "", "{verb} {what}");
    }
    assert_eq!(named(scratch, &with("--dry-run")), [], "{what}");
    assert_eq!(all_else(scratch), others, "{what}");
    scratch.fsck();
}

#[test]
fn bytes_that_a_checkout_took_come_back() {
    for (number, lossy) in LOSSY.iter().enumerate() {
        let scratch = with_lossy(lossy);
        let before = bytes(&scratch, "f.txt");
        scratch.axiom(&["checkpoint", "create", "safe"]);
        check_out(&scratch, &scratch.path(), "f.txt");
        let wrecked = bytes(&scratch, "f.txt");
        assert_ne!(wrecked, before, "{lossy:?}");
        let main = scratch.path();
        // All of it, a worktree, a path: by turns, each several times.
        let parts: [&[&str]; 3] = [&[], &["--worktree", main.to_str().unwrap()], &["--", "f.txt"]];
        let part = parts[number % 3];
        there_and_back(&scratch, part, &before, &wrecked, &format!("{part:?} {lossy:?}"));
    }
}

#[test]
fn what_a_checkout_writes_comes_back_and_one_set_of_hidden_bytes_for_another() {
    for lossy in LOSSY {
        let scratch = with_lossy(lossy);
        let hidden = bytes(&scratch, "f.txt");
        check_out(&scratch, &scratch.path(), "f.txt");
        let plain = bytes(&scratch, "f.txt");
        scratch.axiom(&["checkpoint", "create", "safe"]);
        hide(&scratch, "f.txt", &hidden);
        there_and_back(&scratch, &[], &plain, &hidden, &format!("{lossy:?}"));
    }
    let scratch = with_lossy(&LOSSY[0]);
    scratch.axiom(&["checkpoint", "create", "safe"]);
    hide(&scratch, "f.txt", b"SECRET=other\n");
    there_and_back(&scratch, &[], b"SECRET=hunter2\n", b"SECRET=other\n", "another secret");
}

#[test]
fn what_differs_since_a_checkpoint_and_between_two_names_hidden_bytes() {
    for lossy in LOSSY {
        let scratch = with_lossy(lossy);
        scratch.axiom(&["checkpoint", "create", "safe"]);
        check_out(&scratch, &scratch.path(), "f.txt");
        scratch.axiom(&["checkpoint", "create", "after"]);
        for (two, differ) in [(&["safe"][..], modified("f.txt")), (&["safe", "after"], modified("f.txt")), (&["after"], vec![])] {
            let diff = [&["checkpoint", "diff"], two].concat();
            assert_eq!(named(&scratch, &diff), differ, "{two:?} {lossy:?}");
            let said = String::from_utf8(scratch.axiom_with(&diff, &[]).stderr).unwrap();
            assert_eq!(said.contains("only in bytes that git's conversions hide: 'f.txt'"), !differ.is_empty(), "{said}");
        }
    }
}

#[test]
fn only_the_named_paths_get_their_bytes_back() {
    let scratch = Scratch::new();
    SECRETS.iter().for_each(|(key, value)| drop(scratch.git(&["config", key, value])));
    scratch.write(".gitattributes", "*.txt filter=s\n");
    for path in ["f.txt", "g.txt", "sub/h.txt"] {
        scratch.write(path, "SECRET=mine\n");
    }
    commit_settled(&scratch);
    scratch.axiom(&["checkpoint", "create", "safe"]);
    for path in ["f.txt", "g.txt", "sub/h.txt"] {
        check_out(&scratch, &scratch.path(), path);
    }
    there_and_back(&scratch, &["--", "f.txt"], b"SECRET=mine\n", b"SECRET=\n", "");
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes", "--", "sub"]);
    assert_eq!((scratch.read("g.txt"), scratch.read("sub/h.txt")), ("SECRET=\n".into(), "SECRET=mine\n".into()));
}

#[test]
fn bytes_come_back_in_the_workspace_of_a_task_and_in_a_worktree_of_the_users() {
    for lossy in LOSSY {
        let scratch = with_lossy(lossy);
        let hidden = bytes(&scratch, "f.txt");
        scratch.open_task("t1");
        let (task, own) = (scratch.workspace("t1"), scratch.path().with_file_name("own"));
        scratch.git(&["worktree", "add", "-q", "-b", "own", own.to_str().unwrap()]);
        let plain = std::fs::read(task.join("f.txt")).unwrap();
        for folder in [&task, &own] {
            std::fs::write(folder.join("f.txt"), &hidden).unwrap();
        }
        scratch.axiom(&["checkpoint", "create", "safe"]);
        for folder in [&task, &own] {
            check_out(&scratch, folder, "f.txt");
        }
        let dry = scratch.json(&["rollback", "checkpoint", "safe", "--dry-run"]);
        assert_eq!(dry["workspaces"][0]["action"], "restored", "{lossy:?} {dry}");
        assert_eq!(dry["files"][0]["worktree"], task.to_str().unwrap(), "{lossy:?}");
        assert_eq!(dry["leftAlone"][0], own.to_str().unwrap(), "{lossy:?} {dry}");
        let bytes = || [&task, &own].map(|folder| std::fs::read(folder.join("f.txt")).unwrap());
        scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
        assert_eq!(bytes(), [hidden.clone(), plain.clone()], "{lossy:?}");
        scratch.axiom(&["undo", "--yes"]);
        assert_eq!(bytes(), [plain.clone(), plain.clone()], "{lossy:?}");
        scratch.axiom(&["redo", "--yes"]);
        scratch.axiom(&["rollback", "checkpoint", "safe", "--yes", "--worktree", own.to_str().unwrap()]);
        assert_eq!(bytes(), [hidden.clone(), hidden.clone()], "{lossy:?}");
        scratch.axiom(&["undo", "--yes"]);
        assert_eq!(bytes(), [hidden.clone(), plain], "{lossy:?}");
        // A workspace that is made again has them too.
        std::fs::remove_dir_all(&task).unwrap();
        scratch.git(&["worktree", "prune"]);
        scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
        assert_eq!(std::fs::read(task.join("f.txt")).unwrap(), hidden, "{lossy:?}");
        assert_eq!(scratch.git(&["-C", task.to_str().unwrap(), "status", "--porcelain"]), "", "{lossy:?}");
    }
}

#[test]
fn hidden_bytes_that_changed_since_stop_an_undo_over_them_and_no_other() {
    let scratch = with_lossy(&LOSSY[0]);
    scratch.axiom(&["checkpoint", "create", "safe"]);
    check_out(&scratch, &scratch.path(), "f.txt");
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    hide(&scratch, "f.txt", b"SECRET=newer\n");
    scratch.refused(&["undo", "--yes"], "CHANGED_MEANWHILE", 4);
    assert_eq!(scratch.read("f.txt"), "SECRET=newer\n");
    // A rollback of another file is nothing to it.
    scratch.axiom(&["checkpoint", "create", "later"]);
    scratch.write("a.txt", "edited\n");
    scratch.axiom(&["rollback", "checkpoint", "later", "--yes"]);
    hide(&scratch, "f.txt", b"SECRET=newest\n");
    assert_eq!(named(&scratch, &["undo", "--dry-run"]), modified("a.txt"));
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!((scratch.read("a.txt"), scratch.read("f.txt")), ("edited\n".into(), "SECRET=newest\n".into()));
}

#[test]
fn a_rollback_of_hidden_bytes_that_is_killed_is_finished_or_taken_back() {
    for point in ["git.restore-begin", "git.restore-before-sync", "journal.files-restored", "journal.before-end"] {
        for (way, after) in [("--continue", "SECRET=hunter2\n"), ("--abort", "SECRET=\n")] {
            let scratch = with_lossy(&LOSSY[0]);
            scratch.axiom(&["checkpoint", "create", "safe"]);
            check_out(&scratch, &scratch.path(), "f.txt");
            scratch.killed_at(&["rollback", "checkpoint", "safe", "--yes"], &format!("{point}:1"));
            scratch.axiom(&["rollback", way]);
            assert_eq!(scratch.read("f.txt"), after, "{point} {way}");
            assert_eq!(scratch.git(&["status", "--porcelain"]), "", "{point} {way}");
            scratch.fsck();
        }
    }
}

#[test]
fn a_file_of_which_nobody_knows_the_bytes_is_left_alone() {
    let scratch = Scratch::new();
    scratch.write(".gitattributes", "many/* ident\n");
    for number in 0..1003 {
        scratch.write(&format!("many/{number:04}"), "$Id: mine $\n");
    }
    commit_settled(&scratch);
    assert_eq!(converted(&scratch, "safe"), 3);
    for file in scratch.git(&["ls-files", "many"]).lines() {
        scratch.remove(file);
    }
    scratch.git(&["checkout", "-q", "--", "many"]);
    let mine = || {
        let names: Vec<String> = scratch.git(&["ls-files", "many"]).lines().map(str::to_owned).collect();
        names.into_iter().filter(|name| scratch.read(name) == "$Id: mine $\n").collect::<Vec<_>>()
    };
    assert_eq!(mine(), Vec::<String>::new());
    let dry: Vec<String> =
        named(&scratch, &["rollback", "checkpoint", "safe", "--dry-run"]).into_iter().map(|(path, _)| path).collect();
    assert_eq!(dry.len(), 1000);
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    assert_eq!(mine(), dry);
}

/// What was kept needs no filter: one that cannot write, or that fails by now, keeps nobody from going back.
#[test]
fn kept_bytes_come_back_where_the_filter_fails_by_now() {
    let scratch = Scratch::new();
    scratch.git(&["config", "filter.s.clean", "sed 's/=.*/=/'"]);
    scratch.git(&["config", "filter.s.required", "true"]);
    scratch.write(".gitattributes", "*.env filter=s\n");
    scratch.git(&["add", "-A"]);
    scratch.git(&["commit", "-qm", "filter"]);
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.write("new.env", "SECRET=mine\n");
    scratch.write("deep/x.env", "SECRET=deep\n");
    scratch.write("a.txt", "work\n");
    scratch.axiom(&["checkpoint", "create", "work"]);
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    assert!(!scratch.has("new.env") && !scratch.has("deep/x.env"));
    scratch.axiom(&["undo", "--dry-run"]);
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!((scratch.read("new.env"), scratch.read("deep/x.env")), ("SECRET=mine\n".into(), "SECRET=deep\n".into()));
    assert_eq!(scratch.read("a.txt"), "work\n");
    scratch.git(&["config", "filter.s.smudge", "false"]);
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    scratch.axiom(&["rollback", "checkpoint", "work", "--yes", "--", "new.env"]);
    assert_eq!(scratch.read("new.env"), "SECRET=mine\n");
}

/// What a crash left half done ends as if it had not happened, also where no filter works by then: what is held tells which
/// files were placed already, and what is not held keeps nothing else from being told.
#[test]
fn a_half_done_rollback_ends_where_the_filters_fail_by_then() {
    for (end, placed) in
        [("--abort", "git.restore-placed:1"), ("--abort", "git.restore-placed:2"), ("--continue", "git.restore-placed:1")]
    {
        let scratch = Scratch::new();
        scratch.git(&["config", "filter.s.clean", "sed 's/=.*/=/'"]);
        scratch.git(&["config", "filter.s.required", "true"]);
        scratch.write(".gitattributes", "*.env filter=s\n");
        scratch.write("old.env", "OLD=\n");
        scratch.git(&["add", "-A"]);
        scratch.git(&["commit", "-qm", "filter"]);
        scratch.write("a.env", "A=before\n");
        scratch.write("b.env", "B=before\n");
        scratch.axiom(&["checkpoint", "create", "safe"]);
        scratch.write("a.env", "CHANGED=mine\n");
        scratch.write("b.env", "CHANGED=mine\n");
        scratch.killed_at(&["rollback", "checkpoint", "safe", "--yes"], placed);
        scratch.git(&["config", "filter.s.smudge", "false"]);
        scratch.git(&["config", "filter.s.clean", "false"]);
        let said = scratch.axiom(&["rollback", end]);
        let wanted = if end == "--abort" { ["CHANGED=mine\n"; 2] } else { ["A=before\n", "B=before\n"] };
        assert_eq!([scratch.read("a.env"), scratch.read("b.env")], wanted, "{end} {placed}: {said}");
    }
}
