//! Finding the repository, and the facts about it that never change while we run.

use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

use command_fds::{CommandFdExt, FdMapping};

use crate::env;
use crate::error::{Code, Error, Result};
use crate::files::FileLock;
use crate::process::command::{IN_OPERATION, command_with_callers_repository};

use super::discovery;
use super::history::Diffs;
use super::program::{Git, run_captured};
use super::worktree_list::Worktree;

/// The descriptor number under which a git child that reads its standard input finds the operation lock.
const LOCK_IN_CHILD: i32 = 9;

/// How objects are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HashKind {
    /// 40 digits.
    Sha1,
    /// 64 digits.
    Sha256,
}

impl HashKind {
    /// How many bytes the name of an object has; twice as many digits.
    pub(super) fn bytes(self) -> usize {
        self.gix().len_in_bytes()
    }

    /// The same for gix.
    pub(super) fn gix(self) -> gix::hash::Kind {
        match self {
            Self::Sha1 => gix::hash::Kind::Sha1,
            Self::Sha256 => gix::hash::Kind::Sha256,
        }
    }
}

/// How refs are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefFormat {
    /// Loose files and `packed-refs`.
    Files,
    /// Reftable: only git itself may touch it.
    Reftable,
}

/// Who commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The name.
    pub name: String,
    /// The mail address.
    pub email: String,
}

/// A repository that was found. Cheap to make: one call of git at most.
#[derive(Debug)]
pub struct Repository {
    git_dir: PathBuf,
    common_dir: PathBuf,
    bare: bool,
    hash: HashKind,
    ref_format: RefFormat,
    cwd: PathBuf,
    config: Vec<(OsString, OsString)>,
    lock: Mutex<Option<OwnedFd>>,
    main: OnceLock<PathBuf>,
    identity: OnceLock<Identity>,
    knows_ref_formats: bool,
    /// The top folder of the worktree in which we were called, where it was found without git.
    top: Option<PathBuf>,
    pub(super) diffs: Diffs,
    gix: OnceLock<gix::ThreadSafeRepository>,
}

/// While this lives, git children hold the operation lock too.
#[derive(Debug)]
pub struct HeldInChildren<'r> {
    repository: &'r Repository,
}

