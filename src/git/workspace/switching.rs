//! Another branch in a workspace: for an agent that goes on with another task in the same folder.

use crate::objects::durability::sync_file_systems;
use crate::repo::handles::Workspaces;
use crate::repo::worktrees::Worktree;
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::names::{Oid, RefName};

impl Workspaces<'_> {
    /// Switches a workspace from the branch `from` to `to`, which is made at `base` where it does not exist. Ignored files, and others
    /// that are not committed, stay where they are; git refuses where one is in the way. After a crash a second call finds the
    /// branch switched, or a workspace in which git refuses.
    pub fn switch_branch(&self, workspace: &Worktree, from: &RefName, to: &RefName, base: &Oid) -> Result<()> {
        workspace.verify()?;
        let now = self.repo.refs().head(workspace)?;
        if now.branch() == Some(to) {
            return Ok(());
        }
        if now.branch() != Some(from) {
            let what = format!("'{}' is not on its branch '{}'", workspace.path().display(), from.short());
            return Err(Error::new(Code::ChangedMeanwhile, what));
        }
        let exists = self.repo.refs().read_ref(to)?.is_some();
        let git = self.repo.git_in(workspace).writing().args(["switch", "--quiet", "--no-guess"]);
        let git = if exists { git.arg(to.short()) } else { git.args(["--no-track", "-c", to.short()]).arg(base.as_str()) };
        let output = git.run()?;
        env::fault_point("git.switched");
        // A hook of the user's that fails sets git's exit status too, although the branch was switched.
        if !output.ok() && self.repo.refs().head(workspace)?.branch() != Some(to) {
            return Err(output.error());
        }
        sync_file_systems(&[self.repo.common_dir(), workspace.path()])
    }
}
