//! The repository, and the facts about it that never change while we run. How it is found is in `found_repository`.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::worktrees::Worktree;
use crate::base::formats::{HashKind, RefFormat};
use crate::base::merge_cache::MergeCache;
use crate::base::signing_state::SigningState;
use crate::base::tree_cache::RememberedTrees;
use crate::repo::object_stage::WrittenObjects;
use crate::repo::person_ident::KnownIdentities;
use crate::repo::shortcut_conditions::ShortcutConditions;

/// A repository that was found. Cheap to make: one call of git at most.
#[derive(Debug)]
pub struct Repository {
    pub(crate) place: RepositoryPlace,
    pub(super) formats: RepositoryFormats,
    pub(crate) given: GivenSettings,
    pub(crate) main: RememberedMainWorktree,
    pub(crate) identities: KnownIdentities,
    pub(crate) trees: RememberedTrees,
    pub(super) gix: OnceLock<gix::ThreadSafeRepository>,
    pub(crate) objects: WrittenObjects,
    /// Commits that are signed, or have to be signed.
    pub(crate) signatures: Mutex<SigningState>,
    /// The merges in which programs ran.
    pub(crate) merges: MergeCache,
    pub(crate) settings: ReadSettings,
    pub(crate) shared: Arc<SharedWithSubmodules>,
}

/// Where a repository is, and where we were called.
#[derive(Debug)]
pub(crate) struct RepositoryPlace {
    pub git_dir: PathBuf,
    pub common_dir: PathBuf,
    pub cwd: PathBuf,
    /// Whether git reports that there is no worktree where we were called.
    pub bare: bool,
    /// The top folder of the worktree in which we were called, if it was found without git.
    pub top: Option<PathBuf>,
}

impl RepositoryPlace {
    /// Whether we were not called in a linked worktree.
    pub fn is_at_common_dir(&self) -> bool {
        self.git_dir == self.common_dir
    }
}

/// How a repository stores its data.
#[derive(Debug)]
pub(super) struct RepositoryFormats {
    pub hash: HashKind,
    pub refs: RefFormat,
    /// Whether git was called, and is new enough to know ref formats.
    pub are_refs_known: bool,
}

/// Settings that count in place of those of its own configuration.
#[derive(Debug, Default)]
pub(crate) struct GivenSettings {
    /// The caller's `git -c` values, as the variables in which they are passed on to our git children.
    pub callers: Vec<(OsString, OsString)>,
    /// Ours (`key=value`).
    pub forced: Vec<String>,
}

/// The main worktree, once it is known.
#[derive(Debug, Default)]
pub(crate) struct RememberedMainWorktree {
    pub worktree: OnceLock<Worktree>,
    /// Its entry, if the repository is bare.
    pub chosen: OnceLock<String>,
}

/// What was read of the configuration.
#[derive(Debug, Default)]
pub(crate) struct ReadSettings {
    /// What the settings forbid.
    pub forbidden: OnceLock<ShortcutConditions>,
    /// The names of the filters that are configured.
    pub filter_names: OnceLock<Vec<String>>,
}

/// What a repository and its submodules have together, those within others too.
#[derive(Debug, Default)]
pub(crate) struct SharedWithSubmodules {
    lock: Mutex<Option<OwnedFd>>,
    open: Mutex<OpenSubmodules>,
}

/// The repositories of submodules that were opened, by folder and git directory.
type OpenSubmodules = BTreeMap<(PathBuf, PathBuf), Arc<Repository>>;

impl SharedWithSubmodules {
    /// The change lock, while git children hold it too.
    pub fn lock(&self) -> MutexGuard<'_, Option<OwnedFd>> {
        self.lock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The repositories of submodules that were opened: each is open once.
    pub fn open(&self) -> MutexGuard<'_, OpenSubmodules> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Repository {
    /// A repository at this place, of which nothing else is known yet.
    pub(crate) fn at(git_dir: PathBuf, common_dir: PathBuf, (hash, refs): (HashKind, RefFormat), cwd: PathBuf) -> Self {
        Self {
            place: RepositoryPlace { git_dir, common_dir, cwd, bare: false, top: None },
            formats: RepositoryFormats { hash, refs, are_refs_known: false },
            given: GivenSettings::default(),
            main: RememberedMainWorktree::default(),
            identities: KnownIdentities::default(),
            trees: RememberedTrees::default(),
            gix: OnceLock::new(),
            objects: WrittenObjects::default(),
            signatures: Mutex::default(),
            merges: MergeCache::default(),
            settings: ReadSettings::default(),
            shared: Arc::default(),
        }
    }

    /// The git directory of the worktree in which we were called.
    pub fn git_dir(&self) -> &Path {
        &self.place.git_dir
    }

    /// The git directory that all worktrees share.
    pub fn common_dir(&self) -> &Path {
        &self.place.common_dir
    }

    /// Whether git reports that there is no worktree where we were called.
    pub fn is_bare(&self) -> bool {
        self.place.bare
    }

    /// The hash function of object ids.
    pub fn hash(&self) -> HashKind {
        self.formats.hash
    }

    /// The storage format of refs.
    pub fn ref_format(&self) -> RefFormat {
        self.formats.refs
    }

    /// Whether git was called, and is new enough to know ref formats.
    pub(crate) fn knows_ref_formats(&self) -> bool {
        self.formats.are_refs_known
    }

    /// The caller's `git -c` values, passed on to our git children.
    pub(crate) fn callers_config(&self) -> &[(OsString, OsString)] {
        &self.given.callers
    }

    /// Makes git children and gix ignore the machine's own configuration.
    #[cfg(test)]
    pub(crate) fn isolated(mut self) -> Self {
        for (name, value) in [("HOME", "/nonexistent"), ("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null")] {
            self.given.callers.push((name.into(), value.into()));
        }
        self
    }
}

/// Whether a variable gives settings to git.
pub(super) fn is_config(name: &OsStr) -> bool {
    let name = name.as_bytes();
    name == b"GIT_CONFIG_PARAMETERS"
        || name == b"GIT_CONFIG_COUNT"
        || name.starts_with(b"GIT_CONFIG_KEY_")
        || name.starts_with(b"GIT_CONFIG_VALUE_")
}
