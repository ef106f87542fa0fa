//! Running the `git` program.
//!
//! Every call names its git directory (and worktree) explicitly, so that a call in a folder that lost its `.git` can never
//! work on the worktree above it. Exit codes are returned as data; git's stderr is kept for error messages.

mod full_disk;
mod limited;
mod two_phase;

use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::Builder;
use std::time::Duration;

use axiom_base::error::{Code, Error, Result};
use axiom_base::own_process::end_signals;
use axiom_model::base::names::Oid;
use axiom_model::recovery::git_damage;
use axiom_process::os::command::command;

use super::repository::Repository;
use super::worktrees::Worktree;
use crate::repo::stage_folder::StageFolder;

/// The values that turn a filter off.
pub(crate) const FILTER_OFF: [&str; 4] = ["clean=", "smudge=", "process=", "required=false"];

/// The output of a git call, and how it ended.
#[derive(Debug)]
pub struct GitOutput {
    /// The exit code; `None` if a signal ended git.
    pub code: Option<i32>,
    /// Standard output, raw.
    pub stdout: Vec<u8>,
    /// Standard error, as text.
    pub stderr: String,
    what: String,
    /// The signal that ended git.
    signal: Option<i32>,
    /// Whether one of the file systems that git writes to is full.
    full: bool,
    /// The limit in time that ended git.
    over: Option<Duration>,
}

impl GitOutput {
    /// Whether git ended with exit code 0.
    pub fn ok(&self) -> bool {
        self.code == Some(0)
    }

    /// Standard output as text without the line end.
    pub fn text(&self) -> Result<&str> {
        let text = std::str::from_utf8(&self.stdout)
            .map_err(|e| Error::new(Code::GitFailed, format!("{} printed something that is not UTF-8", self.what)).because(e))?;
        Ok(text.trim_end_matches('\n'))
    }

    /// Whether git was ended because its time was over, see [`Git::limited`].
    pub(crate) fn is_over_limit(&self) -> bool {
        self.over.is_some()
    }

    /// The failure as an error: `FILTER_FAILED`, `GIT_LOCKED` or `DISK_FULL` where git's message shows that, `GIT_FAILED` otherwise.
    pub fn error(&self) -> Error {
        let words = self.stderr.trim();
        if self.over.is_some() && end_signals::is_too_late_for_git() {
            return Error::new(Code::Busy, format!("{} was ended: the session ends, and waits for it no longer", self.what));
        }
        if let Some(limit) = self.over {
            return Error::new(Code::FilterFailed, format!("{} was ended: it took longer than {} s", self.what, limit.as_secs()))
                .why("a filter does not answer, or the file system does not")
                .hint("git config --get-regexp '^filter'    shows the filters");
        }
        let how = match self.code {
            Some(code) => format!("exit code {code}"),
            None => match self.signal {
                Some(signal_hook::consts::SIGXFSZ) => "files may not grow as large as this one must: see 'ulimit -f'".to_owned(),
                Some(signal) => format!("ended by signal {signal}"),
                None => "ended by a signal".to_owned(),
            },
        };
        let why = if words.is_empty() { how } else { words.replace('\n', "; ") };
        let locked = words.contains(".lock': File exists")
            || words.contains("could not lock config file") && words.contains(": File exists");
        let full = self.full || self.signal == Some(signal_hook::consts::SIGXFSZ) || full_disk::is_told_in(words);
        if locked {
            return Error::new(Code::GitLocked, format!("{} found a lock file", self.what))
                .why(why)
                .hint("wait until the other git command has ended; 'git axiom recover' removes locks of dead processes");
        }
        let code = if full { Code::DiskFull } else { Code::GitFailed };
        let ways = if full { Vec::new() } else { git_damage::ways_out_of(words) };
        Error::new(code, format!("{} failed", self.what)).why(why).hints_of(ways)
    }
}

/// With less free space than this many bytes, a failed write is taken as a full disk.
const LITTLE: u64 = 64 * 1024;

/// The commands of git that start no filters and no hooks.
const STARTS_NOTHING: [&str; 5] = ["cat-file", "check-attr", "check-ignore", "log", "rev-list"];

/// The size of the buffer for reading git's output.
const PIPE: usize = 64 * 1024;

/// The effect of a git call on the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GitCallEffect {
    /// It changes nothing: it takes no optional locks, and sees the objects of the stage.
    Reads,
    /// It makes objects to which nothing refers yet.
    MakesObjects,
    /// It changes refs, an index, files or configuration.
    Writes,
}

