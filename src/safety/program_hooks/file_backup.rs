//! What a file held before we changed it, so that it can be put back exactly. Readable only by the user; written before the file is.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use axiom_base::error::{Code, Error, Result};
use axiom_base::{env, files};
use axiom_model::program_hooks::edit::LARGEST;
use axiom_store::layout::StoreLayout;

/// What is kept of a file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProgramFileBackup {
    /// Its text; `None`: it was not there.
    pub before: Option<String>,
    /// The digest of what we wrote: while the file has it, nobody else changed it.
    pub written: String,
    /// The digest of what was there when we wrote: after a crash the file may still have it.
    #[serde(default)]
    pub from: Option<String>,
    /// The folders that were made for it, the innermost first.
    #[serde(default)]
    pub made_folders: Vec<PathBuf>,
}

impl ProgramFileBackup {
    /// Whether nobody else changed the file since.
    pub fn is_of(&self, text: &str) -> bool {
        let digest = digest(text.as_bytes());
        self.written == digest || self.from.as_ref() == Some(&digest)
    }
}

/// The digest of a text, in hexadecimal digits.
pub fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Where it is kept of a file in a worktree, which may be moved: with what concerns that worktree.
pub fn of_worktree(layout: &StoreLayout, in_worktree: &str) -> PathBuf {
    below(layout.root(), Path::new(in_worktree))
}

/// Where it is kept of a file of the user's: with the user's state.
pub fn of_user(file: &Path) -> Result<PathBuf> {
    let state = env::user_state_dir().map(|state| state.join("git-axiom"));
    let state = state.ok_or_else(|| Error::new(Code::InvalidInput, "you have no state folder: HOME is not set"))?;
    Ok(below(&state, file))
}

fn below(root: &Path, file: &Path) -> PathBuf {
    let name = digest(file.as_os_str().as_encoded_bytes());
    root.join("attach/kept").join(format!("{}.json", name.get(..32).unwrap_or(&name)))
}

/// Reads it; what cannot be read is nothing, and then only ours is cut out.
pub fn read(at: &Path) -> Result<Option<ProgramFileBackup>> {
    let bytes = files::read_optional(at, 8 * LARGEST as u64)?;
    Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}

/// Writes it, on disk when this returns.
pub fn write(at: &Path, kept: &ProgramFileBackup) -> Result<()> {
    if let Some(folder) = at.parent() {
        files::create_dir_all(folder)?;
    }
    let bytes = serde_json::to_vec(kept).map_err(|e| Error::new(Code::IoFailed, "what was there cannot be kept").because(e))?;
    files::write_atomic(at, &bytes)
}
