//! The repository, and the facts about it that never change while we run. How it is found is in `found_repository`.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use super::worktrees::Worktree;
use crate::base::formats::{HashKind, RefFormat};
use crate::base::known_packs::FreshenState;
use crate::base::merge_cache::MergeCache;
use crate::base::signing_state::SigningState;
use crate::base::tree_cache::TreeCache;
use crate::base::tree_change::TreeDiffCache;
use crate::repo::object_stage::ObjectStage;
use crate::repo::person_ident::CommitterIdentity;
use crate::repo::shortcut_conditions::ShortcutConditions;

/// The repositories of submodules that were opened, by folder and git directory.
pub(crate) type OpenSubmodules = BTreeMap<(PathBuf, PathBuf), Arc<Repository>>;

/// A repository that was found. Cheap to make: one call of git at most.
#[derive(Debug)]
pub struct Repository {
    pub(crate) git_dir: PathBuf,
    pub(crate) common_dir: PathBuf,
    pub(crate) bare: bool,
    hash: HashKind,
    ref_format: RefFormat,
    pub(crate) cwd: PathBuf,
    pub(crate) config: Vec<(OsString, OsString)>,
    /// Settings (`key=value`) that count in place of those of its own configuration.
    pub(crate) forced: Vec<String>,
    /// Submodules have that of their superproject.
    pub(crate) lock: Arc<Mutex<Option<OwnedFd>>>,
    pub(crate) main: OnceLock<Worktree>,
    /// The entry of the main worktree, if the repository is bare.
    pub(crate) chosen: OnceLock<String>,
    pub(crate) identity: OnceLock<CommitterIdentity>,
    /// Set where git knows no identity of the user's.
    pub(crate) lacks_identity: OnceLock<()>,
    /// The author of commits that git axiom makes, where git had to be asked for it.
    pub(crate) author: OnceLock<CommitterIdentity>,
    pub(super) knows_ref_formats: bool,
    /// The top folder of the worktree in which we were called, if it was found without git.
    pub(crate) top: Option<PathBuf>,
    pub(crate) diffs: TreeDiffCache,
    pub(crate) trees: TreeCache,
    pub(super) gix: OnceLock<gix::ThreadSafeRepository>,
    /// The known packs, and the objects that were written.
    pub(crate) written: FreshenState,
    /// The new objects that are not yet in the object database.
    pub(crate) stage: OnceLock<ObjectStage>,
    /// Commits that are signed, or have to be signed.
    pub(crate) signatures: Mutex<SigningState>,
    /// The names of the filters that are configured.
    pub(crate) filter_names: OnceLock<Vec<String>>,
    /// The merges in which programs ran.
    pub(crate) merges: MergeCache,
    /// What the settings forbid, once they were read.
    pub(crate) settings: OnceLock<ShortcutConditions>,
    /// The repositories of submodules that were opened, those within others too: each is open once.
    pub(crate) submodules: Arc<Mutex<OpenSubmodules>>,
}

impl Repository {
    /// A repository at this place, of which nothing else is known yet.
    pub(crate) fn at(git_dir: PathBuf, common_dir: PathBuf, (hash, refs): (HashKind, RefFormat), cwd: PathBuf) -> Self {
        Self {
            git_dir,
            common_dir,
            bare: false,
            hash,
            ref_format: refs,
            cwd,
            config: Vec::new(),
            forced: Vec::new(),
            lock: Arc::new(Mutex::new(None)),
            main: OnceLock::new(),
            chosen: OnceLock::new(),
            identity: OnceLock::new(),
            lacks_identity: OnceLock::new(),
            author: OnceLock::new(),
            knows_ref_formats: false,
            top: None,
            diffs: TreeDiffCache::default(),
            trees: TreeCache::default(),
            gix: OnceLock::new(),
            written: FreshenState::default(),
            stage: OnceLock::new(),
            signatures: Mutex::default(),
            filter_names: OnceLock::new(),
            merges: MergeCache::default(),
            settings: OnceLock::new(),
            submodules: Arc::default(),
        }
    }

    /// The git directory of the worktree in which we were called.
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// The git directory that all worktrees share.
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// Whether git reports that there is no worktree where we were called.
    pub fn is_bare(&self) -> bool {
        self.bare
    }

    /// The hash function of object ids.
    pub fn hash(&self) -> HashKind {
        self.hash
    }

    /// The storage format of refs.
    pub fn ref_format(&self) -> RefFormat {
        self.ref_format
    }

    /// Whether git was called, and is new enough to know ref formats.
    pub(crate) fn knows_ref_formats(&self) -> bool {
        self.knows_ref_formats
    }

    /// The caller's `git -c` values, passed on to our git children.
    pub(crate) fn callers_config(&self) -> &[(OsString, OsString)] {
        &self.config
    }

    /// Makes git children and gix ignore the machine's own configuration.
    #[cfg(test)]
    pub(crate) fn isolated(mut self) -> Self {
        for (name, value) in [("HOME", "/nonexistent"), ("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null")] {
            self.config.push((name.into(), value.into()));
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
