//! The result of running a program: both outputs and the exit status.

use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Standard output, standard error and exit status together. Displayed with the test's folder as `$ROOT`.
#[derive(Debug)]
pub struct Run {
    /// The exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    /// Standard output, unchanged.
    pub stdout: String,
    /// Standard error, unchanged.
    pub stderr: String,
    root: PathBuf,
}

impl Run {
    pub(super) fn of(mut command: Command, input: Option<&[u8]>, root: &Path) -> Self {
        command.stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() });
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let pipe = child.stdin.take();
        let output = std::thread::scope(|scope| {
            if let (Some(mut pipe), Some(input)) = (pipe, input) {
                // The program may end before it has read all input.
                scope.spawn(move || drop(pipe.write_all(input)));
            }
            child.wait_with_output().unwrap()
        });
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            root: root.to_owned(),
        }
    }

    /// Expects exit status 0.
    #[track_caller]
    pub fn success(self) -> Self {
        assert_eq!(self.code, Some(0), "\n{self}");
        self
    }

    /// Expects an error with this code and its documented exit status.
    #[track_caller]
    pub fn fails_with(self, code: git_axiom::base::error::Code) -> Self {
        assert!(self.stderr.contains(&format!("error[{code}]: ")), "expected {code}\n{self}");
        assert_eq!(self.code, Some(code.exit() as i32), "\n{self}");
        self
    }

    /// Standard output as one JSON document: exactly one line, as described in `docs/JSON.md`.
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        assert_eq!(self.stdout.matches('\n').count(), 1, "one document on one line\n{self}");
        let value: serde_json::Value = serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}\n{self}"));
        super::documents::check(&value);
        value
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let normal = |text: &str| text.replace(&*self.root.to_string_lossy(), "$ROOT");
        f.write_str(&normal(&self.stdout))?;
        if !self.stderr.is_empty() {
            write!(f, "--- stderr\n{}", normal(&self.stderr))?;
        }
        match self.code {
            Some(code) => write!(f, "--- exit {code}"),
            None => f.write_str("--- ended by a signal"),
        }
    }
}
