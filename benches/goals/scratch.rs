//! A scratch folder with a repository, and programs that are started in it with nothing of the machine's configuration.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use git_axiom::store::layout::StoreLayout;

/// The program that is measured.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_git-axiom");

/// A folder below `target/tmp`, gone when this is dropped.
pub struct Scratch {
    dir: tempfile::TempDir,
}

impl Scratch {
    pub fn new() -> Self {
        let above = env!("CARGO_TARGET_TMPDIR");
        std::fs::create_dir_all(above).unwrap();
        let scratch = Self { dir: tempfile::tempdir_in(above).unwrap() };
        std::fs::create_dir(scratch.path("bin")).unwrap();
        std::fs::create_dir(scratch.path("home")).unwrap();
        scratch
    }

    /// With a repository `repo` of one commit.
    pub fn with_repository() -> Self {
        let scratch = Self::new();
        std::fs::create_dir(scratch.path("repo")).unwrap();
        scratch.run(&mut scratch.command("git", &["init", "-q", "-b", "main"]));
        std::fs::write(scratch.path("repo/a.txt"), "a\n").unwrap();
        scratch.run(&mut scratch.command("git", &["add", "-A"]));
        scratch.run(&mut scratch.command("git", &["commit", "-q", "-m", "first"]));
        scratch
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A command in the repository; our program is found as `git axiom`.
    pub fn command(&self, program: impl AsRef<Path>, arguments: &[&str]) -> Command {
        let mut command = Command::new(program.as_ref());
        let path = format!("{}:{}", self.path("bin").display(), std::env::var("PATH").unwrap());
        command.args(arguments).current_dir(self.path("repo")).env_clear().env("PATH", path);
        command.env("HOME", self.path("home")).env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
        for role in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{role}_NAME"), "A U Thor").env(format!("GIT_{role}_EMAIL"), "author@example.org");
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// A copy of a scratch folder in which our program was never used: a copy of a repository that it knows is another case.
    pub fn copy_of(other: &Self) -> Self {
        let scratch = Self::new();
        let copied = Command::new("cp").arg("-a").arg(other.path("repo")).arg(scratch.path("repo")).status().unwrap();
        assert!(copied.success());
        scratch.settle();
        scratch
    }

    /// Waits until files and index have times of different seconds, then lets git read the files again: what was written in the
    /// same second as the index is read again by everybody, which is not what is measured.
    pub fn settle(&self) {
        std::thread::sleep(std::time::Duration::from_millis(1100));
        self.sh("git update-index -q --refresh; git status > /dev/null");
    }

    /// A script in the repository.
    pub fn sh(&self, script: &str) {
        self.run(&mut self.command("sh", &["-eu", "-c", script]));
    }

    /// A git command in the repository.
    pub fn git(&self, arguments: &[&str]) {
        self.run(&mut self.command("git", arguments));
    }

    /// Our program in the repository.
    pub fn axiom(&self, arguments: &[&str]) {
        self.run(&mut self.command(PROGRAM, arguments));
    }

    /// What a command prints.
    pub fn output(&self, command: &mut Command) -> String {
        let output = command.stdout(Stdio::piped()).output().unwrap();
        assert!(output.status.success(), "{command:?}: {}", output.status);
        String::from_utf8(output.stdout).unwrap()
    }

    /// A stream for `git fast-import`.
    pub fn import(&self, stream: &str) {
        let mut child = self.command("git", &["fast-import", "--quiet", "--force"]).stdin(Stdio::piped()).spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), stream.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success());
    }

    /// The layout of our state in the repository.
    pub fn layout(&self) -> StoreLayout {
        StoreLayout::new(&self.path("repo/.git"))
    }

    /// Starts the command, waits for it, and takes no failure.
    pub fn run(&self, command: &mut Command) {
        let status = command.status().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        assert!(status.success(), "{command:?}: {status}");
    }
}
