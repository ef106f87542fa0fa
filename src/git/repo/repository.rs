//! Finding the repository, and the facts about it that never change while we run.

use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, OnceLock};

use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::forms::shell_word::shell_word;
use axiom_process::os::command::command_with_callers_repository;

use super::discovery;
use super::headless::headless;
use super::identity::CommitterIdentity;
use super::program::{Git, run_captured};
use super::shortcuts::ShortcutConditions;
use super::submodules::OpenSubmodules;
use super::worktrees::Worktree;
use crate::base::formats::{HashKind, RefFormat};
use crate::base::known_packs::FreshenState;
use crate::base::merge_cache::MergeCache;
use crate::base::signing_state::SigningState;
use crate::base::tree_cache::TreeCache;
use crate::base::tree_change::TreeDiffCache;
use crate::repo::object_stage::ObjectStage;

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
    knows_ref_formats: bool,
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

/// Where git refuses a repository that another user could have prepared: with what it says to do about it as a hint, from its message.
fn of_another_user(stderr: &str) -> Option<Error> {
    let (_, rest) = stderr.split_once("detected dubious ownership in repository at '")?;
    let (path, _) = rest.split_once("'\n")?;
    let what = format!("git uses no repository of another user: '{path}'");
    let hint = format!("git config --global --add safe.directory {}    if you trust whoever owns it", shell_word(path));
    Some(Error::new(Code::NotTheOwner, what).hint(hint))
}

impl Repository {
    /// Finds the repository for `cwd` and the caller's `GIT_DIR` and similar variables.
    pub fn discover(cwd: &Path) -> Result<Self> {
        let variables = env::all_vars();
        let Some(found) = discovery::find(cwd, &variables) else { return Self::discover_by_git(cwd) };
        let mut repository = Self::at(found.git_dir, found.common_dir, (found.hash, RefFormat::Files), cwd.to_owned());
        // None of the variables that give configuration is set: otherwise git would have been called.
        repository.top = Some(found.top);
        Ok(repository)
    }

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

    /// Like [`Repository::discover`], but always with git.
    pub(crate) fn discover_by_git(cwd: &Path) -> Result<Self> {
        let mut command = command_with_callers_repository("git");
        command.current_dir(cwd).env("LC_ALL", "C").stdin(Stdio::null()).args([
            "rev-parse",
            "--path-format=absolute",
            "--git-dir",
            "--git-common-dir",
            "--show-object-format",
            "--show-ref-format",
            "--is-bare-repository",
        ]);
        let output = run_captured(&mut command, None, "'git rev-parse'".to_owned())?;
        if !output.ok() {
            if output.stderr.contains("not a git repository") {
                return Err(headless(cwd).unwrap_or_else(|| in_no_repository(cwd)));
            }
            return Err(of_another_user(&output.stderr).unwrap_or_else(|| output.error()));
        }
        let unclear = || match String::from_utf8_lossy(&output.stdout).lines().count() {
            more if more > 5 => Error::new(Code::RepositoryUnsupported, "the path of the repository has a line feed in it")
                .why("git's output for such a path is ambiguous")
                .hint("mv 'OLD\nNAME' NEWNAME    then call git axiom there"),
            _ => Error::new(Code::GitFailed, "cannot make sense of what 'git rev-parse' printed"),
        };
        let lines: Vec<&[u8]> = output.stdout.strip_suffix(b"\n").ok_or_else(unclear)?.split(|b| *b == b'\n').collect();
        let [git_dir, common_dir, hash, refs, bare] = lines[..] else { return Err(unclear()) };
        let hash = match hash {
            b"sha1" => HashKind::Sha1,
            b"sha256" => HashKind::Sha256,
            other => return Err(unsupported("object format", other)),
        };
        let ref_format = match refs {
            // git before 2.44 echoes options that it does not know, and has only the files format.
            b"files" | b"--show-ref-format" => RefFormat::Files,
            b"reftable" => RefFormat::Reftable,
            other => return Err(unsupported("ref format", other)),
        };
        let mut repository = Self::at(path_of(git_dir), path_of(common_dir), (hash, ref_format), cwd.to_owned());
        repository.bare = bare == b"true";
        repository.config = env::all_vars().into_iter().filter(|(name, _)| is_config(name)).collect();
        repository.knows_ref_formats = refs != b"--show-ref-format";
        Ok(repository)
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

    /// A call of git with the common directory, without a worktree.
    pub fn git(&self) -> Git<'_> {
        Git::new(self, None)
    }

    /// A call of git in a worktree.
    pub fn git_in<'r>(&'r self, worktree: &'r Worktree) -> Git<'r> {
        Git::new(self, Some(worktree))
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

/// The bytes as a path.
pub(crate) fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

fn unsupported(what: &str, value: &[u8]) -> Error {
    let value = String::from_utf8_lossy(value);
    Error::new(Code::RepositoryUnsupported, format!("the repository's {what} '{value}' is not known to git axiom"))
}

/// Nothing leads from a folder to a repository. Where a `.git` is there it may be what a power loss left of one: another
/// repository in its place would hide that.
fn in_no_repository(cwd: &Path) -> Error {
    let error = Error::new(Code::NotARepository, format!("'{}' is in no git repository", cwd.display()));
    let pointer = cwd.ancestors().map(|folder| folder.join(".git")).find(|pointer| pointer.symlink_metadata().is_ok());
    match pointer {
        None => error.hint("cd into a repository, or make one with 'git init'"),
        Some(pointer) => {
            let error = error
                .why(format!("'{}' is there and leads to none", pointer.display()))
                .hint("git axiom recover    in the repository's main worktree: mends what a crash left of it");
            let is_above = pointer.parent() != Some(cwd);
            if is_above { error.hint("or cd into the repository that you mean") } else { error }
        }
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
