//! Files of Git LFS: held by their pointers and links to their contents, and brought back without its program.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::skipped::skipped;
use crate::support::Scratch;

/// A repository with files of 100,000 bytes in Git LFS; `None` where it is not installed.
fn with_lfs(count: usize) -> Option<Scratch> {
    let scratch = Scratch::new();
    if !scratch.try_git(&["lfs", "install", "--local"]).status.success() {
        skipped("git-lfs is not installed");
        return None;
    }
    scratch.git(&["lfs", "track", "*.bin"]);
    for number in 0..count {
        scratch.write(&format!("m{number}.bin"), content(number));
    }
    scratch.git(&["add", "-A"]);
    scratch.git(&["commit", "-q", "-m", "large files"]);
    Some(scratch)
}

fn content(number: usize) -> String {
    format!("{number:08}\n").repeat(100_000 / 9)
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let all = walkdir::WalkDir::new(folder).into_iter().filter_map(Result::ok);
    all.filter(|entry| entry.file_type().is_file()).map(walkdir::DirEntry::into_path).collect()
}

fn large_objects(scratch: &Scratch) -> usize {
    let all = scratch.git(&["cat-file", "--batch-all-objects", "--batch-check=%(objectsize)"]);
    all.lines().filter(|size| size.parse::<u64>().unwrap() > 50_000).count()
}

/// Git LFS is not on the PATH any more.
fn without_program(scratch: &Scratch) {
    for key in ["clean", "smudge", "process"] {
        scratch.git(&["config", &format!("filter.lfs.{key}"), "no-such-program"]);
    }
}

#[test]
fn unchanged_files_are_links_and_come_back_without_the_program() {
    let Some(scratch) = with_lfs(3) else { return };
    scratch.axiom(&["checkpoint", "create", "one"]);
    assert_eq!(large_objects(&scratch), 0);
    let kept = files_below(&scratch.path().join(".git/axiom/lfs"));
    assert_eq!(kept.len(), 3);
    assert!(kept.iter().all(|file| file.metadata().unwrap().nlink() == 2), "nothing is stored twice");
    without_program(&scratch);
    scratch.write("m0.bin", "changed\n");
    scratch.remove("m1.bin");
    // `git lfs prune` deletes what only our refs name.
    std::fs::remove_dir_all(scratch.path().join(".git/lfs")).unwrap();
    scratch.axiom(&["checkpoint", "create", "two"]);
    scratch.axiom(&["checkpoint", "verify"]);
    scratch.axiom(&["rollback", "checkpoint", "one", "--yes"]);
    assert_eq!([scratch.read("m0.bin"), scratch.read("m1.bin")], [content(0), content(1)]);
    scratch.axiom(&["undo", "--yes"]);
    assert_eq!(scratch.read("m0.bin"), "changed\n");
    assert!(!scratch.has("m1.bin"));
}

#[test]
fn a_changed_file_is_stored_once_as_git_lfs_would_name_it() {
    let Some(scratch) = with_lfs(1) else { return };
    without_program(&scratch);
    let new = content(77);
    scratch.write("m0.bin", &new);
    scratch.write("new.bin", &new);
    scratch.axiom(&["checkpoint", "create", "one"]);
    assert_eq!(large_objects(&scratch), 0);
    assert_eq!(files_below(&scratch.path().join(".git/axiom/lfs")).len(), 1);
    let pointer = scratch.git(&["cat-file", "blob", "refs/axiom/captures/one:m0.bin"]);
    assert!(pointer.starts_with("version https://git-lfs.github.com/spec/v1\noid sha256:"), "{pointer}");
    assert!(pointer.ends_with(&format!("size {}", new.len())), "{pointer}");
    scratch.write("m0.bin", "later\n");
    scratch.remove("new.bin");
    scratch.axiom(&["rollback", "checkpoint", "one", "--yes"]);
    assert_eq!([scratch.read("m0.bin"), scratch.read("new.bin")], [new.clone(), new]);
}

