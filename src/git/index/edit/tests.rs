#![allow(clippy::disallowed_methods)]

use super::*;
use crate::git_since::git_since;
use crate::index::lock::IndexLock;
use crate::repo::scratch::ScratchRepository;
use crate::restore::types::{ChangeAttempt, WorktreeRestore};

fn oid_of(scratch: &ScratchRepository, what: &str) -> Oid {
    Oid::new(scratch.git(&["rev-parse", what])).unwrap()
}

/// Two commits that differ in every way in which folders and files come and go, the second one checked out.
fn two(extra: &[&str]) -> (ScratchRepository, Oid, Oid) {
    let scratch = ScratchRepository::new(extra);
    for (path, text) in
        [("d/e/one", "1"), ("d/e/two", "2"), ("d/x", "3"), ("gone/deep/x", "4"), ("turns", "5"), ("zz", "6"), ("d-", "7")]
    {
        scratch.write(path, text.as_bytes());
    }
    scratch.git(&["add", "-A"]);
    scratch.git(&["commit", "-qm", "one"]);
    let one = oid_of(&scratch, "HEAD");
    scratch.git(&["rm", "-qr", "gone", "turns", "d/e/one"]);
    for (path, text) in [("d/e/two", "22"), ("turns/into/folder", "8"), ("new/deep/er/x", "9"), ("d/y", "10"), ("A", "11")] {
        scratch.write(path, text.as_bytes());
    }
    scratch.git(&["add", "-A"]);
    scratch.git(&["commit", "-qm", "two"]);
    let two = oid_of(&scratch, "HEAD");
    (scratch, one, two)
}

/// Files and index of the main worktree from one commit to another, by the quick way only.
fn go(scratch: &ScratchRepository, from: &Oid, to: &Oid) {
    let (repo, worktree) = (scratch.repo(), scratch.main());
    let trash = scratch.path().join(format!(".git/axiom/trash/{}", env_id()));
    let restore = WorktreeRestore { worktree: &worktree, from, to, trash: &trash, attempt: ChangeAttempt::First, beside: None };
    let placed = repo.restore().restore_files(&restore).unwrap().placed;
    let tree = repo.objects().read_commit(to).unwrap().tree;
    let lock = IndexLock::take(&worktree, "t").unwrap();
    assert!(repo.index_edits(&worktree).edit_whole_index(&tree, &lock, &placed).unwrap());
    lock.release().unwrap();
}

fn env_id() -> String {
    axiom_base::env::fresh_id()
}

#[test]
fn an_edited_index_is_the_one_that_git_would_make_and_knows_its_trees() {
    for extra in [&[][..], &["--object-format=sha256"]] {
        let (scratch, one, two) = two(extra);
        for (from, to) in [(&two, &one), (&one, &two)] {
            go(&scratch, from, to);
            // Nothing but the index is compared: HEAD moves later.
            assert_eq!(scratch.git(&["diff", "--cached", "--name-only", to.as_str()]), "");
            assert_eq!(scratch.git(&["diff-files", "--name-only"]), "");
            let bytes = std::fs::read(scratch.path().join(".git/index")).unwrap();
            assert_eq!(tree_of(&bytes, scratch.repo().hash()).unwrap(), scratch.repo().objects().read_commit(to).unwrap().tree);
            // git finds checksum, order and trees in order, and comes to the same tree when it makes it anew.
            scratch.git(&["fsck", "--strict"]);
            let tree = format!("{to}^{{tree}}");
            assert_eq!(scratch.git(&["write-tree"]), scratch.git(&["rev-parse", &tree]));
            scratch.write("d/e/probe", b"p");
            scratch.git(&["add", "d/e/probe"]);
            scratch.git(&["rm", "-q", "--cached", "d/e/probe"]);
            std::fs::remove_file(scratch.path().join("d/e/probe")).unwrap();
            assert_eq!(scratch.git(&["write-tree"]), scratch.git(&["rev-parse", &tree]));
        }
    }
}