/// Which object directories a git call uses.
enum GitCallObjects<'r> {
    Repository,
    AndThoseOf(&'r StageFolder),
    In(&'r StageFolder),
}

/// Which filters run in a call for an index of ours.
#[derive(Debug, PartialEq, Eq)]
enum ActiveFilters {
    None,
    One(String),
    All,
}

impl ActiveFilters {
    fn includes(&self, name: &str) -> bool {
        match self {
            Self::None => false,
            Self::One(one) => one == name,
            Self::All => true,
        }
    }
}

/// When a call is ended, whatever it waits for.
#[derive(Debug)]
struct GitCallLimit {
    time: Duration,
    /// Nobody wants what it does any more.
    given_up: Option<Arc<AtomicBool>>,
}

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

    fn build(&self, objects: &GitCallObjects<'_>) -> Command {
        let mut command = command("git");
        let repository = self.repository;
        for (name, value) in repository.callers_config() {
            command.env(name, value);
        }
        for name in ["GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS"] {
            command.env_remove(name);
        }
        command.env("LC_ALL", "C").env("GIT_TERMINAL_PROMPT", "0");
        if self.prints_much() {
            command.env("GIT_FLUSH", "0");
        }
        // Checkpoints are restored with the original objects, and not with those of `git replace`.
        command.env("GIT_NO_REPLACE_OBJECTS", "1");
        let git_dir = self.worktree.map_or(repository.common_dir(), Worktree::git_dir);
        command.arg("--no-pager").arg(joined("--git-dir=", git_dir.as_os_str()));
        // A daemon started by our call would inherit the change lock and never release it.
        command.args(["-c", "core.fsmonitor=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false"]);
        // What is in a submodule is looked at, and changed, in its own repository: a broken one must not fail a call for all else.
        command.args(["-c", "submodule.recurse=false"]);
        match self.effect {
            GitCallEffect::Writes => drop(command.args(["-c", "core.fsync=all", "-c", "core.fsyncMethod=fsync"])),
            // Line ends that a checkout would not give back are no reason to refuse a file here: its bytes are held beside the tree. With
            // an index or objects of the user's, what the user has set counts.
            GitCallEffect::Reads | GitCallEffect::MakesObjects => {
                command.env("GIT_OPTIONAL_LOCKS", "0").args(["-c", "core.safecrlf=false"]);
            }
        }
        match objects {
            // Nothing syncs these objects later.
            GitCallObjects::Repository if self.effect == GitCallEffect::MakesObjects => {
                command.args(["-c", "core.fsync=all", "-c", "core.fsyncMethod=fsync"]);
            }
            GitCallObjects::Repository => {}
            GitCallObjects::AndThoseOf(stage) => {
                command.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", OsStr::from_bytes(&stage.quoted()));
            }
            // These objects are synced together when the stage lands.
            GitCallObjects::In(stage) => drop(command.args(["-c", "core.fsync=none"]).env("GIT_OBJECT_DIRECTORY", stage.path())),
        }
        for pair in self.config.iter().chain(&repository.forced) {
            command.arg("-c").arg(pair);
        }
        if !repository.forced.is_empty() {
            // What starts a program of the repository's own choice: fetching objects that a partial clone lacks.
            command.env("GIT_NO_LAZY_FETCH", "1");
        }
        if self.index.is_some() {
            for name in repository.filter_names().iter().filter(|name| !self.filters.includes(name)) {
                for off in FILTER_OFF {
                    command.arg("-c").arg(format!("filter.{name}.{off}"));
                }
            }
        }
        match self.worktree {
            Some(worktree) => {
                command.arg(joined("--work-tree=", worktree.path().as_os_str())).current_dir(worktree.path());
                if let Some(above) = worktree.path().parent() {
                    command.env("GIT_CEILING_DIRECTORIES", above);
                }
            }
            None => {
                // Git goes into the folder that `core.worktree` names, whatever the command, and fails where it is gone.
                if repository.main.get().is_some_and(|main| !main.path().is_dir()) {
                    command.arg(joined("--work-tree=", repository.common_dir().as_os_str()));
                }
                command.current_dir(repository.common_dir());
            }
        }
        if let Some(index) = &self.index {
            command.env("GIT_INDEX_FILE", index);
        }
        for (name, value) in &self.variables {
            command.env(name, value);
        }
        // Ctrl+C at the terminal goes to our process group. git runs in its own group, so that only we end it, and not in
        // the middle.
        command.process_group(0);
        command.args(&self.arguments);
        command
    }

    /// Runs git and returns how it ended.
    pub fn run(mut self) -> Result<GitOutput> {
        let objects = self.objects()?;
        let mut command = self.build(&objects);
        let what = self.name();
        let in_a_workspace = self.worktree.is_some_and(|worktree| !worktree.is_main());
        let limit = self.limit.take().or(in_a_workspace.then_some(GitCallLimit { time: IN_A_WORKSPACE, given_up: None }));
        let ended = match (limit, self.effect) {
            // A filter that outlives us holds no lock of ours: such a call changes nothing that stays.
            (Some(limit), GitCallEffect::Reads | GitCallEffect::MakesObjects) => {
                command.stdin(Stdio::null());
                self.repository.say_if_in_operation(&mut command);
                limited::run_limited(&mut command, self.stdin.take(), what, &limit)
            }
            (Some(limit), GitCallEffect::Writes) => {
                match self.held.take() {
                    Some(lock) => drop(command.stdin(Stdio::from(lock))),
                    None => self.repository.lend_lock(&mut command, self.stdin.is_some())?,
                }
                limited::run_limited(&mut command, self.stdin.take(), what, &limit)
            }
            (None, _) => {
                self.repository.lend_lock(&mut command, self.stdin.is_some())?;
                run_captured(&mut command, self.stdin.as_deref(), what)
            }
        };
        if let (GitCallObjects::In(_), Some(stage)) = (objects, self.repository.stage.get()) {
            stage.note_git();
        }
        let mut output = ended?;
        // Not every error message of git gives the reason of a failed write.
        output.full = !output.ok() && output.stderr.contains("write") && self.is_out_of_room();
        Ok(output)
    }

    fn is_out_of_room(&self) -> bool {
        let index = self.index.as_ref().and_then(|index| Path::new(index).parent());
        let worktree = self.worktree.map(Worktree::path);
        [Some(self.repository.common_dir()), worktree, index]
            .into_iter()
            .flatten()
            .any(|place| rustix::fs::statvfs(place).is_ok_and(|room| room.f_bavail * room.f_frsize < LITTLE))
    }

    /// Runs git; a nonzero exit code is an error.
    pub fn run_ok(self) -> Result<GitOutput> {
        let output = self.run()?;
        if output.ok() { Ok(output) } else { Err(output.error()) }
    }

    /// Runs git and passes each part of its output to `each`, without the separator, while git is still printing.
    pub fn each_part(self, separator: u8, mut each: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let (mut command, what) = (self.build(&self.objects()?), self.name());
        self.repository.lend_lock(&mut command, false)?;
        let mut child = started(&mut command)?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let unread = |e| Error::new(Code::IoFailed, format!("cannot read what {what} prints")).because(e);
        let (parts, complaint) = std::thread::scope(|scope| {
            let listen = move || {
                let mut text = Vec::new();
                stderr.map(|mut pipe| pipe.read_to_end(&mut text));
                text
            };
            // If the thread cannot be started, git's error message is lost, but not its failure.
            let complaint = Builder::new().spawn_scoped(scope, listen).ok();
            let parts = stdout.map_or(Ok(()), |pipe| {
                let (mut reader, mut part) = (BufReader::with_capacity(PIPE, pipe), Vec::new());
                while reader.read_until(separator, &mut part).map_err(unread)? > 0 {
                    each(part.strip_suffix(&[separator]).unwrap_or(&part))?;
                    part.clear();
                }
                Ok(())
            });
            (parts, complaint.and_then(|thread| thread.join().ok()).unwrap_or_default())
        });
        let status = child.wait().map_err(unread)?;
        parts?;
        let stderr = String::from_utf8_lossy(&complaint).into_owned();
        let (code, signal) = (status.code(), status.signal());
        let output = GitOutput { code, signal, stdout: Vec::new(), stderr, what, full: false, over: None };
        if output.ok() { Ok(()) } else { Err(output.error()) }
    }

    /// Runs git and returns its output as text without the line end.
    pub fn text(self) -> Result<String> {
        self.run_ok()?.text().map(str::to_owned)
    }
}

