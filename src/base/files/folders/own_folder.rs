//! Private folders that exist as long as a value.

#![allow(clippy::disallowed_methods)]

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::env;
use crate::error::{Error, Result};

use crate::files::DeletionFolder;
use crate::files::folder_entries;

/// A fresh, private folder, which is removed with its contents when this value is dropped. A crash leaves it for cleanup.
#[derive(Debug)]
pub struct OwnFolder {
    path: PathBuf,
}

impl OwnFolder {
    /// Creates one in `parent`. Its name begins with `prefix` and ends with a fresh id, like all names in a trash.
    pub fn make_in(parent: &Path, prefix: &str) -> Result<Self> {
        let path = parent.join(format!("{prefix}{}", env::fresh_id()));
        let made = DirBuilder::new().mode(0o700).create(&path);
        made.map_err(|e| Error::io("create the folder", &path, e)).map(|()| Self { path })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn remove(&self) -> Result<()> {
        if std::fs::remove_dir(&self.path).is_ok() {
            // It was empty.
            return Ok(());
        }
        match (self.path.file_name(), DeletionFolder::open(folder_entries::parent(&self.path)?, Path::new(""))?) {
            (Some(name), Some(above)) => above.remove_own(name),
            (_, _) => Ok(()),
        }
    }
}

impl Drop for OwnFolder {
    fn drop(&mut self) {
        if let Err(error) = self.remove() {
            tracing::warn!(%error, "a temporary folder stays for cleanup");
        }
    }
}
