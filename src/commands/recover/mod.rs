//! `git axiom recover`: shows what has to be recovered, and repairs it. A stored state that cannot be loaded is handled in
//! `damaged`. The checks and repairs are not here but in `ops::recover`. Begin reading with [`run`].

mod damaged;
pub(super) mod first;

use clap::Args;
use serde::Serialize;

use super::foreground::tell_hooks;
use super::{open_with_usable_config, purpose};
use crate::cli::screen::Screen;
use crate::commands::grammar::arguments::Global;
use crate::commands::progress::Progress;
use crate::domain::state::wedge::WedgeView;
use crate::error::{Code, Exit, Result};
use crate::ops::context::handle::called_by_human;
use crate::ops::recover::log_recovery::Source;
use crate::ops::recover::survey::{self, Orphan, View};
use crate::ops::supervise::Options;

/// Arguments of `recover`.
#[derive(Debug, Args)]
#[command(after_help = "\
Without --yes it only shows what it would do. For what it cannot repair itself, it names the
commands that do. 'git axiom run' does the same repairs when it starts, except for an
interrupted rollback or undo: that waits for 'recover --yes', or for 'git axiom rollback
--continue' or '--abort'. Agents that still run continue; the next 'git axiom run' takes them
over.")]
pub struct Recover {
    /// Do every safe repair; with --from, start again without asking
    #[arg(long, short)]
    yes: bool,
    /// Only show what would be done (the default)
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
    /// If the stored state is damaged: start again from snapshot, events, partial, backup, cases, checkpoint or fresh
    #[arg(long, value_name = "SOURCE", conflicts_with = "dry_run")]
    from: Option<Source>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RecoverAnswer {
    recovered: bool,
    #[serde(flatten)]
    view: View,
}

/// Shows what has to be recovered, or repairs it.
///
/// # Errors
/// As [`survey::look`] and [`survey::recover`]; `NOT_FOR_AGENTS` where an agent calls it for a repair.
pub fn run(args: &Recover, global: &Global, screen: &mut Screen) -> Result<Exit> {
    if args.yes || args.from.is_some() {
        called_by_human("recover", &super::working_dir(global)?)?;
    }
    if let Some(source) = args.from {
        return damaged::begin_anew_from(global, source, args.yes, screen);
    }
    let mut ctx = match open_with_usable_config(purpose(!args.yes), global, screen) {
        Ok(ctx) => ctx,
        Err(error) if is_damage(error.code()) => return damaged::look(global, error, screen),
        Err(error) => return Err(error),
    };
    let mut view = survey::look(&mut ctx)?;
    if args.yes {
        let options = Options::attending();
        survey::recover(&mut ctx, options, &mut Progress::new(false))?;
        // The remaining conditions need a human, and may be others than before.
        let recovered = std::mem::take(&mut view.wedges).into_iter().filter(|wedge| wedge.recovers);
        let left = survey::look(&mut ctx)?.wedges;
        view.wedges = recovered.filter(|one| !left.contains(one)).chain(left.clone()).collect();
    }
    let answer = RecoverAnswer { recovered: args.yes, view };
    screen.answer(&answer, || in_words(&answer))?;
    tell_hooks(&mut ctx, screen);
    Ok(Exit::Done)
}

fn is_damage(code: Code) -> bool {
    matches!(code, Code::EventLogCorrupted | Code::EventLogTruncated | Code::EventSchemaInvalid)
}

fn in_words(answer: &RecoverAnswer) -> String {
    let view = &answer.view;
    if !view.needed && view.wedges.is_empty() && view.locks.is_empty() && view.lost_objects.is_empty() {
        return "Nothing has to be recovered.\n".to_owned();
    }
    let mut text = String::new();
    let mut group = |title: &str, orphans: &[Orphan]| {
        for orphan in orphans {
            text.push_str(&format!(
                "{title}  {} ({}, iteration {}): {}\n",
                orphan.task_id, orphan.agent_id, orphan.iteration, orphan.reason
            ));
        }
    };
    group("resumable", &view.resumable);
    group("reset    ", &view.reset);
    group("failed   ", &view.failed);
    if let Some(operation) = &view.operation {
        text.push_str(&format!("operation  '{operation}' was interrupted: it is finished, or reversed if that fails\n"));
    }
    if let Some(checkpoint) = &view.checkpoint {
        text.push_str(&format!("checkpoint {checkpoint} was being made: it is completed if its capture exists\n"));
    }
    for checkpoint in &view.forgotten_checkpoints {
        text.push_str(&format!("checkpoint {checkpoint} exists, but the state does not know it: it is added\n"));
    }
    for lock in &view.locks {
        text.push_str(&format!("lock       {lock}: removed if its owner is proven dead\n"));
    }
    for object in &view.damaged_objects {
        text.push_str(&format!(
            "object     {object} is corrupt: moved to quarantine, and written again if its content still exists\n"
        ));
    }
    for words in &view.lost_objects {
        text.push_str(&format!("lost       {words}\n"));
    }
    let (by_us, by_hand): (Vec<&WedgeView>, Vec<&WedgeView>) = view.wedges.iter().partition(|wedge| wedge.recovers);
    let is_named = |wedge: &WedgeView| view.locks.iter().any(|lock| wedge.what.contains(lock.as_str()));
    for wedge in by_us.iter().filter(|wedge| !is_named(wedge)) {
        text.push_str(&format!("repair     {}\n", wedge.what));
    }
    for wedge in &by_hand {
        text.push_str(&format!("by hand    {}\n", wedge.what));
        text.extend(wedge.hints.iter().map(|hint| format!("           {hint}\n")));
    }
    text.push_str(match (answer.recovered, by_hand.is_empty(), view.repairs || !view.locks.is_empty()) {
        (true, true, _) => "Recovered.\n",
        (true, false, _) => "Recovered, except for what you have to do by hand.\n",
        (false, _, true) => "Nothing was changed. To do it: git axiom recover --yes\n",
        (false, _, false) => "Nothing was changed.\n",
    });
    text
}
