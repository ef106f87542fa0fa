//! Setting and removing one key of a layer. Everything is checked before anything is written.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::place::{self, Place};
use super::{Content, Layer, fits};
use crate::config::edit::{self, Change};
use crate::config::named::{self, Named};
use crate::config::{self, Setting, Source};
use crate::error::{Code, Error, Result};
use crate::ops::context::configure::Trusted;
use crate::ops::context::trust::Trust;
use crate::ops::context::{Repository, configure, stand_in};

/// What was done.
#[derive(Debug)]
pub struct Changed {
    /// The key, in its own spelling.
    pub key: String,
    /// The file that holds it.
    pub path: PathBuf,
    /// The value that the layer had; null for none.
    pub before: Value,
    /// The value that it has now; null for none.
    pub value: Value,
    /// What counts now over all layers; `None` where that is not known.
    pub counts: Option<Setting>,
    /// Whether a human has to approve the project's files before the change counts.
    pub waits: bool,
}

impl Changed {
    /// Whether anything is different now.
    pub fn is_change(&self) -> bool {
        self.before != self.value
    }
}

/// Gives a key of a layer these values. On disk when this returns; a crash leaves the old or the new content.
///
/// # Errors
/// `INVALID_INPUT` for an unknown key or a value that it does not take; `CONFIG_INVALID` for a
/// file that cannot be parsed, and where the configuration would not fit together; `IN_THE_WAY`, `TOO_LARGE`,
/// `CHANGED_MEANWHILE`, `BUSY`, `GIT_LOCKED`, `IO_FAILED`, `DISK_FULL`. Then nothing was written.
pub fn set(repo: Option<&Repository>, layer: Layer, name: &str, values: &[String]) -> Result<Changed> {
    let key = named::to_set(name)?;
    acceptable(&key, values)?;
    let (path, before, value) = match place::file_of(repo, layer)? {
        Some(place) => {
            let value = key.key.kind.as_in_a_file(values);
            let parts: Vec<String> = key.parts().into_iter().map(str::to_owned).collect();
            let (path, before) = in_file(repo, layer, &place, &parts, &Change::Set(value.clone()))?;
            (path, before, value)
        }
        None => in_git(place::owned(repo)?, &format!("axiom.{}", key.path), values, Some(&key))?,
    };
    done(repo, layer, Changed { key: key.path, path, before, value, counts: None, waits: false })
}

/// Removes a key from a layer; also one that is no key. No error where it is not there.
///
/// # Errors
/// As [`set`].
pub fn unset(repo: Option<&Repository>, layer: Layer, name: &str) -> Result<Changed> {
    let (key, path, before) = match place::file_of(repo, layer)? {
        Some(place) if place.is_missing()? => (named::to_set(name)?.path, place.path, Value::Null),
        Some(place) => {
            let file = place.open()?;
            let text = text_of(file.path(), file.read()?.as_deref().unwrap_or_default(), layer)?;
            let there = edit::names_in(file.path(), &text).map_err(|error| way_out(error, layer))?;
            drop(file);
            let key = written_as(name, there.into_iter())?;
            let parts: Vec<String> = match named::to_set(&key) {
                Ok(named) => named.parts().into_iter().map(str::to_owned).collect(),
                Err(_) => key.split('.').map(str::to_owned).collect(),
            };
            let (path, before) = in_file(repo, layer, &place, &parts, &Change::Unset)?;
            (key, path, before)
        }
        None => {
            let repo = place::owned(repo)?;
            let there = repo.settings_in(&repo.own_config()?)?.into_iter();
            let key = written_as(name, there.map(|(key, _)| key.get("axiom.".len()..).unwrap_or_default().to_owned()))?;
            let known = named::to_set(&key).ok();
            let (path, before, _) = in_git(repo, &format!("axiom.{key}"), &[], known.as_ref())?;
            (known.map_or(key, |known| known.path), path, before)
        }
    };
    done(repo, layer, Changed { key, path, before, value: Value::Null, counts: None, waits: false })
}

/// Checks values by the type of their key.
fn acceptable(key: &Named, values: &[String]) -> Result<()> {
    let kind = key.key.kind;
    if !kind.is_list() && (values.len() != 1 || values == [""]) {
        let what = match values.len() {
            1 => format!("an empty text is no value of '{}'", key.path),
            count => format!("'{}' takes one value, and {count} are given", key.path),
        };
        return Err(Error::new(Code::InvalidInput, what)
            .hint(format!("it takes {}", kind.expects()))
            .hint(format!("git axiom config unset {}    removes it", key.path)));
    }
    let refused = |error: Error| Error::new(Code::InvalidInput, error.what()).hints_of(error.hints().to_vec());
    kind.accept_text(&key.path, values).map(drop).map_err(refused)
}

