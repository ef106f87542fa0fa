//! A call of `git` is made: as a whole, or its output in parts.

use std::ffi::{OsStr, OsString};
use std::io::BufReader;
use std::io::{BufRead, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::Builder;

use super::call::{GitCallEffect, GitCallLimit, GitCallObjects, started};
use super::output::GitOutput;

use super::super::worktrees::Worktree;
use super::{FILTER_OFF, Git, IN_A_WORKSPACE, LITTLE, PIPE, limited};
use axiom_base::error::{Code, Error, Result};
use axiom_process::os::command::command;

impl<'r> Git<'r> {
    pub(super) fn build(&self, objects: &GitCallObjects<'_>) -> Command {
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
        for pair in self.config.iter().chain(&repository.given.forced) {
            command.arg("-c").arg(pair);
        }
        if !repository.given.forced.is_empty() {
            // What starts a program of the repository's own choice: fetching objects that a partial clone lacks.
            command.env("GIT_NO_LAZY_FETCH", "1");
        }
        if self.index.is_some() {
            for name in repository.conversions().filter_names().iter().filter(|name| !self.filters.includes(name)) {
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
                if repository.main.worktree.get().is_some_and(|main| !main.path().is_dir()) {
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
        if let (GitCallObjects::In(_), Some(stage)) = (objects, self.repository.objects.stage.get()) {
            stage.note_git();
        }
        let mut output = ended?;
        // Not every error message of git gives the reason of a failed write.
        output.full = !output.ok() && output.stderr.contains("write") && self.is_out_of_room();
        Ok(output)
    }

    pub(super) fn is_out_of_room(&self) -> bool {
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
