//! Finding the repository of a folder: in this process where that is the same, else with git; and what is said where there is none.

use std::path::Path;
use std::process::Stdio;

use super::discovery;
use super::headless::headless;
use super::pointer_files::path_of;
use super::program::run_captured;
use super::repository::{Repository, is_config};
use crate::base::formats::{HashKind, RefFormat};
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_base::shell_word::shell_word;
use axiom_process::os::command::command_with_callers_repository;

impl Repository {
    /// Finds the repository for `cwd` and the caller's `GIT_DIR` and similar variables.
    pub fn discover(cwd: &Path) -> Result<Self> {
        let variables = env::all_vars();
        let Some(found) = discovery::find(cwd, &variables) else { return Self::discover_by_git(cwd) };
        let mut repository = Self::at(found.git_dir, found.common_dir, (found.hash, RefFormat::Files), cwd.to_owned());
        // None of the variables that give configuration is set: otherwise git would have been called.
        repository.place.top = Some(found.top);
        Ok(repository)
    }

    /// Like [`Repository::discover`], but always with git.
    pub(crate) fn discover_by_git(cwd: &Path) -> Result<Self> {
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
                return Err(headless(cwd).unwrap_or_else(|| in_no_repository(cwd)));
            }
            return Err(of_another_user(&output.stderr).unwrap_or_else(|| output.error()));
        }
        let unclear = || match String::from_utf8_lossy(&output.stdout).lines().count() {
            more if more > 5 => Error::new(Code::RepositoryUnsupported, "the path of the repository has a line feed in it")
                .why("git's output for such a path is ambiguous")
                .hint("mv 'OLD\nNAME' NEWNAME    then call git axiom there"),
            _ => Error::new(Code::GitFailed, "cannot make sense of what 'git rev-parse' printed"),
        };
        let lines: Vec<&[u8]> = output.stdout.strip_suffix(b"\n").ok_or_else(unclear)?.split(|b| *b == b'\n').collect();
        let [git_dir, common_dir, hash, refs, bare] = lines[..] else { return Err(unclear()) };
        let hash = match hash {
            b"sha1" => HashKind::Sha1,
            b"sha256" => HashKind::Sha256,
            other => return Err(unsupported("object format", other)),
        };
        let ref_format = match refs {
            // git before 2.44 echoes options that it does not know, and has only the files format.
            b"files" | b"--show-ref-format" => RefFormat::Files,
            b"reftable" => RefFormat::Reftable,
            other => return Err(unsupported("ref format", other)),
        };
        let mut repository = Self::at(path_of(git_dir), path_of(common_dir), (hash, ref_format), cwd.to_owned());
        repository.place.bare = bare == b"true";
        repository.given.callers = env::all_vars().into_iter().filter(|(name, _)| is_config(name)).collect();
        repository.formats.are_refs_known = refs != b"--show-ref-format";
        Ok(repository)
    }
}

/// Where git refuses a repository that another user could have prepared: with what it says to do about it as a hint, from its message.
fn of_another_user(stderr: &str) -> Option<Error> {
    let (_, rest) = stderr.split_once("detected dubious ownership in repository at '")?;
    let (path, _) = rest.split_once("'\n")?;
    let what = format!("git uses no repository of another user: '{path}'");
    let hint = format!("git config --global --add safe.directory {}    if you trust whoever owns it", shell_word(path));
    Some(Error::new(Code::NotTheOwner, what).hint(hint))
}

fn unsupported(what: &str, value: &[u8]) -> Error {
    let value = String::from_utf8_lossy(value);
    Error::new(Code::RepositoryUnsupported, format!("the repository's {what} '{value}' is not known to git axiom"))
}

/// Nothing leads from a folder to a repository. Where a `.git` is there it may be what a power loss left of one: another
/// repository in its place would hide that.
fn in_no_repository(cwd: &Path) -> Error {
    let error = Error::new(Code::NotARepository, format!("'{}' is in no git repository", cwd.display()));
    let pointer = cwd.ancestors().map(|folder| folder.join(".git")).find(|pointer| pointer.symlink_metadata().is_ok());
    match pointer {
        None => error.hint("cd into a repository, or make one with 'git init'"),
        Some(pointer) => {
            let error = error
                .why(format!("'{}' is there and leads to none", pointer.display()))
                .hint("git axiom recover    in the repository's main worktree: mends what a crash left of it");
            let is_above = pointer.parent() != Some(cwd);
            if is_above { error.hint("or cd into the repository that you mean") } else { error }
        }
    }
}