/// `prefix` and `value` as one argument.
pub(crate) fn joined(prefix: &str, value: &OsStr) -> OsString {
    let mut whole = OsString::from(prefix);
    whole.push(value);
    whole
}

fn started(command: &mut Command) -> Result<Child> {
    let folder = command.get_current_dir().map(Path::to_owned);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(|e| match folder {
        Some(folder) if !folder.is_dir() => Error::io("enter the folder", &folder, e),
        Some(_) | None if e.kind() == std::io::ErrorKind::NotFound => {
            Error::new(Code::GitMissing, "git cannot be started").because(e).hint("install git 2.40 or newer")
        }
        Some(_) | None => Error::cannot_start("git", e),
    })
}

/// Runs a command; only its stdout and stderr are still to be set up, and its stdin if there is input.
pub(crate) fn run_captured(command: &mut Command, stdin: Option<&[u8]>, what: String) -> Result<GitOutput> {
    if stdin.is_some() {
        command.stdin(Stdio::piped());
    }
    let mut child = started(command)?;
    let pipe = child.stdin.take();
    let output = std::thread::scope(|scope| {
        if let (Some(mut pipe), Some(bytes)) = (pipe, stdin) {
            // git may exit before it has read everything: the exit code counts, not our broken pipe.
            let feed = move || drop(pipe.write_all(bytes));
            if let Err(error) = Builder::new().spawn_scoped(scope, feed) {
                // Without its input git must not finish normally.
                let _ = child.kill().and_then(|()| child.wait());
                return Err(Error::cannot_start("a thread that feeds git", error));
            }
        }
        Ok(child.wait_with_output())
    })?;
    let output = output.map_err(|e| Error::new(Code::IoFailed, format!("cannot read what {what} prints")).because(e))?;
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let (code, signal) = (output.status.code(), output.status.signal());
    Ok(GitOutput { code, signal, stdout: output.stdout, stderr, what, full: false, over: None })
}
