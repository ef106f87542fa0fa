//! The approved files, written down read-only to be run: what a hook and its siblings are is exactly what a human approved,
//! whatever is in the worktree by now.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::project_files::{HOOKS, ProjectFile, ProjectFileOrigin, ProjectFilePath, ProjectFiles, SHARED};
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_base::files::{FileLock, LockAttempt};

/// How long to wait for somebody else who writes the files.
const PATIENCE: Duration = Duration::from_secs(10);

/// Approved files, and the folder in which they are written down.
#[derive(Debug, Clone)]
pub struct ApprovedTree {
    files: ProjectFiles,
    folder: PathBuf,
}

impl ApprovedTree {
    /// Approved files, to be written below `trusted`, a folder of ours. Nothing is written yet.
    pub fn new(files: ProjectFiles, trusted: &Path) -> Self {
        let folder = trusted.join(files.digest().as_str());
        Self { files, folder }
    }

    /// The approved files.
    pub fn files(&self) -> &ProjectFiles {
        &self.files
    }

    /// The folder of the hooks of this origin, once they are written.
    pub fn hook_dir(&self, origin: ProjectFileOrigin) -> PathBuf {
        root(&self.folder, origin).join(HOOKS)
    }

    /// The path at which a file is run. Checks first that everything there is what was
    /// approved, and writes it anew where it is not. A crash leaves a folder of another name, which is removed when the
    /// temporary files are (`safety::upkeep::tidy`).
    pub fn ready(&self, place: &ProjectFilePath) -> Result<PathBuf> {
        if !self.is_as_approved() {
            self.write_alone()?;
        }
        // So that it is not tidied away while it is used.
        files::touch(&self.folder);
        Ok(root(&self.folder, place.origin).join(&place.path))
    }

    fn is_as_approved(&self) -> bool {
        self.now().is_ok_and(|now| now == self.files)
    }

    /// What the folder has.
    fn now(&self) -> Result<ProjectFiles> {
        let (shared, own) = (self.folder.join("shared"), self.folder.join("own"));
        // Where the file system does not know it, what was approved says what may be executed.
        let is_executable = |path: &str| {
            let place = ProjectFilePath { origin: ProjectFileOrigin::Shared, path: path.to_owned() };
            self.files.get(&place).is_some_and(|file| file.executable)
        };
        ProjectFiles::read(&shared, &own, Some(&is_executable))
    }

    /// Writes it where it is still missing or changed. Others who write it wait, so none of them takes away what another starts.
    fn write_alone(&self) -> Result<()> {
        let Some(trusted) = self.folder.parent() else { return Ok(()) };
        files::create_dir_all(trusted)?;
        let lock = trusted.join("lock");
        let LockAttempt::Taken(_lock) = FileLock::take(&lock, PATIENCE)? else {
            return Err(Error::new(Code::Busy, format!("'{}' is held by another process", lock.display()))
                .hint("try again when it has ended"));
        };
        if !self.is_as_approved() {
            self.write(trusted)?;
        }
        if self.now()? == self.files {
            return Ok(());
        }
        Err(Error::new(Code::NotTrusted, format!("'{}' changes while it is written", self.folder.display()))
            .why("hooks are run from there, as they were approved")
            .hint("look who writes there, then try again"))
    }

    fn write(&self, trusted: &Path) -> Result<()> {
        let fresh = trusted.join(format!("{}{}", files::SCRATCH_PREFIX, env::fresh_id()));
        for (place, file) in self.files.iter() {
            write_file(&root(&fresh, place.origin).join(&place.path), file)?;
        }
        if files::metadata(&self.folder)?.is_some() {
            // Not what was approved: nobody starts it any more. What runs may still read it, until it is tidied away.
            let away = trusted.join(format!("{}{}", files::SCRATCH_PREFIX, env::fresh_id()));
            files::rename_no_replace(&self.folder, &away)?;
        }
        files::rename_no_replace(&fresh, &self.folder).map(drop)
    }
}

fn root(folder: &Path, origin: ProjectFileOrigin) -> PathBuf {
    match origin {
        ProjectFileOrigin::Shared => folder.join("shared").join(SHARED),
        ProjectFileOrigin::Own => folder.join("own"),
    }
}

fn write_file(path: &Path, file: &ProjectFile) -> Result<()> {
    if let Some(folder) = path.parent() {
        files::create_dirs_unsynced(folder)?;
    }
    files::write_scratch(path, file.content.bytes())?;
    // Folders stay writable for the user: whoever deletes the repository can do so.
    files::set_mode(path, if file.executable { 0o500 } else { 0o400 })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use super::*;

    #[test]
    fn what_runs_is_what_was_approved() {
        let trusted = tempfile::tempdir().unwrap();
        let file = |executable, text: &str| ProjectFile { executable, content: text.as_bytes().to_vec().into() };
        let at = |origin, path: &str| ProjectFilePath { origin, path: path.to_owned() };
        let (hook, sibling) = (at(ProjectFileOrigin::Shared, "hooks/pre-merge"), at(ProjectFileOrigin::Own, "hooks/lib/x"));
        let files = [(hook.clone(), file(true, "one")), (sibling.clone(), file(false, "two"))].into_iter().collect();
        let tree = ApprovedTree::new(files, trusted.path());
        let (path, folder) = (tree.ready(&hook).unwrap(), tree.hook_dir(ProjectFileOrigin::Shared));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one");
        assert_eq!(path, folder.join("pre-merge"));
        // Changed, added, removed: each time it is written anew.
        let changed = |change: &dyn Fn()| {
            change();
            assert!(!tree.is_as_approved());
            tree.ready(&hook).unwrap();
            assert!(tree.is_as_approved());
        };
        changed(&|| {
            axiom_base::files::set_mode(&path, 0o700).unwrap();
            std::fs::write(&path, "evil").unwrap();
        });
        changed(&|| std::fs::write(folder.join("post-merge"), "evil").unwrap());
        changed(&|| std::fs::remove_file(tree.ready(&sibling).unwrap()).unwrap());
        changed(&|| {
            std::fs::remove_file(&path).unwrap();
            std::os::unix::fs::symlink("/bin/true", &path).unwrap();
        });
        // The lock, what is run, and what was put aside four times.
        assert_eq!(std::fs::read_dir(trusted.path()).unwrap().count(), 6);
    }
}
