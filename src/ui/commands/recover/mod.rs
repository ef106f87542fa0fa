//! `git axiom recover`: shows what has to be recovered, and repairs it. A stored state that cannot be loaded is handled in
//! `damaged`, looking closer and giving up in `cut_off_tasks`, the questions in `crash_questions`. The checks and repairs are not here but in
//! `agents::recover`. Begin reading with [`run`].

mod all;
pub(super) mod crash_questions;
mod cut_off_tasks;
mod damaged;
mod files;

use std::io::IsTerminal;

use clap::Args;
use serde::Serialize;

use super::foreground::tell_hooks;
use super::{open_with_usable_config, purpose};
use crate::cli::screen::Screen;
use crate::commands::grammar::arguments::GlobalArgs;
use crate::commands::progress::ProgressPrinter;
use crate::wording::recovery;
use axiom_agents::recover::all_repositories::RestartDeadSessions;
use axiom_agents::recover::resume;
use axiom_agents::recover::resume::{RecoveredTask, RecoveryOutcome, TaskRecoveryPlan};
use axiom_agents::recover::survey::RecoverySurvey;
use axiom_base::error::{Code, Error, Exit, Result};
use axiom_model::base::ids::TaskId;
use axiom_model::recovery::decide::CrashAction;
use axiom_model::recovery::human_choice::{CrashRecoveryChoice, RecoverySelection};
use axiom_safety::context::handle::Context;
use axiom_safety::upkeep::log_recovery::{RebuildSource, is_of_damage};

/// Arguments of `recover`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Without an option it only shows what it would do; at a terminal it then asks, where a crash cut
tasks off. For what it cannot repair itself, it names the commands that do. 'git axiom run' does
the same repairs when it starts, except for an interrupted rollback or undo: that waits for
'recover --yes', or for 'git axiom rollback --continue' or '--abort'. Agents that still run
continue; the next 'git axiom run' takes them over.

An ID is a task, or a group, which means all tasks in it. What begins anew is kept aside; 'git
axiom undo' brings it back. docs/RECOVERY.md has the rules.")]
pub struct RecoverArgs {
    /// Do every safe repair, without asking; with --from, start again without asking
    #[arg(long, short)]
    yes: bool,
    /// Only show what would be done (the default)
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
    /// If the stored state is damaged: start again from snapshot, events, partial, backup, tasks, checkpoint or fresh
    #[arg(long, value_name = "SOURCE", conflicts_with = "dry_run")]
    from: Option<RebuildSource>,
    /// Go on with these tasks; with those of a group, or, without an ID, with all, as the rules say
    #[arg(long, value_name = "ID", value_delimiter = ',', num_args = 0.., conflicts_with = "from", group = "what")]
    resume: Option<Vec<String>>,
    /// Begin these tasks anew, or all that a crash cut off
    #[arg(long, value_name = "ID", value_delimiter = ',', num_args = 0.., conflicts_with = "from", group = "what")]
    reset: Option<Vec<String>>,
    /// Begin all tasks anew that a crash cut off
    #[arg(long, conflicts_with = "from", group = "what")]
    all_reset: bool,
    /// Begin anew only what cannot go on or failed; leave the rest
    #[arg(long, conflicts_with = "from", group = "what")]
    failed_only: bool,
    /// Only these tasks
    #[arg(long, value_name = "ID", value_delimiter = ',', num_args = 1.., conflicts_with_all = ["from", "reset", "resume"])]
    only: Option<Vec<String>>,
    /// Tasks with less progress than N percent begin anew (recovery.resumeThreshold)
    #[arg(long, value_name = "N", conflicts_with = "from", value_parser = clap::value_parser!(u8).range(0..=100))]
    threshold: Option<u8>,
    /// Show the files of a task's workspace that its newest capture holds and that are lost; choose which come back, by PATH or at a terminal; with --yes all that are gone or empty
    #[arg(long, value_names = ["TASK", "PATH"], num_args = 1.., conflicts_with_all = ["from", "what", "only", "threshold"])]
    files: Option<Vec<String>>,
    /// Look at all repositories in which you called init or run
    #[arg(long, conflicts_with_all = ["yes", "dry_run", "from", "what", "only", "threshold", "files"])]
    all: bool,
    /// With --all: start those sessions again, in the background, that had not been ended when they died
    #[arg(long, requires = "all")]
    run: bool,
    #[command(subcommand)]
    verb: Option<cut_off_tasks::RecoverVerb>,
}

fn own((flag, _): &(&str, bool)) -> String {
    (*flag).to_owned()
}

/// What was asked for.
struct RecoverIntent {
    /// Whether something is to be done, also without `--yes`.
    acts: bool,
    /// Of which tasks, and what.
    tasks: RecoverySelection,
}

impl RecoverArgs {
    /// The ids that were given.
    fn ids(&self) -> Vec<String> {
        self.resume.as_ref().or(self.reset.as_ref()).or(self.only.as_ref()).cloned().unwrap_or_default()
    }

    /// The command that does what these options show.
    fn to_do_it(&self) -> String {
        let mut words = vec!["git axiom recover".to_owned()];
        let threshold = self.threshold.map(|percent| format!("--threshold {percent}"));
        let flags = [("--resume", self.resume.is_some()), ("--reset", self.reset.is_some()), ("--only", self.only.is_some())];
        words.extend(threshold);
        words
            .extend([("--all-reset", self.all_reset), ("--failed-only", self.failed_only)].iter().filter(|(_, is)| *is).map(own));
        words.extend(flags.iter().filter(|(_, is)| *is).map(own));
        words.extend(self.ids());
        words.push("--yes".to_owned());
        words.join(" ")
    }

