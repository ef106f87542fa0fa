//! Captures: the files, index and HEAD of a worktree as commits, without touching any of them.

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::domain::names::{Oid, RepoPath};
use crate::env;
use crate::error::{Code, Error, Result};

use super::capture_extras::CaptureExtras;
use super::coverage::{Coverage, find_special};
use super::head::Head;
use super::index_file::{IndexInfo, copy_index, in_folder, index_facts, mark, nul_list};
use super::objects::NewCommit;
use super::place::{Found, look};
use super::repository::Repository;
use super::status::{StatusEntry, StatusKind};
use super::worktree_list::Worktree;

/// What a capture leaves out.
#[derive(Debug, Clone)]
pub struct CaptureOptions {
    /// Untracked files over this many bytes are named, not held.
    pub max_file_size: u64,
    /// Folders that are never content of this worktree: the root of the workspaces.
    pub excluded: Vec<RepoPath>,
}

/// What was in a worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorktreeCapture {
    /// HEAD as it was.
    pub head: Head,
    /// The files, tracked and untracked.
    pub tree: Oid,
    /// The index; of an unsettled conflict our side.
    pub index_tree: Oid,
    /// What the index says beside its tree, and the operation in progress.
    pub extras: CaptureExtras,
    /// What is not held.
    pub coverage: Coverage,
}

/// The commits of a capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaptureCommit {
    /// In the shape of a stash: the files; parents: what was checked out, and `index`.
    pub commit: Oid,
    /// The index.
    pub index: Oid,
}

impl Repository {
    /// Captures a worktree into objects. Neither its files nor its index are touched; nothing refers to the objects yet.
    /// A crash leaves unreferenced objects and a scratch folder.
    ///
    /// # Errors
    /// `FILE_UNREADABLE` where anything cannot be read, so that nothing is missing unsaid; `WORKSPACE_BROKEN`;
    /// `DISK_FULL`; `GIT_FAILED` (a failing filter, for example).
    pub fn capture_worktree(&self, worktree: &Worktree, options: &CaptureOptions) -> Result<WorktreeCapture> {
        worktree.verify()?;
        let folder = self.scratch_folder()?;
        let staged = in_folder(&folder, "staged");
        let index = in_folder(&folder, "index");
        let head = self.head(worktree)?;
        copy_index(&worktree.index_file(), &staged)?;
        // From the first copy, so that both show the same moment.
        copy_index(&staged, &index)?;
        let facts = index_facts(self, worktree, &staged)?;
        mark(self, worktree, &index, "--no-assume-unchanged", &facts.assume_unchanged)?;
        // A file that is there although it is marked as not to be there is content like any other.
        let there = |path: &&RepoPath| std::fs::symlink_metadata(worktree.path().join(path.to_path())).is_ok();
        let present: Vec<RepoPath> = facts.skip_worktree.iter().filter(there).cloned().collect();
        mark(self, worktree, &index, "--no-skip-worktree", &present)?;
        let mut entries = self.status(worktree, Some(&index))?;
        entries.retain(|entry| !options.excluded.iter().any(|root| is_below(&entry.path, root)));
        let intent_to_add = entries.iter().filter(|e| is_intent_to_add(e)).map(|e| e.path.clone()).collect();
        let mut coverage = Coverage::default();
        let changed = self.content_of(worktree, entries, options, &mut coverage)?;
        env::fault_point("git.capture-before-objects");
        let tree = self.files_tree(worktree, &index, &changed)?;
        let extras = CaptureExtras::read(self, worktree, facts, intent_to_add)?;
        let index_tree = self.staged_tree(worktree, &staged, &extras)?;
        Ok(WorktreeCapture { head, tree, index_tree, extras, coverage })
    }

    /// Sorts what differs into paths to be read and what is only named.
    fn content_of(
        &self,
        worktree: &Worktree,
        entries: Vec<StatusEntry>,
        options: &CaptureOptions,
        coverage: &mut Coverage,
    ) -> Result<ChangedPaths> {
        let mut skipped: BTreeSet<RepoPath> = options.excluded.iter().cloned().collect();
        let mut changed = Vec::new();
        for StatusEntry { path, kind } in entries {
            match kind {
                StatusKind::Ignored => {
                    skipped.insert(path.clone());
                    coverage.ignored.add(path);
                }
                StatusKind::NestedRepository => {
                    skipped.insert(path.clone());
                    coverage.nested_repositories.add(path);
                }
                StatusKind::Untracked => {
                    let place = worktree.path().join(path.to_path());
                    match std::fs::symlink_metadata(&place) {
                        Ok(meta) if meta.is_file() && meta.len() > options.max_file_size => coverage.too_large.add(path),
                        Ok(_) => changed.push(path),
                        // Gone since.
                        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
                        Err(e) => return Err(Error::io("look at", &place, e)),
                    }
                }
                StatusKind::Unmerged => changed.push(path),
                StatusKind::Tracked { worktree: letter, dirty_submodule, .. } => {
                    if dirty_submodule {
                        coverage.dirty_submodules.add(path.clone());
                    }
                    if letter != b'.' {
                        changed.push(path);
                    }
                }
            }
        }
        let special = find_special(worktree.path(), &skipped)?;
        let mut sorted = ChangedPaths::default();
        for path in changed {
            // git refuses to remove by name what is now below a link, so what is gone is said to be gone.
            let keep = match look(worktree.path(), &path)? {
                Found::File(_) | Found::Link(..) => true,
                Found::Folder => worktree.path().join(path.to_path()).join(".git").exists(),
                Found::Missing | Found::Below(_) | Found::Special => false,
            };
            if keep { sorted.update.push(path) } else { sorted.remove.push(path) }
        }
        special.into_iter().for_each(|path| coverage.special.add(path));
        Ok(sorted)
    }

