//! Which repository a folder belongs to. A linked worktree belongs to us only while its `.git` and our entry for it name
//! each other. A folder whose `.git` names another repository is neither moved nor written to.

use crate::repo::handles::WorktreeOwners;
use axiom_base::shell_word::shell_word;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use axiom_base::error::{Code, Error, Result};
use axiom_base::files;

use super::pointer_files::{POINTER_LIMIT, is_same_place, linked_to, path_of, trimmed};
use crate::base::readable::is_caused_by_gap;

/// Which repository a folder belongs to, judged by its `.git`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorktreeOwner {
    /// The folder does not exist.
    Nobody,
    /// The folder has no `.git` file that names an existing git directory.
    Unclaimed,
    /// The folder's `.git` names this git directory of ours.
    Ours(PathBuf),
    /// The folder's `.git` names a git directory of another repository.
    Others(ForeignGitDir),
}

/// A git directory of another repository that a folder names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignGitDir {
    /// The git directory.
    pub git_dir: PathBuf,
    /// Whether that git directory names the folder too. Otherwise the folder is a copy of the other worktree, or was moved
    /// by hand.
    pub names_back: bool,
}

impl ForeignGitDir {
    /// Whether it looks like a git directory at all, and is not just any folder that a damaged `.git` names.
    pub fn is_a_repository(&self) -> bool {
        self.git_dir.join("HEAD").symlink_metadata().is_ok()
    }
}

/// The git directory that the `.git` file of a folder names, whether or not it exists.
pub fn named_by(folder: &Path) -> Result<Option<PathBuf>> {
    let pointer = folder.join(".git");
    // git-annex makes the file a link. It is not followed here: whoever asks compares what it names.
    if let Some(target) = linked_to(&pointer) {
        return Ok(Some(folder.join(target)));
    }
    let content = files::read_small(&pointer, POINTER_LIMIT)?.content();
    let target = content.as_deref().and_then(|bytes| bytes.strip_prefix(b"gitdir: "));
    Ok(target.map(|target| folder.join(path_of(trimmed(target)))))
}

/// The folder that a linked worktree's git directory names, without resolving it.
pub(crate) fn folder_of(git_dir: &Path) -> Result<Option<PathBuf>> {
    let content = files::read_optional(&git_dir.join("gitdir"), POINTER_LIMIT)?;
    let content = content.filter(|content| !trimmed(content).is_empty() && !content.contains(&0));
    let pointer = content.map(|content| git_dir.join(path_of(trimmed(&content))));
    Ok(pointer.and_then(|pointer| pointer.parent().map(Path::to_owned)))
}

impl WorktreeOwners<'_> {
    /// Which repository the folder at a path belongs to.
    pub fn whose(&self, folder: &Path) -> Result<WorktreeOwner> {
        if files::metadata(folder)?.is_none() {
            return Ok(WorktreeOwner::Nobody);
        }
        let Some(git_dir) = named_by(folder)? else { return Ok(WorktreeOwner::Unclaimed) };
        match std::fs::metadata(&git_dir) {
            Ok(meta) if meta.is_dir() => {}
            Ok(_) => return Ok(WorktreeOwner::Unclaimed),
            Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(WorktreeOwner::Unclaimed),
            Err(e) => return Err(Error::io("access", &git_dir, e)),
        }
        let above = git_dir.canonicalize().ok().and_then(|path| path.parent().map(Path::to_owned));
        if above.is_some_and(|above| is_same_place(&above, &self.repo.common_dir().join("worktrees"))) {
            return Ok(WorktreeOwner::Ours(git_dir));
        }
        let names_back = folder_of(&git_dir)?.is_some_and(|back| is_same_place(&back, folder));
        Ok(WorktreeOwner::Others(ForeignGitDir { git_dir, names_back }))
    }

    /// Whether git treats a folder as a repository.
    pub fn has_a_repository_in(&self, folder: &Path) -> bool {
        super::nested::is_repository(folder)
    }

    /// The git directory of this repository that a folder names.
    pub fn own_git_dir_of(&self, folder: &Path) -> Result<Option<PathBuf>> {
        match self.whose(folder)? {
            WorktreeOwner::Ours(git_dir) => Ok(Some(git_dir)),
            WorktreeOwner::Nobody | WorktreeOwner::Unclaimed | WorktreeOwner::Others(_) => Ok(None),
        }
    }

    /// Checks that a folder is not another repository's worktree.
    pub fn not_others(&self, folder: &Path) -> Result<()> {
        match self.whose(folder)? {
            WorktreeOwner::Others(other) => Err(not_ours(folder, &other.git_dir)),
            WorktreeOwner::Nobody | WorktreeOwner::Unclaimed | WorktreeOwner::Ours(_) => Ok(()),
        }
    }

    /// Checks that we were not called in a copy of a linked worktree. The copy's `.git` leads to the original's index and
    /// HEAD, so an operation in the copy would change the original, and without the copy's files.
    pub fn not_in_a_copied_worktree(&self) -> Result<()> {
        if self.repo.place.is_at_common_dir() {
            return Ok(());
        }
        let here = self.repo.worktrees().current_worktree()?;
        let Some(original) = folder_of(self.repo.git_dir())? else { return Ok(()) };
        let names_back = named_by(&original)?.is_some_and(|named| is_same_place(&named, self.repo.git_dir()));
        if !here.is_registered() || !names_back || is_same_place(&original, here.path()) {
            return Ok(());
        }
        let what = format!("'{}' is a copy of the worktree '{}'", here.path().display(), original.display());
        Err(Error::new(Code::WorkspaceNotOurs, what)
            .why("both share one index and HEAD, and checkpoints hold only the files of the original")
            .hint(format!("cd {}    to work with the original", shell_word(&original.display().to_string())))
            .hint("git worktree add PATH    makes another worktree, to which you can move files of the copy"))
    }

    /// Makes a folder and a git directory of ours name each other, where they do not yet. A crash leaves one of the two
    /// files written; a second call finishes it.
    pub fn connect(&self, folder: &Path, git_dir: &Path) -> Result<()> {
        if !named_by(folder)?.is_some_and(|named| is_same_place(&named, git_dir)) {
            let content = [b"gitdir: ", git_dir.as_os_str().as_bytes(), b"\n"].concat();
            files::replace_keeping(&folder.join(".git"), &content)?;
        }
        if !folder_of(git_dir)?.is_some_and(|named| is_same_place(&named, folder)) {
            let content = [folder.join(".git").as_os_str().as_bytes(), b"\n"].concat();
            files::replace_keeping(&git_dir.join("gitdir"), &content)?;
        }
        Ok(())
    }

    /// The git directories of all linked worktrees, with the folders that they name, without resolving them.
    pub fn linked(&self) -> Result<Vec<(PathBuf, PathBuf)>> {
        let entries = files::list(&self.repo.common_dir().join("worktrees"))?;
        let named = entries.iter().map(|entry| match folder_of(&entry.path()) {
            Err(error) if is_caused_by_gap(&error) => Ok(None),
            folder => Ok(folder?.map(|folder| (entry.path(), folder))),
        });
        named.filter_map(Result::transpose).collect()
    }
}

fn not_ours(folder: &Path, git_dir: &Path) -> Error {
    Error::new(Code::WorkspaceNotOurs, format!("'{}' is a worktree of another repository", folder.display()))
        .why(format!("its .git names '{}'", git_dir.display()))
        .hint("nothing in it was touched; to use its path here, move it away with 'git worktree move' in that repository")
}
