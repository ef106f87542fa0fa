//! `git axiom config …`: what counts is shown here; keys are written in `change`, whole texts in `editing`.

mod change;
mod editing;

use clap::{Args, Subcommand};
use serde::Serialize;

use super::repository;
use crate::cli::screen::{Screen, table};
use crate::cli::words;
use crate::commands::grammar::arguments::Global;
use crate::config::keys::KEYS;
use crate::config::{self, Setting, Source, Usable};
use crate::error::{Code, Exit, Result};
use crate::ops::context::{Repository, configure, placement};
use crate::ops::settings::Layer;

/// Verbs on the configuration.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Layers, later wins: built-in defaults; ~/.config/git-axiom/config.toml (or below
XDG_CONFIG_HOME); the project's .axiom/config.toml in the main worktree, once you approved it
with 'git axiom trust'; git config axiom.SECTION.KEY, git -c too; options of the command.

--user, --repo and --local choose the layer that set, unset and edit write: the first, the
second or the third of these. Without them it is --local, this repository's git config.")]
pub enum Config {
    /// Show every value and its source
    Show(Show),
    /// Check that all layers can be used
    Check {},
    /// Give a key a value in one layer
    Set(change::Set),
    /// Remove a key from one layer
    Unset(change::Unset),
    /// Edit a layer's whole text in your editor
    Edit(editing::Edit),
}

/// Which layer is written.
#[derive(Debug, Clone, Copy, Args)]
#[group(multiple = false)]
pub struct Into {
    /// Write your own file, ~/.config/git-axiom/config.toml (or below XDG_CONFIG_HOME)
    #[arg(long)]
    user: bool,
    /// Write the project's .axiom/config.toml in the main worktree
    #[arg(long)]
    repo: bool,
    /// Write this repository's git config; this is the default
    #[arg(long)]
    local: bool,
}

impl Into {
    fn layer(self) -> Layer {
        match self {
            Self { user: true, .. } => Layer::User,
            Self { repo: true, .. } => Layer::Project,
            Self { user: false, repo: false, local: _ } => Layer::Local,
        }
    }
}

/// The repository; `None` outside of any, where only the user's own file can be written.
fn repository_if_any(global: &Global, layer: Layer) -> Result<Option<Repository>> {
    let found = repository(global).and_then(|repo| placement::recall_main(&repo).map(|()| repo));
    match (found, layer) {
        (Ok(repo), _) => Ok(Some(repo)),
        (Err(error), Layer::User) if error.code() == Code::NotARepository => Ok(None),
        (Err(error), _) => Err(error),
    }
}

/// What is to be done with the project's files, once they were written.
const TO_APPROVE: &str = "note: nothing of the project's files is applied before they are approved anew: git axiom trust";

/// Arguments of `config show`.
#[derive(Debug, Args)]
pub struct Show {
    /// Only this key, such as agents.count, or keys of this section
    key: Option<String>,
    /// Only what differs from the defaults
    #[arg(long)]
    changed: bool,
}

#[derive(Serialize)]
struct ConfigAnswer<'a> {
    settings: Vec<View<'a>>,
}

#[derive(Serialize)]
struct View<'a> {
    key: &'a str,
    value: &'a serde_json::Value,
    source: String,
}

/// Runs a verb on the configuration.
///
/// # Errors
/// `CONFIG_INVALID` with the place; as [`crate::ops::settings::change::set`].
pub fn run(args: &Config, global: &Global, screen: &mut Screen) -> Result<Exit> {
    match args {
        Config::Show(args) => show(args, global, screen),
        Config::Check {} => check(global, screen),
        Config::Set(args) => change::set(args, global, screen),
        Config::Unset(args) => change::unset(args, global, screen),
        Config::Edit(args) => editing::run(args, global, screen),
    }
}

/// What counts here, with a note on what a human has to approve first.
fn load(global: &Global, screen: &mut Screen) -> Result<Usable> {
    let repo = repository(global)?;
    placement::recall_main(&repo)?;
    let (usable, trust) = configure::load_trusted(&repo, Vec::new())?;
    if let Some(note) = configure::note_on(&trust) {
        screen.note(&note);
    }
    Ok(usable)
}

fn check(global: &Global, screen: &mut Screen) -> Result<Exit> {
    let Usable { loaded, problems } = load(global, screen)?;
    problems.into_iter().next().map_or(Ok(()), Err)?;
    loaded.all_do_something()?;
    let count = loaded.settings.iter().filter(|(_, setting)| setting.source != Source::Default).count();
    screen.answer(&serde_json::json!({ "valid": true, "notDefault": count }), || {
        let are = words::verb(count, "is not at its default", "are not at their defaults");
        format!("The configuration is valid; {count} of {} keys {are}.\n", KEYS.len())
    })?;
    Ok(Exit::Done)
}

/// Whether a key is the wanted one, or is in the wanted section.
fn is_within(key: &str, wanted: &str) -> bool {
    let (key, wanted) = (key.to_lowercase(), wanted.to_lowercase());
    key == wanted || key.strip_prefix(&wanted).is_some_and(|rest| rest.starts_with('.'))
}

fn show(args: &Show, global: &Global, screen: &mut Screen) -> Result<Exit> {
    let Usable { loaded, problems } = load(global, screen)?;
    problems.iter().for_each(|error| screen.note(&format!("note: left out: {error}")));
    let fits = |key: &str, setting: &Setting| {
        args.key.as_ref().is_none_or(|wanted| is_within(key, wanted)) && !(args.changed && setting.source == Source::Default)
    };
    if let Some(wanted) = args.key.as_ref().filter(|wanted| !loaded.settings.iter().any(|(key, _)| is_within(key, wanted))) {
        return Err(config::nothing_called(wanted));
    }
    let shown: Vec<_> = loaded.settings.iter().filter(|(key, setting)| fits(key, setting)).collect();
    let views = shown.iter().map(|(key, setting)| View { key, value: &setting.value, source: setting.source.to_string() });
    let answer = ConfigAnswer { settings: views.collect() };
    screen.answer(&answer, || {
        let value = |value: &serde_json::Value| if value.is_null() { "(not set)".to_owned() } else { value.to_string() };
        let rows = answer.settings.iter().map(|view| vec![view.key.to_owned(), value(view.value), view.source.clone()]);
        table(&rows.collect::<Vec<_>>())
    })?;
    Ok(Exit::Done)
}
