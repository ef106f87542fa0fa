//! `git axiom config …`: what counts is shown here; texts are edited in `editing`. One key is set by `git config axiom.KEY VALUE`.

pub(super) mod broken;
mod editing;
mod reset;
pub mod unattended;

use clap::{Args, Subcommand};
use serde::Serialize;

use super::repository;
use crate::cli::grid::StyledGrid;
use crate::cli::screen::Screen;
use crate::cli::words;
use crate::commands::grammar::arguments::GlobalArgs;
use crate::panel::keys::PanelKeyBindings;
use crate::wording::trust::session_goes_by;
use axiom_base::error::{Code, Error, Exit, Result};
use axiom_safety::config;
use axiom_safety::config::keys::KEYS;
use axiom_safety::config::{ConfigSetting, ConfigSource, UsableConfig};
use axiom_safety::context::configure::TrustedConfig;
use axiom_safety::context::{Repository, configure, placement};
use axiom_safety::running::programs::SessionPrograms;
use axiom_safety::settings::WritableLayer;

/// What is said of the layers.
const LAYERS: &str = "\
Layers, later wins: built-in defaults; ~/.config/git-axiom/config.toml (or below
XDG_CONFIG_HOME); the project's .axiom/config.toml in the main worktree, once you approved it
with 'git axiom trust'; git config axiom.SECTION.KEY, git -c too; options of the command.

One key is set by git: 'git config axiom.agents.count 4', with --global for all repositories,
with --unset to remove it, with --add for each further value of a list. 'git axiom config
check' says whether the result can be used, 'config show' where each value is from.";

/// Verbs on the configuration.
#[derive(Debug, Subcommand)]
#[command(after_help = format!("{LAYERS}\n\n{}", unattended::in_help()))]
#[allow(missing_docs)] // what each does is in the table of verbs
pub enum ConfigVerb {
    Show(ConfigShowArgs),
    Check {},
    Edit(editing::ConfigEditArgs),
    Restore(reset::ConfigRestoreArgs),
    Reset(reset::ConfigResetArgs),
}

/// Which layer is written.
#[derive(Debug, Clone, Copy, Args)]
#[group(multiple = false)]
pub struct ConfigLayerArgs {
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

impl ConfigLayerArgs {
    fn layer(self) -> WritableLayer {
        match self {
            Self { user: true, .. } => WritableLayer::User,
            Self { repo: true, .. } => WritableLayer::Project,
            Self { user: false, repo: false, local: _ } => WritableLayer::Local,
        }
    }
}

/// The repository; `None` outside of any, where only the user's own file can be written.
fn repository_if_any(global: &GlobalArgs, layer: WritableLayer) -> Result<Option<Repository>> {
    let found = repository(global).and_then(|repo| placement::recall_main(&repo).map(|()| repo));
    match (found, layer) {
        (Ok(repo), _) => Ok(Some(repo)),
        (Err(error), WritableLayer::User) if error.code() == Code::NotARepository => Ok(None),
        (Err(error), _) => Err(error),
    }
}

/// What is to be done with the project's files, once they were written.
const TO_APPROVE: &str = "note: nothing of the project's files is applied before they are approved anew: git axiom trust";

/// Arguments of `config show`.
#[derive(Debug, Args)]
pub struct ConfigShowArgs {
    /// Only this key, such as agents.count, or keys of this section
    key: Option<String>,
    /// Only what differs from the defaults
    #[arg(long)]
    changed: bool,
}

/// The settings that count.
#[derive(Serialize)]
struct ConfigJson<'a> {
    settings: Vec<ConfigSettingJson<'a>>,
}

/// A setting.
#[derive(Serialize)]
struct ConfigSettingJson<'a> {
    key: &'a str,
    value: &'a serde_json::Value,
    /// The layer that it is from.
    source: String,
}

/// Runs a verb on the configuration.
pub fn run(args: &ConfigVerb, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    match args {
        ConfigVerb::Show(args) => show(args, global, screen),
        ConfigVerb::Check {} => check(global, screen),
        ConfigVerb::Edit(args) => editing::run(args, global, screen),
        ConfigVerb::Restore(args) => reset::restore(args, global, screen),
        ConfigVerb::Reset(args) => reset::reset(args, global, screen),
    }
}

