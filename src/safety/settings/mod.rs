//! Changing the configuration: a layer's whole text in the user's editor (`editing`), a file made anew (`config_reset`), and the files that a
//! project begins with (`shared`). Which keys there are is in `config`.

pub mod config_reset;
pub mod editing;
pub mod hide_refs;
mod layer_files;
pub mod shared;
pub mod trust;

use crate::config;
use crate::config::GitConfigValue;
use crate::context::{Repository, config_files, configure, stand_in};
use axiom_base::error::Result;

/// A layer of the configuration that can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WritableLayer {
    /// The user's file.
    User,
    /// The project's file in the main worktree.
    Project,
    /// `git config` of this repository.
    Local,
}

impl WritableLayer {
    /// The word of the option that chooses it, without the dashes.
    pub const fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "repo",
            Self::Local => "local",
        }
    }
}

/// The content of a layer.
#[derive(Debug, Clone)]
enum LayerContent {
    /// The text of a file; `None` for no file.
    Text(Option<Vec<u8>>),
    /// The keys, as git prints them, and values of this repository's own file.
    Git(Vec<(String, Option<String>)>),
}

/// Refuses a new content of a layer with which the whole configuration does not fit together, while it does with the old one.
fn fits(repo: Option<&Repository>, layer: WritableLayer, old: &LayerContent, new: &LayerContent) -> Result<()> {
    let with = |content: &LayerContent| -> Result<Option<axiom_base::error::Error>> {
        let project = match (layer, content) {
            (WritableLayer::Project, LayerContent::Text(text)) => text.as_deref(),
            (WritableLayer::User | WritableLayer::Project | WritableLayer::Local, _) => None,
        };
        let (mut layers, _) = configure::layers(
            &stand_in::users(),
            repo,
            project.map_or(configure::EffectiveProjectConfig::Nothing, configure::EffectiveProjectConfig::All),
        )?;
        match (layer, content) {
            (WritableLayer::User, LayerContent::Text(text)) => {
                let read = |(path, bytes): (_, &[u8])| config_files::as_text(path, bytes).ok();
                layers.user_file = config_files::user_file().zip(text.as_deref()).and_then(read);
            }
            (WritableLayer::Local, LayerContent::Git(entries)) => {
                let own = repo.map(|repo| repo.settings().own_config_file().display().to_string()).unwrap_or_default();
                layers.git.retain(|entry| entry.origin != own);
                layers.git.extend(as_entries(entries, &own));
            }
            (WritableLayer::User | WritableLayer::Project | WritableLayer::Local, _) => {}
        }
        Ok(config::check(&config::load_usable(&layers)?.loaded.config).err())
    };
    match (with(old)?, with(new)?) {
        (_, None) => Ok(()),
        (Some(was), Some(is)) if was.to_string() == is.to_string() => Ok(()),
        (_, Some(is)) => Err(is),
    }
}

fn as_entries(entries: &[(String, Option<String>)], origin: &str) -> Vec<GitConfigValue> {
    let entry = |(key, value): &(String, Option<String>)| GitConfigValue {
        origin: origin.to_owned(),
        key: key.clone(),
        value: value.clone(),
    };
    entries.iter().map(entry).collect()
}
