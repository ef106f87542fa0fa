//! What counts in place of a configuration file that cannot be read as one: of the user's file its backup, of the project's the content
//! that a human approved. The files themselves are left alone; `safety::settings::anew` replaces them when it is asked to.
//!
//! A file can be read as a configuration if it is UTF-8 and TOML. A key that is wrong in it is no reason: whoever wrote it is told.

use std::path::PathBuf;

use super::config_files::{MAX_FILE, as_text, project_file, user_file, users_text};
use super::trust::{self, ProjectTrust};
use crate::config;
use crate::project_hooks::project_files::{CONFIG, ProjectFileOrigin, ProjectFiles};
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_git::Repository;
use axiom_store::beside::config_backup;

/// A configuration file with its path and content.
pub type ConfigFileText = (PathBuf, String);

/// What counts of the user's own file.
#[derive(Debug)]
pub enum EffectiveUserConfig {
    /// There is none.
    Nothing,
    /// The file as it is.
    AsItIs(ConfigFileText),
    /// Its backup, for this reason.
    Backup(ConfigFileText, Error),
    /// Nothing: the file cannot be read, and neither can a backup.
    Broken(Error),
}

/// What counts of the user's own file. Whatever is in its place (a named pipe), nothing is waited for.
pub fn users() -> EffectiveUserConfig {
    let why = match user_file().map_or(Ok(None), |path| users_text(path).and_then(|file| file.map(readable).transpose())) {
        Ok(None) => return EffectiveUserConfig::Nothing,
        Ok(Some(file)) => return EffectiveUserConfig::AsItIs(file),
        Err(why) => why,
    };
    if why.is_everybodys() {
        return EffectiveUserConfig::Broken(why);
    }
    match backup_of_users() {
        Ok(Some(file)) => {
            EffectiveUserConfig::Backup(file, restored("your configuration cannot be read, so its backup counts", why, "--user"))
        }
        Ok(None) => EffectiveUserConfig::Broken(damaged(why)),
        Err(error) => EffectiveUserConfig::Broken(damaged(why).hint(error.to_string())),
    }
}

/// The backup of the user's own file, where there is one that can be read as a configuration.
pub fn backup_of_users() -> Result<Option<ConfigFileText>> {
    let (Some(path), Some(bytes)) = (config_backup::file(), config_backup::read(MAX_FILE)?) else { return Ok(None) };
    as_text(path, &bytes).and_then(readable).map(Some)
}

/// Makes a backup of the user's own file, all of which could be used. An empty file is none: a full disk or an editor that failed
/// leaves that, too. Work does not depend on it.
pub fn keep_backup(users: &EffectiveUserConfig) {
    let (path, text) = match users {
        EffectiveUserConfig::AsItIs(file) => file,
        EffectiveUserConfig::Nothing | EffectiveUserConfig::Backup(..) | EffectiveUserConfig::Broken(_) => return,
    };
    // A file of another user's, of whom this is the home, gets no backup that it could not replace.
    let is_ours = || files::foreign(path).is_ok_and(|foreign| foreign != Some(files::ForeignFileReason::Owned));
    if !text.trim().is_empty()
        && is_ours()
        && let Err(error) = config_backup::keep(text.as_bytes(), MAX_FILE)
    {
        tracing::warn!(%error, "there is no backup of the configuration");
    }
}

/// What counts of the project's files, and why something stands in for their configuration: where that alone differs from what a
/// human approved, and cannot be read, the approved content counts.
pub fn of_project(repo: &Repository) -> (ProjectTrust, Option<Error>) {
    match trust::trust(repo) {
        ProjectTrust::Waiting { now, before: Some(before) } => match broken(repo, &now) {
            Some(why) if without_config(&before.files()) == without_config(&now) && is_readable(repo, &before.files()) => {
                let what = "the project's configuration cannot be read, so what you approved counts";
                (ProjectTrust::Approved(before.files()), Some(restored(what, why, "--repo")))
            }
            Some(_) | None => (ProjectTrust::Waiting { now, before: Some(before) }, None),
        },
        other @ (ProjectTrust::Nothing
        | ProjectTrust::Approved(_)
        | ProjectTrust::Waiting { .. }
        | ProjectTrust::Unusable { .. }) => (other, None),
    }
}

/// Why the project's configuration cannot be read as one; `None` where it can, or there is none.
pub fn broken(repo: &Repository, files: &ProjectFiles) -> Option<Error> {
    let path = project_file(repo).ok()?;
    match files.config() {
        Some(bytes) => as_text(path, bytes).and_then(readable).err(),
        None if path.is_dir() => Some(Error::new(Code::ConfigInvalid, format!("'{}' is a folder", path.display()))),
        None => None,
    }
}

fn is_readable(repo: &Repository, files: &ProjectFiles) -> bool {
    files.config().is_some() && broken(repo, files).is_none()
}

/// All but the configuration, and what is in a folder of its name.
fn without_config(files: &ProjectFiles) -> ProjectFiles {
    let is_config = |path: &str| path.strip_prefix(CONFIG).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let others = files.iter().filter(|(place, _)| place.origin != ProjectFileOrigin::Shared || !is_config(&place.path));
    others.map(|(place, file)| (place.clone(), file.clone())).collect()
}

fn readable((path, text): ConfigFileText) -> Result<ConfigFileText> {
    config::file_entries(&path, &text)?;
    Ok((path, text))
}

fn restored(what: &str, why: Error, option: &str) -> Error {
    Error::new(Code::ConfigBackupRestored, what)
        .because(why)
        .hint(format!("git axiom config restore {option}    puts that in place of the broken file, which is kept"))
        .hint(format!("git axiom config edit {option}    opens the broken file"))
}

fn damaged(why: Error) -> Error {
    Error::new(Code::ConfigDamaged, "your configuration cannot be read, and there is no backup of it")
        .because(why)
        .hint("git axiom config edit --user    opens it in your editor")
        .hint("git axiom config reset --user    begins an empty one; the broken file is kept")
}
