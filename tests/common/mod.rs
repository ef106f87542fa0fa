//! The basis of every black-box test: a folder of its own, no configuration of the machine, and whole outputs.
//!
//! A test creates a [`TestEnv`], calls `git axiom` in it, and compares [`Run`]s: standard output, standard error and exit
//! status together, with the test's own folder written as `$ROOT`.

// Each test file uses only a part of it; tests may start programs and may panic.
#![allow(dead_code, clippy::disallowed_methods, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub mod documents;
pub mod fixed;
#[path = "../support/git_since.rs"]
mod git_since;
mod json_schema;
pub mod nothing_lost;
pub mod random;
mod run;
pub mod trials;
mod users;
pub mod workers;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

pub use git_since::git_since;
pub use run::Run;
pub use users::{NOBODY, copy_of_program, is_root};

use fixed::FIXED;

/// A folder with a home, optionally with a repository, in which `git axiom` can be called. Deleted when dropped.
pub struct TestEnv {
    _dir: tempfile::TempDir,
    root: PathBuf,
    /// The name of the repository's folder.
    repo: &'static str,
    /// With a fixed clock: how many programs were started so far, so that no two of them make the same ids.
    started: Mutex<Option<u64>>,
    /// Who starts programs, and the copy of ours that they can read; otherwise whoever runs the tests.
    user: Option<(u32, PathBuf)>,
}

impl TestEnv {
    /// An empty folder and a home; no repository.
    pub fn empty() -> Self {
        Self::of(tempfile::tempdir().unwrap())
    }

    /// As [`TestEnv::empty`], in this folder.
    pub fn of(dir: tempfile::TempDir) -> Self {
        let root = dir.path().canonicalize().unwrap();
        for folder in ["home", "tmp"] {
            std::fs::create_dir(root.join(folder)).unwrap();
        }
        Self { _dir: dir, root, repo: "repo", started: Mutex::new(None), user: None }
    }

    /// With another folder for the repository.
    pub fn with_repo(self, repo: &'static str) -> Self {
        Self { repo, ..self }
    }

    /// A repository `repo` on an unborn branch `main`.
    pub fn unborn() -> Self {
        let env = Self::empty();
        env.git_in(&env.root, &["init", "-q", "-b", "main", "repo"]);
        env
    }

    /// A repository `repo` on branch `main` with one commit of `README` and `src/lib.txt`.
    pub fn new() -> Self {
        let env = Self::unborn();
        env.write("README", "a project\n");
        env.write("src/lib.txt", "one\ntwo\nthree\n");
        env.git(&["add", "-A"]);
        env.git(&["commit", "-q", "-m", "first"]);
        env
    }

    /// Fixes the clock and the ids from now on, so that outputs can be compared: the n-th program started has the time 12:00
    /// plus n seconds. Not for tests that start a supervisor: its children would make the same ids.
    pub fn with_fixed_clock(self) -> Self {
        *self.started.lock().unwrap() = Some(0);
        self
    }

    /// From now on programs are started by a user to whom permissions apply: where root runs the tests, [`NOBODY`].
    pub fn bind_by_permissions(&mut self) {
        self.user = is_root().then(|| (NOBODY, copy_of_program(&self.root)));
        self.give();
    }

    /// Gives [`NOBODY`] everything, where root runs the tests.
    pub fn give_to_nobody(&self) {
        if is_root() {
            self.give_to(NOBODY);
        }
    }

    /// Gives the user who starts programs what root has made since.
    pub fn give(&self) {
        if let Some((user, _)) = self.user {
            self.give_to(user);
        }
    }

    fn give_to(&self, user: u32) {
        for entry in walkdir::WalkDir::new(&self.root).into_iter().flatten() {
            if entry.metadata().is_ok_and(|meta| meta.uid() != user) {
                let _ = std::os::unix::fs::lchown(entry.path(), Some(user), Some(user));
            }
        }
    }

    /// The folder that holds everything.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The repository's main worktree.
    pub fn repo(&self) -> PathBuf {
        self.root.join(self.repo)
    }

    /// The folder of git axiom's files in the repository.
    pub fn axiom_dir(&self) -> PathBuf {
        self.repo().join(".git/axiom")
    }

