//! Loading the layers of the configuration: the user's file, git's configuration, the command line.

use std::path::PathBuf;

use super::handle::Context;
use crate::config::{self, GitEntry, Layers, Loaded};
use crate::env;
use crate::error::{Code, Error, Result};
use crate::files;
use crate::git::Repository;

/// The largest configuration file that is read.
const MAX_FILE: u64 = 16 * 1024 * 1024;

/// The user's configuration file: `$XDG_CONFIG_HOME/git-axiom/config.toml`, or the same below `~/.config`.
pub fn user_file() -> Option<PathBuf> {
    let folder = match env::var("XDG_CONFIG_HOME").map(PathBuf::from) {
        Some(folder) if folder.is_absolute() => folder,
        Some(_) | None => env::home_dir()?.join(".config"),
    };
    Some(folder.join("git-axiom").join("config.toml"))
}

/// Loads the configuration for a repository; `command_line` are keys (`section.name`) with their values.
///
/// # Errors
/// `CONFIG_INVALID`, with the file or setting; `IO_FAILED`, `GIT_FAILED`.
pub fn load(repo: &Repository, command_line: Vec<(String, String)>) -> Result<Loaded> {
    let mut layers = Layers { user_file: None, git: from_git(repo)?, command_line };
    if let Some(path) = user_file()
        && let Some(bytes) = files::read_optional(&path, MAX_FILE)?
    {
        let text = String::from_utf8(bytes)
            .map_err(|e| Error::new(Code::ConfigInvalid, format!("'{}' is not UTF-8", path.display())).because(e))?;
        layers.user_file = Some((path, text));
    }
    config::load(&layers)
}

/// The values of `git config` below `axiom.`, also those of the caller's `git -c`.
fn from_git(repo: &Repository) -> Result<Vec<GitEntry>> {
    if repo.config_lacks_section("axiom") {
        return Ok(Vec::new());
    }
    let output = repo.git().args(["config", "--null", "--show-origin", "--get-regexp", r"^axiom\."]).run()?;
    // Exit 1: no such value.
    if output.code == Some(1) {
        return Ok(Vec::new());
    }
    if !output.ok() {
        return Err(output.error());
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let mut parts = text.split('\0');
    let mut entries = Vec::new();
    while let (Some(origin), Some(entry)) = (parts.next(), parts.next()) {
        let (key, value) = match entry.split_once('\n') {
            Some((key, value)) => (key, Some(value.to_owned())),
            None => (entry, None),
        };
        let origin = origin.strip_prefix("file:").unwrap_or(origin).trim_end_matches(':');
        entries.push(GitEntry { origin: origin.to_owned(), key: key.to_owned(), value });
    }
    Ok(entries)
}

impl Context {
    /// Loads the configuration; until then the defaults apply. Returns notes for the user: that the repository's own file is
    /// not applied.
    ///
    /// # Errors
    /// As [`load`].
    pub fn load_config(&mut self, command_line: Vec<(String, String)>) -> Result<Vec<String>> {
        let loaded = load(&self.repo, command_line)?;
        self.found.unapproved_verify = unapproved_verify(&self.repo, &loaded)?;
        self.config = loaded.config;
        repository_file_note(&self.repo)
    }
}

/// The path of the repository's own configuration, where it sets `merge.verify` and neither git's configuration nor the
/// command line does. Commands that nobody approved are not run; but a verification that the repository demands is not
/// skipped silently either.
fn unapproved_verify(repo: &Repository, loaded: &Loaded) -> Result<Option<PathBuf>> {
    let is_ours = loaded.settings.iter().any(|(name, setting)| {
        name == "merge.verify" && matches!(setting.source, config::Source::Git(_) | config::Source::CommandLine)
    });
    let path = repo.worktrees().main_worktree()?.path().join(".axiom/config.toml");
    if is_ours {
        return Ok(None);
    }
    let Some(bytes) = files::read_small(&path, MAX_FILE)?.content() else { return Ok(None) };
    let text = String::from_utf8_lossy(&bytes);
    // A file that is not TOML could not be applied even if it were approved.
    let entries = config::file_entries(&path, &text).unwrap_or_default();
    let wants = entries.iter().any(|(name, place)| name == "merge.verify" && place.value != serde_json::json!([]));
    Ok(wants.then_some(path))
}

/// A note where the repository has a configuration file: nothing from a clone is applied without approval.
///
/// # Errors
/// As `Worktrees::main_worktree`.
pub fn repository_file_note(repo: &Repository) -> Result<Vec<String>> {
    let path = repo.worktrees().main_worktree()?.path().join(".axiom/config.toml");
    if !path.is_file() {
        return Ok(Vec::new());
    }
    Ok(vec![format!("note: '{}' is ignored, since it cannot be approved yet; use 'git config axiom.…'", path.display())])
}
