//! Changing the configuration: a layer's whole text in the user's editor (`editing`), a file made anew (`anew`), and the files that a
//! project begins with (`shared`). Which keys there are is in `config`.

pub mod anew;
pub mod editing;
mod place;
pub mod shared;

use crate::config::{self, GitEntry};
use crate::error::Result;
use crate::ops::context::{Repository, configure, stand_in};

/// A layer of the configuration that can be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layer {
    /// The user's file.
    User,
    /// The project's file in the main worktree.
    Project,
    /// `git config` of this repository.
    Local,
}

impl Layer {
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
enum Content {
    /// The text of a file; `None` for no file.
    Text(Option<Vec<u8>>),
    /// The keys, as git prints them, and values of this repository's own file.
    Git(Vec<(String, Option<String>)>),
}

/// Refuses a new content of a layer with which the whole configuration does not fit together, while it does with the old one.
///
/// # Errors
/// `CONFIG_INVALID`; `GIT_FAILED`.
fn fits(repo: Option<&Repository>, layer: Layer, old: &Content, new: &Content) -> Result<()> {
    let with = |content: &Content| -> Result<Option<crate::error::Error>> {
        let project = match (layer, content) {
            (Layer::Project, Content::Text(text)) => text.as_deref(),
            (Layer::User | Layer::Project | Layer::Local, _) => None,
        };
        let (mut layers, _) = configure::layers(
            &stand_in::users(),
            repo,
            project.map_or(configure::OfProject::Nothing, configure::OfProject::All),
        )?;
        match (layer, content) {
            (Layer::User, Content::Text(text)) => {
                let read = |(path, bytes): (_, &[u8])| configure::as_text(path, bytes).ok();
                layers.user_file = configure::user_file().zip(text.as_deref()).and_then(read);
            }
            (Layer::Local, Content::Git(entries)) => {
                let own = repo.map(|repo| repo.own_config_file().display().to_string()).unwrap_or_default();
                layers.git.retain(|entry| entry.origin != own);
                layers.git.extend(as_entries(entries, &own));
            }
            (Layer::User | Layer::Project | Layer::Local, _) => {}
        }
        Ok(config::check(&config::load_usable(&layers)?.loaded.config).err())
    };
    match (with(old)?, with(new)?) {
        (_, None) => Ok(()),
        (Some(was), Some(is)) if was.to_string() == is.to_string() => Ok(()),
        (_, Some(is)) => Err(is),
    }
}

fn as_entries(entries: &[(String, Option<String>)], origin: &str) -> Vec<GitEntry> {
    let entry =
        |(key, value): &(String, Option<String>)| GitEntry { origin: origin.to_owned(), key: key.clone(), value: value.clone() };
    entries.iter().map(entry).collect()
}
