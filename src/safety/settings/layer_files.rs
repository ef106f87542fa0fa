//! Where the layers are, and who may write them.

use std::path::PathBuf;

use super::WritableLayer;
use crate::context::{Repository, config_files, ownership};
use crate::project_hooks::project_files::{LARGEST, SHARED};
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_base::files::{EditThroughLink, EditedFile};

/// How `git ls-files --stage` begins the line of a submodule.
const SUBMODULE: &[u8] = b"160000 ";

/// A file of a layer: where it is, what becomes of a link there, and how large it may get.
#[derive(Debug)]
pub(super) struct LayerFile {
    pub path: PathBuf,
    links: EditThroughLink,
    limit: u64,
}

impl LayerFile {
    /// The file, locked. Its folder is made if it is missing.
    pub fn open(&self) -> Result<EditedFile> {
        EditedFile::open(&self.path, self.links, self.limit)
    }

    /// Whether there is nothing at its path.
    pub fn is_missing(&self) -> Result<bool> {
        Ok(files::metadata(&self.path)?.is_none())
    }
}

/// The repository, where a layer is in it; refuses root in that of another user.
pub(super) fn owned(repo: Option<&Repository>) -> Result<&Repository> {
    let missing = || {
        Error::new(Code::NotARepository, "this is in no git repository")
            .hint("cd into a repository, or use --user for your own configuration")
    };
    let repo = repo.ok_or_else(missing)?;
    ownership::root_is_the_owner(repo).map(|()| repo)
}

/// The file of a layer; `None` for git's configuration.
pub(super) fn file_of(repo: Option<&Repository>, layer: WritableLayer) -> Result<Option<LayerFile>> {
    match layer {
        WritableLayer::User => {
            let path = config_files::user_file().ok_or_else(|| {
                Error::new(Code::IoFailed, "there is no place for your configuration: HOME is not set")
                    .hint("set HOME or XDG_CONFIG_HOME")
            })?;
            Ok(Some(LayerFile { path, links: EditThroughLink::Followed, limit: config_files::MAX_FILE }))
        }
        WritableLayer::Project => {
            let path = config_files::project_file(owned(repo)?)?;
            no_other_repository(owned(repo)?)?;
            Ok(Some(LayerFile { path, links: EditThroughLink::Refused, limit: LARGEST }))
        }
        WritableLayer::Local => owned(repo).map(|_| None),
    }
}

/// Refuses a folder of the project's files that is a submodule, checked out or not, or another repository.
pub(super) fn no_other_repository(repo: &Repository) -> Result<()> {
    let main = repo.worktrees().main_worktree()?;
    let folder = main.path().join(SHARED);
    let staged = repo.git_in(&main).args(["ls-files", "--stage", "-z", "--", SHARED]).run_ok()?.stdout;
    let is_submodule = staged.starts_with(SUBMODULE);
    if !is_submodule && folder.join(".git").symlink_metadata().is_err() {
        return Ok(());
    }
    let what = if is_submodule { "a submodule" } else { "another repository" };
    Err(Error::new(Code::InTheWay, format!("'{}' is {what}, so it is left alone", folder.display()))
        .why("the project's files must be part of the project")
        .hint("look at it, and move it away"))
}
