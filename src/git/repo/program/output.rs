//! What a call of `git` has printed.

use super::full_disk;
use crate::repo::stale_locks::LOCK_HINT;
use std::time::Duration;

use axiom_base::error::{Code, Error, Result};
use axiom_base::own_process::end_signals;
use axiom_model::recovery::git_damage;

/// The output of a git call, and how it ended.
#[derive(Debug)]
pub struct GitOutput {
    /// The exit code; `None` if a signal ended git.
    pub code: Option<i32>,
    /// Standard output, raw.
    pub stdout: Vec<u8>,
    /// Standard error, as text.
    pub stderr: String,
    pub(super) what: String,
    /// The signal that ended git.
    pub(super) signal: Option<i32>,
    /// Whether one of the file systems that git writes to is full.
    pub(super) full: bool,
    /// The limit in time that ended git.
    pub(super) over: Option<Duration>,
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
            return Error::new(Code::GitLocked, format!("{} found a lock file", self.what)).why(why).hint(LOCK_HINT);
        }
        let code = if full { Code::DiskFull } else { Code::GitFailed };
        let ways = if full { Vec::new() } else { git_damage::ways_out_of(words) };
        Error::new(code, format!("{} failed", self.what)).why(why).hints_of(ways)
    }
}
