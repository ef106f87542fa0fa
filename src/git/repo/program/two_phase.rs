//! A call of git that waits in the middle until the caller has done something else.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;

use axiom_base::error::{Code, Error, Result};

use super::call::started;
use super::{Git, GitOutput};

impl Git<'_> {
    /// Runs git with an input in two parts. The second part is written once git has printed `line` as its answer to the
    /// first, and `between` has succeeded. If git does not print the line, or `between` fails, the second part is never
    /// written.
    pub fn run_in_two(self, first: &[u8], line: &str, between: impl FnOnce() -> Result<()>, second: &[u8]) -> Result<GitOutput> {
        let (mut command, what) = (self.build(&self.objects()?), self.name());
        self.repository.lend_lock(&mut command, true)?;
        let mut child = started(command.stdin(Stdio::piped()))?;
        let (mut stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let unread = |e| Error::new(Code::IoFailed, format!("cannot read what {what} prints")).because(e);
        let (came, complaint) = std::thread::scope(|scope| {
            let complaint = scope.spawn(move || {
                let mut text = Vec::new();
                stderr.map(|mut pipe| pipe.read_to_end(&mut text));
                text
            });
            // git may exit before it has read everything: the exit code counts, not our broken pipe.
            let mut write = |bytes: &[u8]| drop(stdin.as_mut().map(|pipe| pipe.write_all(bytes).and_then(|()| pipe.flush())));
            write(first);
            let mut printed = stdout.map(BufReader::new);
            let mut next = String::new();
            let mut came = Ok(());
            while let Some(lines) = &mut printed {
                next.clear();
                match lines.read_line(&mut next) {
                    Ok(0) => break,
                    Ok(_) if next.trim_end() == line => {
                        came = between();
                        if came.is_ok() {
                            write(second);
                        }
                        break;
                    }
                    Ok(_) => {}
                    Err(e) => {
                        came = Err(unread(e));
                        break;
                    }
                }
            }
            drop(stdin.take());
            printed.map(|mut rest| rest.read_to_string(&mut next));
            (came, complaint.join().unwrap_or_default())
        });
        let status = child.wait().map_err(unread)?;
        came?;
        let stderr = String::from_utf8_lossy(&complaint).into_owned();
        let (code, signal) = (status.code(), status.signal());
        let mut output = GitOutput { code, signal, stdout: Vec::new(), stderr, what, full: false, over: None };
        output.full = !output.ok() && output.stderr.contains("write") && self.is_out_of_room();
        Ok(output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::scratch::ScratchRepository;

    #[test]
    fn the_second_part_is_written_after_the_first_is_answered_and_never_where_what_is_between_fails() {
        let scratch = ScratchRepository::new(&[]);
        let repo = scratch.repo();
        let head = scratch.git(&["rev-parse", "HEAD"]);
        let there = || scratch.git(&["for-each-ref", "--format=%(refname)", "refs/x"]);
        let update = |value: &str, between: &dyn Fn() -> Result<()>| {
            let first = format!("start\ncreate refs/x/y {value}\nprepare\n");
            let git = repo.git().writing().args(["update-ref", "--stdin"]);
            git.run_in_two(first.as_bytes(), "prepare: ok", between, b"commit\n")
        };
        let lock = scratch.path().join(".git/refs/x/y.lock");
        let failed = update(&head, &|| {
            assert!(lock.exists(), "it waits");
            Err(Error::new(Code::DiskFull, "no room"))
        });
        assert_eq!(failed.unwrap_err().code(), Code::DiskFull);
        assert_eq!((there().as_str(), lock.exists()), ("", false), "all is given up");
        let refused = update(&"1".repeat(40), &|| panic!("it never gets that far")).unwrap();
        assert!(!refused.ok() && refused.stderr.contains("nonexistent object"), "{}", refused.stderr);
        assert!(update(&head, &|| Ok(())).unwrap().ok());
        assert_eq!(there(), "refs/x/y");
    }
}
