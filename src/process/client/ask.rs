//! Asking a program something small, such as its version.

use std::io::Read;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use std::os::unix::process::CommandExt;

use rustix::process::{Pid, Signal, kill_process_group};

use crate::os::command::command;

/// The most that is read of an answer, in bytes. What a program prints beyond a pipe's room blocks it until its time is over.
const LARGEST: u64 = 4096;
/// How often is looked whether the program has ended.
const LOOK: Duration = Duration::from_millis(10);

/// The first line that a program prints, or that it complains with where it succeeds and prints none, if it ends within `limit`. It and what it has started in its
/// group is killed then.
pub fn first_line(words: &[String], limit: Duration) -> Option<String> {
    let (program, args) = words.split_first()?;
    let mut command = command(program);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn().ok()?;
    let ended = ends_within(&mut child, limit);
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw).filter(|_| !ended) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let (out, complaints) = (child.stdout.take(), child.stderr.take());
    let succeeded = child.wait().is_ok_and(|status| status.success());
    if !ended {
        return None;
    }
    first_of(out?).or_else(|| first_of(complaints.filter(|_| succeeded)?))
}

fn first_of(pipe: impl Read) -> Option<String> {
    let mut said = Vec::new();
    pipe.take(LARGEST).read_to_end(&mut said).ok()?;
    let text = String::from_utf8_lossy(&said);
    text.lines().map(str::trim).find(|line| !line.is_empty()).map(|line| line.chars().take(60).collect())
}

fn ends_within(child: &mut Child, limit: Duration) -> bool {
    let begun = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(_)) => return true,
            Ok(None) if begun.elapsed() < limit => std::thread::sleep(LOOK),
            Ok(None) | Err(_) => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(script: &str, limit: Duration) -> Option<String> {
        first_line(&["sh".to_owned(), "-c".to_owned(), script.to_owned()], limit)
    }

    #[test]
    fn the_first_line_is_told_unless_the_program_does_not_end() {
        let long = Duration::from_secs(60);
        assert_eq!(ask("echo; echo ' v 1.2 '; echo more", long).as_deref(), Some("v 1.2"));
        assert_eq!(ask("exit 3", long), None);
        assert_eq!(ask("echo v 1.2 >&2", long).as_deref(), Some("v 1.2"));
        assert_eq!(ask("echo no such option >&2; exit 2", long), None);
        assert_eq!(first_line(&["/nowhere/program".to_owned()], long), None);
        assert_eq!(first_line(&[], long), None);
        let begun = Instant::now();
        assert_eq!(ask("echo early; sleep 60 & wait", Duration::from_millis(100)), None);
        assert!(begun.elapsed() < long);
    }
}