/// The spelling of a key in a layer, or else its own.
fn written_as(name: &str, there: impl Iterator<Item = String>) -> Result<String> {
    let there: Vec<String> = there.collect();
    let exact = there.iter().find(|one| *one == name);
    match exact.or_else(|| there.iter().find(|one| one.eq_ignore_ascii_case(name))) {
        Some(found) => Ok(found.clone()),
        None => named::to_set(name).map(|named| named.path),
    }
}

fn text_of(path: &Path, bytes: &[u8], layer: Layer) -> Result<String> {
    configure::as_text(path.to_owned(), bytes).map_err(|error| way_out(error, layer))?;
    // With its byte order mark.
    Ok(String::from_utf8_lossy(bytes).into_owned())
}

fn way_out(error: Error, layer: Layer) -> Error {
    error.hint(match layer {
        Layer::User => "git axiom config edit --user    opens it in your editor",
        Layer::Project => "git axiom config edit --repo    opens it in your editor",
        Layer::Local => "git axiom config edit --local    opens it in your editor",
    })
}

/// Changes a key in a file. Returns the file and the value that it had.
fn in_file(
    repo: Option<&Repository>,
    layer: Layer,
    place: &Place,
    parts: &[String],
    change: &Change,
) -> Result<(PathBuf, Value)> {
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let plan = |path: &Path, bytes: Option<&[u8]>| -> Result<(String, Value)> {
        let text = text_of(path, bytes.unwrap_or_default(), layer)?;
        let before = edit::value_in(path, &text, &parts.join(".")).map_err(|error| way_out(error, layer))?;
        let new = edit::edited(path, &text, &parts, change).map_err(|error| way_out(error, layer))?;
        let content = |bytes: Option<&[u8]>| Content::Text(bytes.map(<[u8]>::to_vec));
        fits(repo, layer, &content(bytes), &content(Some(new.as_bytes())))?;
        Ok((new, before.unwrap_or(Value::Null)))
    };
    if place.is_missing()? {
        // Before its folder is made.
        plan(&place.path, None)?;
    }
    let file = place.open()?;
    let bytes = file.read()?;
    let (new, before) = plan(file.path(), bytes.as_deref())?;
    if new.as_bytes() != bytes.as_deref().unwrap_or_default() {
        file.replace(bytes.as_deref(), new.as_bytes())?;
    }
    Ok((file.path().to_owned(), before))
}

/// Changes a key of this repository's own git configuration. Returns the file, the value that it had, and the one that it has.
fn in_git(repo: &Repository, key: &str, values: &[String], known: Option<&Named>) -> Result<(PathBuf, Value, Value)> {
    let old = repo.settings_in(&repo.own_config()?)?;
    let others = old.iter().filter(|(one, _)| !one.eq_ignore_ascii_case(key)).cloned();
    let new = others.chain(values.iter().map(|value| (key.to_owned(), Some(value.clone())))).collect();
    fits(Some(repo), Layer::Local, &Content::Git(old), &Content::Git(new))?;
    let had = repo.change_own_setting(key, values)?;
    let value = |texts: &[String]| match (texts, known) {
        ([], _) => Value::Null,
        (texts, Some(known)) => known.key.kind.as_in_a_file(texts),
        (texts, None) => Value::from(texts.join("\n")),
    };
    Ok((repo.own_config_file(), value(&had), value(values)))
}

/// Looks at what counts now.
fn done(repo: Option<&Repository>, layer: Layer, changed: Changed) -> Result<Changed> {
    let (loaded, waits) = match repo {
        Some(repo) => {
            // What is known of the repository is from before the change.
            let main = repo.worktrees().main_worktree().ok();
            let now = Repository::discover(main.as_ref().map_or(repo.common_dir(), |main| main.path()))?;
            let Trusted { usable, trust, .. } = configure::load_trusted(&now, Vec::new())?;
            let waits = match trust {
                Trust::Nothing | Trust::Approved(_) => false,
                Trust::Waiting { .. } | Trust::Unusable { .. } => layer == Layer::Project,
            };
            (usable.loaded, waits)
        }
        None => {
            let (layers, _) = configure::layers(&stand_in::users(), None, configure::OfProject::Nothing)?;
            (config::load_usable(&layers)?.loaded, false)
        }
    };
    let counts = loaded.settings.into_iter().find(|(name, _)| *name == changed.key).map(|(_, setting)| setting);
    Ok(Changed { counts, waits, ..changed })
}

/// Whether what counts now is this value of a layer, whatever units it was written in; for a key that was removed, the default.
pub fn is_what_counts(changed: &Changed) -> bool {
    if changed.value.is_null() {
        return changed.counts.as_ref().is_none_or(|counts| counts.source == Source::Default);
    }
    let accepted = named::to_set(&changed.key).ok().and_then(|key| key.key.kind.accept(&changed.key, changed.value.clone()).ok());
    changed.counts.as_ref().is_none_or(|counts| accepted.is_none_or(|value| value == counts.value))
}