#[test]
fn what_the_user_chose_for_an_index_stays_and_git_finds_the_rest_out_again() {
    for extra in [&[][..], &["--object-format=sha256"]] {
        let (scratch, one, two) = two(extra);
        for (key, value) in [("feature.manyFiles", "true"), ("index.threads", "2"), ("index.recordOffsetTable", "true")] {
            scratch.git(&["config", key, value]);
        }
        scratch.write(".git/monitor", b"#!/bin/sh\nprintf 'token\\0'\n");
        let hook = scratch.path().join(".git/monitor");
        std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        scratch.git(&["config", "core.fsmonitor", hook.to_str().unwrap()]);
        let index = scratch.path().join(".git/index");
        std::fs::remove_file(&index).unwrap();
        scratch.git(&["read-tree", "HEAD"]);
        scratch.write("beside/mine", b"untracked");
        let width = scratch.repo().hash().bytes();
        let has = |name: &[u8]| memchr::memmem::find(&std::fs::read(&index).unwrap(), name).is_some();
        let has_no_sum = git_since(40, "an index without its sum");
        let chosen = || {
            let bytes = std::fs::read(&index).unwrap();
            (bytes[7], bytes.ends_with(&vec![0; width]), has(b"UNTR"), has(b"TREE"))
        };
        for (from, to) in [(&two, &one), (&one, &two), (&two, &one)] {
            // Whatever git can remember of the worktree, it does.
            (0..3).for_each(|_| drop(scratch.git(&["status"])));
            scratch.git(&["write-tree"]);
            assert!(has(b"FSMN") && chosen() == (4, has_no_sum, true, true));
            go(&scratch, from, to);
            assert!(!has(b"FSMN") && chosen() == (4, has_no_sum, true, true));
            assert_eq!(scratch.git(&["status", "--porcelain", "-uall"]).lines().last(), Some("?? beside/mine"));
            assert_eq!(scratch.git(&["diff", "--cached", "--name-only", to.as_str()]), "");
            assert_eq!(scratch.git(&["diff-files", "--name-only"]), "");
            assert_eq!(scratch.git(&["write-tree"]), scratch.git(&["rev-parse", &format!("{to}^{{tree}}")]));
            scratch.git(&["fsck", "--strict"]);
        }
    }
}

#[test]
fn what_the_user_staged_elsewhere_stays() {
    let (scratch, one, two) = two(&[]);
    scratch.write("zz", b"staged");
    scratch.write("d/mine", b"staged too");
    scratch.git(&["add", "-A"]);
    let before = scratch.git(&["diff", "--cached", two.as_str()]);
    let (repo, worktree) = (scratch.repo(), scratch.main());
    let changes = repo.history().diff_trees(&two, &one).unwrap();
    let lock = IndexLock::take(&worktree, "t").unwrap();
    assert!(repo.index_edits(&worktree).edit_index(&changes, (&two, &one), &lock, &[]).unwrap());
    lock.release().unwrap();
    assert_eq!(scratch.git(&["diff", "--cached", one.as_str()]), before);
    let tree = scratch.git(&["write-tree"]);
    std::fs::copy(scratch.path().join(".git/index"), scratch.path().join(".git/copy")).unwrap();
    scratch.git(&["read-tree", "--empty"]);
    let listed = std::process::Command::new("git")
        .args(["ls-files", "--stage"])
        .env("GIT_INDEX_FILE", ".git/copy")
        .current_dir(scratch.path())
        .output()
        .unwrap();
    let mut child = std::process::Command::new("git")
        .args(["update-index", "--index-info"])
        .current_dir(scratch.path())
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), &listed.stdout).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(scratch.git(&["write-tree"]), tree, "what the index said of its trees was true");
}

#[test]
fn an_edit_of_the_very_second_is_still_seen() {
    let (scratch, one, two) = two(&[]);
    let (zz, index) = (scratch.path().join("zz"), scratch.path().join(".git/index"));
    let long_ago = std::fs::metadata(&zz).unwrap().modified().unwrap() - std::time::Duration::from_secs(100);
    let stamp = |path: &std::path::Path| {
        std::fs::File::options().write(true).open(path).unwrap().set_modified(long_ago).unwrap();
    };
    scratch.git(&["config", "core.trustctime", "false"]);
    stamp(&zz);
    scratch.git(&["update-index", "--refresh"]);
    // As large and as old as the entry says, and written in the second of the index: only the content tells.
    std::fs::write(&zz, b"X").unwrap();
    stamp(&zz);
    stamp(&index);
    go(&scratch, &two, &one);
    assert_eq!(scratch.git(&["diff-files", "--name-only"]), "zz");
}

#[test]
fn an_index_that_is_unusual_is_left_to_git() {
    let (scratch, one, _) = two(&[]);
    let tree = scratch.repo().objects().read_commit(&one).unwrap().tree;
    let takes = |scratch: &ScratchRepository| {
        let lock = IndexLock::take(&scratch.main(), "t").unwrap();
        let took = scratch.repo().index_edits(&scratch.main()).edit_whole_index(&tree, &lock, &[]).unwrap();
        lock.release().unwrap();
        took
    };
    let odd: [&[&[&str]]; 3] = [
        &[&["update-index", "--assume-unchanged", "zz"]],
        &[&["update-index", "--no-assume-unchanged", "zz"], &["config", "core.sharedRepository", "group"]],
        &[&["config", "--unset", "core.sharedRepository"], &["update-index", "--split-index"]],
    ];
    for commands in odd {
        for command in commands {
            scratch.git(command);
        }
        assert!(!takes(&scratch), "{commands:?}");
    }
    scratch.git(&["update-index", "--no-split-index"]);
    scratch.git(&["read-tree", "HEAD"]);
    assert!(takes(&scratch));
}