    fn files_tree(&self, worktree: &Worktree, index: &Path, changed: &ChangedPaths) -> Result<Oid> {
        let git = |verb: &[&str]| self.git_in(worktree).index(index).config("core.splitIndex=false").writing().args(verb);
        if !changed.remove.is_empty() {
            git(&["update-index", "--force-remove", "-z", "--stdin"]).stdin(nul_list(&changed.remove)).run_ok()?;
        }
        if !changed.update.is_empty() {
            let git = git(&["update-index", "--add", "--remove", "--replace", "-z", "--stdin"]);
            let output = git.stdin(nul_list(&changed.update)).run()?;
            if !output.ok() {
                return Err(unreadable_file(output.error(), &output.stderr));
            }
        }
        Oid::new(git(&["write-tree"]).text()?)
    }

    fn staged_tree(&self, worktree: &Worktree, staged: &Path, extras: &CaptureExtras) -> Result<Oid> {
        let mut info = IndexInfo::default();
        for stage in &extras.index.unmerged {
            info.remove(&stage.path, &stage.oid);
        }
        for stage in extras.index.unmerged.iter().filter(|stage| stage.stage == 2) {
            info.set(&stage.path, stage.mode, &stage.oid, 0);
        }
        info.apply(self, worktree, staged)?;
        let git = self.git_in(worktree).index(staged).config("core.splitIndex=false").writing();
        Oid::new(git.arg("write-tree").text()?)
    }

    /// Makes the commits of a capture: in the shape of a stash, the index commit having `further` parents that keep
    /// more alive. Nothing refers to them yet.
    ///
    /// # Errors
    /// `IDENTITY_MISSING`, `DISK_FULL`, `GIT_FAILED`.
    pub fn commit_capture(&self, capture: &WorktreeCapture, message: &str, further: &[Oid]) -> Result<CaptureCommit> {
        let who = self.signature()?;
        let base = match capture.head.commit() {
            Some(commit) => commit.clone(),
            None => self.root_commit()?,
        };
        let mut parents = vec![base.clone()];
        parents.extend(capture.extras.commit(self, &who)?);
        parents.extend(further.iter().cloned());
        let note = format!("index of {message}");
        let index = self.write_commit(&NewCommit { tree: &capture.index_tree, parents, who: &who, message: &note })?;
        let parents = vec![base, index.clone()];
        let commit = self.write_commit(&NewCommit { tree: &capture.tree, parents, who: &who, message })?;
        Ok(CaptureCommit { commit, index })
    }
}

#[derive(Debug, Default)]
struct ChangedPaths {
    update: Vec<RepoPath>,
    remove: Vec<RepoPath>,
}

fn is_intent_to_add(entry: &StatusEntry) -> bool {
    matches!(entry.kind, StatusKind::Tracked { intent_to_add: true, .. })
}

/// Whether `path` is `root` or below it.
pub(super) fn is_below(path: &RepoPath, root: &RepoPath) -> bool {
    match path.as_bytes().strip_prefix(root.as_bytes()) {
        Some(rest) => rest.is_empty() || rest.starts_with(b"/"),
        None => false,
    }
}

