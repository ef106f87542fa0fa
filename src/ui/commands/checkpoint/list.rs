//! `git axiom checkpoint list` and `show`.

use clap::Args;
use serde::Serialize;

use super::left_out;
use crate::cli::grid::StyledGrid;
use crate::cli::screen::Screen;
use crate::cli::styled::StyledText;
use crate::cli::words;
use crate::commands::grammar::arguments::GlobalArgs;
use crate::commands::{open_with_usable_config, purpose};
use crate::wording::checkpoints::{below, grid, only_text, size_text, type_and_trigger};
use axiom_base::error::{Exit, Result};
use axiom_model::base::ids::TaskId;
use axiom_model::base::names::RefName;
use axiom_model::base::own_names::CAPTURES;
use axiom_model::work::tasks::task::TaskKind;
use axiom_safety::checkpoint;
use axiom_safety::checkpoint::{CheckpointDetails, CheckpointListing, HealDepth};
use axiom_safety::context::handle::Context;
use axiom_safety::context::placement::VerbPurpose;

/// Arguments of `checkpoint show`.
#[derive(Debug, Args)]
#[command(after_help = "\
Names the commit and branch, the capture that holds the files, the workspaces of agents, the
tasks by status, what was done since, and what is not held: ignored files, nested repositories,
files over checkpoints.maxFileSize. 'git axiom checkpoint diff NAME' shows what changed since;
'git axiom rollback checkpoint NAME --dry-run' shows what a rollback would change.")]
pub struct CheckpointShowArgs {
    /// Its name, or a unique beginning of it
    name: String,
}

/// Arguments of `checkpoint list`.
#[derive(Debug, Args)]
pub struct CheckpointListArgs {
    /// List only the newest N
    #[arg(short = 'n', long, value_name = "NUMBER")]
    max_count: Option<usize>,
}

/// The checkpoints.
#[derive(Serialize)]
struct CheckpointListJson {
    /// Oldest first.
    checkpoints: Vec<CheckpointListing>,
}

/// One checkpoint.
#[derive(Serialize)]
struct CheckpointShowJson<'a> {
    checkpoint: &'a CheckpointDetails,
}

/// Lists the checkpoints; missing tags and notes are rebuilt first.
pub(super) fn list(args: &CheckpointListArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let mut ctx = open_with_usable_config(VerbPurpose::Write, global, screen)?;
    let depth = args.max_count.map_or(HealDepth::Names, HealDepth::Newest);
    for name in checkpoint::heal_at_once(&mut ctx, depth) {
        screen.note(&format!("the missing tag or note of checkpoint {name} was rebuilt"));
    }
    let answer = CheckpointListJson { checkpoints: checkpoint::list(&ctx, args.max_count)? };
    screen.answer(&answer, || {
        if ctx.state().record.checkpoints.is_empty() {
            return StyledText::from("There is no checkpoint yet: git axiom checkpoint create    makes one\n");
        }
        StyledText::from(grid(&answer.checkpoints)) + below(&answer.checkpoints)
    })?;
    Ok(Exit::Done)
}

/// Shows what a checkpoint holds, and what it does not.
pub(super) fn show(args: &CheckpointShowArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let ctx = open_with_usable_config(purpose(true), global, screen)?;
    let shown = checkpoint::show(&ctx, &args.name)?;
    screen.answer(&CheckpointShowJson { checkpoint: &shown }, || people(&ctx, &shown))?;
    Ok(Exit::Done)
}

/// What a checkpoint holds, for people.
pub(super) fn people(ctx: &Context, shown: &CheckpointDetails) -> StyledText {
    let document = &shown.document;
    let none = || "none".to_owned();
    let made = words::time(document.created_at);
    let mut rows = vec![
        vec!["name".to_owned(), document.name.to_string()],
        vec!["made".to_owned(), format!("{made}, {}", type_and_trigger(document.kind, document.trigger))],
        vec!["commit".to_owned(), document.git_commit.as_ref().map_or_else(none, ToString::to_string)],
        vec!["branch".to_owned(), document.branch.as_ref().map_or_else(none, |branch| branch.short().to_owned())],
        vec!["files".to_owned(), format!("{CAPTURES}{}", document.name)],
        vec!["tag".to_owned(), shown.listed.tag.as_ref().map_or_else(none, |tag| tag.short().to_owned())],
    ];
    for workspace in &document.workspaces {
        let branch = workspace.branch.as_ref().map_or("detached", RefName::short);
        rows.push(vec!["workspace".to_owned(), format!("{} ({branch}, {})", workspace.path, workspace.capture.short())]);
    }
    let mut counts = std::collections::BTreeMap::new();
    // As 'git axiom status' counts them: groups are none.
    let known = &ctx.state().restorable.tasks;
    let is_group = |id: &TaskId| known.get(id).is_some_and(|task| task.kind != TaskKind::Task);
    for (_, status) in document.case_states.iter().filter(|(id, _)| !is_group(id)) {
        *counts.entry(status.as_str()).or_insert(0_u32) += 1;
    }
    let counts: Vec<String> = counts.iter().map(|(status, count)| format!("{count} {status}")).collect();
    rows.push(vec!["tasks".to_owned(), if counts.is_empty() { none() } else { counts.join(", ") }]);
    let commits = shown.listed.commits_since.map_or_else(|| "? commits".to_owned(), |number| words::count(number, "commit"));
    rows.push(vec!["since".to_owned(), format!("{}, {commits}", words::count(shown.listed.tasks_since, "task"))]);
    rows.push(vec!["size".to_owned(), size_text(shown.listed.size)]);
    let mut text = StyledText::from(StyledGrid::of(rows).folded());
    if let Some(only) = &shown.listed.only {
        text.push_str(&format!("{}\n", only_text(only)));
    }
    for (path, coverage) in &document.coverage_with_submodules() {
        let gone = shown.listed.only.as_ref().is_some_and(|only| only.all_else_gone);
        for line in left_out(path, coverage, &shown.sizes_now, gone) {
            text.push_str(&format!("{line}\n"));
        }
    }
    text
}
