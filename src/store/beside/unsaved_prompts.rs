//! Prompts in folders that are no repository but hold some: nothing is saved of them, and `attach --status` says so there. One small file a
//! folder in the user's own state folder, readable only by the user.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use axiom_base::error::Result;
use axiom_base::{env, files};
use axiom_model::base::text_hash::text_hash;

/// The most entries of a folder that are looked at.
const MOST: usize = 2000;
/// The largest file of ours that is read.
const LIMIT: u64 = 64 * 1024;

/// A prompt of which nothing was saved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UnsavedPrompt {
    /// The program.
    pub program: String,
    /// The folder in which it was sent.
    pub folder: String,
    /// When.
    pub at: Timestamp,
}

/// The repositories directly in a folder, by name.
pub fn repositories_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.flatten().take(MOST).map(|entry| entry.path());
    let mut found: Vec<PathBuf> = paths.filter(|path| path.join(".git").symlink_metadata().is_ok()).collect();
    found.sort();
    found
}

/// Notes a prompt in a folder that is no repository, where it holds some.
pub fn note(program: &str, folder: &Path) -> Result<()> {
    let Some(file) = file(folder) else { return Ok(()) };
    if repositories_in(folder).is_empty() {
        return Ok(());
    }
    let one = UnsavedPrompt { program: program.to_owned(), folder: folder.display().to_string(), at: env::now() };
    if let Some(above) = file.parent() {
        files::create_dir_all(above)?;
    }
    files::write_atomic(&file, &serde_json::to_vec(&one).unwrap_or_default())
}

/// The last prompt that was sent in a folder while it was no repository.
pub fn last(folder: &Path) -> Option<UnsavedPrompt> {
    let json = files::read_optional(&file(folder)?, LIMIT).ok().flatten()?;
    serde_json::from_slice(&json).ok()
}

fn file(folder: &Path) -> Option<PathBuf> {
    let hash = text_hash(&[&folder.display().to_string()]);
    let name = hash.get(..32).unwrap_or(&hash);
    env::user_state_dir().map(|state| state.join("git-axiom/outside").join(format!("{name}.json")))
}
