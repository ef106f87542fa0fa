//! A new repository in a folder of git axiom's own, in which nothing of the user's configuration stands in the way.

use std::path::Path;
use std::process::Stdio;

use super::repository::Repository;
use axiom_base::error::{Code, Error, Result};
use axiom_process::os::command::command;

/// What is set in it: commits of git axiom and of agents need no key, no identity and no hook of the user's.
const SETTINGS: [(&str, &str); 5] = [
    ("user.name", "git axiom"),
    ("user.email", "git-axiom@localhost.invalid"),
    ("commit.gpgSign", "false"),
    ("tag.gpgSign", "false"),
    ("core.hooksPath", "/dev/null"),
];

impl Repository {
    /// Makes a repository in the folder, with a first commit of the files that are there.
    pub fn make(folder: &Path, branch: &str) -> Result<Self> {
        let mut init = command("git");
        init.args(["init", "-q", "--template=", "-b", branch]).arg(folder);
        init.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let failed = |e| Error::new(Code::GitMissing, "the git program cannot be started").because(e).hint("install git");
        let done = init.spawn().and_then(std::process::Child::wait_with_output).map_err(failed)?;
        if !done.status.success() {
            let said = String::from_utf8_lossy(&done.stderr).trim().to_owned();
            return Err(Error::new(Code::GitFailed, format!("git init failed in '{}'", folder.display())).why(said));
        }
        let repo = Self::discover(folder)?;
        let inside = folder.canonicalize().is_ok_and(|folder| repo.common_dir().starts_with(folder));
        if !inside {
            return Err(Error::new(Code::GitFailed, format!("'{}' is in another repository", folder.display()))
                .hint("unset GIT_DIR and GIT_WORK_TREE"));
        }
        for (key, value) in SETTINGS {
            repo.git().args(["config", key, value]).run_ok()?;
        }
        let worktree = repo.worktrees().main_worktree()?;
        repo.git_in(&worktree).writing().args(["add", "-A"]).run_ok()?;
        repo.git_in(&worktree).writing().args(["commit", "-q", "-m", "Begin"]).run_ok()?;
        Ok(repo)
    }
}