#[test]
fn what_is_not_here_comes_back_as_a_pointer_and_is_named() {
    let Some(scratch) = with_lfs(2) else { return };
    scratch.axiom(&["checkpoint", "create", "one"]);
    scratch.write("m0.bin", "changed\n");
    scratch.write("a.txt", "changed\n");
    for folder in [".git/lfs", ".git/axiom/lfs"] {
        std::fs::remove_dir_all(scratch.path().join(folder)).unwrap();
    }
    let verified = scratch.axiom_with(&["checkpoint", "verify"], &[]);
    let words = String::from_utf8_lossy(&verified.stdout).into_owned();
    assert!(!verified.status.success() && words.contains("m0.bin"), "{words}");
    let told = scratch.axiom(&["rollback", "checkpoint", "one", "--dry-run"]);
    assert!(told.contains("m0.bin (its content is not here"), "{told}");
    scratch.axiom(&["rollback", "checkpoint", "one", "--yes"]);
    assert!(scratch.read("m0.bin").starts_with("version https://git-lfs"));
    assert_eq!(scratch.read("a.txt"), "a\n");
    assert_eq!(scratch.read("m1.bin"), content(1));
}

#[test]
fn a_workspace_is_made_again_also_where_contents_are_not_here() {
    let Some(scratch) = with_lfs(1) else { return };
    scratch.axiom(&["task", "add", "T", "--id", "t", "--body", "echo 1 > t.txt; git axiom signal blocked why"]);
    scratch.axiom_with(&["run", "--mode", "autopilot", "--until-idle"], &[]);
    let workspace = scratch.path().join(".worktrees/agent-001-t");
    let large = workspace.join("m0.bin");
    assert_eq!(std::fs::read_to_string(&large).unwrap(), content(0));
    scratch.axiom(&["checkpoint", "create", "one"]);
    std::fs::remove_dir_all(&workspace).unwrap();
    scratch.git(&["worktree", "prune"]);
    for folder in [".git/lfs", ".git/axiom/lfs"] {
        std::fs::remove_dir_all(scratch.path().join(folder)).unwrap();
    }
    scratch.axiom(&["rollback", "checkpoint", "one", "--yes"]);
    assert!(std::fs::read_to_string(&large).unwrap().starts_with("version https://git-lfs"));
    assert_eq!(std::fs::read_to_string(workspace.join("t.txt")).unwrap(), "1\n");
}

#[test]
fn a_file_that_was_never_fetched_stays_a_pointer() {
    let Some(scratch) = with_lfs(1) else { return };
    let pointer = scratch.git(&["cat-file", "blob", "HEAD:m0.bin"]) + "\n";
    scratch.write("m0.bin", &pointer);
    scratch.git(&["add", "m0.bin"]);
    scratch.axiom(&["checkpoint", "create", "one"]);
    scratch.write("m0.bin", "changed\n");
    scratch.axiom(&["rollback", "checkpoint", "one", "--yes"]);
    assert_eq!(scratch.read("m0.bin"), pointer);
}

/// A file on disk is the same where git stores it as a pointer, and where no attributes say so.
#[test]
fn a_file_that_is_only_stored_otherwise_is_not_named_as_changed() {
    let Some(scratch) = with_lfs(0) else { return };
    scratch.git(&["branch", "plain", "HEAD^"]);
    scratch.write("new.bin", content(1));
    scratch.axiom(&["checkpoint", "create", "pointer"]);
    scratch.git(&["checkout", "-q", "plain"]);
    scratch.axiom(&["checkpoint", "create", "bytes"]);
    let named = |args: &[&str]| {
        let told: serde_json::Value = serde_json::from_str(&scratch.axiom(&[args, &["--dry-run", "--json"]].concat())).unwrap();
        let files = told["files"].as_array().unwrap();
        files.iter().map(|file| file["path"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(named(&["rollback", "checkpoint", "pointer"]), [".gitattributes"]);
    scratch.axiom(&["rollback", "checkpoint", "pointer", "--yes"]);
    assert_eq!(scratch.read("new.bin"), content(1));
    assert_eq!(named(&["undo"]), [".gitattributes"]);
    assert_eq!(named(&["rollback", "checkpoint", "bytes"]), [".gitattributes"]);
    scratch.write("new.bin", content(2));
    assert_eq!(named(&["rollback", "checkpoint", "pointer"]), ["new.bin"]);
    assert_eq!(named(&["rollback", "checkpoint", "bytes"]), [".gitattributes", "new.bin"]);
}
