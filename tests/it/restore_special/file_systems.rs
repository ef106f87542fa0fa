//! File systems that cannot hold links or execute bits, or move as others do; and a repository that was moved.

use std::os::unix::fs::PermissionsExt;

use crate::support::{Scratch, contents};

#[test]
fn a_link_that_is_a_regular_file_goes_back_and_again() {
    let scratch = Scratch::new();
    std::os::unix::fs::symlink("a.txt", scratch.path().join("link")).unwrap();
    scratch.git(&["add", "link"]);
    scratch.git(&["commit", "-q", "-m", "link"]);
    scratch.git(&["config", "core.symlinks", "false"]);
    scratch.remove("link");
    scratch.git(&["checkout", "-q", "--", "link"]);
    assert!(scratch.path().join("link").symlink_metadata().unwrap().is_file());
    let before = contents(&scratch.path());
    scratch.axiom(&["checkpoint", "create", "safe"]);
    let wrecks: [(&str, &dyn Fn()); 3] = [
        ("committed", &|| {
            scratch.write("link", "staged.txt");
            scratch.git(&["commit", "-q", "-a", "-m", "elsewhere"]);
        }),
        ("edited", &|| scratch.write("link", "sub/b.txt")),
        ("removed", &|| scratch.remove("link")),
    ];
    for (what, wreck) in wrecks {
        wreck();
        let wrecked = contents(&scratch.path());
        scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
        assert_eq!(
            (contents(&scratch.path()), scratch.git(&["status", "--porcelain"])),
            (before.clone(), String::new()),
            "{what}"
        );
        scratch.axiom(&["undo", "--yes"]);
        assert_eq!(contents(&scratch.path()), wrecked, "{what}");
        scratch.axiom(&["redo", "--yes"]);
        assert_eq!(contents(&scratch.path()), before, "{what}");
    }
    // What somebody wrote since is still his.
    scratch.axiom(&["undo", "--yes"]);
    scratch.write("link", "mine");
    scratch.refused(&["redo", "--yes"], "CHANGED_MEANWHILE", 4);
    assert_eq!(scratch.read("link"), "mine");
}

fn mode(scratch: &Scratch, path: &str) -> u32 {
    scratch.path().join(path).metadata().unwrap().permissions().mode() & 0o777
}

