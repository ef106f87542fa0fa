//! `git axiom recover inspect`, `export` and `abandon`.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde::Serialize;
use serde_json::Value;

use crate::cli::screen::Screen;
use crate::cli::{document, visible, words};
use crate::commands::grammar::arguments::GlobalArgs;
use crate::commands::progress::ProgressPrinter;
use crate::commands::{open_with_usable_config, purpose, working_dir};
use crate::wording::recovery::{abandoned, abandons, inspected};
use axiom_agents::recover::export;
use axiom_agents::recover::export::CrashExport;
use axiom_agents::recover::{resume, survey};
use axiom_base::error::{Code, Error, Exit, Result};
use axiom_base::files;
use axiom_model::base::ids::TaskId;
use axiom_model::recovery::mask::masked;
use axiom_safety::context::handle::Context;

/// More about what a crash left.
#[derive(Debug, Subcommand)]
#[allow(missing_docs)] // what each does is in the table of verbs
pub enum RecoverVerb {
    Inspect(RecoverTasksArgs),
    Export(RecoverExportArgs),
    Abandon(RecoverAbandonArgs),
}

/// Which tasks.
#[derive(Debug, Args)]
pub struct RecoverTasksArgs {
    /// Tasks or groups; without one, all that a crash cut off
    id: Vec<String>,
}

/// Arguments of `recover export`.
#[derive(Debug, Args)]
pub struct RecoverExportArgs {
    #[command(flatten)]
    of: RecoverTasksArgs,
    /// The file; none that is there is replaced
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// Also what looks like a secret
    #[arg(long)]
    raw: bool,
}

/// Arguments of `recover abandon`.
#[derive(Debug, Args)]
#[command(after_help = "\
What is in the workspaces is committed first. 'git axiom undo' puts the tasks back into the
plan.")]
pub struct RecoverAbandonArgs {
    #[command(flatten)]
    of: RecoverTasksArgs,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
    /// Only show which tasks that are
    #[arg(long, conflicts_with = "yes")]
    dry_run: bool,
}

/// The file that was written: it has the keys of `recover inspect`, with `schema` and `verb`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RecoverExportJson {
    /// The file.
    path: String,
    task_count: usize,
}

/// The tasks that are given up.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RecoverAbandonJson<'a> {
    dry_run: bool,
    /// Those that are archived now, or would be.
    task_ids: &'a [TaskId],
}

/// Runs one of them.
pub fn run(verb: &RecoverVerb, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    match verb {
        RecoverVerb::Inspect(of) => inspect(&of.id, global, screen),
        RecoverVerb::Export(args) => write(args, global, screen),
        RecoverVerb::Abandon(args) if args.dry_run => would_abandon(&args.of.id, global, screen),
        RecoverVerb::Abandon(args) => abandon(&args.of.id, args.yes, global, screen),
    }
}

fn ids(texts: &[String]) -> Result<Vec<TaskId>> {
    texts.iter().map(|id| TaskId::new(id.as_str())).collect()
}

fn looked_at(of: &[String], global: &GlobalArgs, screen: &mut Screen) -> Result<CrashExport> {
    let mut ctx = open_with_usable_config(purpose(true), global, screen)?;
    let view = survey::look(&mut ctx)?;
    export::state(&ctx, &view, &ids(of)?)
}

/// Shows all that is known of these tasks.
pub(super) fn inspect(of: &[String], global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let state = looked_at(of, global, screen)?;
    screen.answer(&state, || inspected(&state))?;
    Ok(Exit::Done)
}

fn write(args: &RecoverExportArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let state = looked_at(&args.of.id, global, screen)?;
    let no_json = |e| Error::new(Code::Internal, "the state of a crash is no JSON").because(e);
    let mut json = serde_json::to_value(&state).map_err(no_json)?;
    if !args.raw {
        mask(&mut json);
    }
    let text = document::for_a_file(screen.verb(), &json)?;
    let path = working_dir(global)?.join(&args.output);
    if path.symlink_metadata().is_ok() {
        return Err(Error::new(Code::InvalidInput, format!("'{}' is there already", shown(&path)))
            .hint("give another name with --output, or remove the file first"));
    }
    files::create_new(&path, text.as_bytes())?;
    let answer = RecoverExportJson { path: path.display().to_string(), task_count: state.tasks.len() };
    screen.answer(&answer, || format!("{} written to {}\n", words::count(answer.task_count, "task"), shown(&path)))?;
    Ok(Exit::Done)
}

fn shown(path: &Path) -> String {
    visible::line(&path.display().to_string()).into_owned()
}

/// Masks every text in a document.
fn mask(value: &mut Value) {
    match value {
        Value::String(text) => *text = masked(text),
        Value::Array(items) => items.iter_mut().for_each(mask),
        Value::Object(keys) => keys.values_mut().for_each(mask),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Lists the tasks and asks, then takes them out of the plan.
pub fn abandon(of: &[String], yes: bool, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let mut ctx = open_with_usable_config(purpose(false), global, screen)?;
    let done = abandon_in(&mut ctx, &ids(of)?, yes, screen)?;
    screen.answer(&RecoverAbandonJson { dry_run: false, task_ids: &done }, || abandoned(&done))?;
    Ok(Exit::Done)
}

/// Shows what [`abandon`] takes out of the plan; changes nothing.
fn would_abandon(of: &[String], global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let mut ctx = open_with_usable_config(purpose(true), global, screen)?;
    let view = survey::look(&mut ctx)?;
    let tasks = resume::to_abandon(&ctx, &view, &ids(of)?)?;
    let list = abandons(&ctx, &tasks)?;
    screen.answer(&RecoverAbandonJson { dry_run: true, task_ids: &tasks }, || {
        format!("{list}Nothing was changed. To do it: git axiom recover abandon {}\n", of.join(" ")).replace(" \n", "\n")
    })?;
    Ok(Exit::Done)
}

/// As [`abandon`], and returns the tasks.
pub(super) fn abandon_in(ctx: &mut Context, of: &[TaskId], yes: bool, screen: &mut Screen) -> Result<Vec<TaskId>> {
    let view = survey::look(ctx)?;
    let tasks = resume::to_abandon(ctx, &view, of)?;
    screen.complain_text(&abandons(ctx, &tasks)?);
    screen.confirm("Abandon them?", yes)?;
    resume::abandon(ctx, &tasks, &mut ProgressPrinter::new(false))
}
