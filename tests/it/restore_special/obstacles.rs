//! What would keep an operation from its changes is found before the first one, and the dry run says it too.

use crate::common::git_since;
use crate::support::{Scratch, contents};

const ROLLBACK: [&str; 3] = ["rollback", "checkpoint", "safe"];

/// A checkpoint, and since then a commit of changes in two folders, and a new file.
fn gone_on() -> Scratch {
    let scratch = Scratch::new();
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.write("a.txt", "changed\n");
    scratch.write("sub/b.txt", "changed\n");
    scratch.write("sub/new.txt", "new\n");
    scratch.git(&["add", "-A"]);
    scratch.git(&["commit", "-qm", "on"]);
    scratch
}

/// Neither the dry run nor the rollback changes anything, and both say this.
fn refused(scratch: &Scratch, code: &str, says: &str) {
    let view =
        || (contents(&scratch.path()), scratch.git(&["for-each-ref", "refs/heads"]), scratch.git(&["status", "--porcelain"]));
    let before = view();
    for last in ["--dry-run", "--yes"] {
        let output = scratch.axiom_with(&[&ROLLBACK[..], &[last]].concat(), &[]);
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(words.contains(&format!("error[{code}]")) && words.contains(says), "{last}: {words}");
        assert!(!words.contains("put back"), "it had begun: {words}");
        assert_eq!(view(), before, "{last}");
        assert!(scratch.store().state().record.open.is_none());
    }
}

#[test]
fn a_hook_that_refuses_is_asked_before_anything_is_changed() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = gone_on();
    let hook = scratch.path().join(".git/hooks/reference-transaction");
    scratch
        .write(".git/hooks/reference-transaction", "#!/bin/sh\n[ \"$1\" = prepared ] && grep -q refs/heads/ && exit 1; exit 0\n");
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    refused(&scratch, "GIT_FAILED", "hook");
    std::fs::remove_file(hook).unwrap();
    scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
    assert_eq!(scratch.read("a.txt"), "a\n");
}

#[test]
fn a_filter_that_fails_fails_before_anything_is_changed() {
    let scratch = gone_on();
    for (key, value) in [("smudge", "/nowhere/at/all"), ("clean", "cat"), ("required", "true")] {
        scratch.git(&["config", &format!("filter.gone.{key}"), value]);
    }
    scratch.write(".git/info/attributes", "sub/b.txt filter=gone\n");
    refused(&scratch, "FILTER_FAILED", "smudge filter gone failed");
}

