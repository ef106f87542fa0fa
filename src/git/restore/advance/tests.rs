//! Branches that advance with the worktree they are checked out in: what stays, what is in the way, and every crash on the way.
#![allow(clippy::disallowed_methods)]

use super::*;
use crate::repo::repository::Repository;
use crate::repo::scratch::{ScratchRepository, crash_child_of, try_git_at};

/// On `main`, and a commit ahead of it that changes `a.txt`, adds `new/x` and removes `sub/b.txt`.
fn ahead() -> (ScratchRepository, Oid, Oid) {
    let scratch = ScratchRepository::new(&[]);
    scratch.write("other.txt", b"other\n");
    scratch.write("staged.txt", b"staged\n");
    scratch.git(&["add", "-A"]);
    scratch.git(&["commit", "-qm", "more"]);
    let old = Oid::new(scratch.git(&["rev-parse", "HEAD"])).unwrap();
    scratch.write("a.txt", b"ahead\n");
    scratch.write("new/x", b"x\n");
    scratch.git(&["rm", "-q", "sub/b.txt"]);
    scratch.git(&["add", "-A"]);
    scratch.git(&["commit", "-qm", "ahead"]);
    let new = Oid::new(scratch.git(&["rev-parse", "HEAD"])).unwrap();
    scratch.git(&["reset", "-q", "--hard", old.as_str()]);
    (scratch, old, new)
}

fn advance(scratch: &ScratchRepository, old: &Oid, new: &Oid) -> Result<RestoreReport> {
    let (repo, worktree) = (scratch.repo(), scratch.main());
    let trash = scratch.path().join(".git/axiom/trash/t");
    let branch = RefName::branch("main");
    let advance = CheckoutAdvance { worktree: &worktree, branch: &branch, old, new, tag: "t", trash: &trash, reflog: "test" };
    repo.advances().prepare_advance(&advance)?;
    repo.advances().apply_advance(&advance, ChangeAttempt::First)
}

#[test]
fn staged_and_unstaged_changes_of_other_paths_stay_as_they_are() {
    let (scratch, old, new) = ahead();
    scratch.write("staged.txt", b"staged by the user\n");
    scratch.git(&["add", "staged.txt"]);
    scratch.write("staged.txt", b"and edited\n");
    scratch.write("other.txt", b"edited\n");
    scratch.write("untracked", b"u");
    let before = scratch.git(&["status", "--porcelain"]);
    advance(&scratch, &old, &new).unwrap();
    assert_eq!(scratch.git(&["status", "--porcelain"]), before);
    assert_eq!(scratch.git(&["rev-parse", "HEAD"]), new.as_str());
    assert_eq!((scratch.read("a.txt"), scratch.read("new/x")), ("ahead\n".into(), "x\n".into()));
    assert!(!scratch.path().join("sub").exists() && !scratch.path().join(".git/index.lock").exists());
    advance(&scratch, &new, &old).unwrap();
    assert_eq!(scratch.git(&["status", "--porcelain"]), before);
}

#[test]
fn anything_of_the_users_where_the_commit_writes_is_in_the_way() {
    for (path, ignored) in [("a.txt", false), ("new", false), ("new/x", false), ("new/x", true), ("sub/b.txt", false)] {
        let (scratch, old, new) = ahead();
        if ignored {
            scratch.write(".git/info/exclude", b"/new/\n");
        }
        scratch.write(path, b"mine");
        assert_eq!(advance(&scratch, &old, &new).unwrap_err().code(), Code::InTheWay, "{path}");
        assert_eq!(scratch.read(path), "mine");
        assert_eq!(scratch.git(&["rev-parse", "HEAD"]), old.as_str());
    }
    let (scratch, old, new) = ahead();
    scratch.write("a.txt", b"staged only");
    scratch.git(&["add", "a.txt"]);
    scratch.write("a.txt", b"a\n");
    assert_eq!(advance(&scratch, &old, &new).unwrap_err().code(), Code::InTheWay);
}

#[test]
fn a_lock_of_git_is_respected_and_one_of_ours_is_taken_over() {
    let (scratch, old, new) = ahead();
    scratch.write(".git/index.lock", b"");
    assert_eq!(advance(&scratch, &old, &new).unwrap_err().code(), Code::GitLocked);
    assert!(!IndexLock::remove_if_ours_stale(&scratch.main(), "t").unwrap());
    std::fs::remove_file(scratch.path().join(".git/index.lock")).unwrap();
    std::mem::forget(IndexLock::take(&scratch.main(), "t").unwrap());
    assert!(!try_git_at(&scratch.path(), &["add", "a.txt"]).status.success());
    assert_eq!(IndexLock::take(&scratch.main(), "else").unwrap_err().code(), Code::GitLocked);
    advance(&scratch, &old, &new).unwrap();
    std::mem::forget(IndexLock::take(&scratch.main(), "t").unwrap());
    assert!(IndexLock::remove_if_ours_stale(&scratch.main(), "t").unwrap());
    assert!(!scratch.path().join(".git/index.lock").exists());
}

