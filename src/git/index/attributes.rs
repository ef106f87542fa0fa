//! Where attributes files may be, in addition to the `.gitattributes` of a worktree or tree. Their content is not read here.

use std::path::PathBuf;

use axiom_base::env;

use crate::repo::handles::Conversions;

/// Where the attributes file of the machine may be; this depends on how git was installed.
const MACHINE: [&str; 4] =
    ["/etc/gitattributes", "/usr/local/etc/gitattributes", "/opt/homebrew/etc/gitattributes", "/opt/local/etc/gitattributes"];

impl Conversions<'_> {
    /// Every place outside of the trees where an attributes file may be, whether it exists or not. Extra places do no harm.
    /// `None` if the places cannot be determined.
    pub fn attribute_files(&self) -> Option<Vec<PathBuf>> {
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
