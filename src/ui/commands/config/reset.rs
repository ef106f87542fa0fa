//! `git axiom config restore` and `reset`.

use std::path::Path;

use clap::Args;
use serde::Serialize;

use super::{TO_APPROVE, repository_if_any};
use crate::cli::screen::Screen;
use crate::commands::grammar::arguments::GlobalArgs;
use crate::commands::grammar::consent::ConsentArgs;
use axiom_base::error::{Code, Error, Exit, Result};
use axiom_safety::context::Repository;
use axiom_safety::settings::WritableLayer;
use axiom_safety::settings::config_reset;
use axiom_safety::settings::config_reset::{ConfigResetPlan, ConfigResetSource};

/// Arguments of `config restore`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  git axiom config restore --dry-run
  git axiom config restore --user

Each time all of the configuration can be used, your own file has a backup (where it is not
empty): config.toml.backup in $XDG_STATE_HOME/git-axiom, or below ~/.local/state. Of the
project's file it is what you approved; after 'git axiom trust --revoke' there is none.
Without --user or --repo it is the file that cannot be read. What is there is kept first; where
is printed.")]
pub struct ConfigRestoreArgs {
    #[command(flatten)]
    of: ConfigFileArgs,
    #[command(flatten)]
    consent: ConsentArgs,
}

/// Arguments of `config reset`.
#[derive(Debug, Args)]
#[command(after_help = "\
The file is empty afterwards, so that the defaults count, as far as no other layer says
otherwise. Without --user or --repo it is the file that cannot be read. What is there is kept
first; where is printed. 'git axiom config restore' takes it back where there is a backup.")]
pub struct ConfigResetArgs {
    #[command(flatten)]
    of: ConfigFileArgs,
    #[command(flatten)]
    consent: ConsentArgs,
}

/// Which file.
#[derive(Debug, Clone, Copy, Args)]
#[group(multiple = false)]
struct ConfigFileArgs {
    /// Your own file, ~/.config/git-axiom/config.toml (or below XDG_CONFIG_HOME)
    #[arg(long)]
    user: bool,
    /// The project's .axiom/config.toml in the main worktree
    #[arg(long)]
    repo: bool,
}

/// The file that was put back or emptied.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ConfigResetJson {
    /// `user` or `repo`: whose file it is.
    layer: &'static str,
    /// The file.
    path: String,
    /// Whether its content is another one now, or would be.
    changed: bool,
    dry_run: bool,
    /// Where its old content is; null where there was none.
    kept: Option<String>,
}

/// Puts the backup in place of a file.
pub fn restore(args: &ConfigRestoreArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    replace(args.of, args.consent, ConfigResetSource::Backup, global, screen)
}

/// Empties a file.
pub fn reset(args: &ConfigResetArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    replace(args.of, args.consent, ConfigResetSource::Nothing, global, screen)
}

fn replace(
    of: ConfigFileArgs,
    consent: ConsentArgs,
    from: ConfigResetSource,
    global: &GlobalArgs,
    screen: &mut Screen,
) -> Result<Exit> {
    let (repo, layer) = meant(of, global)?;
    let plan = config_reset::plan(repo.as_ref(), layer, from)?;
    if plan.is_change() && !consent.dry_run {
        screen.note_text(&would(&plan, from));
        screen.confirm("Replace it?", consent.yes)?;
    }
    let kept = if consent.dry_run { None } else { plan.carry_out()? };
    let answer = ConfigResetJson {
        layer: layer.word(),
        path: plan.path().display().to_string(),
        changed: plan.is_change(),
        dry_run: consent.dry_run,
        kept: kept.as_ref().map(|kept| kept.display().to_string()),
    };
    screen.answer(&answer, || match (answer.changed, consent.dry_run) {
        (false, _) => format!("{} is like that already.\n", answer.path),
        (true, true) => format!("{}\nNothing was changed.\n", would(&plan, from)),
        (true, false) => done(&plan, kept.as_deref(), from),
    })?;
    if answer.changed && !consent.dry_run && layer == WritableLayer::Project && from == ConfigResetSource::Nothing {
        screen.note(TO_APPROVE);
    }
    Ok(Exit::Done)
}

/// The named file, or else the one that cannot be read.
fn meant(of: ConfigFileArgs, global: &GlobalArgs) -> Result<(Option<Repository>, WritableLayer)> {
    let named = match of {
        ConfigFileArgs { user: true, .. } => Some(WritableLayer::User),
        ConfigFileArgs { repo: true, .. } => Some(WritableLayer::Project),
        ConfigFileArgs { user: false, repo: false } => None,
    };
    let repo = repository_if_any(global, named.unwrap_or(WritableLayer::User))?;
    match (named, config_reset::broken(repo.as_ref()).as_slice()) {
        (Some(layer), _) => Ok((repo, layer)),
        (None, [(layer, _)]) => Ok((repo, *layer)),
        (None, broken) => {
            let what = if broken.is_empty() { "no configuration file is broken" } else { "both files are broken" };
            Err(Error::new(Code::Usage, format!("{what}, so name the one that is meant"))
                .hint("--user for your own file, --repo for the project's"))
        }
    }
}

fn would(plan: &ConfigResetPlan, from: ConfigResetSource) -> String {
    let path = plan.path().display();
    match from {
        ConfigResetSource::Nothing => format!("{path} becomes empty, so that the defaults count. What is in it is kept."),
        ConfigResetSource::Backup => {
            let text = String::from_utf8_lossy(plan.after());
            format!("{path} gets the content of its backup. What is in it is kept. The backup:\n{}", text.trim_end())
        }
    }
}

fn done(plan: &ConfigResetPlan, kept: Option<&Path>, from: ConfigResetSource) -> String {
    let path = plan.path().display();
    let first = match from {
        ConfigResetSource::Backup => format!("Restored {path}\n"),
        ConfigResetSource::Nothing => format!("Reset {path}\n"),
    };
    let kept = kept.map_or_else(String::new, |kept| format!("What was in it: {}\n", kept.display()));
    format!("{first}{kept}")
}

/// Does it for a question that was answered already, and says where the old content is.
pub(super) fn at_once(repo: &Repository, layer: WritableLayer, from: ConfigResetSource, screen: &mut Screen) -> Result<()> {
    let plan = config_reset::plan(Some(repo), layer, from)?;
    let kept = plan.carry_out()?;
    screen.note_text(done(&plan, kept.as_deref(), from).trim_end());
    Ok(())
}
