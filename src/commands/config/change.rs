//! `git axiom config set` and `unset`.

use std::path::Path;

use clap::Args;
use serde::Serialize;
use serde_json::Value;

use super::{Into, TO_APPROVE, repository_if_any};
use crate::cli::screen::Screen;
use crate::cli::visible;
use crate::commands::grammar::arguments::Global;
use crate::error::{Exit, Result};
use crate::ops::context::Repository;
use crate::ops::settings::Layer;
use crate::ops::settings::change::{self, Changed};

/// Arguments of `config set`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  git axiom config set agents.count 4
  git axiom config set --user agents.default claude
  git axiom config set --user agents.mine.command -- my-agent --prompt '{prompt}'
  git axiom config set --repo merge.verify 'cargo test' 'cargo clippy'
  git axiom config set merge.verify ''

Several values are a list, which replaces the old one; '' alone is the empty list. Values that
begin with a dash come after --. A value that the key does not take is refused, and nothing is
written; 'git axiom config show' lists all keys.
Comments and the order of a file stay as they are. Where another layer wins, that is said. What
is written with --repo counts once you approved it anew: git axiom trust.")]
pub struct Set {
    #[command(flatten)]
    into: Into,
    /// The key, such as agents.count
    key: String,
    /// The value, or the values of a list
    #[arg(required = true, value_name = "VALUE")]
    values: Vec<String>,
}

/// Arguments of `config unset`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  git axiom config unset agents.count
  git axiom config unset --user agents.mine.command

It is no error if the layer does not have the key. A key that no version knows can be removed
too. A comment in the line of the key goes with it, comments above it stay.")]
pub struct Unset {
    #[command(flatten)]
    into: Into,
    /// The key, such as agents.count
    key: String,
}

#[derive(Serialize)]
struct ConfigChangeAnswer<'a> {
    key: &'a str,
    layer: &'static str,
    path: &'a Path,
    before: &'a Value,
    value: &'a Value,
    changed: bool,
    /// What counts now over all layers, and where it is from.
    effective: Option<&'a Value>,
    source: Option<String>,
}

/// Gives a key a value.
///
/// # Errors
/// As [`change::set`].
pub fn set(args: &Set, global: &Global, screen: &mut Screen) -> Result<Exit> {
    let layer = args.into.layer();
    let repo = repository_if_any(global, layer)?;
    let changed = change::set(repo.as_ref(), layer, &args.key, &args.values)?;
    let value = visible::line(&changed.value.to_string()).into_owned();
    let done = if changed.is_change() { "is now" } else { "was and is" };
    tell(layer, repo.as_ref(), &changed, &format!("{} {done} {value}", changed.key), screen)
}

/// Removes a key.
///
/// # Errors
/// As [`change::unset`].
pub fn unset(args: &Unset, global: &Global, screen: &mut Screen) -> Result<Exit> {
    let layer = args.into.layer();
    let repo = repository_if_any(global, layer)?;
    let changed = change::unset(repo.as_ref(), layer, &args.key)?;
    let done = if changed.is_change() { "is no longer set" } else { "was not set" };
    tell(layer, repo.as_ref(), &changed, &format!("{} {done}", changed.key), screen)
}

fn tell(layer: Layer, repo: Option<&Repository>, changed: &Changed, what: &str, screen: &mut Screen) -> Result<Exit> {
    let answer = ConfigChangeAnswer {
        key: &changed.key,
        layer: layer.word(),
        path: &changed.path,
        before: &changed.before,
        value: &changed.value,
        changed: changed.is_change(),
        effective: changed.counts.as_ref().map(|counts| &counts.value),
        source: changed.counts.as_ref().map(|counts| counts.source.to_string()),
    };
    screen.answer(&answer, || format!("{what} in {}\n", changed.path.display()))?;
    if changed.waits {
        screen.note(TO_APPROVE);
    } else if let Some(counts) = changed.counts.as_ref().filter(|_| repo.is_some() && !change::is_what_counts(changed)) {
        let source = &counts.source;
        screen.note(&format!("note: what counts here is {}, from another layer: {source}", counts.value));
    }
    Ok(Exit::Done)
}