    /// Copies the repository beside itself.
    pub fn save_as(&self, name: &str) -> PathBuf {
        let saved = self.root.join(name);
        copy_folder(&self.repo(), &saved);
        saved
    }

    /// Puts the repository back to what was saved: the paths stay the same, so linked worktrees work.
    pub fn put_back(&self, saved: &Path) {
        copy_folder(saved, &self.repo());
    }

    /// Writes a file in the repository, with its parent folders.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.repo().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// Reads a file in the repository.
    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.repo().join(path)).unwrap()
    }

    /// A program with only this environment.
    pub fn program(&self, program: impl AsRef<OsStr>, folder: &Path) -> Command {
        hear_signals();
        let mut command = Command::new(place_of(program.as_ref()));
        command.current_dir(folder).env_clear();
        if let Some((user, _)) = self.user {
            command.uid(user).gid(user);
        }
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        command.envs(FIXED.iter().copied());
        command.env("HOME", self.root.join("home")).env("TMPDIR", self.root.join("tmp"));
        command.env("AXIOM_TEST_SHARED", self.root.join("tmp"));
        // Git must not find a repository above the temporary folder.
        command.env("GIT_CEILING_DIRECTORIES", &self.root);
        command
    }

    /// `git-axiom` in `folder`. The test starts it itself.
    pub fn axiom_command<A: AsRef<OsStr>>(&self, folder: &Path, args: impl IntoIterator<Item = A>) -> Command {
        let program = self.user.as_ref().map_or_else(|| Path::new(env!("CARGO_BIN_EXE_git-axiom")), |(_, copy)| copy.as_path());
        let mut command = self.program(program, folder);
        command.args(args);
        if let Some(next) = self.started.lock().unwrap().as_mut() {
            let count = *next;
            *next += 1;
            command.env("AXIOM_TEST_NOW", format!("2026-01-13T12:{:02}:{:02}Z", count / 60, count % 60));
            command.env("AXIOM_TEST_IDS", (count * 0x10000 + 1).to_string());
        }
        command
    }

    /// `git-axiom` in the repository, as a user to whom permissions apply: root becomes [`NOBODY`], who may not be able to
    /// read the folder in which the program was built.
    pub fn bound_by_permissions(&self, args: &[&str]) -> Command {
        let prepared = self.axiom_command(&self.repo(), args);
        if !is_root() {
            return prepared;
        }
        let mut command = Command::new(copy_of_program(&self.root));
        command.args(prepared.get_args()).current_dir(self.repo()).env_clear().uid(NOBODY).gid(NOBODY);
        command.envs(prepared.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command
    }

    /// Calls `git axiom` in the repository.
    pub fn axiom(&self, args: &[&str]) -> Run {
        self.axiom_in(&self.repo(), args)
    }

    /// Calls `git axiom` in a folder.
    pub fn axiom_in(&self, folder: &Path, args: &[&str]) -> Run {
        self.run(self.axiom_command(folder, args), None)
    }

    /// Calls `git axiom` in the repository with this standard input.
    pub fn axiom_fed(&self, args: &[&str], input: &[u8]) -> Run {
        self.run(self.axiom_command(&self.repo(), args), Some(input))
    }

    /// Calls `git axiom`, which must be killed when it reaches a fault point: where that is not reached, nothing was tried.
    #[track_caller]
    pub fn killed_at(&self, args: &[&str], point: &str) -> Run {
        let mut command = self.axiom_command(&self.repo(), args);
        command.env("AXIOM_TEST_FAULT", point);
        let run = self.run(command, None);
        assert_eq!(run.code, None, "{point} was not reached by {args:?}\n{run}");
        run
    }

    /// Calls `git axiom`, expects exit status 0, and returns standard output without the final line feed.
    pub fn ok(&self, args: &[&str]) -> String {
        self.axiom(args).success().stdout.trim_end().to_owned()
    }

    /// Calls `git axiom` with `--json`, expects exit status 0 and one document.
    pub fn json(&self, args: &[&str]) -> serde_json::Value {
        self.axiom(&[&["--json"], args].concat()).success().json()
    }

    /// The names of all checkpoints, as they are listed.
    #[track_caller]
    pub fn checkpoints(&self) -> Vec<String> {
        self.checkpoints_that(|_| true)
    }

    /// The names of those that something made.
    #[track_caller]
    pub fn checkpoints_by(&self, trigger: &str) -> Vec<String> {
        self.checkpoints_that(|one| one["trigger"] == trigger)
    }

    #[track_caller]
    fn checkpoints_that(&self, are_meant: impl Fn(&serde_json::Value) -> bool) -> Vec<String> {
        let list = self.json(&["checkpoint", "list"]);
        let all = list["checkpoints"].as_array().unwrap().iter().filter(|one| are_meant(one));
        all.map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    }

    /// Runs a prepared command to its end.
    pub fn run(&self, command: Command, input: Option<&[u8]>) -> Run {
        Run::of(command, input, &self.root)
    }

    /// Calls git in the repository, expects exit status 0, and returns standard output without the final line feed.
    pub fn git(&self, args: &[&str]) -> String {
        self.git_in(&self.repo(), args)
    }

    /// As [`TestEnv::git`], in a folder.
    pub fn git_in(&self, folder: &Path, args: &[&str]) -> String {
        let run = self.try_git_in(folder, args);
        assert_eq!(run.code, Some(0), "git {args:?}\n{run}");
        run.stdout.trim_end().to_owned()
    }

    /// Calls git in the repository; it may fail.
    pub fn try_git(&self, args: &[&str]) -> Run {
        self.try_git_in(&self.repo(), args)
    }

    /// Calls git in a folder; it may fail.
    pub fn try_git_in(&self, folder: &Path, args: &[&str]) -> Run {
        let mut command = self.program("git", folder);
        if args.first() != Some(&"axiom") {
            // Upkeep goes on in the background after the command: a test would meet its locks.
            command.args(["-c", "maintenance.auto=false"]);
        }
        command.args(args);
        self.run(command, None)
    }

    /// Expects that `git fsck` finds no problem in the repository. It looks at the objects before it looks at the refs: where something
    /// is still saved in the background meanwhile, what came in between is missing for it, and it looks again.
    pub fn fsck(&self) {
        let refs = || self.git(&["for-each-ref"]);
        let run = loop {
            let before = refs();
            let run = self.try_git(&["fsck", "--strict", "--no-dangling", "--no-progress"]);
            if run.code == Some(0) || before == refs() {
                break run;
            }
        };
        assert_eq!(run.code, Some(0), "{run}");
        assert_eq!(run.stdout, "", "{run}");
    }
}

