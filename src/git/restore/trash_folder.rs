//! The trash folder of one transaction: what is moved out of a worktree, under flat names.

use std::path::{Path, PathBuf};

use crate::base::flat_name::flat_name;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_model::base::names::RepoPath;

/// The sets of files in a trash, which have separate folders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TrashSet {
    /// What an operation found and moved away: it comes back if the operation is reversed.
    Found,
    /// What an operation had put into place: it is moved here when the operation is reversed.
    PutThere,
}

impl TrashSet {
    fn name(self) -> &'static str {
        match self {
            Self::Found => "found",
            Self::PutThere => "put-there",
        }
    }
}

/// How often one path can be put into one set of a trash.
const COPIES: u32 = 1000;

/// The trash folder of one transaction. It never replaces anything: if a path is put into it twice, the second copy gets a
/// new folder.
///
/// What it holds has flat names (see [`flat_name`]).
#[derive(Debug, Clone)]
pub(crate) struct Trash<'a> {
    folder: &'a Path,
}

impl<'a> Trash<'a> {
    /// Opens the trash in `folder`, which is created if it is missing.
    pub fn open(folder: &'a Path, worktree: &Path) -> Result<Self> {
        files::create_dir_all(folder)?;
        if files::mount_of(folder) != files::mount_of(worktree) {
            let what = format!("'{}' and '{}' are on different file systems", folder.display(), worktree.display());
            return Err(
                Error::new(Code::RepositoryUnsupported, what).hint("set agents.workspaceRoot to a folder beside the files")
            );
        }
        Ok(Self::unopened(folder))
    }

    /// The trash in `folder`, for reading only; it need not exist.
    pub fn unopened(folder: &'a Path) -> Self {
        Self { folder }
    }

    /// The folder of the trash.
    pub fn folder(&self) -> &Path {
        self.folder
    }

    fn copies(&self, set: TrashSet) -> impl Iterator<Item = PathBuf> {
        (0..COPIES).map(move |number| self.folder.join(format!("{}-{number}", set.name())))
    }

    /// Whether the trash holds what an operation found at `path`.
    pub fn holds(&self, path: &RepoPath) -> Result<bool> {
        Ok(self.find(path)?.is_some())
    }

    /// Where the trash holds what an operation found at `path`: the first copy.
    pub fn find(&self, path: &RepoPath) -> Result<Option<PathBuf>> {
        let name = flat_name(path)?;
        for copy in self.copies(TrashSet::Found).take_while(|copy| copy.is_dir()) {
            let place = copy.join(&name);
            if files::metadata(&place)?.is_some() {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    /// Creates the folder for what will be moved to this set, durably: if a power loss removed it, the files in it would be
    /// lost with it.
    pub fn make_room(&self, set: TrashSet) -> Result<()> {
        self.copies(set).next().map_or(Ok(()), |copy| files::create_dir_all(&copy))
    }

    /// Moves what is at `path` below `root` to the trash, and returns where it is now; `None` if nothing was there. The
    /// caller syncs the folders once, after all moves.
    pub fn take(&self, root: &Path, path: &RepoPath) -> Result<Option<PathBuf>> {
        self.take_to(TrashSet::Found, root, path)
    }

    /// As [`Trash::take`], to one of the two sets.
    pub fn take_to(&self, set: TrashSet, root: &Path, path: &RepoPath) -> Result<Option<PathBuf>> {
        let (from, name) = (root.join(path.to_path()), flat_name(path)?);
        for copy in self.copies(set) {
            let to = copy.join(&name);
            let moved = match files::rename_no_replace(&from, &to) {
                Err(error) if error.is_of_something_gone() => {
                    if files::metadata(&from)?.is_none() {
                        return Ok(None);
                    }
                    // The folder is missing where a path comes twice, or where no room was made.
                    files::create_dir_all(&copy)?;
                    files::rename_no_replace(&from, &to)?
                }
                moved => moved?,
            };
            if moved {
                return Ok(Some(to));
            }
        }
        Err(Error::new(Code::IoFailed, format!("the trash '{}' is full", self.folder.display())))
    }
}
