//! The arguments of `rollback`, and what they wish for.

use std::num::ParseIntError;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Subcommand};

use super::task;
use crate::commands::grammar::consent::ConsentArgs;
use axiom_base::error::{Code, Error, Result};
use axiom_model::work::gates::gate::AfterHalt;
use axiom_model::work::sessions::session::SessionMode;
use axiom_safety::attach::prompts;
use axiom_safety::context::handle::Context;
use axiom_safety::rollback::{LocalRefsPolicy, RollbackRequest, RollbackScope};

/// Arguments of `rollback`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
A rollback first saves what it replaces in a checkpoint. Files in the way that no checkpoint
holds (ignored files) are moved to .worktrees/trash, for checkpoints.keepDeletedDays, or until
'git clean -x' deletes them. So it can be undone: git axiom undo

  git axiom rollback --prompt 2           to before this prompt, in its worktree
  git axiom rollback before-refactoring   to this checkpoint, by its exact name
  git axiom rollback --at '1 hour ago'    to the newest checkpoint at that time
  git axiom rollback task task-001        only the work of this task

Without arguments, at a terminal, it shows the checkpoints and asks.")]
pub struct RollbackArgs {
    /// The checkpoint: its exact name, or its whole id
    #[arg(conflicts_with_all = ["at", "prompt", "session"])]
    pub(super) name: Option<String>,
    /// The beginning of the last session
    #[arg(long, conflicts_with_all = ["at", "prompt", "worktree", "all_worktrees", "paths"])]
    pub(super) session: bool,
    #[command(flatten)]
    pub(super) place: RollbackWhereArgs,
    /// Finish an interrupted operation
    #[arg(long = "continue", conflicts_with_all = ENDS_ALONE)]
    pub(super) go_on: bool,
    /// Put everything back as it was before an interrupted operation
    #[arg(long, conflicts_with = "go_on", conflicts_with_all = ENDS_ALONE)]
    pub(super) abort: bool,
    #[command(subcommand)]
    pub(super) to: Option<RollbackVerb>,
}

/// What the end of an interrupted operation does not take; --yes is accepted for scripts.
const ENDS_ALONE: [&str; 12] =
    ["name", "session", "prompt", "all_worktrees", "at", "worktree", "paths", "dry_run", "no_stop", "refs", "no_refs", "retry"];

/// Where to go back to.
#[derive(Debug, Subcommand)]
#[allow(missing_docs)] // what each does is in the table of verbs
pub(super) enum RollbackVerb {
    Checkpoint(RollbackCheckpointArgs),
    Task(task::RollbackTaskArgs),
    Session(RollbackCommonArgs),
}

/// Arguments of `rollback checkpoint`.
#[derive(Debug, Args)]
#[command(after_help = "\
With paths after '--', only these files and folders are restored, in the worktree that they are
in: HEAD, the index, branches, tasks and all other files stay. 'git axiom restore' is short for
that.")]
pub struct RollbackCheckpointArgs {
    /// Its name, or a unique beginning of it
    #[arg(required_unless_present_any = ["at", "prompt"], conflicts_with_all = ["at", "prompt"])]
    pub(super) name: Option<String>,
    #[command(flatten)]
    pub(super) place: RollbackWhereArgs,
}

/// A prompt to an attached agent.
#[derive(Debug, Clone, Copy)]
pub(super) enum ChosenPrompt {
    Number(u32),
    /// The last one in the current worktree.
    Last,
}

impl FromStr for ChosenPrompt {
    type Err = ParseIntError;

    fn from_str(text: &str) -> std::result::Result<Self, ParseIntError> {
        if text == "last" { Ok(Self::Last) } else { text.parse().map(Self::Number) }
    }
}

impl ChosenPrompt {
    pub(super) fn number(self, ctx: &Context) -> Result<u32> {
        match self {
            Self::Number(number) => Ok(number),
            Self::Last => prompts::last_here(ctx),
        }
    }
}

