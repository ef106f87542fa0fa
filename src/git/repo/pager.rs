//! Which pager the user wants, by git's rules. Who runs it is not here.

use std::process::Stdio;

use super::repository::Repository;
use axiom_process::os::command::command;

impl Repository {
    /// The user's pager, a command for a shell, as git finds it: `GIT_PAGER`, `core.pager`, `PAGER`, or git's own. `None` where
    /// the user wants none, or git does not say.
    pub fn pager(&self) -> Option<String> {
        // Not by `git()`: after --no-pager, git says that there is none.
        let mut git = command("git");
        for (name, value) in self.callers_config() {
            git.env(name, value);
        }
        git.arg("--git-dir").arg(self.common_dir()).args(["var", "GIT_PAGER"]).stdin(Stdio::null());
        let output = git.output().ok().filter(|output| output.status.success())?;
        let pager = String::from_utf8(output.stdout).ok()?.trim().to_owned();
        (!matches!(pager.as_str(), "" | "cat")).then_some(pager)
    }
}