impl Drop for HeldInChildren<'_> {
    fn drop(&mut self) {
        *self.repository.lock.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

impl Repository {
    /// Finds the repository that `cwd` (and the caller's `GIT_DIR` and the like) means.
    ///
    /// # Errors
    /// `NOT_A_REPOSITORY`, `GIT_MISSING`, `REPOSITORY_UNSUPPORTED`, or `GIT_FAILED` with git's words (safe.directory,
    /// unknown extensions).
    pub fn discover(cwd: &Path) -> Result<Self> {
        let variables = env::all_vars();
        let Some(found) = discovery::find(cwd, &variables) else { return Self::discover_by_git(cwd) };
        Ok(Self {
            git_dir: found.git_dir,
            common_dir: found.common_dir,
            bare: false,
            hash: found.hash,
            ref_format: RefFormat::Files,
            cwd: cwd.to_owned(),
            // None of these is set: git would have been asked.
            config: Vec::new(),
            lock: Mutex::new(None),
            main: OnceLock::new(),
            identity: OnceLock::new(),
            knows_ref_formats: false,
            top: Some(found.top),
            diffs: Diffs::default(),
            gix: OnceLock::new(),
        })
    }

    /// As [`Repository::discover`], whatever can be told without git.
    pub(super) fn discover_by_git(cwd: &Path) -> Result<Self> {
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
                let what = format!("'{}' is in no git repository", cwd.display());
                return Err(Error::new(Code::NotARepository, what).hint("cd into a repository, or make one with 'git init'"));
            }
            return Err(output.error());
        }
        let unclear = || Error::new(Code::GitFailed, "cannot make sense of what 'git rev-parse' printed");
        let lines: Vec<&[u8]> = output.stdout.strip_suffix(b"\n").ok_or_else(unclear)?.split(|b| *b == b'\n').collect();
        let [git_dir, common_dir, hash, refs, bare] = lines[..] else { return Err(unclear()) };
        let hash = match hash {
            b"sha1" => HashKind::Sha1,
            b"sha256" => HashKind::Sha256,
            other => return Err(unsupported("object format", other)),
        };
        let ref_format = match refs {
            // git before 2.44 echoes options that it does not know: then there are only files.
            b"files" | b"--show-ref-format" => RefFormat::Files,
            b"reftable" => RefFormat::Reftable,
            other => return Err(unsupported("ref format", other)),
        };
        Ok(Self {
            git_dir: path_of(git_dir),
            common_dir: path_of(common_dir),
            bare: bare == b"true",
            hash,
            ref_format,
            cwd: cwd.to_owned(),
            config: env::all_vars().into_iter().filter(|(name, _)| is_config(name)).collect(),
            lock: Mutex::new(None),
            main: OnceLock::new(),
            identity: OnceLock::new(),
            knows_ref_formats: refs != b"--show-ref-format",
            top: None,
            diffs: Diffs::default(),
            gix: OnceLock::new(),
        })
    }

    /// The git directory of the worktree in which we were called.
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// The git directory that all worktrees share.
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// Whether git, asked where we were called, says that there is no worktree.
    pub fn is_bare(&self) -> bool {
        self.bare
    }

    /// How objects are named.
    pub fn hash(&self) -> HashKind {
        self.hash
    }

    /// How refs are stored.
    pub fn ref_format(&self) -> RefFormat {
        self.ref_format
    }

    /// A call of git on the common directory, without a worktree.
    pub fn git(&self) -> Git<'_> {
        Git::new(self, None)
    }

    /// A call of git in a worktree.
    pub fn git_in<'r>(&'r self, worktree: &'r Worktree) -> Git<'r> {
        Git::new(self, Some(worktree))
    }

    /// Whether git was asked, and is so new that it knows of ref formats.
    pub(super) fn knows_ref_formats(&self) -> bool {
        self.knows_ref_formats
    }

    /// The main worktree.
    ///
    /// # Errors
    /// `BARE_REPOSITORY` where there is none; `REPOSITORY_UNSUPPORTED` where git keeps no record of where it is (a
    /// separate git directory seen from a linked worktree).
    pub fn main_worktree(&self) -> Result<Worktree> {
        if let Some(path) = self.main.get() {
            return Ok(Worktree::main(path.clone(), self.common_dir.clone()));
        }
        let path = self.find_main()?;
        Ok(Worktree::main(self.main.get_or_init(|| path).clone(), self.common_dir.clone()))
    }

    fn find_main(&self) -> Result<PathBuf> {
        if self.git_dir == self.common_dir
            && let Some(top) = &self.top
        {
            return Ok(top.clone());
        }
        if self.git_dir == self.common_dir
            && !self.bare
            && self.config.is_empty()
            && env::var("GIT_WORK_TREE").is_none()
            && self.common_dir.file_name() == Some(OsStr::new(".git"))
            && let (Ok(gix), Some(above)) = (self.gix(), self.common_dir.parent())
            && gix.config_snapshot().string("core.worktree").is_none()
            && !gix.config_snapshot().boolean("extensions.worktreeConfig").unwrap_or(false)
        {
            return Ok(above.to_owned());
        }
        if self.git_dir == self.common_dir
            && !self.bare
            && let Some(path) = self.top_level()?
        {
            return Ok(path);
        }
        let output = self.git().args(["config", "--null", "--get-regexp", r"^core\.(bare|worktree)$"]).run()?;
        for entry in output.stdout.split(|b| *b == 0) {
            let mut parts = entry.splitn(2, |b| *b == b'\n');
            let value = |part: Option<&[u8]>| part.unwrap_or(b"true").to_owned();
            match parts.next() {
                Some(b"core.worktree") => {
                    let path = self.common_dir.join(path_of(&value(parts.next())));
                    return path.canonicalize().map_err(|e| Error::io("find the worktree", &path, e));
                }
                Some(b"core.bare") if [&b"true"[..], b"yes", b"on", b"1"].contains(&&value(parts.next())[..]) => {
                    return Err(Error::new(
                        Code::BareRepository,
                        format!("'{}' has no main worktree", self.common_dir.display()),
                    )
                    .hint("work in a clone that is not bare"));
                }
                Some(_) | None => {}
            }
        }
        match self.common_dir.parent() {
            Some(above) if self.common_dir.file_name() == Some(OsStr::new(".git")) => Ok(above.to_owned()),
            Some(_) | None => {
                let what = format!("git does not say where the main worktree of '{}' is", self.common_dir.display());
                Err(Error::new(Code::RepositoryUnsupported, what).hint("run the command in the main worktree"))
            }
        }
    }

    fn top_level(&self) -> Result<Option<PathBuf>> {
        if let Some(top) = &self.top {
            return Ok(Some(top.clone()));
        }
        let mut command = command_with_callers_repository("git");
        command.current_dir(&self.cwd).env("LC_ALL", "C").stdin(Stdio::null());
        command.args(["rev-parse", "--path-format=absolute", "--show-toplevel"]);
        let output = run_captured(&mut command, None, "'git rev-parse'".to_owned())?;
        Ok(output.ok().then(|| path_of(output.stdout.strip_suffix(b"\n").unwrap_or(&output.stdout))))
    }

    /// The worktree in which we were called; the main one when called from inside the git directory.
    ///
    /// # Errors
    /// As [`Repository::main_worktree`].
    pub fn current_worktree(&self) -> Result<Worktree> {
        if self.git_dir == self.common_dir {
            return self.main_worktree();
        }
        match self.top_level()? {
            Some(path) => Ok(Worktree::linked(path, self.git_dir.clone())),
            None => self.main_worktree(),
        }
    }

    /// Whether it is certain, without a call of git, that no configuration file has a section; the caller's `git -c`
    /// counts as one that may.
    pub fn config_lacks_section(&self, name: &str) -> bool {
        let sections = |gix: gix::Repository| gix.config_snapshot().plumbing().sections_by_name(name).is_none();
        self.config.is_empty() && self.gix().is_ok_and(sections)
    }

    /// Who commits, from the configuration or the environment; never guessed from the machine's name.
    ///
    /// # Errors
    /// `IDENTITY_MISSING` with what to do.
    pub fn identity(&self) -> Result<Identity> {
        if let Some(known) = self.identity.get() {
            return Ok(known.clone());
        }
        let found = match self.plain_identity() {
            Some(found) => found,
            None => self.identity_by_git()?,
        };
        Ok(self.identity.get_or_init(|| found).clone())
    }

    /// The identity where it is plain to see, without a call of git: variables, or the configuration.
    fn plain_identity(&self) -> Option<Identity> {
        let variable = |name: &str| env::var(name).and_then(|value| value.into_string().ok());
        let found = match (variable("GIT_COMMITTER_NAME"), variable("GIT_COMMITTER_EMAIL")) {
            (Some(name), Some(email)) => Identity { name, email },
            (None, None) if self.config.is_empty() => {
                let gix = self.gix().ok()?;
                let config = gix.config_snapshot();
                let value = |key: &str| config.string(key).map(|value| value.to_string());
                // Keys that are rare are git's to weigh.
                if value("committer.name").is_some() || value("committer.email").is_some() {
                    return None;
                }
                Identity { name: value("user.name")?, email: value("user.email")? }
            }
            (_, _) => return None,
        };
        let plain = |text: &str, more: &[char]| {
            let fits = |c: char| c.is_alphanumeric() || more.contains(&c);
            text.starts_with(char::is_alphanumeric) && text.ends_with(char::is_alphanumeric) && text.chars().all(fits)
        };
        (plain(&found.name, &[' ', '-']) && plain(&found.email, &['.', '-', '_', '+', '@'])).then_some(found)
    }

    fn identity_by_git(&self) -> Result<Identity> {
        let output = self.git().config("user.useConfigOnly=true").args(["var", "GIT_COMMITTER_IDENT"]).run()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let parsed = text.rsplit_once('>').and_then(|(who, _)| who.split_once('<'));
        match parsed {
            Some((name, email)) if output.ok() => Ok(Identity { name: name.trim().to_owned(), email: email.to_owned() }),
            Some(_) | None => Err(Error::new(Code::IdentityMissing, "git does not know who you are")
                .hint("git config --global user.name 'Your Name'")
                .hint("git config --global user.email you@example.org")),
        }
    }

    /// From now on until the result is dropped, our git children hold `lock` too: a killed parent frees it only when
    /// they have ended. Other programs never get it.
    ///
    /// # Errors
    /// `IO_FAILED` where the descriptor cannot be copied.
    pub fn hold_lock_in_children(&self, lock: &FileLock) -> Result<HeldInChildren<'_>> {
        let copy = lock.descriptor().try_clone_to_owned().map_err(|e| Error::io("copy the lock of", &self.common_dir, e))?;
        *self.lock.lock().unwrap_or_else(PoisonError::into_inner) = Some(copy);
        Ok(HeldInChildren { repository: self })
    }

    /// Sets up a git child's standard input and gives it the lock. Where the input is free, the (empty) lock file takes
    /// its place: git hands its own standard input to no hook and no daemon. The child and its hooks can tell by
    /// [`IN_OPERATION`] that they are part of an operation.
    pub(super) fn lend_lock(&self, command: &mut Command, needs_stdin: bool) -> Result<()> {
        let held = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(lock) = held.as_ref() else {
            command.stdin(Stdio::null());
            return Ok(());
        };
        command.env(IN_OPERATION, "1");
        let failed = |e: std::io::Error| Error::io("copy the lock of", &self.common_dir, e);
        let copy = lock.try_clone().map_err(failed)?;
        if needs_stdin {
            let mapping = FdMapping { parent_fd: copy, child_fd: LOCK_IN_CHILD };
            command.fd_mappings(vec![mapping]).map_err(|e| failed(std::io::Error::other(e.to_string())))?;
        } else {
            command.stdin(Stdio::from(copy));
        }
        Ok(())
    }

    /// The caller's `git -c` values, for our own git children.
    pub(super) fn callers_config(&self) -> &[(OsString, OsString)] {
        &self.config
    }

    /// Whether the caller gave configuration values beside the files: `git -c`.
    pub(super) fn caller_configures(&self) -> bool {
        self.config.iter().any(|(name, _)| is_config(name))
    }

    /// Cuts git children off from the machine's own configuration.
    #[cfg(test)]
    pub(super) fn isolated(mut self) -> Self {
        for (name, value) in [("HOME", "/nonexistent"), ("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null")] {
            self.config.push((name.into(), value.into()));
        }
        self
    }

    /// gix's view, opened when first needed. For objects only: refs go through git.
    pub(super) fn gix(&self) -> Result<gix::Repository> {
        // gix looks for every ref in the namespace of `GIT_NAMESPACE`; git does so for its servers alone.
        let everywhere = |opened: &gix::ThreadSafeRepository| {
            let mut gix = opened.to_thread_local();
            gix.clear_namespace();
            gix
        };
        if let Some(open) = self.gix.get() {
            return Ok(everywhere(open));
        }
        // As the git program is asked to.
        let options = gix::open::Options::default().bail_if_untrusted(true).config_overrides(["core.useReplaceRefs=false"]);
        let opened = gix::ThreadSafeRepository::open_opts(&self.common_dir, options).map_err(|e| {
            Error::new(Code::RepositoryUnsupported, format!("cannot open '{}'", self.common_dir.display())).because(e)
        })?;
        Ok(everywhere(self.gix.get_or_init(|| opened)))
    }
}

