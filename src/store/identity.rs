//! The identity of a repository: a random id, and its recorded place. See [`axiom_model::state::repository_location`].

use std::fs::Metadata;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::layout::StoreLayout;
use axiom_base::error::{Code, Error, Result};
use axiom_base::{env, files};
use axiom_model::state::repository_location::{InodeMatch, RecordedLocationState, RepositoryLocation};

/// The version of the file.
const VERSION: u32 = 1;

/// The largest identity file that is read, in bytes.
const LIMIT: u64 = 64 * 1024;

/// The recorded identity of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedIdentity {
    /// The version of this format.
    pub v: u32,
    /// Its id. A copy gets another one.
    pub id: String,
    /// Its place.
    #[serde(flatten)]
    pub place: RepositoryLocation,
    /// The inode of the common git directory.
    pub inode: u64,
    /// For a bare repository: git's entry for the worktree that counts as the main one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub main_entry: Option<String>,
}

impl RecordedIdentity {
    /// A new identity for the repository at a place.
    pub fn fresh(place: RepositoryLocation, main_entry: Option<String>) -> Result<Self> {
        Self { v: VERSION, id: env::fresh_id(), place, inode: 0, main_entry }.here()
    }

    /// The same identity at another place.
    pub fn at(self, place: RepositoryLocation) -> Result<Self> {
        Self { place, ..self }.here()
    }

    fn here(self) -> Result<Self> {
        let path = Path::new(&self.place.common_dir);
        let inode = std::fs::metadata(path).map_err(|e| Error::io("access", path, e))?.ino();
        Ok(Self { inode, ..self })
    }

    /// Compares the record with the present; `common_dir` is where the repository is now.
    pub fn compare(&self, common_dir: &Path) -> Result<(RecordedLocationState, InodeMatch)> {
        let here = std::fs::metadata(common_dir).map_err(|e| Error::io("access", common_dir, e))?;
        let inode = if here.ino() == self.inode { InodeMatch::Same } else { InodeMatch::Other };
        Ok((self.recorded(&here), inode))
    }

    fn recorded(&self, here: &Metadata) -> RecordedLocationState {
        let path = Path::new(&self.place.common_dir);
        match std::fs::metadata(path) {
            Ok(there) if (there.dev(), there.ino()) == (here.dev(), here.ino()) => RecordedLocationState::ThisFolder,
            Ok(_) => match read(&StoreLayout::new(path)) {
                Ok(Some(other)) if other.id == self.id => RecordedLocationState::OtherWithTheId,
                Ok(_) => RecordedLocationState::WithoutTheId,
                Err(_) => RecordedLocationState::Unknown,
            },
            Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => RecordedLocationState::WithoutTheId,
            Err(_) => RecordedLocationState::Unknown,
        }
    }
}

/// Reads the identity; `None` where there is none, or where it cannot be parsed.
pub fn read(layout: &StoreLayout) -> Result<Option<RecordedIdentity>> {
    let path = layout.identity();
    if !files::metadata(&path)?.is_some_and(|meta| meta.is_file()) {
        return Ok(None);
    }
    let Some(bytes) = files::read_optional(&path, LIMIT)? else { return Ok(None) };
    match serde_json::from_slice::<RecordedIdentity>(&bytes) {
        Ok(identity) if identity.v == VERSION => Ok(Some(identity)),
        Ok(_) => Err(Error::new(Code::EventLogTooNew, format!("'{}' was written by a newer git axiom", path.display()))),
        Err(error) => {
            tracing::warn!(%error, "the recorded location of the repository cannot be read");
            Ok(None)
        }
    }
}

/// Writes the identity durably.
pub fn write(layout: &StoreLayout, identity: &RecordedIdentity) -> Result<()> {
    files::write_atomic(&layout.identity(), &as_bytes(identity)?)
}

/// Writes the first identity durably. Where another process is first, that one's stands: what was recorded for a lost id, such as an
/// approval, would count for nobody. A crash leaves none or the whole one, and perhaps a temporary file.
pub fn write_first(layout: &StoreLayout, identity: &RecordedIdentity) -> Result<()> {
    let fresh = layout.tmp_dir().join(format!("identity-{}", env::fresh_id()));
    files::write_atomic(&fresh, &as_bytes(identity)?)?;
    if !files::rename_no_replace(&fresh, &layout.identity())? {
        files::remove_file(&fresh)?;
    }
    files::sync_dir(layout.root())
}

fn as_bytes(identity: &RecordedIdentity) -> Result<Vec<u8>> {
    let json = serde_json::to_vec(identity)
        .map_err(|e| Error::new(Code::Internal, "an identity cannot be written as JSON").because(e))?;
    Ok([&json[..], b"\n"].concat())
}
