//! Captures in which some files are as they were at an earlier moment, when somebody kept their bytes.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use crate::base::modes::SYMLINK;
use crate::base::tree_change::{FileId, TreeChange};
use crate::index::filters::is_of_a_filter;
use crate::repo::handles::Captures;
use crate::repo::worktrees::Worktree;
use axiom_base::error::{Code, Result};
use axiom_model::base::names::{Oid, RepoPath};
use axiom_model::base::path_set::PathSet;

use super::captured::{CaptureOptions, WorktreeCapture};
use super::raw_file::RawFile;

/// A file as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptFile {
    /// Its path in the worktree.
    pub path: RepoPath,
    /// Its bytes; of a link, where it pointed to.
    pub bytes: Vec<u8>,
    /// Its mode in a tree, such as `0o100755`.
    pub mode: u32,
}

impl Captures<'_> {
    /// The capture with these files as they were. What git ignores and what the options leave out stays as it is in the capture: neither
    /// would be in a capture of that moment. A crash leaves unreferenced objects.
    pub fn with_kept(
        &self,
        worktree: &Worktree,
        capture: WorktreeCapture,
        options: &CaptureOptions,
        kept: &[KeptFile],
    ) -> Result<WorktreeCapture> {
        let ignored = self.repo.index(worktree).ignored(kept.iter().map(|file| &file.path))?;
        let is_late = |path: &&RepoPath| capture.coverage.is_late(path);
        let never = PathSet::new(capture.extras.gaps.iter().filter(|path| !is_late(path)).cloned());
        let is_content = |file: &&KeptFile| {
            let is_left_out = options.excluded.iter().any(|root| super::worktree::is_below(&file.path, root));
            let is_left_out = is_left_out || never.covers(&file.path);
            !ignored.contains(&file.path)
                && !is_left_out
                && !options.exclude.covers(&file.path, false)
                && file.bytes.len() as u64 <= options.max_file_size
        };
        let mut capture = capture;
        let mut changes = Vec::new();
        for file in kept.iter().filter(is_content) {
            let oid = self.repo.objects().write_blob(&file.bytes)?;
            let stored = if file.mode == SYMLINK { Some(oid.clone()) } else { self.as_git_holds(worktree, file)? };
            let held_as = stored.clone().unwrap_or_else(|| oid.clone());
            // There is no need to read it any more.
            capture.extras.gaps.retain(|gap| *gap != file.path);
            capture.coverage.not_in_time.remove(&file.path);
            let raw = &mut capture.extras.raw;
            raw.retain(|one| one.path != file.path);
            if stored.as_ref() != Some(&oid) {
                raw.push(RawFile { path: file.path.clone(), held_as: held_as.clone(), oid, lfs: None });
                raw.sort_by(|one, other| one.path.cmp(&other.path));
            }
            changes.push(TreeChange { path: file.path.clone(), old: None, new: Some(FileId { mode: file.mode, oid: held_as }) });
        }
        capture.tree = self.repo.trees().edit_tree(&capture.tree, &changes)?;
        Ok(capture)
    }

    /// The blob that git makes of a file: after conversions, where there are any. `None` where the file is not in its encoding.
    fn as_git_holds(&self, worktree: &Worktree, file: &KeptFile) -> Result<Option<Oid>> {
        let mut path = OsString::from("--path=");
        path.push(OsString::from_vec(file.path.as_bytes().to_vec()));
        let git = self.repo.git_in(worktree).making_objects();
        let output = git.args(["hash-object", "-w", "--stdin"]).arg(path).stdin(file.bytes.clone()).run()?;
        if output.ok() {
            return Oid::new(output.text()?.trim()).map(Some);
        }
        let error = output.error();
        // What only a filter encrypts must not be stored without it.
        if error.code() == Code::GitFailed && !is_of_a_filter(&output.stderr) { Ok(None) } else { Err(error) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::scratch::ScratchRepository;

    #[test]
    fn kept_files_take_the_place_of_those_of_the_capture_as_git_would_hold_them() {
        let scratch = ScratchRepository::new(&[]);
        scratch.write(".gitignore", b"ignored\n");
        scratch.write(".gitattributes", b"*.crlf text eol=lf\n");
        let (repo, main, options) = (scratch.repo(), scratch.main(), CaptureOptions { max_file_size: 10, ..Default::default() });
        let now = repo.captures().capture_worktree(&main, &options).unwrap();
        let file =
            |path: &str, bytes: &[u8], mode| KeptFile { path: RepoPath::new(path.as_bytes()), bytes: bytes.to_vec(), mode };
        let kept = [
            file("a.txt", b"kept\n", 0o100_755),
            file("new/b.crlf", b"x\r\n", 0o100_644),
            file("link", b"a.txt", SYMLINK),
            file("ignored", b"no\n", 0o100_644),
            file("large", b"more than ten bytes\n", 0o100_644),
        ];
        let then = repo.captures().with_kept(&main, now.clone(), &options, &kept).unwrap();
        let commit = repo.captures().commit_capture(&then, "x", &[]).unwrap().commit;
        repo.durability().sync_objects().unwrap();
        let show = |path: &str| scratch.git(&["show", &format!("{commit}:{path}")]);
        assert_eq!((show("a.txt"), show("new/b.crlf"), show("link")), ("kept".into(), "x".into(), "a.txt".into()));
        let listed = scratch.git(&["ls-tree", "-r", commit.as_str()]);
        assert!(listed.contains("100755 blob") && listed.contains("120000 blob"), "{listed}");
        assert!(!listed.contains("ignored") || listed.matches("ignored").count() == 1, "{listed}");
        assert!(!listed.contains("large"), "{listed}");
        // The bytes that a checkout would not give back are kept beside the tree.
        let raw: Vec<String> = then.extras.raw.iter().map(|raw| raw.path.to_string()).collect();
        assert_eq!(raw, ["new/b.crlf"]);
        assert_eq!(repo.captures().with_kept(&main, now.clone(), &options, &[]).unwrap(), now);
        // One for which there was no time is held now; one that could not be read has no bytes that are known.
        let mut with_gaps = now.clone();
        with_gaps.extras.gaps = ["late", "unread"].map(RepoPath::new).to_vec();
        with_gaps.coverage.not_in_time.add(RepoPath::new("late"));
        with_gaps.coverage.unreadable.add(RepoPath::new("unread"));
        let kept = ["late", "unread"].map(|path| file(path, b"kept\n", 0o100_644));
        let then = repo.captures().with_kept(&main, with_gaps, &options, &kept).unwrap();
        assert_eq!((then.extras.gaps, then.coverage.not_in_time.count), ([RepoPath::new("unread")].to_vec(), 0));
        let holds = |path: &str| repo.trees().is_in_tree(&then.tree, &RepoPath::new(path)).unwrap();
        assert_eq!((holds("late"), holds("unread")), (true, false));
    }
}