/// The bytes as a path.
pub(super) fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

fn unsupported(what: &str, value: &[u8]) -> Error {
    let value = String::from_utf8_lossy(value);
    Error::new(Code::RepositoryUnsupported, format!("the repository's {what} '{value}' is not known to git axiom"))
}

fn is_config(name: &OsStr) -> bool {
    let name = name.as_bytes();
    name == b"GIT_CONFIG_PARAMETERS"
        || name == b"GIT_CONFIG_COUNT"
        || name.starts_with(b"GIT_CONFIG_KEY_")
        || name.starts_with(b"GIT_CONFIG_VALUE_")
}

#[cfg(test)]
mod tests {
    use super::super::scratch::{Scratch, git_at};
    use super::*;
    use crate::files::{LockAttempt, is_locked};

    #[test]
    fn the_main_worktree_is_found_from_everywhere() {
        let scratch = Scratch::new(&[]);
        let linked = scratch.path().with_file_name("linked");
        scratch.git(&["worktree", "add", "-q", linked.to_str().unwrap()]);
        for from in [scratch.path(), scratch.path().join("sub"), scratch.path().join(".git"), linked.clone()] {
            let repo = Repository::discover(&from).unwrap();
            assert_eq!(repo.main_worktree().unwrap().path(), scratch.path(), "{}", from.display());
            assert_eq!(repo.common_dir(), scratch.path().join(".git"));
        }
        let repo = Repository::discover(&linked).unwrap();
        assert_eq!(repo.current_worktree().unwrap().path(), linked);
        assert_eq!(repo.worktrees().unwrap().len(), 2);
    }