#[test]
fn an_execute_bit_that_git_does_not_look_at_stays_with_its_file() {
    let scratch = Scratch::new();
    scratch.write("run.sh", "#!/bin/sh\n");
    scratch.git(&["add", "run.sh"]);
    scratch.git(&["update-index", "--chmod=+x", "run.sh"]);
    scratch.git(&["commit", "-q", "-m", "run"]);
    scratch.git(&["config", "core.fileMode", "false"]);
    let set = |path: &str, mode| {
        std::fs::set_permissions(scratch.path().join(path), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    set("a.txt", 0o755);
    set("run.sh", 0o644);
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.write("a.txt", "edited\n");
    scratch.write("run.sh", "edited\n");
    for (verb, text) in [("rollback checkpoint safe", "a\n"), ("undo", "edited\n"), ("redo", "a\n")] {
        let args: Vec<&str> = verb.split(' ').chain(["--yes"]).collect();
        scratch.axiom(&args);
        assert_eq!((scratch.read("a.txt").as_str(), mode(&scratch, "a.txt")), (text, 0o755), "{verb}");
        assert_eq!(mode(&scratch, "run.sh"), 0o644, "{verb}");
    }
}

#[test]
fn an_execute_bit_or_a_narrow_mode_outlasts_a_crash_between_old_and_new_file() {
    for (what, mode_set) in [("execute bit", 0o755), ("narrow mode", 0o600)] {
        let scratch = Scratch::new();
        scratch.git(&["config", "core.fileMode", "false"]);
        scratch.axiom(&["checkpoint", "create", "safe"]);
        scratch.write("a.txt", "edited\n");
        let place = scratch.path().join("a.txt");
        std::fs::set_permissions(&place, std::fs::Permissions::from_mode(mode_set)).unwrap();
        let rollback = ["rollback", "checkpoint", "safe", "--yes"];
        scratch.killed_at(&rollback, "git.restore-in-trash:1");
        assert!(!scratch.has("a.txt"), "{what}");
        scratch.axiom(&["rollback", "--continue"]);
        assert_eq!((scratch.read("a.txt").as_str(), mode(&scratch, "a.txt")), ("a\n", mode_set), "{what}");
    }
}

#[test]
fn a_repository_that_was_moved_since_keeps_what_the_checkpoint_did_not_hold() {
    let scratch = Scratch::new();
    scratch.write(".gitignore", ".env\n");
    scratch.git(&["add", "-A"]);
    scratch.git(&["commit", "-q", "-m", "ignore"]);
    scratch.write(".env", "SECRET\n");
    let side = scratch.path().with_file_name("side");
    scratch.git(&["worktree", "add", "-q", "--detach", side.to_str().unwrap()]);
    scratch.axiom(&["checkpoint", "create", "safe"]);
    let (old, new) = (scratch.path(), scratch.path().with_file_name("moved"));
    std::fs::rename(&old, &new).unwrap();
    std::fs::write(new.join(".gitignore"), "*.o\n").unwrap();
    std::fs::write(new.join("loose"), "loose\n").unwrap();
    let at = |program: &str, args: &[&str]| {
        let output = scratch.command(program).current_dir(&new).args(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    at("git", &["worktree", "repair"]);
    at(env!("CARGO_BIN_EXE_git-axiom"), &["rollback", "checkpoint", "safe", "--yes"]);
    let read = |path: &str| std::fs::read_to_string(new.join(path)).ok();
    assert_eq!((read(".env"), read(".gitignore"), read("loose")), (Some("SECRET\n".into()), Some(".env\n".into()), None));
}

#[test]
fn ignored_files_beyond_those_that_a_checkpoint_lists_stay_where_the_rules_changed() {
    let scratch = Scratch::new();
    scratch.write(".gitignore", "*.key\n");
    scratch.git(&["add", "-A"]);
    scratch.git(&["commit", "-q", "-m", "ignore"]);
    (0..230).for_each(|number| scratch.write(&format!("{number:03}.key"), "SECRET\n"));
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.write(".gitignore", "*.o\n");
    scratch.write("zzz", "loose\n");
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    assert!(!scratch.has("zzz") && (0..230).all(|number| scratch.has(&format!("{number:03}.key"))));
    scratch.axiom(&["undo", "--yes"]);
    assert!(scratch.has("zzz") && (0..230).all(|number| scratch.has(&format!("{number:03}.key"))));
}

/// FUSE and NFS know no move that replaces nothing, exFAT no second names: the system is made to say so here.
#[test]
fn without_moves_that_replace_nothing_and_without_second_names_all_goes_as_ever() {
    for refuse in ["files.no-replace:22", "files.link:1", "files.no-replace:22,files.link:1"] {
        let scratch = Scratch::new();
        let axiom = |args: &[&str]| {
            let output = scratch.axiom_with(args, &[("AXIOM_TEST_REFUSE", refuse)]);
            assert!(output.status.success(), "{refuse}, {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        };
        scratch.write("gone", "gone\n");
        scratch.git(&["add", "-A"]);
        scratch.git(&["commit", "-qm", "gone"]);
        scratch.done_task("t1");
        axiom(&["checkpoint", "create", "safe"]);
        let before = contents(&scratch.path());
        axiom(&["merge", "t1"]);
        scratch.write(".gitignore", "gone\n");
        scratch.git(&["rm", "-q", "gone"]);
        scratch.git(&["add", "-A"]);
        scratch.git(&["commit", "-qm", "on"]);
        // A folder that no checkpoint holds is in the way.
        scratch.write("gone/below", "ignored\n");
        scratch.write("a.txt", "edited\n");
        std::os::unix::fs::symlink("a.txt", scratch.path().join("link")).unwrap();
        let after = contents(&scratch.path());
        axiom(&["rollback", "checkpoint", "safe", "--yes"]);
        assert_eq!(contents(&scratch.path()), before, "{refuse}");
        axiom(&["undo", "--yes"]);
        assert_eq!(contents(&scratch.path()), after, "{refuse}");
        axiom(&["redo", "--yes"]);
        assert_eq!(contents(&scratch.path()), before, "{refuse}");
        assert!(!scratch.path().join(".git/index.lock").exists());
        scratch.fsck();
    }
}
