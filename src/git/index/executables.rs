//! Which files are executable where the file system does not say so.

use std::collections::BTreeSet;

use crate::repo::handles::Index;
use axiom_base::error::Result;

impl Index<'_> {
    /// With `core.fileMode=false`, the paths below `folder`, relative to it, that the index has as executable; otherwise `None`:
    /// the files themselves say it.
    pub fn executables_below(&self, folder: &str) -> Result<Option<BTreeSet<String>>> {
        if self.repo.settings().keeps().modes {
            return Ok(None);
        }
        let git = self.repo.git_in(self.worktree).arg("--literal-pathspecs");
        let output = git.args(["ls-files", "-s", "-z", "--", &format!("{folder}/")]).run_ok()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let executable = |line: &str| {
            let (facts, path) = line.split_once('\t')?;
            facts.starts_with("100755 ").then(|| path.strip_prefix(folder)?.strip_prefix('/').map(str::to_owned)).flatten()
        };
        Ok(Some(text.split('\0').filter_map(executable).collect()))
    }
}