#[test]
fn what_a_crash_left_half_done_is_finished() {
    for (files, branch) in [(true, false), (true, true)] {
        let (scratch, old, new) = ahead();
        let (repo, worktree) = (scratch.repo(), scratch.main());
        let trash = scratch.path().join(".git/axiom/trash/t");
        std::mem::forget(IndexLock::take(&worktree, "t").unwrap());
        if files {
            repo.restore()
                .restore_files(&WorktreeRestore {
                    worktree: &worktree,
                    from: &old,
                    to: &new,
                    trash: &trash,
                    attempt: ChangeAttempt::First,
                    beside: None,
                })
                .unwrap();
        }
        if branch {
            scratch.git(&["update-ref", "refs/heads/main", new.as_str()]);
        }
        let name = RefName::branch("main");
        let advance =
            CheckoutAdvance { worktree: &worktree, branch: &name, old: &old, new: &new, tag: "t", trash: &trash, reflog: "test" };
        repo.advances().apply_advance(&advance, ChangeAttempt::Again).unwrap();
        assert_eq!(scratch.git(&["status", "--porcelain"]), "");
        assert_eq!(scratch.git(&["rev-parse", "HEAD"]), new.as_str());
    }
}

/// Runs as a process of its own in the crash test; does nothing otherwise.
#[test]
fn crash_child() {
    let Some(text) = axiom_base::env::var("AXIOM_TEST_ADVANCE").and_then(|text| text.into_string().ok()) else { return };
    let parts: Vec<&str> = text.split('|').collect();
    let [root, old, new] = parts[..] else { panic!("{text}") };
    let repo = Repository::discover(Path::new(root)).unwrap().isolated();
    resume(&repo, &Oid::new(old).unwrap(), &Oid::new(new).unwrap(), ChangeAttempt::First).unwrap();
}

fn resume(repo: &Repository, old: &Oid, new: &Oid, attempt: ChangeAttempt) -> Result<RestoreReport> {
    let worktree = repo.worktrees().main_worktree().unwrap();
    let (trash, branch) = (repo.common_dir().join("axiom/trash/t"), RefName::branch("main"));
    let advance = CheckoutAdvance { worktree: &worktree, branch: &branch, old, new, tag: "t", trash: &trash, reflog: "test" };
    repo.advances().apply_advance(&advance, attempt)
}

#[test]
fn a_crash_at_every_fault_point_is_finished_or_reversed() {
    let points = [
        "git.before-index-lock",
        "git.index-locked",
        "git.advance-before-files",
        "git.restore-in-trash",
        "git.restore-placed",
        "git.advance-before-ref",
        "git.before-refs",
        "git.after-refs",
        "git.advance-before-index",
        "git.before-index",
        "git.after-index",
        "git.index-unlocked",
    ];
    for point in points {
        for forwards in [true, false] {
            let (scratch, old, new) = ahead();
            scratch.write("staged.txt", b"staged by the user\n");
            scratch.git(&["add", "staged.txt"]);
            scratch.write("other.txt", b"edited\n");
            let before = scratch.git(&["status", "--porcelain"]);
            let child = std::process::Command::new(std::env::current_exe().unwrap())
                .args(["--exact", &crash_child_of(module_path!()), "-q"])
                .env("AXIOM_TEST_ADVANCE", format!("{}|{old}|{new}", scratch.path().display()))
                .env("AXIOM_TEST_FAULT", format!("{point}:1"))
                .output()
                .unwrap();
            assert!(!child.status.success(), "{point} was not reached");
            let (from, to) = if forwards { (&old, &new) } else { (&new, &old) };
            let attempt = if forwards { ChangeAttempt::Again } else { ChangeAttempt::Back };
            resume(&scratch.repo(), from, to, attempt).unwrap();
            assert_eq!(scratch.git(&["rev-parse", "HEAD"]), to.as_str(), "{point}, forwards: {forwards}");
            assert_eq!(scratch.git(&["status", "--porcelain"]), before, "{point}, forwards: {forwards}");
            assert!(!scratch.path().join(".git/index.lock").exists());
            let left = std::fs::read_dir(scratch.path().join(".git")).unwrap().map(|e| e.unwrap().file_name());
            assert_eq!(left.filter(|name| name.as_encoded_bytes().starts_with(b"axiom-index")).count(), 0);
        }
    }
}

#[test]
fn an_index_comes_back_with_conflicts_flags_and_operation() {
    let scratch = ScratchRepository::in_a_merge(&["quiet"]);
    scratch.git(&["update-index", "--assume-unchanged", "quiet"]);
    scratch.write("announced", b"x");
    scratch.git(&["add", "-N", "announced"]);
    let (repo, main) = (scratch.repo(), scratch.main());
    let options = crate::CaptureOptions { max_file_size: 1000, excluded: Vec::new(), ..Default::default() };
    let taken = repo.captures().capture_worktree(&main, &options).unwrap();
    let before = (scratch.git(&["status", "--porcelain=v2"]), scratch.git(&["ls-files", "-v", "--stage"]));
    scratch.git(&["update-index", "--no-assume-unchanged", "quiet"]);
    scratch.git(&["rm", "-q", "--cached", "announced"]);
    scratch.git(&["merge", "--abort"]);
    let trash = scratch.path().join(".git/axiom/trash/x");
    let empty = repo.captures().capture_worktree(&main, &options).unwrap();
    repo.restore()
        .restore_files(&WorktreeRestore {
            worktree: &main,
            from: &empty.tree,
            to: &taken.tree,
            trash: &trash,
            attempt: ChangeAttempt::First,
            beside: None,
        })
        .unwrap();
    for _ in 0..2 {
        let lock = IndexLock::take(&main, "x").unwrap();
        repo.index_edits(&main).install_index(&taken.index_tree, &taken.extras.index, &lock).unwrap();
        repo.index_edits(&main).restore_operation(&taken.extras, &trash).unwrap();
        lock.release().unwrap();
        let after = (scratch.git(&["status", "--porcelain=v2"]), scratch.git(&["ls-files", "-v", "--stage"]));
        assert_eq!(after, before);
    }
    assert_eq!(repo.captures().capture_worktree(&main, &options).unwrap(), taken);
}
