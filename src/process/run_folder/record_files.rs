//! The files of records: a line of JSON with its checksum, and the version of the format.

use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_model::base::sealed;
use axiom_model::work::permissions::permission_question::PermissionAnswer;

/// The version of the formats of records.
pub const VERSION: u32 = 1;

const MAX_FILE: u64 = 16 * 1024 * 1024;

pub(crate) fn unreadable(path: &Path) -> Error {
    Error::new(Code::KeeperFailed, format!("'{}' cannot be understood", path.display()))
}

/// The line of a record, with its checksum and line feed.
pub(crate) fn sealed_line<T: Serialize>(path: &Path, value: &T) -> Result<Vec<u8>> {
    serde_json::to_vec(value).map(|json| sealed::seal(json, &[])).map_err(|e| unreadable(path).because(e))
}

pub(crate) fn write_json<T: Serialize>(path: &Path, value: &T) -> Result<()> {
    files::write_atomic(path, &sealed_line(path, value)?)
}

/// Writes the answer to a question of a keeper, durably.
pub fn write_answer(path: &Path, answer: &PermissionAnswer) -> Result<()> {
    write_json(path, answer)
}

/// Reads what [`write_json`] wrote.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    let Some(bytes) = files::read_optional(path, MAX_FILE)? else { return Ok(None) };
    let text = std::str::from_utf8(&bytes).map_err(|e| unreadable(path).because(e))?;
    if sealed::opened(text.trim_end().as_bytes(), &[]).is_err() {
        return Err(unreadable(path).why("its checksum does not fit"));
    }
    serde_json::from_str(text).map(Some).map_err(|e| unreadable(path).because(e))
}

/// A record that says which version of the format it has.
pub trait VersionedRecord {
    /// The version.
    fn version(&self) -> u32;
}

/// As [`read_json`], for a record of this version: what another one means is not guessed.
pub fn read_record<T: DeserializeOwned + VersionedRecord>(path: &Path) -> Result<Option<T>> {
    match read_json::<T>(path)? {
        Some(record) if record.version() != VERSION => Err(unreadable(path).why(format!("it has version {}", record.version()))),
        found => Ok(found),
    }
}
