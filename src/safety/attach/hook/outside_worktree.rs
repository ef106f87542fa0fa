//! What a hook names that no checkpoint of its worktree has: files outside of it, and in nested repositories.

use std::path::Path;

use super::AttachHookCall;

impl AttachHookCall {
    /// Those of these files that are not in the session's worktree.
    pub(super) fn outside(&self, paths: &[String]) -> Vec<String> {
        let place = |path: &String| {
            let path = self.folder.join(path);
            let real = path.parent().and_then(|above| above.canonicalize().ok());
            real.zip(path.file_name()).map(|(above, name)| above.join(name)).unwrap_or(path)
        };
        let outside = paths.iter().map(place).filter(|path| !path.starts_with(&self.stamp.worktree));
        outside.map(|path| path.display().to_string()).collect()
    }

    /// The nested repositories that are no submodules and that hold one of these files: nothing of them is saved.
    pub(super) fn nested(&self, paths: &[String]) -> Vec<String> {
        let mut found = Vec::new();
        for path in paths {
            let place = self.folder.join(path);
            let above = place.ancestors().skip(1).take_while(|above| above.as_os_str() != self.stamp.worktree.as_str());
            let within = |above: &&Path| above.starts_with(&self.stamp.worktree) && above.join(".git").symlink_metadata().is_ok();
            let outermost = above.filter(within).last();
            if let Some(folder) = outermost.filter(|folder| self.is_no_submodule(folder)) {
                found.push(folder.display().to_string());
            }
        }
        found
    }

    fn is_no_submodule(&self, folder: &Path) -> bool {
        let repo = &self.repo;
        let Ok(inside) = folder.strip_prefix(&self.stamp.worktree) else { return false };
        let Ok(Some(entry)) = repo.worktrees().worktree_at(Path::new(&self.stamp.worktree)) else { return false };
        let is_listed = repo.index(&entry.worktree).submodules().iter().any(|(path, _)| path.to_path() == inside);
        repo.worktree_owners().has_a_repository_in(folder) && !is_listed
    }
}
