//! The file of a journal that lies beside our folder: read whole or not at all, written at once, gone when its call is complete.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use axiom_base::error::{Code, Error, Result};
use axiom_base::files;

/// A journal that is one file in the git directory.
pub trait JournalFile: Serialize + DeserializeOwned {
    /// The name of the file.
    const NAME: &str;
    /// The largest one that is read, in bytes.
    const LIMIT: u64;
    /// The version that this program writes and reads.
    const SCHEMA: u32;
    /// What is not known where it cannot be read.
    const SAYS: &str;

    /// The version of this one.
    fn schema(&self) -> u32;

    /// Where it is.
    fn place(common_dir: &Path) -> PathBuf {
        common_dir.join(Self::NAME)
    }

    /// Reads it, if there is one.
    fn read(common_dir: &Path) -> Result<Option<Self>> {
        let Some(bytes) = files::read_optional(&Self::place(common_dir), Self::LIMIT)? else { return Ok(None) };
        let read: Option<Self> = serde_json::from_slice(&bytes).ok();
        read.filter(|journal| journal.schema() == Self::SCHEMA).map(Some).ok_or_else(|| {
            let what = format!("'{}' cannot be read", Self::place(common_dir).display());
            Error::new(Code::OperationOpen, what).why(Self::SAYS)
        })
    }

    /// Writes it; it survives a power loss once this returns.
    fn write(&self, common_dir: &Path) -> Result<()> {
        let json = serde_json::to_vec(self).map_err(|e| Error::new(Code::Internal, "the journal is no JSON").because(e))?;
        files::write_atomic(&Self::place(common_dir), &json)
    }

    /// Removes it: its call is complete.
    fn end(common_dir: &Path) -> Result<()> {
        files::remove_file(&Self::place(common_dir))?;
        files::sync_dir(common_dir)
    }
}
