//! Running the `git` program.
//!
//! Every call names its git directory (and worktree) explicitly, so that a call in a folder that lost its `.git` can never
//! work on the worktree above it. Exit codes are returned as data; git's stderr is kept for error messages.

mod call;
mod full_disk;
mod limited;
mod output;
mod running;
mod two_phase;

use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use call::{ActiveFilters, GitCallEffect, GitCallLimit, GitCallObjects};

use super::repository::Repository;
use super::worktrees::Worktree;
use axiom_base::error::Result;
use axiom_model::base::names::Oid;
pub use output::GitOutput;
pub(crate) use running::{joined, run_captured};

/// The values that turn a filter off.
pub(crate) const FILTER_OFF: [&str; 4] = ["clean=", "smudge=", "process=", "required=false"];

/// With less free space than this many bytes, a failed write is taken as a full disk.
const LITTLE: u64 = 64 * 1024;

/// The commands of git that start no filters and no hooks.
const STARTS_NOTHING: [&str; 5] = ["cat-file", "check-attr", "check-ignore", "log", "rev-list"];

/// The size of the buffer for reading git's output.
const PIPE: usize = 64 * 1024;

/// The limit of a call in a worktree that is not the user's main one, where no other is given: agents work there, and programs that
/// git starts there may be theirs.
const IN_A_WORKSPACE: Duration = Duration::from_secs(300);

/// One call of git, as a builder.
#[derive(Debug)]
pub struct Git<'r> {
    repository: &'r Repository,
    worktree: Option<&'r Worktree>,
    index: Option<OsString>,
    config: Vec<String>,
    arguments: Vec<OsString>,
    variables: Vec<(OsString, OsString)>,
    stdin: Option<Vec<u8>>,
    effect: GitCallEffect,
    limit: Option<GitCallLimit>,
    /// A lock that git holds as long as it runs, in place of that of the operation.
    held: Option<OwnedFd>,
    filters: ActiveFilters,
}

impl Repository {
    /// A call of git with the common directory, without a worktree.
    pub fn git(&self) -> Git<'_> {
        Git::new(self, None)
    }

    /// A call of git in a worktree.
    pub fn git_in<'r>(&'r self, worktree: &'r Worktree) -> Git<'r> {
        Git::new(self, Some(worktree))
    }
}

impl<'r> Git<'r> {
    pub(crate) fn new(repository: &'r Repository, worktree: Option<&'r Worktree>) -> Self {
        Self {
            repository,
            worktree,
            index: worktree.and_then(Worktree::other_index).map(|index| index.as_os_str().to_owned()),
            config: Vec::new(),
            arguments: Vec::new(),
            variables: Vec::new(),
            stdin: None,
            effect: GitCallEffect::Reads,
            limit: None,
            held: None,
            filters: ActiveFilters::None,
        }
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments.extend(arguments.into_iter().map(|a| a.as_ref().to_owned()));
        self
    }

    /// Adds one argument.
    #[must_use]
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// Sets a configuration value for this call: `-c key=value`.
    #[must_use]
    pub fn config(mut self, key_value: impl Into<String>) -> Self {
        self.config.push(key_value.into());
        self
    }

    /// Uses this index file in place of the worktree's own.
    #[must_use]
    pub fn index(mut self, file: &Path) -> Self {
        self.index = Some(file.as_os_str().to_owned());
        self
    }

    /// Sets an environment variable of the call.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.variables.push((name.into(), value.as_ref().to_owned()));
        self
    }

    /// Sets the standard input; without this call it is empty.
    #[must_use]
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = Some(bytes.into());
        self
    }

    /// Marks a call that writes. Each file that it writes is synced before it gets its final name (`core.fsync=all`); calls
    /// without this mark take no optional locks. The objects of the stage are moved into the object database before.
    ///
    /// `core.fsyncMethod=batch` is never used: with it git exits with 0 even if it failed to move the objects that it had
    /// synced.
    #[must_use]
    pub fn writing(mut self) -> Self {
        self.effect = GitCallEffect::Writes;
        self
    }

    /// Marks a call that makes objects and changes nothing else that stays. The objects are written to the stage.
    #[must_use]
    pub fn making_objects(mut self) -> Self {
        self.effect = GitCallEffect::MakesObjects;
        self
    }

    /// Ends git, with all that it has started, after this time: for calls that may run filters.
    #[must_use]
    pub fn limited(mut self, limit: Duration) -> Self {
        self.limit = Some(GitCallLimit { time: limit, given_up: None });
        self
    }

    /// Ends a call with a limit before, when this becomes true.
    #[must_use]
    pub fn ended_by(mut self, given_up: Arc<AtomicBool>) -> Self {
        if let Some(limit) = &mut self.limit {
            limit.given_up = Some(given_up);
        }
        self
    }

    /// Lets git hold this lock as long as it runs, by its standard input: what it starts (hooks, filters) gets another one. For a call
    /// with a limit and without input.
    #[must_use]
    pub(crate) fn holding(mut self, lock: Option<OwnedFd>) -> Self {
        self.held = lock;
        self
    }

    /// Lets filters run in a call for an index of ours. Without this they do not: whatever command writes an index also looks
    /// whether files have changed in the moment of the last write, and would run their filters for that.
    #[must_use]
    pub(crate) fn with_filters(mut self) -> Self {
        self.filters = ActiveFilters::All;
        self
    }

    /// The same with one filter alone: files of the others, which are not meant, may be looked at too.
    #[must_use]
    pub(crate) fn with_filter(mut self, name: &str) -> Self {
        self.filters = ActiveFilters::One(name.to_owned());
        self
    }

    /// Takes the attributes of files from a tree, and not from the files on disk: of the empty one, no file has any.
    #[must_use]
    pub(crate) fn with_attributes_of(self, tree: &Oid) -> Self {
        self.env("GIT_ATTR_SOURCE", tree.as_str())
    }

    /// Never fetches what a partial clone lacks: the remote may be gone or slow, and what a capture does not change it need not read. Of
    /// git before 2.45 this is not told.
    #[must_use]
    pub(crate) fn fetching_nothing(self) -> Self {
        self.env("GIT_NO_LAZY_FETCH", "1")
    }

    fn objects(&self) -> Result<GitCallObjects<'r>> {
        match self.effect {
            GitCallEffect::Reads => Ok(self
                .repository
                .durability()
                .staged_for_readers()?
                .map_or(GitCallObjects::Repository, GitCallObjects::AndThoseOf)),
            GitCallEffect::MakesObjects => {
                Ok(self.repository.durability().stage_folder()?.map_or(GitCallObjects::Repository, GitCallObjects::In))
            }
            GitCallEffect::Writes => self.repository.durability().land().map(|()| GitCallObjects::Repository),
        }
    }

    fn name(&self) -> String {
        let verb = self.arguments.first().map(|a| a.to_string_lossy().into_owned()).unwrap_or_default();
        format!("'git {verb}'")
    }

    /// Whether all of the output may be read at the end, without a write for each of a hundred thousand paths. A program of the user's
    /// (a filter, a hook) must not inherit that: it may ask git for one object after another and wait for each answer, for ever.
    fn prints_much(&self) -> bool {
        self.arguments.first().is_some_and(|verb| STARTS_NOTHING.iter().any(|one| verb == one))
    }
}
