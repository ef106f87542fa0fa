//! `git axiom config edit`.

use clap::Args;
use serde::Serialize;

use super::{ConfigLayerArgs, TO_APPROVE, repository_if_any};
use crate::cli::screen::Screen;
use crate::commands::grammar::arguments::GlobalArgs;
use crate::commands::working_dir;
use axiom_base::error::{Code, Error, Exit, Result};
use axiom_safety::settings::WritableLayer;
use axiom_safety::settings::editing::ConfigDraft;

/// Arguments of `config edit`.
#[derive(Debug, Args)]
#[command(after_help = "\
Opens a copy in the editor that git uses ('git var GIT_EDITOR': GIT_EDITOR, core.editor, VISUAL,
EDITOR). The copy takes the place of the file only when all of it can be used. Where it cannot,
you are asked whether to go on editing; without a terminal, and after a no, the copy is kept and
named, and the file stays as it was. With --local it is this repository's whole git config.")]
pub struct ConfigEditArgs {
    #[command(flatten)]
    into: ConfigLayerArgs,
}

/// The file that was edited.
#[derive(Serialize)]
struct ConfigEditJson {
    /// `user`, `repo` or `local`: which layer was edited.
    layer: &'static str,
    /// Its file.
    path: String,
    /// Whether anything was written.
    changed: bool,
}

/// Lets the user edit a layer.
pub fn run(args: &ConfigEditArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let layer = args.into.layer();
    let repo = repository_if_any(global, layer)?;
    let draft = ConfigDraft::begin(repo.as_ref(), layer)?;
    match until_it_can_be_used(&draft, global, screen).and_then(|()| draft.save()) {
        Ok(changed) => {
            let answer = ConfigEditJson { layer: layer.word(), path: draft.file().display().to_string(), changed };
            let done = if changed { "Changed" } else { "Not changed:" };
            screen.answer(&answer, || format!("{done} {}\n", draft.file().display()))?;
            if changed && layer == WritableLayer::Project {
                screen.note(TO_APPROVE);
            }
            Ok(Exit::Done)
        }
        Err(error) if draft.is_touched() => {
            let kept = format!("your text is kept in '{}'", draft.copy().display());
            if error.code() == Code::Declined {
                screen.note(&format!("note: {kept}"));
            }
            Err(error.hint(kept))
        }
        Err(error) => {
            draft.discard();
            Err(error)
        }
    }
}

fn until_it_can_be_used(draft: &ConfigDraft<'_>, global: &GlobalArgs, screen: &mut Screen) -> Result<()> {
    loop {
        draft.edit(&working_dir(global)?)?;
        // What was wrong before and is as it was is no worse.
        let Some(error) = draft.problem()?.filter(|_| draft.is_touched()) else { return Ok(()) };
        if !screen.can_ask() {
            return Err(Error::context(error, "nothing was changed"));
        }
        screen.complain_of(&error);
        screen.confirm("Edit it again?", false)?;
    }
}