fn unreadable_file(error: Error, stderr: &str) -> Error {
    let signs =
        ["Permission denied", "unable to index file", "Unable to process path", "unsupported file type", "failed to insert"];
    if error.code() == Code::GitFailed && signs.iter().any(|sign| stderr.contains(sign)) {
        return Error::new(Code::FileUnreadable, "a file of the worktree cannot be read")
            .why(stderr.trim().replace('\n', "; "))
            .hint("make it readable, or add it to .gitignore");
    }
    error
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::super::scratch::{Scratch, git_at, try_git_at};
    use super::*;

    fn options() -> CaptureOptions {
        CaptureOptions { max_file_size: 1000, excluded: vec![RepoPath::new(&b".worktrees"[..])] }
    }

    fn capture(scratch: &Scratch) -> WorktreeCapture {
        let before = std::fs::read(scratch.path().join(".git/index")).ok();
        let capture = scratch.repo().capture_worktree(&scratch.main(), &options()).unwrap();
        assert_eq!(std::fs::read(scratch.path().join(".git/index")).ok(), before, "the user's index was touched");
        capture
    }

    /// What `git add -A` makes of the worktree, in a copy of the repository's folder.
    fn plain(scratch: &Scratch) -> Oid {
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
            let scratch = Scratch::new(kind);
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
            let commit = repo.commit_capture(&taken, "capture", &[]).unwrap();
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
        let scratch = Scratch::new(&[]);
        scratch.write(".gitignore", b"*.log\nbuild/\n");
        scratch.write("x.log", b"");
        scratch.write("build/deep/y", b"");
        scratch.write("big", &[0; 2000]);
        scratch.write(".worktrees/ed-001-t/file", b"");
        git_at(&scratch.path(), &["init", "-q", "nested"]);
        scratch.write("nested/n", b"");
        let _socket = std::os::unix::net::UnixListener::bind(scratch.path().join("sock")).unwrap();
        let taken = capture(&scratch);
        let names = |sample: &super::super::PathSample| sample.paths.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(names(&taken.coverage.ignored), ["build", "x.log"]);
        assert_eq!(names(&taken.coverage.too_large), ["big"]);
        assert_eq!(names(&taken.coverage.nested_repositories), ["nested"]);
        assert_eq!(names(&taken.coverage.special), ["sock"]);
        let held = scratch.git(&["ls-tree", "-r", "--name-only", taken.tree.as_str()]);
        assert_eq!(held, ".gitignore\na.txt\nsub/b.txt");
    }

    #[test]
    fn an_unborn_branch_without_index_is_captured() {
        let scratch = Scratch::empty(&[]);
        scratch.write("new", b"1");
        let repo = scratch.repo();
        let taken = capture(&scratch);
        assert_eq!(taken.index_tree, repo.empty_tree().unwrap());
        let commit = repo.commit_capture(&taken, "capture", &[]).unwrap();
        assert_eq!(repo.read_commit(&commit.commit).unwrap().parents[0], repo.root_commit().unwrap());
    }

    #[test]
    fn conflicts_flags_and_a_merge_in_progress_are_kept() {
        let scratch = Scratch::new(&[]);
        scratch.git(&["switch", "-q", "-c", "side"]);
        scratch.write("a.txt", b"side\n");
        scratch.git(&["commit", "-qam", "side"]);
        scratch.git(&["switch", "-q", "main"]);
        scratch.write("a.txt", b"main\n");
        scratch.write("quiet", b"1");
        scratch.write("gone", b"1");
        scratch.git(&["add", "-A"]);
        scratch.git(&["commit", "-qam", "main"]);
        assert!(!try_git_at(&scratch.path(), &["merge", "-q", "side"]).status.success());
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
        assert_eq!((show("quiet"), show("announced"), show("gone")), ("changed".into(), "x".into(), "1".into()));
        assert!(show("a.txt").contains("<<<<<<<"));
        let staged = scratch.git(&["show", &format!("{}:a.txt", taken.index_tree)]);
        assert_eq!(staged, "main", "our side of the conflict");
        let repo = scratch.repo();
        let commit = repo.commit_capture(&taken, "capture", &[]).unwrap();
        assert_eq!(CaptureExtras::of_capture(&repo, &commit.commit).unwrap(), taken.extras);
    }

    #[test]
    fn an_edit_in_the_same_moment_as_the_index_is_seen() {
        let scratch = Scratch::new(&[]);
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
        let scratch = Scratch::new(&[]);
        scratch.git(&["update-index", "--split-index"]);
        scratch.write("a.txt", b"split\n");
        assert_eq!(capture(&scratch).tree, plain(&scratch));
        scratch.git(&["update-index", "--no-split-index"]);
        let linked = scratch.path().join(".worktrees/w");
        scratch.git(&["worktree", "add", "-q", linked.to_str().unwrap()]);
        std::fs::write(linked.join("n\u{1}"), b"1").unwrap();
        let repo = scratch.repo();
        let entry = repo.worktree_at(&linked).unwrap().unwrap();
        let taken = repo.capture_worktree(&entry.worktree, &options()).unwrap();
        assert_eq!(taken.head.branch().unwrap().as_str(), "refs/heads/w");
        assert_eq!(repo.diff_trees(&taken.index_tree, &taken.tree).unwrap().len(), 1);
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
        let scratch = Scratch::new(&[]);
        let linked = scratch.path().join(".worktrees/w");
        scratch.git(&["worktree", "add", "-q", linked.to_str().unwrap()]);
        let repo = scratch.repo();
        let entry = repo.worktree_at(&linked).unwrap().unwrap();
        std::fs::remove_file(linked.join(".git")).unwrap();
        let error = repo.capture_worktree(&entry.worktree, &options()).unwrap_err();
        assert_eq!(error.code(), Code::WorkspaceBroken);
    }
}