/// Where to, other than by a name, and how.
#[derive(Debug, Args)]
pub(super) struct RollbackWhereArgs {
    /// The moment before this prompt to an attached agent, the last one in this worktree where no number is given: its worktree
    /// alone; 'git axiom prompts' lists them
    #[arg(long, value_name = "NUMBER", num_args = 0..=1, default_missing_value = "last",
          conflicts_with_all = ["at", "worktree"])]
    pub(super) prompt: Option<ChosenPrompt>,
    /// All worktrees, your own linked ones too, branches and tasks
    #[arg(long, conflicts_with_all = ["worktree", "paths"])]
    pub(super) all_worktrees: bool,
    /// The newest checkpoint at this time, which is given as git reads times: 10:30, '1 hour ago'
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(super) at: Option<String>,
    /// Roll back only this worktree; other worktrees, their branches and the tasks stay
    #[arg(long, value_name = "PATH", conflicts_with_all = ["refs", "no_refs", "mode", "paths"])]
    pub(super) worktree: Option<PathBuf>,
    /// Restore only these files and folders
    #[arg(last = true, value_name = "PATH", conflicts_with_all = ["refs", "no_refs", "mode"])]
    pub(super) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) how: RollbackCommonArgs,
}

#[derive(Debug, Args)]
pub(super) struct RollbackCommonArgs {
    #[command(flatten)]
    pub(super) consent: ConsentArgs,
    /// Refuse if agents are working, instead of stopping them
    #[arg(long)]
    pub(super) no_stop: bool,
    /// Also move back branches, tags and other local refs that moved since (deleted ones are always restored)
    #[arg(long, conflicts_with = "no_refs")]
    pub(super) refs: bool,
    /// Leave deleted branches, tags and stash entries deleted
    #[arg(long)]
    pub(super) no_refs: bool,
    /// Let agents start the tasks again at once, instead of holding them at claim gates
    #[arg(long)]
    pub(super) retry: bool,
    /// The mode afterwards; without it the mode never becomes one that asks less
    #[arg(long, value_name = "MODE")]
    pub(super) mode: Option<SessionMode>,
}

impl RollbackCommonArgs {
    pub(super) fn wish<'a>(&self, name: &'a str, part: RollbackScope<'a>) -> RollbackRequest<'a> {
        RollbackRequest { name, part, refs: self.refs(), afterwards: AfterHalt::with_retry(self.retry), mode: self.mode }
    }

    fn refs(&self) -> LocalRefsPolicy {
        match (self.refs, self.no_refs) {
            (true, _) => LocalRefsPolicy::MoveToo,
            (false, true) => LocalRefsPolicy::Stay,
            (false, false) => LocalRefsPolicy::ComeBack,
        }
    }
}

impl RollbackWhereArgs {
    /// Whether they say where to go back to.
    pub(super) fn names_one(&self) -> bool {
        self.prompt.is_some() || self.at.is_some()
    }

    /// Refuses options for a rollback to nowhere: the menu would not heed them.
    pub(super) fn says_nothing(&self) -> Result<()> {
        let Self { how, paths, worktree, all_worktrees, .. } = self;
        let RollbackCommonArgs { consent, no_stop, refs, no_refs, retry, mode } = how;
        let said = [consent.dry_run, consent.yes, *no_stop, *refs, *no_refs, *retry, mode.is_some(), worktree.is_some()];
        if said.contains(&true) || *all_worktrees || !paths.is_empty() {
            return Err(Error::new(Code::Usage, "it is not said where to go back to")
                .hint("git axiom rollback --prompt NUMBER    to before a prompt; 'git axiom prompts' lists them")
                .hint("git axiom rollback NAME    to a checkpoint; 'git axiom checkpoint list' lists them")
                .hint("git axiom rollback --at TIME    to the newest checkpoint at that time"));
        }
        Ok(())
    }
}
