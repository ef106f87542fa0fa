//! A call of git with a limit in time: git starts programs of the user's (filters) and waits for them as long as it takes.
//! When the time is over, git is ended with all that it has started, wherever that has gone by then.

use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::Ordering::SeqCst;
use std::sync::mpsc::{Receiver, channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

use axiom_base::error::{Code, Error, Result};
use axiom_base::own_process::end_signals::is_too_late_for_git;
use axiom_process::os::family::end_with_family;

use super::call::GitCallLimit;
use super::call::started;
use super::output::GitOutput;

/// How long git has to take its lock files away, once it was asked to end.
const GRACE: Duration = Duration::from_millis(300);

/// How long is waited for the last of what was printed: a process that has escaped may hold the pipe.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// How often is looked whether anybody still wants what git does.
const GLANCE: Duration = Duration::from_millis(50);

/// How often is looked whether git has ended, once it prints no more.
const LOOK: Duration = Duration::from_millis(2);

/// Runs a command as `run_captured` does, for at most `limit`. Where that is over, the output says so.
pub(super) fn run_limited(
    command: &mut Command,
    stdin: Option<Vec<u8>>,
    what: String,
    limit: &GitCallLimit,
) -> Result<GitOutput> {
    let until = Instant::now() + limit.time;
    if stdin.is_some() {
        command.stdin(Stdio::piped());
    }
    let mut child = started(command)?;
    let begun = begin_reading(&mut child, stdin);
    let GitCallPipes { out, err } = match begun {
        Ok(pipes) => pipes,
        Err(error) => {
            end_with_family(&mut child, GRACE);
            return Err(error);
        }
    };
    let printed = loop {
        let left = until.saturating_duration_since(Instant::now());
        let printed = out.recv_timeout(left.min(GLANCE));
        let is_given_up = limit.given_up.as_ref().is_some_and(|given_up| given_up.load(SeqCst));
        if printed.is_ok() || left.is_zero() || is_given_up || is_too_late_for_git() {
            break printed.ok();
        }
    };
    let status = printed.is_some().then(|| ends_by(&mut child, until)).flatten();
    let (status, timed_out) = match status {
        Some(status) => (Some(status), false),
        None => (end_with_family(&mut child, GRACE), true),
    };
    let unread = || Error::new(Code::IoFailed, format!("cannot read what {what} prints"));
    let stdout = match printed {
        Some(read) => read.map_err(|e| unread().because(e))?,
        None => Vec::new(),
    };
    let stderr = err.recv_timeout(LAST_WORDS).ok().and_then(std::result::Result::ok).unwrap_or_default();
    let stderr = String::from_utf8_lossy(&stderr).into_owned();
    let (code, signal) = (status.and_then(|status| status.code()), status.and_then(|status| status.signal()));
    Ok(GitOutput {
        code: code.filter(|_| !timed_out),
        signal,
        stdout,
        stderr,
        what,
        full: false,
        over: timed_out.then_some(limit.time),
    })
}

/// What a program prints, as soon as it prints no more.
struct GitCallPipes {
    out: Receiver<std::io::Result<Vec<u8>>>,
    err: Receiver<std::io::Result<Vec<u8>>>,
}

/// The threads end with the pipes, which may be after this call.
fn begin_reading(child: &mut Child, stdin: Option<Vec<u8>>) -> Result<GitCallPipes> {
    let pipes = GitCallPipes { out: read_all(child.stdout.take())?, err: read_all(child.stderr.take())? };
    if let (Some(mut pipe), Some(bytes)) = (child.stdin.take(), stdin) {
        // git may exit before it has read everything: the exit code counts, not our broken pipe.
        in_thread(move || drop(pipe.write_all(&bytes)))?;
    }
    Ok(pipes)
}

fn read_all(pipe: Option<impl Read + Send + 'static>) -> Result<Receiver<std::io::Result<Vec<u8>>>> {
    let (to, from) = channel();
    in_thread(move || {
        let mut all = Vec::new();
        let read = pipe.map_or(Ok(0), |mut pipe| pipe.read_to_end(&mut all));
        drop(to.send(read.map(|_| all)));
    })?;
    Ok(from)
}

fn in_thread(work: impl FnOnce() + Send + 'static) -> Result<()> {
    let begun = Builder::new().name("git".into()).spawn(work);
    begun.map(drop).map_err(|e| Error::cannot_start("a thread that listens to git", e))
}

fn ends_by(child: &mut Child, until: Instant) -> Option<ExitStatus> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < until => std::thread::sleep(LOOK),
            Ok(None) | Err(_) => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use super::*;
    use crate::repo::scratch::ScratchRepository;

    /// A repository whose filter for `*.slow` runs this script.
    fn with_filter(script: &str) -> ScratchRepository {
        let scratch = ScratchRepository::new(&[]);
        scratch.write(".gitattributes", b"*.slow filter=slow\n");
        let program = scratch.path().join(".git/slow.sh");
        std::fs::write(&program, script).unwrap();
        scratch.git(&["config", "filter.slow.clean", &format!("sh '{}'", program.display())]);
        scratch.write("x.slow", b"x\n");
        scratch
    }

    fn add(scratch: &ScratchRepository, limit: Duration) -> (GitOutput, Duration) {
        let (repo, main, begun) = (scratch.repo(), scratch.main(), Instant::now());
        let git = repo.git_in(&main).limited(limit).args(["update-index", "--add", "-z", "--stdin"]).stdin(*b"x.slow\0");
        (git.run().unwrap(), begun.elapsed())
    }

    #[test]
    fn a_filter_that_hangs_is_ended_with_all_that_it_started_and_git_leaves_no_lock() {
        let scratch = with_filter("setsid sh -c 'echo $$ >\"$0\".pid; exec sleep 60' \"$0\" & sleep 60\n");
        let (output, took) = add(&scratch, Duration::from_millis(500));
        assert!(output.over.is_some() && !output.ok());
        assert!(took < Duration::from_secs(5), "{took:?}");
        assert_eq!(output.error().code(), Code::FilterFailed);
        assert!(!scratch.path().join(".git/index.lock").exists());
        let pid = std::fs::read_to_string(scratch.path().join(".git/slow.sh.pid")).unwrap();
        let left = axiom_base::platform::process(pid.trim().parse().unwrap());
        assert!(left.is_none_or(|process| process.state == 'Z'), "{left:?}");
    }

    /// With that variable git would keep each answer to itself, and a program that waits for it would never end.
    #[test]
    fn a_filter_that_asks_git_for_one_thing_after_another_gets_each_answer_at_once() {
        let scratch = with_filter("printf %s \"${GIT_FLUSH-unset}\" > \"$0\".flush; cat\n");
        let (output, _) = add(&scratch, Duration::from_secs(60));
        assert!(output.ok(), "{}", output.stderr);
        assert_eq!(std::fs::read_to_string(scratch.path().join(".git/slow.sh.flush")).unwrap(), "unset");
    }

    #[test]
    fn what_ends_in_time_is_as_without_a_limit() {
        let scratch = with_filter("tr x y\n");
        let (output, _) = add(&scratch, Duration::from_secs(60));
        assert!(output.ok() && output.over.is_none(), "{}", output.stderr);
        assert_eq!(scratch.git(&["cat-file", "blob", ":x.slow"]), "y");
        let wrong = with_filter("exit 3\n");
        wrong.git(&["config", "filter.slow.required", "true"]);
        let (output, _) = add(&wrong, Duration::from_secs(60));
        assert_eq!(output.code, Some(128));
        assert!(output.stderr.contains("clean filter 'slow' failed"), "{}", output.stderr);
    }
}
