//! Where attributes may be, besides the `.gitattributes` of a worktree or tree. What they say is not read here.

use std::path::PathBuf;

use crate::env;

use crate::git::repo::handles::Conversions;

/// Where the machine's attributes may be, by how git was installed.
const MACHINE: [&str; 4] =
    ["/etc/gitattributes", "/usr/local/etc/gitattributes", "/opt/homebrew/etc/gitattributes", "/opt/local/etc/gitattributes"];

impl Conversions<'_> {
    /// Every place outside of the trees where attributes may be, whether there is a file or not; rather one too many.
    /// `None` where it cannot be told.
    pub(in crate::git) fn attribute_files(&self) -> Option<Vec<PathBuf>> {
        let mut files: Vec<PathBuf> = self.repo.gix().ok()?.attribute_global_paths().ok()?;
        let users = env::var("XDG_CONFIG_HOME")
            .map(PathBuf::from)
            .or_else(|| env::var("HOME").map(|home| PathBuf::from(home).join(".config")))
            .map(|folder| folder.join("git/attributes"));
        files.extend(MACHINE.iter().map(PathBuf::from));
        files.extend(users);
        files.push(self.repo.common_dir().join("info/attributes"));
        files.sort_unstable();
        files.dedup();
        Some(files)
    }
}
