//! Captures of every kind of worktree, compared with what plain git makes of them.
#![allow(clippy::disallowed_methods)]

use std::os::unix::fs::{PermissionsExt, symlink};

use crate::repo::scratch::{ScratchRepository, git_at};
use axiom_base::error::Code;
use axiom_model::base::names::{Oid, RepoPath};

use crate::{CaptureExtras, CaptureOptions, WorktreeCapture};

fn options() -> CaptureOptions {
    CaptureOptions { max_file_size: 1000, excluded: vec![RepoPath::new(&b".worktrees"[..])], ..Default::default() }
}

fn capture(scratch: &ScratchRepository) -> WorktreeCapture {
    let before = std::fs::read(scratch.path().join(".git/index")).ok();
    let capture = scratch.landed(|repo| repo.captures().capture_worktree(&scratch.main(), &options()).unwrap());
    assert_eq!(std::fs::read(scratch.path().join(".git/index")).ok(), before, "the user's index was touched");
    capture
}

/// What `git add -A` makes of the worktree, in a copy of the repository's folder.
fn plain(scratch: &ScratchRepository) -> Oid {
    let copy = tempfile::tempdir().unwrap();
    let status = std::process::Command::new("cp").arg("-a").arg(scratch.path()).arg(copy.path()).status().unwrap();
    assert!(status.success());
    let copy = copy.path().join("r");
    git_at(&copy, &["add", "-A"]);
    Oid::new(git_at(&copy, &["write-tree"])).unwrap()
}

#[test]
fn a_capture_holds_staged_unstaged_deleted_and_untracked_apart() {
    for kind in [&[][..], &["--object-format=sha256"], &["--ref-format=reftable"]] {
        let scratch = ScratchRepository::new(kind);
        scratch.write("staged.txt", b"one\n");
        scratch.git(&["add", "staged.txt"]);
        let staged = scratch.git(&["write-tree"]);
        scratch.write("staged.txt", b"two\n");
        scratch.write("un tracked/\u{e4}\n\"x", b"3");
        std::fs::write(scratch.path().join(std::ffi::OsStr::new("x")), b"").unwrap();
        symlink("a.txt", scratch.path().join("link")).unwrap();
        std::fs::set_permissions(scratch.path().join("a.txt"), std::fs::Permissions::from_mode(0o755)).unwrap();
        // A folder turned into a file and the other way round.
        std::fs::remove_dir_all(scratch.path().join("sub")).unwrap();
        scratch.write("sub", b"file now");
        let repo = scratch.repo();
        let taken = capture(&scratch);
        assert_eq!(taken.index_tree.as_str(), staged);
        assert_eq!(taken.tree, plain(&scratch));
        assert!(taken.coverage.is_complete() && taken.extras.is_empty());
        let commit = repo.captures().commit_capture(&taken, "capture", &[]).unwrap();
        repo.durability().sync_objects().unwrap();
        scratch.git(&["update-ref", "refs/axiom/captures/x", commit.commit.as_str()]);
        scratch.git(&["fsck", "--strict"]);
        // The way out with plain git.
        let before = scratch.git(&["status", "--porcelain", "-uall"]);
        scratch.git(&["reset", "-q", "--hard"]);
        scratch.git(&["clean", "-qfdx"]);
        scratch.git(&["stash", "apply", "-q", "--index", "axiom/captures/x^{commit}"]);
        assert!(!before.is_empty());
        scratch.git(&["restore", "--source=axiom/captures/x", "--worktree", "--", ":/"]);
        assert_eq!(capture(&scratch).tree, taken.tree);
    }
}

#[test]
fn what_is_not_held_is_said() {
    let scratch = ScratchRepository::new(&[]);
    scratch.write(".gitignore", b"*.log\nbuild/\n");
    scratch.write("x.log", b"");
    scratch.write("build/deep/y", b"");
    scratch.write("big", &[0; 2000]);
    scratch.write(".worktrees/ed-001-t/file", b"");
    git_at(&scratch.path(), &["init", "-q", "nested"]);
    scratch.write("nested/n", b"");
    let _socket = std::os::unix::net::UnixListener::bind(scratch.path().join("sock")).unwrap();
    let taken = capture(&scratch);
    let names = |sample: &crate::PathSample| sample.paths.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(names(&taken.coverage.ignored), ["build", "x.log"]);
    assert_eq!(names(&taken.coverage.too_large), ["big"]);
    assert_eq!(names(&taken.coverage.nested_repositories), ["nested"]);
    assert_eq!(names(&taken.coverage.special), ["sock"]);
    let held = scratch.git(&["ls-tree", "-r", "--name-only", taken.tree.as_str()]);
    assert_eq!(held, ".gitignore\na.txt\nsub/b.txt");
}

#[test]
fn an_unborn_branch_without_index_is_captured() {
    let scratch = ScratchRepository::empty(&[]);
    scratch.write("new", b"1");
    let repo = scratch.repo();
    let taken = capture(&scratch);
    assert_eq!(taken.index_tree, repo.trees().empty_tree().unwrap());
    let commit = repo.captures().commit_capture(&taken, "capture", &[]).unwrap();
    repo.durability().sync_objects().unwrap();
    assert_eq!(repo.objects().read_commit(&commit.commit).unwrap().parents[0], repo.objects().root_commit().unwrap());
}

