//! Somebody works in the repository while an operation is under way: nothing of theirs is touched, and nothing stays stuck.

use crate::support::Scratch;

fn killed_at(scratch: &Scratch, args: &[&str], point: &str) {
    scratch.killed_at(args, &format!("{point}:1"));
}

fn nothing_open(scratch: &Scratch) {
    assert!(scratch.store().state().record.open.is_none());
    scratch.axiom(&["checkpoint", "create"]);
    scratch.fsck();
}

/// A checkpoint, and since then `a.txt` and `sub/b.txt` changed, `new.txt` came.
fn changed_since() -> Scratch {
    let scratch = Scratch::new();
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.write("a.txt", "changed\n");
    scratch.write("sub/b.txt", "changed\n");
    scratch.write("new.txt", "new\n");
    scratch
}

const ROLLBACK: &[&str] = &["rollback", "checkpoint", "safe", "--yes"];

#[test]
fn an_edit_after_the_safety_checkpoint_does_not_keep_a_rollback_open() {
    for way in [&["rollback", "--abort"][..], &["recover", "--yes"]] {
        for edit in [Some("edited\n"), None] {
            let scratch = changed_since();
            killed_at(&scratch, ROLLBACK, "journal.begun");
            match edit {
                Some(text) => scratch.write("a.txt", text),
                None => scratch.remove("a.txt"),
            }
            let before = crate::support::contents(&scratch.path());
            let said = scratch.axiom(way);
            assert!(said.contains("a.txt") || way[0] == "recover", "{said}");
            assert_eq!(crate::support::contents(&scratch.path()), before);
            nothing_open(&scratch);
        }
    }
}

#[test]
fn a_rollback_that_meets_an_edit_is_put_back_at_once() {
    let scratch = changed_since();
    // A filter that edits another file when contents are made ready is the editor that saves in that very moment.
    // Another content each time: a capture asks the filter too, and holds what it wrote by then.
    let edits = format!("echo edited $$ >'{}'; cat", scratch.path().join("sub/b.txt").display());
    scratch.git(&["config", "filter.late.smudge", &edits]);
    scratch.git(&["config", "filter.late.clean", "cat"]);
    scratch.write(".git/info/attributes", "a.txt filter=late\n");
    scratch.refused(ROLLBACK, "CHANGED_MEANWHILE", 4);
    assert!(scratch.read("a.txt") == "changed\n" && scratch.read("sub/b.txt").starts_with("edited"));
    assert!(scratch.has("new.txt"));
    nothing_open(&scratch);
}

#[test]
fn what_was_moved_already_is_put_back_around_an_edit() {
    let scratch = changed_since();
    // `new.txt` is in the trash by then.
    killed_at(&scratch, ROLLBACK, "git.restore-placed");
    assert!(!scratch.has("new.txt"));
    scratch.write("sub/b.txt", "edited\n");
    scratch.write("a.txt", "edited too\n");
    scratch.write("staged.txt", "staged since\n");
    std::fs::remove_file(scratch.path().join(".git/index.lock")).unwrap();
    scratch.git(&["add", "staged.txt"]);
    scratch.write("staged.txt", "s\n");
    let ended = scratch.json(&["rollback", "--abort"]);
    assert_eq!(ended["left"].as_array().unwrap().len(), 2, "{ended}");
    assert_eq!((scratch.read("a.txt"), scratch.read("sub/b.txt")), ("edited too\n".into(), "edited\n".into()));
    assert_eq!(scratch.read("new.txt"), "new\n");
    assert_eq!(scratch.git(&["show", ":staged.txt"]), "staged since");
    nothing_open(&scratch);
}

#[test]
fn a_commit_after_the_safety_checkpoint_does_not_keep_a_rollback_open() {
    let scratch = changed_since();
    scratch.git(&["commit", "-qam", "leaves its branch"]);
    killed_at(&scratch, ROLLBACK, "journal.begun");
    scratch.git(&["commit", "-q", "--allow-empty", "-m", "meanwhile"]);
    let head = scratch.head();
    let ended = scratch.json(&["rollback", "--abort"]);
    assert_eq!(ended["left"][0], "main", "{ended}");
    assert_eq!((scratch.head(), scratch.read("a.txt")), (head, "changed\n".into()));
    assert_eq!(scratch.git(&["status", "--porcelain"]), "?? new.txt");
    nothing_open(&scratch);
}

