//! Folders of our own that live as long as a value.

#![allow(clippy::disallowed_methods)]

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::env;
use crate::error::{Error, Result};

use super::{Beneath, durable};

/// A fresh, private folder that is removed with all that is in it when this value goes; a crash leaves it for cleanup.
#[derive(Debug)]
pub struct OwnFolder {
    path: PathBuf,
}

impl OwnFolder {
    /// Makes one in `parent`, under a name that begins with `prefix` and ends as all our names in a trash do.
    ///
    /// # Errors
    /// `IO_FAILED`, `DISK_FULL`.
    pub fn make_in(parent: &Path, prefix: &str) -> Result<Self> {
        let path = parent.join(format!("{prefix}{}", env::fresh_id()));
        let made = DirBuilder::new().mode(0o700).create(&path);
        made.map_err(|e| Error::io("create the folder", &path, e)).map(|()| Self { path })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn remove(&self) -> Result<()> {
        match (self.path.file_name(), Beneath::open(durable::parent(&self.path)?, Path::new(""))?) {
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