    #[test]
    fn a_bare_repository_and_no_repository_have_their_own_errors() {
        let dir = tempfile::tempdir().unwrap();
        let error = Repository::discover(dir.path()).unwrap_err();
        assert_eq!(error.code(), Code::NotARepository);
        git_at(dir.path(), &["init", "-q", "--bare", "b"]);
        let repo = Repository::discover(&dir.path().join("b")).unwrap().isolated();
        assert!(repo.is_bare());
        assert_eq!(repo.main_worktree().unwrap_err().code(), Code::BareRepository);
    }

    #[test]
    fn a_bare_repository_asked_from_a_linked_worktree_has_no_main_worktree() {
        let scratch = Scratch::new(&[]);
        let dir = tempfile::tempdir().unwrap();
        let bare = dir.path().join("b.git");
        scratch.git(&["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
        git_at(&bare, &["worktree", "add", "-q", "../w", "main"]);
        let repo = Repository::discover(&dir.path().join("w")).unwrap().isolated();
        assert_eq!(repo.main_worktree().unwrap_err().code(), Code::BareRepository);
        let entries = repo.worktrees().unwrap();
        assert_eq!(entries.len(), 1);
        assert!(entries[0].present && !entries[0].worktree.is_main());
    }

    #[test]
    fn a_missing_identity_says_what_to_do() {
        let scratch = Scratch::empty(&[]);
        assert_eq!(scratch.repo().identity().unwrap().email, "author@example.org");
        scratch.git(&["config", "--unset", "user.email"]);
        let error = scratch.repo().identity().unwrap_err();
        assert_eq!(error.code(), Code::IdentityMissing);
        assert_eq!(error.hints().len(), 2);
    }

    #[test]
    fn git_children_keep_the_lock_that_their_parent_lost() {
        let scratch = Scratch::new(&[]);
        let path = scratch.path().join(".git/op.lock");
        for with_input in [false, true] {
            let LockAttempt::Taken(lock) = FileLock::try_take(&path).unwrap() else { panic!("held") };
            let repo = scratch.repo();
            let guard = repo.hold_lock_in_children(&lock).unwrap();
            // A git alias that runs on after the lock was dropped here.
            let git = repo.git().config("alias.slow=!sleep 1").arg("slow");
            let git = if with_input { git.stdin("x") } else { git };
            std::thread::scope(|scope| {
                let child = scope.spawn(move || git.run().unwrap());
                std::thread::sleep(std::time::Duration::from_millis(400));
                drop(guard);
                drop(lock);
                assert!(is_locked(&path).unwrap(), "input: {with_input}");
                assert!(child.join().unwrap().ok());
            });
            // Another test's child has a copy for the moment between its fork and its exec.
            let free = (0..100).any(|_| {
                std::thread::sleep(std::time::Duration::from_millis(10));
                !is_locked(&path).unwrap()
            });
            assert!(free, "input: {with_input}");
        }
    }
}