#[test]
fn a_merge_is_put_back_around_what_somebody_did_meanwhile() {
    for point in ["git.advance-before-files", "git.restore-placed", "git.advance-before-ref", "git.advance-before-index"] {
        for commit in [false, true] {
            let scratch = Scratch::new();
            scratch.open_task("t1");
            std::fs::write(scratch.workspace("t1").join("a.txt"), "t1\n").unwrap();
            std::fs::write(scratch.workspace("t1").join("sub/b.txt"), "t1\n").unwrap();
            scratch.finish_task("t1");
            killed_at(&scratch, &["merge", "t1"], point);
            std::fs::remove_file(scratch.path().join(".git/index.lock")).unwrap();
            scratch.write("sub/b.txt", "edited\n");
            if commit {
                scratch.git(&["commit", "-q", "--allow-empty", "-m", "meanwhile"]);
            }
            let head = scratch.head();
            scratch.axiom(&["rollback", "--abort"]);
            assert_eq!(scratch.read("sub/b.txt"), "edited\n", "{point}");
            if commit {
                // It was made of the index of before, so it has `a.txt` as it was.
                assert_eq!(scratch.head(), head, "{point}");
            }
            assert_eq!(scratch.read("a.txt"), "a\n", "{point} {commit}");
            nothing_open(&scratch);
        }
    }
}

#[test]
fn a_lock_of_git_is_met_before_anything_begins() {
    let scratch = changed_since();
    scratch.done_task("t1");
    scratch.write(".git/index.lock", "");
    let before = crate::support::contents(&scratch.path());
    scratch.refused(ROLLBACK, "GIT_LOCKED", 5);
    scratch.refused(&["merge", "t1"], "GIT_LOCKED", 5);
    assert_eq!(crate::support::contents(&scratch.path()), before);
    assert!(scratch.store().state().record.open.is_none());
    scratch.remove(".git/index.lock");
    scratch.axiom(ROLLBACK);
    assert_eq!(scratch.read("a.txt"), "a\n");
}

#[test]
fn an_edit_that_git_was_told_not_to_look_at_is_in_the_way_of_a_merge() {
    for flag in ["--skip-worktree", "--assume-unchanged"] {
        let scratch = Scratch::new();
        scratch.open_task("t1");
        std::fs::write(scratch.workspace("t1").join("a.txt"), "t1\n").unwrap();
        scratch.finish_task("t1");
        scratch.git(&["update-index", flag, "a.txt"]);
        scratch.write("a.txt", "local\n");
        scratch.refused(&["merge", "t1"], "IN_THE_WAY", 4);
        assert_eq!(scratch.read("a.txt"), "local\n");
        nothing_open(&scratch);
        scratch.write("a.txt", "a\n");
        scratch.axiom(&["merge", "t1"]);
        assert_eq!(scratch.read("a.txt"), "t1\n");
        let marked = if flag == "--skip-worktree" { "S a.txt" } else { "h a.txt" };
        assert_eq!(scratch.git(&["ls-files", "-v", "a.txt"]), marked);
    }
}

#[test]
fn without_a_place_for_the_trash_nothing_begins() {
    let scratch = changed_since();
    let before = crate::support::contents(&scratch.path());
    let trash = scratch.path().join(".git/axiom/trash");
    std::fs::write(&trash, "a file of mine").unwrap();
    scratch.refused(&["rollback", "checkpoint", "safe", "--yes"], "IO_FAILED", 1);
    nothing_open(&scratch);
    std::fs::remove_file(&trash).unwrap();
    assert_eq!(crate::support::contents(&scratch.path()), before);
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
}

/// A small file system of its own, in a namespace of its own.
#[test]
fn a_rollback_that_finds_the_disk_full_changes_nothing_and_leaves_nothing_open() {
    let dir = tempfile::tempdir().unwrap();
    let script = r#"
        mount -t tmpfs -o size=8m tmpfs "$1" || exit 7
        cd "$1" && git init -q -b main r && cd r || exit 1
        for i in 1 2 3 4 5 6 7 8; do head -c 50000 /dev/urandom >f$i; done
        git add -A && git commit -qm first && "$2" checkpoint create safe || exit 2
        for i in 1 2 3 4 5 6 7 8; do head -c 50000 /dev/urandom >f$i; done
        cat f? >../before
        room=$(df --output=avail -k . | tail -1)
        # Enough for the safety checkpoint, not for the files.
        head -c $((room - 640))k /dev/zero >../fill
        "$2" rollback checkpoint safe --yes && exit 3
        rm ../fill
        cat f? | cmp - ../before || exit 4
        "$2" checkpoint create after || exit 5
    "#;
    let mut command = std::process::Command::new("unshare");
    command.args(["-Urm", "sh", "-c", script, "sh"]).arg(dir.path()).arg(env!("CARGO_BIN_EXE_git-axiom"));
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", dir.path());
    command.envs([("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null")]);
    command.envs([("GIT_AUTHOR_NAME", "A"), ("GIT_AUTHOR_EMAIL", "a@example.org")]);
    command.envs([("GIT_COMMITTER_NAME", "A"), ("GIT_COMMITTER_EMAIL", "a@example.org")]);
    let output = command.output().expect("unshare is needed for this test");
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{:?}: {words}", output.status.code());
    // Found while the contents are made ready: nothing was moved yet.
    assert!(words.contains("error[DISK_FULL]") && words.contains("nothing was lost"), "{words}");
}