    fn wanted(&self) -> Result<RecoverIntent> {
        let ids = self.ids().iter().map(|id| TaskId::new(id.as_str())).collect::<Result<Vec<_>>>()?;
        let only = (!ids.is_empty()).then_some(ids);
        let begins_anew = self.reset.is_some() || self.all_reset || self.failed_only;
        let goes_on = self.resume.is_some() && only.is_some();
        let action = match (begins_anew, goes_on) {
            (true, _) => Some(CrashAction::RestartTask),
            (false, true) => Some(CrashAction::ContinueTask),
            (false, false) => None,
        };
        let tasks = RecoverySelection { action, only, failed_only: self.failed_only, threshold: self.threshold };
        Ok(RecoverIntent { acts: begins_anew || self.resume.is_some(), tasks })
    }
}

/// What a crash left, and what became of it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RecoverJson {
    /// Whether it was: with `--yes`, or by a choice.
    recovered: bool,
    /// What became of tasks that a crash cut off, and of the others in their groups.
    done: Vec<RecoveredTask>,
    #[serde(flatten)]
    view: RecoverySurvey,
}

/// Shows what has to be recovered, or repairs it.
pub fn run(args: &RecoverArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    if let Some(verb) = &args.verb {
        return cut_off_tasks::run(verb, global, screen);
    }
    if args.all {
        return all::run(if args.run { RestartDeadSessions::Again } else { RestartDeadSessions::Nothing }, screen);
    }
    if let Some(of) = &args.files {
        let how = match (args.dry_run, args.yes) {
            (true, _) => files::RecoverFilesMode::Show,
            (false, true) => files::RecoverFilesMode::Act,
            (false, false) => files::RecoverFilesMode::Ask,
        };
        return files::run(of, how, global, screen);
    }
    let mut wanted = args.wanted()?;
    let acts = (args.yes || wanted.acts) && !args.dry_run;
    if let Some(source) = args.from {
        return damaged::begin_anew_from(global, source, args.yes, screen);
    }
    let mut ctx = match open_with_usable_config(purpose(!acts), global, screen) {
        Ok(ctx) => ctx,
        Err(error) if is_of_damage(error.code()) => return damaged::look(global, error, screen),
        Err(error) => return Err(error),
    };
    let (view, plan) = resume::look_and_plan(&mut ctx, &wanted.tasks)?;
    if acts {
        ask_first(&plan, &wanted.tasks, args.yes, screen)?;
        return carry_out(&mut ctx, (plan, &wanted.tasks), view, screen);
    }
    if !args.dry_run && screen.can_ask() && view.cut_off().next().is_some() {
        screen.complain_text(&recovery::tasks(&view, screen.terminal().columns()));
        match crash_questions::choose(&view, recovery::RecoveryAsker::Recover)? {
            Some(CrashRecoveryChoice::Resume) => {}
            Some(CrashRecoveryChoice::FailedOnly) => {
                wanted.tasks = wanted.tasks.failed_only();
            }
            Some(CrashRecoveryChoice::Abandon) => return cut_off_tasks::abandon(&args.ids(), false, global, screen),
            Some(CrashRecoveryChoice::Inspect) => return cut_off_tasks::inspect(&args.ids(), global, screen),
            None => return Err(Error::new(Code::Declined, "nothing was chosen")),
        }
        let mut ctx = open_with_usable_config(purpose(false), global, screen)?;
        let (view, plan) = resume::look_and_plan(&mut ctx, &wanted.tasks)?;
        return carry_out(&mut ctx, (plan, &wanted.tasks), view, screen);
    }
    let mut text = shown(&view, &args.to_do_it(), screen.terminal().columns());
    if text == recovery::NOTHING && ctx.supervisor_alive()? {
        text = recovery::SESSION_RUNS.to_owned();
    }
    screen.answer(&RecoverJson { recovered: false, done: Vec::new(), view }, || text)?;
    tell_hooks(&mut ctx, screen);
    Ok(Exit::Done)
}

/// Asks before tasks begin anew, unless that was confirmed.
fn ask_first(plan: &TaskRecoveryPlan, wanted: &RecoverySelection, yes: bool, screen: &mut Screen) -> Result<()> {
    recovery::begins_anew(plan, wanted).map_or(Ok(()), |question| screen.confirm(&question, yes))
}

/// Does it, and shows what was done and what is left.
fn carry_out(
    ctx: &mut Context,
    planned: (TaskRecoveryPlan, &RecoverySelection),
    view: RecoverySurvey,
    screen: &mut Screen,
) -> Result<Exit> {
    // Steps that a crash cut off run to their ends.
    let mut progress = ProgressPrinter::new(std::io::stderr().is_terminal());
    let recovered = resume::run_and_look(ctx, planned, view, &mut progress);
    progress.finish();
    let recovered = recovered?;
    ctx.store.take_warnings().iter().for_each(|warning| super::warn(warning, screen));
    let text = recovery::after(&recovered);
    let RecoveryOutcome { done, view, can_go_on: _ } = recovered;
    screen.answer(&RecoverJson { recovered: true, done, view }, || text)?;
    tell_hooks(ctx, screen);
    Ok(Exit::Done)
}

/// What would be recovered; `to_do_it` is the command that does it.
fn shown(view: &RecoverySurvey, to_do_it: &str, columns: Option<usize>) -> String {
    let Some(text) = recovery::before(view, columns) else { return recovery::NOTHING.to_owned() };
    let ending = match view.can_be_done() {
        true => format!("Nothing was changed. To do it: {to_do_it}"),
        false => "Nothing was changed.".to_owned(),
    };
    format!("{text}{ending}\n")
}