#[test]
fn conflicts_flags_and_a_merge_in_progress_are_kept() {
    let scratch = ScratchRepository::in_a_merge(&["quiet", "gone"]);
    scratch.git(&["update-index", "--assume-unchanged", "quiet"]);
    scratch.git(&["update-index", "--skip-worktree", "gone"]);
    scratch.write("quiet", b"changed");
    std::fs::remove_file(scratch.path().join("gone")).unwrap();
    scratch.write("announced", b"x");
    scratch.git(&["add", "-N", "announced"]);
    let taken = capture(&scratch);
    assert_eq!(taken.extras.index.unmerged.len(), 3);
    let names = |paths: &[RepoPath]| paths.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(names(&taken.extras.index.intent_to_add), ["announced"]);
    assert_eq!(names(&taken.extras.index.assume_unchanged), ["quiet"]);
    assert_eq!(names(&taken.extras.index.skip_worktree), ["gone"]);
    let operation: Vec<String> = taken.extras.operation.iter().map(|file| file.path.to_string()).collect();
    assert!(operation.contains(&"MERGE_HEAD".to_owned()), "{operation:?}");
    let show = |path: &str| scratch.git(&["show", &format!("{}:{path}", taken.tree)]);
    assert_eq!((show("quiet"), show("announced")), ("changed".into(), "x".into()));
    // Nothing is sparse here: a marked file that is not there was deleted, and only the index has it.
    assert_eq!(scratch.git(&["ls-tree", "--name-only", taken.tree.as_str(), "gone"]), "");
    assert_eq!(scratch.git(&["ls-tree", "--name-only", taken.index_tree.as_str(), "gone"]), "gone");
    assert!(show("a.txt").contains("<<<<<<<"));
    let staged = scratch.git(&["show", &format!("{}:a.txt", taken.index_tree)]);
    assert_eq!(staged, "main", "our side of the conflict");
    let repo = scratch.repo();
    let commit = repo.captures().commit_capture(&taken, "capture", &[]).unwrap();
    repo.durability().sync_objects().unwrap();
    assert_eq!(CaptureExtras::of_capture(&repo, &commit.commit).unwrap(), taken.extras);
}

#[test]
fn an_edit_in_the_same_moment_as_the_index_is_seen() {
    let scratch = ScratchRepository::new(&[]);
    // git writes the index, and the file changes at once, to the same length.
    for round in 0..5_u8 {
        scratch.write("a.txt", &[b'0' + round, b'\n']);
        scratch.git(&["add", "a.txt"]);
        scratch.write("a.txt", &[b'A' + round, b'\n']);
        let taken = capture(&scratch);
        assert_eq!(scratch.git(&["show", &format!("{}:a.txt", taken.tree)]).as_bytes(), [b'A' + round]);
    }
}

#[test]
fn split_and_sparse_indexes_and_linked_worktrees_are_captured() {
    let scratch = ScratchRepository::new(&[]);
    scratch.git(&["update-index", "--split-index"]);
    scratch.write("a.txt", b"split\n");
    assert_eq!(capture(&scratch).tree, plain(&scratch));
    scratch.git(&["update-index", "--no-split-index"]);
    let linked = scratch.path().join(".worktrees/w");
    scratch.git(&["worktree", "add", "-q", linked.to_str().unwrap()]);
    std::fs::write(linked.join("n\u{1}"), b"1").unwrap();
    let repo = scratch.repo();
    let entry = repo.worktrees().worktree_at(&linked).unwrap().unwrap();
    let taken = repo.captures().capture_worktree(&entry.worktree, &options()).unwrap();
    assert_eq!(taken.head.branch().unwrap().as_str(), "refs/heads/w");
    assert_eq!(repo.history().diff_trees(&taken.index_tree, &taken.tree).unwrap().len(), 1);
    scratch.write("a.txt", b"a\n");
    scratch.write("sparse/x", b"1");
    scratch.git(&["add", "-A", "sparse"]);
    scratch.git(&["commit", "-qam", "more"]);
    scratch.git(&["sparse-checkout", "set", "--cone", "--sparse-index", "sub"]);
    assert!(!scratch.path().join("sparse").exists());
    scratch.write("sub/new", b"1");
    let taken = capture(&scratch);
    let held = scratch.git(&["ls-tree", "-r", "--name-only", taken.tree.as_str()]);
    assert_eq!(held, "a.txt\nsparse/x\nsub/b.txt\nsub/new");
}

#[test]
fn a_workspace_without_its_pointer_is_refused() {
    let scratch = ScratchRepository::new(&[]);
    let linked = scratch.path().join(".worktrees/w");
    scratch.git(&["worktree", "add", "-q", linked.to_str().unwrap()]);
    let repo = scratch.repo();
    let entry = repo.worktrees().worktree_at(&linked).unwrap().unwrap();
    std::fs::remove_file(linked.join(".git")).unwrap();
    let error = repo.captures().capture_worktree(&entry.worktree, &options()).unwrap_err();
    assert_eq!(error.code(), Code::WorkspaceBroken);
}
