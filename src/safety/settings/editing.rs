//! A layer's whole text in the user's editor: on a copy, which takes the place of the file only when it can be used.

use std::path::{Path, PathBuf};

use super::layer_files::{self, LayerFile};
use super::{LayerContent, WritableLayer, as_entries, fits};
use crate::config;
use crate::config::ConfigLayers;
use crate::context::{Repository, config_files};
use crate::user_programs::editor;
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_base::files::SmallFile;

/// A copy of a layer's text while it is edited. It stays where it is if it cannot be used.
#[derive(Debug)]
pub struct ConfigDraft<'r> {
    repo: Option<&'r Repository>,
    layer: WritableLayer,
    /// The file of the layer.
    file: PathBuf,
    copy: PathBuf,
    before: Option<Vec<u8>>,
}

impl<'r> ConfigDraft<'r> {
    /// Copies the text of a layer into a private file of the temporary folder.
    pub fn begin(repo: Option<&'r Repository>, layer: WritableLayer) -> Result<Self> {
        let (file, before, end) = match layer_files::file_of(repo, layer)? {
            Some(place) if place.is_missing()? => (place.path, None, ".toml"),
            Some(place) => {
                let opened = place.open()?;
                (opened.path().to_owned(), opened.read()?, ".toml")
            }
            None => {
                let repo = layer_files::owned(repo)?;
                (repo.settings().own_config_file(), Some(repo.settings().own_config()?), "")
            }
        };
        let copy = env::temp_dir().join(format!("axiom-config-{}{end}", env::fresh_id()));
        files::create_new(&copy, before.as_deref().unwrap_or_default())?;
        Ok(Self { repo, layer, file, copy, before })
    }

    /// The file of the layer.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The copy.
    pub fn copy(&self) -> &Path {
        &self.copy
    }

    /// Lets the user edit the copy, with the editor that git uses in `folder`.
    pub fn edit(&self, folder: &Path) -> Result<()> {
        editor::open(folder, self.copy.as_os_str())
    }

    /// What is wrong with the text; `None` where it can be used.
    pub fn problem(&self) -> Result<Option<Error>> {
        match self.checked(&self.text()?) {
            Ok(()) => Ok(None),
            Err(error) if matches!(error.code(), Code::IoFailed | Code::DiskFull | Code::GitMissing) => Err(error),
            Err(error) => Ok(Some(error)),
        }
    }

    /// Puts the text in the place of the file, and removes the copy. Returns whether it differs from what was there.
    pub fn save(&self) -> Result<bool> {
        let text = self.text()?;
        let is_new = text != self.before.as_deref().unwrap_or_default();
        if is_new {
            self.replace(&text)?;
        }
        self.discard();
        Ok(is_new)
    }

    /// Removes the copy.
    pub fn discard(&self) {
        if let Err(error) = files::remove_file(&self.copy) {
            tracing::warn!(%error, "a draft was left");
        }
    }

    /// Whether the user has changed the copy.
    pub fn is_touched(&self) -> bool {
        self.text().map_or(true, |text| text != self.before.as_deref().unwrap_or_default())
    }

    fn text(&self) -> Result<Vec<u8>> {
        match files::read_small_of_user(&self.copy, config_files::MAX_FILE)? {
            SmallFile::Content(bytes) => Ok(bytes),
            // An editor that removed it has saved nothing, least of all an empty file.
            SmallFile::Nothing => {
                let what = format!("'{}' is gone, so nothing is changed", self.copy.display());
                Err(Error::new(Code::IoFailed, what).hint("save the file in the editor, and edit it again"))
            }
            SmallFile::Odd(what) => Err(Error::new(Code::InvalidInput, format!("'{}' is {what}", self.copy.display()))),
        }
    }

    fn replace(&self, text: &[u8]) -> Result<()> {
        match layer_files::file_of(self.repo, self.layer)? {
            Some(place) => LayerFile::open(&place)?.replace(self.before.as_deref(), text),
            None => match layer_files::owned(self.repo)?
                .settings()
                .replace_own_config(self.before.as_deref().unwrap_or_default(), text)?
            {
                true => Ok(()),
                false => {
                    Err(Error::new(Code::ChangedMeanwhile, format!("'{}' was changed by somebody else", self.file.display())))
                }
            },
        }
    }

    fn checked(&self, text: &[u8]) -> Result<()> {
        let is_empty = |text: &[u8]| text.iter().all(u8::is_ascii_whitespace);
        if is_empty(text) && !is_empty(self.before.as_deref().unwrap_or_default()) {
            // An editor that could not write leaves that, too.
            return Err(Error::new(Code::ConfigInvalid, format!("nothing is left of '{}'", self.file.display()))
                .hint("git axiom config reset    empties it"));
        }
        let (layers, old, new) = match self.layer {
            WritableLayer::User | WritableLayer::Project => {
                let file = config_files::as_text(self.file.clone(), text)?;
                let content = |bytes: Option<&[u8]>| LayerContent::Text(bytes.map(<[u8]>::to_vec));
                let layers = ConfigLayers { user_file: Some(file), ..ConfigLayers::default() };
                (layers, content(self.before.as_deref()), content(Some(text)))
            }
            WritableLayer::Local => {
                let repo = layer_files::owned(self.repo)?;
                let entries = repo.settings().settings_in(text)?;
                let format = |text: &[u8]| repo.settings().format_in(text);
                if format(text)? != format(self.before.as_deref().unwrap_or_default())? {
                    let what = format!("'{}' would say something else of the repository's format", self.file.display());
                    return Err(Error::new(Code::ConfigInvalid, what)
                        .why("core.repositoryFormatVersion, core.bare, core.worktree and extensions.* are not edited here")
                        .hint("put them back as they were"));
                }
                let before = repo.settings().settings_in(self.before.as_deref().unwrap_or_default()).unwrap_or_default();
                let git = as_entries(&entries, &self.file.display().to_string());
                (ConfigLayers { git, ..ConfigLayers::default() }, LayerContent::Git(before), LayerContent::Git(entries))
            }
        };
        let usable = config::load_usable(&layers)?;
        // What does not fit together may do so with the other layers.
        let apart = config::check(&usable.loaded.config).err().map(|error| error.to_string());
        if let Some(error) = usable.problems.into_iter().find(|error| Some(error.to_string()) != apart) {
            return Err(error);
        }
        fits(self.repo, self.layer, &old, &new)
    }
}