/// What counts here, with notes on what a human has to approve first, and on a session that goes by what it read before.
fn load(repo: &Repository, screen: &mut Screen) -> Result<TrustedConfig> {
    let trusted = configure::load_trusted(repo, Vec::new())?;
    session_goes_by(repo).into_iter().for_each(|note| screen.note(note));
    if let Some(note) = configure::note_on(repo, &trusted.trust) {
        screen.note(&note);
    }
    Ok(trusted)
}

fn here(global: &GlobalArgs) -> Result<Repository> {
    let repo = repository(global)?;
    placement::recall_main(&repo)?;
    Ok(repo)
}

/// That the configuration can be used; otherwise there is an error.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ConfigCheckJson {
    /// How many keys are not at their defaults.
    not_default: usize,
    valid: bool,
}

/// At a terminal, asks what becomes of a file that cannot be read.
fn check(global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let repo = here(global)?;
    let mut found = load(&repo, screen)?;
    let damaged =
        |found: &TrustedConfig| found.usable.problems.iter().find(|error| error.code() == Code::ConfigDamaged).map(Error::again);
    if let Some(why) = found.stood_in.first().map(is_damaged).or_else(|| damaged(&found)) {
        if !screen.can_ask() {
            return Err(why);
        }
        broken::ask(&repo, why, screen)?;
        found = load(&repo, screen)?;
    }
    let UsableConfig { loaded, problems } = found.usable;
    problems.into_iter().next().map_or(Ok(()), Err)?;
    // What a session and the panel would refuse to begin with.
    SessionPrograms::configured(&loaded.config)?;
    PanelKeyBindings::configured(&loaded.config.panel.keys)?;
    let count = loaded.settings.iter().filter(|(_, setting)| setting.source != ConfigSource::Default).count();
    screen.answer(&ConfigCheckJson { not_default: count, valid: true }, || {
        let are = words::verb(count, "is not at its default", "are not at their defaults");
        format!("The configuration is valid; {count} of {} keys {are}.\n", KEYS.len())
    })?;
    Ok(Exit::Done)
}

/// For who asks, a file that something stands in for is an error.
fn is_damaged(why: &Error) -> Error {
    let error = Error::new(Code::ConfigDamaged, why.what()).hints_of(why.hints().to_vec());
    match why.causes().join(": ") {
        cause if cause.is_empty() => error,
        cause => error.why(cause),
    }
}

/// Whether a key is the wanted one, or is in the wanted section.
fn is_within(key: &str, wanted: &str) -> bool {
    let (key, wanted) = (key.to_lowercase(), wanted.to_lowercase());
    key == wanted || key.strip_prefix(&wanted).is_some_and(|rest| rest.starts_with('.'))
}

fn show(args: &ConfigShowArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let TrustedConfig { usable: UsableConfig { loaded, problems }, stood_in, .. } = load(&here(global)?, screen)?;
    stood_in.iter().for_each(|warning| screen.warn_of(warning));
    problems.iter().for_each(|error| screen.note(&format!("note: left out: {error}")));
    let fits = |key: &str, setting: &ConfigSetting| {
        args.key.as_ref().is_none_or(|wanted| is_within(key, wanted))
            && !(args.changed && setting.source == ConfigSource::Default)
    };
    if let Some(wanted) = args.key.as_ref().filter(|wanted| !loaded.settings.iter().any(|(key, _)| is_within(key, wanted))) {
        return Err(config::nothing_called(wanted));
    }
    let shown: Vec<_> = loaded.settings.iter().filter(|(key, setting)| fits(key, setting)).collect();
    let views =
        shown.iter().map(|(key, setting)| ConfigSettingJson { key, value: &setting.value, source: setting.source.to_string() });
    let answer = ConfigJson { settings: views.collect() };
    screen.answer(&answer, || {
        let value = |value: &serde_json::Value| if value.is_null() { "(not set)".to_owned() } else { value.to_string() };
        let rows = answer.settings.iter().map(|view| vec![view.key.to_owned(), value(view.value), view.source.clone()]);
        StyledGrid::of(rows).cut(&[1, 0])
    })?;
    Ok(Exit::Done)
}
