//! Loading the layers of the configuration: the user's file, the project's file, git's configuration, the command line.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::config_files::{as_text, project_file};
use super::handle::Context;
use super::handle::DefaultAgentChoice;
use super::stand_in::{self, EffectiveUserConfig};
use super::trust::ProjectTrust;
use crate::config;
use crate::config::{ConfigLayers, EffectiveConfig, GitConfigValue, UsableConfig};
use crate::context::approved_hooks::RepositoryHooks;
use crate::context::session_hooks;
use crate::context::session_hooks::SessionHooks;
use crate::project_hooks::project_files::{CONFIG, ProjectFiles, SHARED};
use axiom_base::error::{Error, Result};
use axiom_git::Repository;
use axiom_model::state::event::Event;
use axiom_model::state::event_envelope::EventAuthor;

/// What counts of the project's configuration.
#[derive(Debug, Clone, Copy)]
pub enum EffectiveProjectConfig<'c> {
    /// Nothing.
    Nothing,
    /// This file.
    All(&'c [u8]),
    /// This file as it was approved, in place of one that cannot be read.
    AsApproved(&'c [u8]),
    /// Only what this file, which was approved once, adds to lists that protect the user.
    WhatItAdds(&'c [u8]),
}

/// Loads what can be used of the configuration for a repository; what cannot is left out, and returned. `command_line` are keys
/// (`section.name`) with their values.
pub fn load_usable(
    repo: &Repository,
    project: EffectiveProjectConfig<'_>,
    command_line: Vec<(String, String)>,
) -> Result<UsableConfig> {
    load(&stand_in::users(), repo, project, command_line)
}

fn load(
    users: &EffectiveUserConfig,
    repo: &Repository,
    project: EffectiveProjectConfig<'_>,
    command_line: Vec<(String, String)>,
) -> Result<UsableConfig> {
    let (mut layers, unreadable) = layers(users, Some(repo), project)?;
    layers.command_line = command_line;
    let UsableConfig { loaded, problems } = config::load_usable(&layers)?;
    Ok(UsableConfig { loaded, problems: unreadable.into_iter().chain(problems).collect() })
}

/// What is in the layers; without a repository, the user's file alone. Also returns why a file could not be read.
pub fn layers(
    users: &EffectiveUserConfig,
    repo: Option<&Repository>,
    project: EffectiveProjectConfig<'_>,
) -> Result<(ConfigLayers, Vec<Error>)> {
    let mut layers = ConfigLayers { git: repo.map_or(Ok(Vec::new()), from_git)?, ..ConfigLayers::default() };
    let mut unreadable = Vec::new();
    match users {
        EffectiveUserConfig::Nothing => {}
        EffectiveUserConfig::AsItIs(file) | EffectiveUserConfig::Backup(file, _) => layers.user_file = Some(file.clone()),
        EffectiveUserConfig::Broken(why) => unreadable.push(why.again()),
    }
    let of_project = |repo, bytes| project_file(repo).and_then(|path| as_text(path, bytes));
    match (repo, project) {
        (None, _) | (_, EffectiveProjectConfig::Nothing) => {}
        (Some(repo), EffectiveProjectConfig::All(bytes)) => match of_project(repo, bytes) {
            Ok(file) => layers.project_file = Some(file),
            Err(error) => unreadable.push(error),
        },
        (Some(repo), EffectiveProjectConfig::AsApproved(bytes)) => {
            let (path, text) = of_project(repo, bytes)?;
            layers.project_file = Some((PathBuf::from(format!("{} (as approved)", path.display())), text));
        }
        // It could be read when it was approved.
        (Some(repo), EffectiveProjectConfig::WhatItAdds(bytes)) => layers.project_file_before = of_project(repo, bytes).ok(),
    }
    Ok((layers, unreadable))
}

/// The values of `git config` below `axiom.`, also those of the caller's `git -c`.
fn from_git(repo: &Repository) -> Result<Vec<GitConfigValue>> {
    if repo.settings().config_lacks_section("axiom") {
        return Ok(Vec::new());
    }
    if let Some(values) = repo.settings().values_with_origins("axiom") {
        let value = |(origin, key, value)| GitConfigValue { origin, key, value };
        return Ok(values.into_iter().map(value).collect());
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
        entries.push(GitConfigValue { origin: origin.to_owned(), key: key.to_owned(), value });
    }
    Ok(entries)
}

/// Loads what can be used of the configuration, with the project's where that is approved. What an approved one added to lists that
/// protect the user stays added until it is approved anew or revoked. Where a file cannot be read as a configuration, its backup
/// stands in; a configuration all of which can be used becomes the backup.
pub fn load_trusted(repo: &Repository, command_line: Vec<(String, String)>) -> Result<TrustedConfig> {
    read_trusted(repo, command_line, ConfigBackupUpdate::Kept)
}

/// Whether a configuration all of which can be used becomes the backup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ConfigBackupUpdate {
    Kept,
    AsItIs,
}

/// Why the configuration does not count as it is written, in words; changes nothing.
pub fn problem(repo: &Repository) -> Option<String> {
    match read_trusted(repo, Vec::new(), ConfigBackupUpdate::AsItIs) {
        Ok(TrustedConfig { usable, stood_in, trust: _ }) => {
            stood_in.into_iter().chain(usable.problems).next().map(|error| format!("{}: {error}", error.code()))
        }
        Err(error) => Some(format!("{}: {error}", error.code())),
    }
}

fn read_trusted(repo: &Repository, command_line: Vec<(String, String)>, backup: ConfigBackupUpdate) -> Result<TrustedConfig> {
    let (users, (trust, of_project)) = (stand_in::users(), stand_in::of_project(repo));
    let lapsed = trust.lapsed();
    let project = match &trust {
        ProjectTrust::Approved(files) if of_project.is_some() => files.config().map(EffectiveProjectConfig::AsApproved),
        ProjectTrust::Approved(files) => files.config().map(EffectiveProjectConfig::All),
        ProjectTrust::Nothing | ProjectTrust::Waiting { .. } | ProjectTrust::Unusable { .. } => {
            lapsed.as_ref().and_then(ProjectFiles::config).map(EffectiveProjectConfig::WhatItAdds)
        }
    };
    let usable = load(&users, repo, project.unwrap_or(EffectiveProjectConfig::Nothing), command_line)?;
    if usable.problems.is_empty() && backup == ConfigBackupUpdate::Kept {
        stand_in::keep_backup(&users);
    }
    let of_user = match users {
        EffectiveUserConfig::Backup(_, why) => Some(why),
        EffectiveUserConfig::Nothing | EffectiveUserConfig::AsItIs(_) | EffectiveUserConfig::Broken(_) => None,
    };
    Ok(TrustedConfig { usable, trust, stood_in: of_user.into_iter().chain(of_project).collect() })
}

/// What counts in a repository.
#[derive(Debug)]
pub struct TrustedConfig {
    /// The configuration.
    pub usable: UsableConfig,
    /// What counts of the project's files.
    pub trust: ProjectTrust,
    /// For each file that something stands in for, why: warnings of the code `CONFIG_BACKUP_RESTORED`.
    pub stood_in: Vec<Error>,
}

/// What the user is to be told of the configuration.
#[derive(Debug, Default)]
pub struct ConfigMessages {
    /// Files that something stands in for.
    pub warnings: Vec<Error>,
    /// What of it does not count.
    pub notes: Vec<String>,
}

impl Context {
    /// Loads the configuration; until then the defaults apply. Returns what the user is to be told: that the project's files are
    /// not applied.
    pub fn load_config(&mut self, command_line: Vec<(String, String)>) -> Result<ConfigMessages> {
        self.repo.worktrees().main_worktree()?;
        let TrustedConfig { usable, trust, stood_in } = load_trusted(&self.repo, command_line)?;
        self.take_config(usable.whole()?, &trust, !stood_in.is_empty());
        Ok(ConfigMessages { warnings: stood_in, notes: note_on(&self.repo, &trust).into_iter().collect() })
    }

    /// Records what stands in for a configuration file that cannot be read, once for each such content. Nothing depends on it, so
    /// where it cannot be recorded, the verb goes on.
    pub fn record_restored(&mut self, told: &ConfigMessages) {
        let all: Vec<String> = told.warnings.iter().map(|warning| warning.to_string()).collect();
        let what = all.join("; ");
        if what.is_empty() || self.state().record.config_restored.as_ref() == Some(&what) {
            return;
        }
        let recorded = self.in_its_own_transaction(EventAuthor::User, |ctx| ctx.append(Event::ConfigBackupRestored { what }));
        if let Err(error) = recorded {
            tracing::warn!(%error, "it is not recorded that a backup of the configuration counts");
        }
    }

    /// As [`Context::load_config`], for verbs that have to work whatever the configuration says: what cannot be used is left out
    /// and named in the notes.
    pub fn load_usable_config(&mut self) -> Result<ConfigMessages> {
        self.repo.worktrees().main_worktree()?;
        let TrustedConfig { usable: UsableConfig { loaded, problems }, trust, stood_in } = load_trusted(&self.repo, Vec::new())?;
        self.take_config(loaded, &trust, !problems.is_empty() || !stood_in.is_empty());
        let left_out = |error: &Error| format!("note: left out of the configuration, so nothing expires: {error}");
        let notes = problems.iter().map(left_out).chain(note_on(&self.repo, &trust)).collect();
        Ok(ConfigMessages { warnings: stood_in, notes })
    }

    /// `is_part`: something was left out of the configuration, or a backup stands in for it. What is left out, or not approved any
    /// more, may say that more is kept: so nothing expires.
    fn take_config(&mut self, loaded: EffectiveConfig, trust: &ProjectTrust, is_part: bool) {
        self.found.unapproved_verify = unapproved_verify(&self.repo, trust, &loaded);
        let agent = loaded.settings.iter().find(|(name, _)| name == "agents.default");
        self.found.agent_chosen = match agent.map(|(_, setting)| &setting.source) {
            None | Some(config::ConfigSource::Default) => DefaultAgentChoice::Nobody,
            Some(config::ConfigSource::CommandLine) => DefaultAgentChoice::ForThisCall,
            Some(config::ConfigSource::Git(origin)) if origin == "command line" => DefaultAgentChoice::ForThisCall,
            Some(config::ConfigSource::Git(_) | config::ConfigSource::File(..)) => DefaultAgentChoice::Configured,
        };
        self.found.nothing_expires = is_part || trust.has_lapsed();
        self.found.lapsed_keys = trust.lapsed().map(|files| keys_of(&self.repo, &files)).unwrap_or_default();
        self.config = loaded.config;
        self.hooks = RepositoryHooks::of(trust, &self.layout().trusted_dir());
    }

    /// Reads again which hooks are approved, where a human had to do that first: an approval may have come meanwhile.
    pub fn read_hooks_again(&mut self) {
        if self.hooks.wait_for_approval() {
            let now = RepositoryHooks::of(&stand_in::of_project(&self.repo).0, &self.layout().trusted_dir());
            self.hooks.read_again(now);
            if session_hooks::of_session(&self.repo).is_some() {
                session_hooks::say(self);
            }
        }
    }
}

/// The keys and values of a project's configuration, in its order; none where it cannot be parsed.
pub fn project_entries(repo: &Repository, bytes: &[u8]) -> Vec<(String, Value)> {
    let read = project_file(repo).and_then(|path| as_text(path, bytes));
    let entries = read.and_then(|(path, text)| config::file_entries(&path, &text)).unwrap_or_default();
    entries.into_iter().map(|(name, place)| (name, place.value)).collect()
}

fn keys_of(repo: &Repository, files: &ProjectFiles) -> Vec<String> {
    let entries = files.config().map(|bytes| project_entries(repo, bytes)).unwrap_or_default();
    entries.into_iter().map(|(name, _)| name).collect()
}

/// The path of the project's configuration, where it sets `merge.verify` or may do so, nobody approved it as it is, and neither
/// git's configuration nor the command line sets it. Commands that nobody approved are not run; but a verification that the
/// project demands, or demanded when it was approved, is not skipped silently either.
fn unapproved_verify(repo: &Repository, trust: &ProjectTrust, loaded: &EffectiveConfig) -> Option<PathBuf> {
    let is_ours = loaded.settings.iter().any(|(name, setting)| {
        name == "merge.verify" && matches!(setting.source, config::ConfigSource::Git(_) | config::ConfigSource::CommandLine)
    });
    let now_wants = match trust {
        ProjectTrust::Nothing | ProjectTrust::Approved(_) => false,
        ProjectTrust::Waiting { now, .. } => now.config().is_some_and(may_want_verify),
        // Nobody knows what it says.
        ProjectTrust::Unusable { .. } => true,
    };
    let wanted = trust.lapsed().is_some_and(|files| files.config().is_some_and(may_want_verify));
    let path = || project_file(repo).unwrap_or_else(|_| Path::new(SHARED).join(CONFIG));
    (!is_ours && (now_wants || wanted)).then(path)
}

/// Whether a configuration sets `merge.verify`, or cannot be read.
fn may_want_verify(bytes: &[u8]) -> bool {
    let read = as_text(PathBuf::new(), bytes).and_then(|(path, text)| config::file_entries(&path, &text));
    read.map_or(true, |entries| {
        entries.iter().any(|(name, place)| name == "merge.verify" && place.value != serde_json::json!([]))
    })
}

/// A note where the project's files are not applied.
pub fn note_on(repo: &Repository, trust: &ProjectTrust) -> Option<String> {
    let command = if matches!(trust, ProjectTrust::Waiting { .. }) { ": git axiom trust" } else { "" };
    why_not_applied(repo, trust).map(|why| format!("note: {why}{command}"))
}

/// Why the project's files are not applied, in words, and what a session does that runs.
pub fn why_not_applied(repo: &Repository, trust: &ProjectTrust) -> Option<String> {
    let why = match trust {
        ProjectTrust::Nothing | ProjectTrust::Approved(_) => return None,
        ProjectTrust::Waiting { before: None, .. } => {
            "nothing of the project's files is applied or run before you approve them".to_owned()
        }
        ProjectTrust::Waiting { before: Some(_), .. } => {
            "the project's files have changed, so nothing of them is applied or run".to_owned()
        }
        ProjectTrust::Unusable { why, .. } => format!("nothing of the project's files is applied or run: {why}"),
    };
    Some(match session_hooks::of_session(repo) {
        Some(SessionHooks::Approved) => format!("{why}; the session that runs goes on with the hooks with which it began"),
        Some(SessionHooks::Nothing | SessionHooks::Waiting) | None => why,
    })
}
