//! Files that git ignores and that a project needs to run: those that `.worktreeinclude` of the main worktree names are copied into a new
//! workspace.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::repo::handles::Workspaces;
use crate::repo::worktrees::Worktree;
use axiom_base::error::Result;
use axiom_base::files;
use axiom_base::files::SmallFile;
use axiom_model::base::names::RepoPath;

/// The file that names them, with the patterns of `.gitignore`.
const LIST: &str = ".worktreeinclude";
/// The largest list that is read, in bytes.
const LARGEST: u64 = 1024 * 1024;
/// The most files that are copied.
const MOST: usize = 200_000;

impl Workspaces<'_> {
    /// Copies them; what is there stays. Only what git ignores here and there, so that none of it is ever committed.
    pub(super) fn copy_included(&self, workspace: &Worktree, given_up: &AtomicBool) -> Result<()> {
        let main = self.repo.worktrees().main_worktree()?;
        let list = main.path().join(LIST);
        // A file of another kind is left to nobody else.
        if !matches!(files::read_small(&list, LARGEST)?, SmallFile::Content(_)) || main.path() == workspace.path() {
            return Ok(());
        }
        let git = self.repo.git_in(&main).args(["ls-files", "-z", "--others", "--ignored", "--exclude-from"]).arg(&list);
        let listed = git.run_ok()?.stdout;
        // What ends with a slash is another repository.
        let names = listed.split(|byte| *byte == 0).filter(|name| !name.is_empty() && !name.ends_with(b"/"));
        // The trash keeps the copies of workspaces that are gone: with each of them there would be twice as many.
        let root = workspace.path().parent().filter(|root| *root != main.path());
        let is_ours = |path: &RepoPath| root.is_some_and(|root| main.path().join(path.to_path()).starts_with(root));
        let named: Vec<RepoPath> = names.map(RepoPath::new).filter(|path| !is_ours(path)).take(MOST).collect();
        let here = self.repo.index(&main).ignored(&named)?;
        let there: BTreeSet<RepoPath> = self.repo.index(workspace).ignored(&here)?;
        for path in there.iter().take_while(|_| !given_up.load(Ordering::SeqCst)) {
            if let Err(error) = files::copy_beside(main.path(), workspace.path(), &path.to_path()) {
                tracing::warn!(%error, "an ignored file is not in the workspace");
            }
        }
        Ok(())
    }
}