#[test]
fn a_trash_that_is_a_link_is_no_trash() {
    let scratch = gone_on();
    let elsewhere = scratch.path().with_file_name("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, scratch.path().join(".git/axiom/trash")).unwrap();
    refused(&scratch, "IO_FAILED", "is not a folder");
    assert_eq!(std::fs::read_dir(elsewhere).unwrap().count(), 0);
}

#[test]
fn a_link_in_place_of_a_folder_is_looked_at_and_not_followed() {
    // To itself, and to a folder of another file system that has a file of that name.
    for target in ["sub", "/proc/self"] {
        let scratch = Scratch::new();
        scratch.write("sub/status", "status\n");
        scratch.git(&["add", "-A"]);
        scratch.git(&["commit", "-qm", "status"]);
        scratch.axiom(&["checkpoint", "create", "safe"]);
        std::fs::remove_dir_all(scratch.path().join("sub")).unwrap();
        std::os::unix::fs::symlink(target, scratch.path().join("sub")).unwrap();
        let link = || std::fs::read_link(scratch.path().join("sub")).unwrap();
        scratch.axiom(&[&ROLLBACK[..], &["--yes"]].concat());
        assert_eq!(scratch.read("sub/status"), "status\n", "{target}");
        scratch.axiom(&["undo", "--yes"]);
        assert_eq!(link(), std::path::Path::new(target));
        scratch.axiom(&["redo", "--yes"]);
        assert_eq!(scratch.read("sub/status"), "status\n", "{target}");
    }
}

#[test]
fn a_folder_that_its_owner_closed_is_opened_and_one_of_another_user_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = gone_on();
    let sub = scratch.path().join("sub");
    let set = |mode| std::fs::set_permissions(&sub, std::fs::Permissions::from_mode(mode)).unwrap();
    let mode = || sub.metadata().unwrap().permissions().mode() & 0o777;
    let run = |args: &[&str]| {
        let output = scratch.bound_by_permissions().args(args).output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    set(0o555);
    let back = [&ROLLBACK[..], &["--yes"]].concat();
    assert!(run(&[&ROLLBACK[..], &["--dry-run"]].concat()).0 && mode() == 0o555, "a preview opens nothing");
    let (done, words) = run(&back);
    assert!(done, "{words}");
    assert_eq!((scratch.read("sub/b.txt"), mode()), ("b\n".into(), 0o755));
    let (done, words) = run(&["undo", "--yes"]);
    assert!(done, "{words}");
    assert_eq!((scratch.read("sub/b.txt"), mode()), ("changed\n".into(), 0o555), "as it was before");
    set(0o755);
    // The top folder is not opened: the command that does it is said.
    std::fs::set_permissions(scratch.path(), std::fs::Permissions::from_mode(0o555)).unwrap();
    let (done, words) = run(&back);
    assert!(!done && words.contains("error[IN_THE_WAY]") && words.contains("chmod u+w lets it change"), "{words}");
    std::fs::set_permissions(scratch.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    if !crate::common::is_root() {
        return;
    }
    let mut command = scratch.bound_by_permissions();
    std::os::unix::fs::chown(&sub, Some(0), Some(0)).unwrap();
    let output = command.args(&back).output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(words.contains("error[IN_THE_WAY]") && words.contains("sub' (Permission denied"), "{words}");
}

/// In a namespace of its own, where this user may mount.
#[test]
fn what_is_mounted_in_a_worktree_is_named_and_not_touched() {
    let scratch = gone_on();
    let script = r#"
        mkdir ../other && cp -a sub/. ../other/ || exit 1
        for how in bind tmpfs ro; do
            case $how in
                bind) mount --bind ../other sub || exit 7 ;;
                tmpfs) mount -t tmpfs none sub && cp ../other/* sub/ || exit 7 ;;
                ro) mount --bind sub sub && mount -o remount,ro,bind sub || exit 7 ;;
            esac
            for last in --dry-run --yes; do
                "$1" rollback checkpoint safe $last 2>../said && exit 2
                grep -q 'error\[IN_THE_WAY\].*sub. (' ../said || { cat ../said >&2; exit 3; }
                grep -q 'put back' ../said && exit 4
            done
            [ "$(cat a.txt sub/b.txt sub/new.txt | tr '\n' ' ')" = "changed changed new " ] || exit 5
            umount sub || exit 7
        done
        "$1" rollback checkpoint safe --yes || exit 6
    "#;
    let mut command = scratch.command("unshare");
    let output = command.args(["-Urm", "sh", "-c", script, "sh", env!("CARGO_BIN_EXE_git-axiom")]).output().unwrap();
    assert!(output.status.success(), "{:?}: {}", output.status.code(), String::from_utf8_lossy(&output.stderr));
    assert_eq!((scratch.read("a.txt"), scratch.read("sub/b.txt")), ("a\n".into(), "b\n".into()));
}

#[test]
fn a_hook_that_refuses_a_switch_or_a_detached_head_is_asked_before_anything_is_changed() {
    use std::os::unix::fs::PermissionsExt;
    if !git_since(46, "a hook that is told of a switch") {
        return;
    }
    for detached_then in [false, true] {
        let scratch = Scratch::new();
        let (then, since): (&[&str], &[&str]) = match detached_then {
            false => (&["switch", "-q", "main"], &["switch", "-q", "--detach"]),
            true => (&["switch", "-q", "--detach"], &["switch", "-q", "main"]),
        };
        scratch.git(then);
        scratch.axiom(&["checkpoint", "create", "safe"]);
        scratch.git(since);
        scratch.write("a.txt", "changed\n");
        let hook = scratch.path().join(".git/hooks/reference-transaction");
        scratch.write(
            ".git/hooks/reference-transaction",
            "#!/bin/sh\n[ \"$1\" = prepared ] && grep -q ' HEAD$' && exit 1; exit 0\n",
        );
        std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
        refused(&scratch, "GIT_FAILED", "reference-transaction");
        std::fs::remove_file(hook).unwrap();
        scratch.axiom(&["rollback", "checkpoint", "safe", "--yes"]);
        assert_eq!(scratch.read("a.txt"), "a\n");
    }
}

#[test]
fn a_hook_that_refuses_to_detach_a_workspace_is_asked_before_anything_is_changed() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::new();
    scratch.axiom(&["checkpoint", "create", "safe"]);
    scratch.open_task("t1");
    scratch.write("a.txt", "changed\n");
    let hook = scratch.path().join(".git/hooks/reference-transaction");
    scratch.write(".git/hooks/reference-transaction", "#!/bin/sh\n[ \"$1\" = prepared ] && grep -q ' HEAD$' && exit 1; exit 0\n");
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    refused(&scratch, "GIT_FAILED", "reference-transaction");
    assert!(scratch.workspace("t1").exists());
}