/// Where `PATH` has a program that is named alone. The standard library forks where it has to look for it in the `PATH` of the child,
/// which copies the page tables of all tests for each call of git.
fn place_of(program: &OsStr) -> PathBuf {
    let path = std::env::var_os("PATH").filter(|_| !program.as_encoded_bytes().contains(&b'/')).unwrap_or_default();
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|place| place.is_file())
        .unwrap_or_else(|| program.into())
}

/// The files below a folder with their contents, without whatever has one of these names; of a folder that is not there, none.
pub fn files_below(folder: &Path, passed_by: &[&str]) -> BTreeMap<PathBuf, Vec<u8>> {
    if !folder.exists() {
        return BTreeMap::new();
    }
    let walk = walkdir::WalkDir::new(folder).into_iter();
    let walk = walk.filter_entry(|entry| entry.depth() == 0 || !passed_by.iter().any(|name| entry.file_name() == *name));
    let files = walk.map(Result::unwrap).filter(|entry| entry.file_type().is_file());
    files.map(|entry| (entry.path().strip_prefix(folder).unwrap().to_owned(), std::fs::read(entry.path()).unwrap())).collect()
}

/// Copies a folder, in place of what is there.
fn copy_folder(from: &Path, to: &Path) {
    let _ = std::fs::remove_dir_all(to);
    assert!(Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap().success());
}

/// A test run in the background of a shell (`cargo test &`, `nohup`) ignores SIGINT or SIGHUP, and so do the programs
/// that it starts. A signal with a handler here is at its default there. Here it still ends the run.
fn hear_signals() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGHUP] {
            let always = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
            signal_hook::flag::register_conditional_default(signal, always).unwrap();
        }
    });
}
