//! A configuration file that begins anew: from its backup, or empty. What was in it is kept first, outside the repository. Nothing is
//! written before it was asked for.

use std::path::{Path, PathBuf};

use super::WritableLayer;
use super::layer_files::{self, LayerFile};
use crate::config;
use crate::context::stand_in;
use crate::context::stand_in::EffectiveUserConfig;
use crate::context::{Repository, trust};
use axiom_base::error::{Code, Error, Result};
use axiom_store::beside::config_backup;

/// What takes the place of a file's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigResetSource {
    /// Its backup: of the user's file what was in it when it last loaded, of the project's what a human approved.
    Backup,
    /// Nothing: the defaults count.
    Nothing,
}

/// What would be done.
#[derive(Debug)]
pub struct ConfigResetPlan {
    place: LayerFile,
    name: &'static str,
    before: Option<Vec<u8>>,
    after: Vec<u8>,
}

/// The files that cannot be read as a configuration, each with the reason.
pub fn broken(repo: Option<&Repository>) -> Vec<(WritableLayer, Error)> {
    let of_user = match stand_in::users() {
        EffectiveUserConfig::Backup(_, why) | EffectiveUserConfig::Broken(why) => Some((WritableLayer::User, why)),
        EffectiveUserConfig::Nothing | EffectiveUserConfig::AsItIs(_) => None,
    };
    let of_project = repo.and_then(|repo| stand_in::of_project(repo).1).map(|why| (WritableLayer::Project, why));
    of_user.into_iter().chain(of_project).collect()
}

/// Plans what takes the place of a layer's file. Writes nothing.
pub fn plan(repo: Option<&Repository>, layer: WritableLayer, from: ConfigResetSource) -> Result<ConfigResetPlan> {
    let name = match layer {
        WritableLayer::User => "user",
        WritableLayer::Project => "project",
        WritableLayer::Local => return Err(Error::new(Code::Internal, "git's configuration has no backup")),
    };
    let missing = || Error::new(Code::Internal, "the layer has no file");
    let place = layer_files::file_of(repo, layer)?.ok_or_else(missing)?;
    let after = match from {
        ConfigResetSource::Nothing => Vec::new(),
        ConfigResetSource::Backup => match layer {
            WritableLayer::User => stand_in::backup_of_users()?.map(|(_, text)| text.into_bytes()).ok_or_else(no_backup)?,
            WritableLayer::Project | WritableLayer::Local => approved(layer_files::owned(repo)?, &place.path)?,
        },
    };
    let before = if place.is_missing()? { None } else { place.open()?.read()? };
    Ok(ConfigResetPlan { place, name, before, after })
}

/// The project's configuration as it was approved; a revoked approval is none.
fn approved(repo: &Repository, path: &Path) -> Result<Vec<u8>> {
    let nothing = || {
        Error::new(Code::NoBackup, "no content of the project's configuration is approved")
            .hint("git axiom config edit --repo    opens it; then git axiom trust")
    };
    let files = trust::approved(repo)?.map(|approval| approval.files()).unwrap_or_default();
    let bytes = files.config().ok_or_else(nothing)?;
    config::file_entries(path, &String::from_utf8_lossy(bytes)).map(|_| bytes.to_vec())
}

fn no_backup() -> Error {
    Error::new(Code::NoBackup, "there is no backup of your configuration: it never loaded")
        .hint("git axiom config edit --user    opens it in your editor")
        .hint("git axiom config reset --user    begins an empty one")
}

impl ConfigResetPlan {
    /// The file.
    pub fn path(&self) -> &Path {
        &self.place.path
    }

    /// Whether anything would be different.
    pub fn is_change(&self) -> bool {
        self.before.as_deref().unwrap_or_default() != self.after
    }

    /// The content that it would have.
    pub fn after(&self) -> &[u8] {
        &self.after
    }

    /// Does it. Returns where the old content is kept; `None` where there was none. A crash leaves the old or the new content.
    pub fn carry_out(&self) -> Result<Option<PathBuf>> {
        if !self.is_change() {
            return Ok(None);
        }
        let file = self.place.open()?;
        let old = self.before.as_deref().filter(|bytes| !bytes.is_empty());
        let kept = old.map(|bytes| config_backup::put_aside(self.name, bytes)).transpose()?;
        file.replace(self.before.as_deref(), &self.after)?;
        Ok(kept)
    }
}
