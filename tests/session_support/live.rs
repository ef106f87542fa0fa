//! A `git axiom` process in the background.

use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::Instant;

use super::PATIENCE;
use crate::common::trials::AskedCases;

/// A program in the background. It is killed when dropped, so that a failing test leaves no process behind.
pub struct Live {
    child: Child,
    stdout: PathBuf,
    stderr: PathBuf,
}

/// The exit code and the outputs of a background program that has ended.
#[derive(Debug)]
pub struct Ended {
    /// The exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Live {
    /// Starts a prepared command; its outputs go to files in `folder`.
    pub fn start(mut command: Command, folder: &std::path::Path, name: &str) -> Self {
        let (stdout, stderr) = (folder.join(format!("{name}.out")), folder.join(format!("{name}.err")));
        command.stdin(std::process::Stdio::null());
        command.stdout(File::create(&stdout).unwrap()).stderr(File::create(&stderr).unwrap());
        Self { child: command.spawn().unwrap(), stdout, stderr }
    }

    /// Its process id.
    pub fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap()
    }

    /// Its standard error so far.
    pub fn stderr(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(&self.stderr).unwrap()).into_owned()
    }

    /// Whether it is still running.
    pub fn runs(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Ends it with SIGKILL, as a crash would. Returns whether it was still running.
    pub fn kill(&mut self) -> bool {
        let _ = self.child.kill();
        self.child.wait().unwrap().signal() == Some(rustix::process::Signal::KILL.as_raw())
    }

    /// Sends it SIGINT.
    pub fn interrupt(&self) {
        super::signal(self.pid(), rustix::process::Signal::INT);
    }

    /// Waits for its end.
    #[track_caller]
    pub fn wait(mut self) -> Ended {
        let begun = Instant::now();
        // A repository with many files, or a large crowd, for which only a developer asks, takes longer.
        let patience = if AskedCases::read().is_long_run() { PATIENCE * 10 } else { PATIENCE * 3 };
        while self.runs() {
            assert!(begun.elapsed() < patience, "it does not end:\n{}", self.stderr());
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let read = |path: &PathBuf| String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
        Ended { code: self.child.wait().unwrap().code(), stdout: read(&self.stdout), stderr: read(&self.stderr) }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Ended {
    /// Expects this exit code.
    #[track_caller]
    pub fn code(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "\n{}{}", self.stdout, self.stderr);
        self
    }
}
