//! git-crypt looks for its keys in the git directory of the worktree that it is called in, where a linked worktree has none: a new
//! workspace gets a link to those of the repository, in its git directory, never among its files.

use std::path::PathBuf;

use crate::capture::file_differences::TreeEntryCache;
use crate::repo::handles::Workspaces;
use crate::repo::program::Git;
use crate::repo::worktrees::Worktree;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_base::shell_word::shell_word;
use axiom_model::base::names::{Oid, RepoPath};

/// The folder of git-crypt in a git directory.
const FOLDER: &str = "git-crypt";

/// The largest attributes file that is looked at, in bytes.
const ATTRIBUTES: u64 = 1024 * 1024;

impl Workspaces<'_> {
    /// A call that makes a worktree, in which git-crypt finds the keys although the worktree has no link to them yet.
    pub(super) fn with_crypt_keys<'g>(&self, git: Git<'g>) -> Git<'g> {
        let keys = files::list(&self.crypt_folder().join("keys")).unwrap_or_default();
        keys.iter().fold(git, |git, key| {
            let (name, place) = (key.file_name().to_string_lossy().into_owned(), shell_word(&key.path().display().to_string()));
            let filter = if name == "default" { FOLDER.to_owned() } else { format!("{FOLDER}-{name}") };
            git.config(format!("filter.{filter}.smudge=git-crypt smudge --key-file={place}"))
        })
    }

    /// Links the keys into the git directory of a workspace. Repeating it changes nothing.
    pub(super) fn link_crypt_keys(&self, workspace: &Worktree) -> Result<()> {
        let (folder, link) = (self.crypt_folder(), workspace.git_dir().join(FOLDER));
        if !folder.is_dir() || link.symlink_metadata().is_ok() {
            return Ok(());
        }
        files::symbolic_link(&folder, &link)
    }

    /// Refuses to make a workspace of a commit whose files git-crypt has encrypted while the repository is locked: an agent would
    /// work on what it cannot read.
    pub(super) fn is_not_locked(&self, commit: &Oid) -> Result<()> {
        // What locks a repository deletes the keys, and leaves their folder.
        if !files::list(&self.crypt_folder().join("keys")).unwrap_or_default().is_empty() {
            return Ok(());
        }
        let tree = self.repo.trees().tree_of(commit)?;
        let attributes = TreeEntryCache::default().file_at(self.repo, &tree, &RepoPath::new(&b".gitattributes"[..]))?;
        let Some(attributes) = attributes.filter(|file| file.is_regular()) else { return Ok(()) };
        let text = self.repo.objects().read_blob(&attributes.oid, ATTRIBUTES)?;
        if memchr::memmem::find(&text, b"filter=git-crypt").is_none() {
            return Ok(());
        }
        Err(Error::new(Code::FilterFailed, "the repository is locked by git-crypt, so an agent could not read its files")
            .hint("git-crypt unlock [KEY]    then let the task go on"))
    }

    fn crypt_folder(&self) -> PathBuf {
        self.repo.common_dir().join(FOLDER)
    }
}
