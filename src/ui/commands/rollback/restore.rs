//! `git axiom restore`, which is a rollback of files alone.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

use super::{RollbackCommonArgs, checkpoint, chosen, names_some_path};
use crate::cli::screen::Screen;
use crate::cli::words;
use crate::commands::foreground::tell_hooks;
use crate::commands::grammar::arguments::GlobalArgs;
use crate::commands::grammar::consent::ConsentArgs;
use crate::commands::{open_with_usable_config, purpose, working_dir};
use axiom_base::error::{Exit, Result};
use axiom_model::operation::restore_words::{self, KnownRestoreWords, RestoreSource};
use axiom_safety::checkpoint as op;
use axiom_safety::context::handle::Context;
use axiom_safety::rollback;
use axiom_safety::rollback::{NewestDifferingCheckpoint, RollbackScope};

/// Arguments of `restore`.
#[derive(Debug, Args)]
#[command(override_usage = "git axiom restore [OPTIONS] [NAME] FILE...\n       git axiom restore [OPTIONS] [NAME] -- FILE...")]
#[command(after_help = "\
Only these files and folders are restored, in the worktree that they are in: HEAD, the index,
branches, tasks and all other files stay. It is an operation like any other: a checkpoint saves
what is replaced, and 'git axiom undo' takes it back.

  git axiom restore a.rs                     from the newest complete checkpoint in which it is
                                             not as now; the plan names that one
  git axiom restore before-refactoring docs  from this checkpoint, by its exact name
  git axiom restore --prompt 2 a.rs          as it was before this prompt
  git axiom restore --at '1 hour ago' a.rs   as it was then
  git axiom restore -- docs                  after '--' all are files")]
pub struct RestoreArgs {
    /// The files and folders; before them the exact name of a checkpoint, if it is not the newest
    #[arg(value_name = "FILE")]
    names: Vec<OsString>,
    /// From the moment before this prompt to an attached agent; 'git axiom prompts' lists them
    #[arg(long, value_name = "NUMBER", conflicts_with = "at")]
    prompt: Option<u32>,
    /// From the newest checkpoint at this time, which is given as git reads times: 10:30, '1 hour ago'
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    at: Option<String>,
    /// Files and folders, whatever they are called
    #[arg(last = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    consent: ConsentArgs,
    /// Refuse if agents are working there, instead of stopping them
    #[arg(long)]
    no_stop: bool,
    /// Let agents start the tasks again at once, instead of holding them at claim gates
    #[arg(long)]
    retry: bool,
}

/// What is known here.
struct RestoreWordsHere<'c> {
    ctx: &'c Context,
    here: PathBuf,
}

impl KnownRestoreWords for RestoreWordsHere<'_> {
    fn is_checkpoint(&self, word: &str) -> bool {
        self.ctx.state().record.checkpoints.all().is_ok_and(|all| all.iter().any(|record| record.name.as_str() == word))
    }

    fn is_file(&self, word: &str) -> bool {
        op::find(self.ctx, word).is_ok_and(|record| rollback::is_file_or_held(self.ctx, &self.here.join(word), &record))
    }
}

/// Brings back files, and nothing else.
pub fn restore(args: &RestoreArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    names_some_path(&args.paths)?;
    let mut ctx = open_with_usable_config(purpose(args.consent.dry_run), global, screen)?;
    let ended = bring_back(args, &mut ctx, working_dir(global)?, screen);
    tell_hooks(&mut ctx, screen);
    ended
}

fn bring_back(args: &RestoreArgs, ctx: &mut Context, here: PathBuf, screen: &mut Screen) -> Result<Exit> {
    let texts: Vec<_> = args.names.iter().map(|name| name.to_string_lossy()).collect();
    let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
    let given = args.prompt.is_some() || args.at.is_some();
    let known = RestoreWordsHere { ctx, here: here.clone() };
    let (source, before) = restore_words::read(&texts, args.paths.len(), given, &known)?;
    let files = args.names.iter().skip(before).map(PathBuf::from).chain(args.paths.iter().cloned());
    let paths: Vec<PathBuf> = files.map(|path| here.join(path)).collect();
    let name = match source {
        RestoreSource::Given => chosen(ctx, args.prompt, args.at.as_deref())?,
        RestoreSource::Named(name) => name,
        RestoreSource::Newest => {
            let NewestDifferingCheckpoint { name, differs } = rollback::newest_differing(ctx, &paths)?;
            let (name, made) = (name.to_string(), op::find(ctx, name.as_str())?.created_at);
            if differs {
                let what = if paths.len() == 1 { "it" } else { "one of them" };
                let made = words::time(made);
                screen.note(&format!("from {name} of {made}: the newest complete checkpoint in which {what} is not as now"));
            }
            name
        }
    };
    let RestoreArgs { consent, no_stop, retry, .. } = args;
    let how = RollbackCommonArgs { consent: *consent, no_stop: *no_stop, refs: false, no_refs: false, retry: *retry, mode: None };
    checkpoint(ctx, screen, how.wish(&name, RollbackScope::Paths(&paths)), &how)
}
