//! `git axiom checkpoint …`.

use std::path::Path;

use clap::{Args, Subcommand};
use serde::Serialize;

use super::open_configured;
use crate::cli::arguments::Global;
use crate::cli::screen::{Screen, table};
use crate::domain::checkpoint::{CheckpointRecord, Coverage, Trigger};
use crate::domain::ids::CheckpointName;
use crate::domain::names::RefName;
use crate::error::{Exit, Result};
use crate::ops::checkpoint::{self, Listed, Shown, Wanted};

/// Verbs on checkpoints.
#[derive(Debug, Subcommand)]
pub enum Checkpoint {
    /// Save every worktree, committed or not, and the whole task state
    Create(Create),
    /// List the checkpoints, oldest first
    List {},
    /// Show what a checkpoint holds, and what it does not
    Show(Show),
}

/// Arguments of `checkpoint create`.
#[derive(Debug, Args)]
#[command(after_help = "\
The files of a checkpoint can be read with plain git:
  git diff axiom/captures/NAME             what has changed since
  git restore --source=axiom/captures/NAME --worktree -- :/")]
pub struct Create {
    /// Its name: letters, digits, '-' and '_'; made up from the time where it is left out
    name: Option<CheckpointName>,
}

/// Arguments of `checkpoint show`.
#[derive(Debug, Args)]
pub struct Show {
    /// Its name, or a unique beginning of it
    name: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Created<'a> {
    checkpoint: &'a CheckpointRecord,
    tag_name: String,
    coverage: &'a std::collections::BTreeMap<String, Coverage>,
}

#[derive(Serialize)]
struct List {
    checkpoints: Vec<Listed>,
}

#[derive(Serialize)]
struct Single<'a> {
    checkpoint: &'a Shown,
}

/// Runs a verb on checkpoints.
///
/// # Errors
/// Whatever the verb says.
pub fn run(args: &Checkpoint, global: &Global, screen: &mut Screen) -> Result<Exit> {
    match args {
        Checkpoint::Create(args) => create(args, global, screen),
        Checkpoint::List {} => list(global, screen),
        Checkpoint::Show(args) => show(args, global, screen),
    }
}

fn create(args: &Create, global: &Global, screen: &mut Screen) -> Result<Exit> {
    let mut context = open_configured(global, Vec::new(), screen)?;
    context.repo.require_git_version()?;
    let wanted = Wanted { name: args.name.clone(), trigger: Trigger::Manual, about: None };
    let record = checkpoint::create(&mut context, &wanted)?;
    let document = checkpoint::read_document(&context, &record)?;
    for (path, coverage) in &document.coverage {
        for line in left_out(path, coverage) {
            screen.note(&line);
        }
    }
    let tag_name = format!("axiom/{}", record.name);
    let answer = Created { checkpoint: &record, tag_name, coverage: &document.coverage };
    screen.answer(&answer, || format!("{}\n", record.name))?;
    Ok(Exit::Done)
}

/// What a capture leaves out, as sentences.
pub(super) fn left_out(path: &str, coverage: &Coverage) -> Vec<String> {
    let Coverage { ignored, nested_repositories, dirty_submodules, too_large, special, missing } = coverage;
    let mut lines = Vec::new();
    if *missing {
        lines.push(format!("not held: '{path}', whose folder is gone"));
    }
    let kinds = [
        (ignored, "ignored"),
        (nested_repositories, "nested repository"),
        (dirty_submodules, "submodule with changes of its own"),
        (too_large, "untracked and over checkpoints.maxFileSize"),
        (special, "socket, fifo or device"),
    ];
    for (sample, what) in kinds {
        if sample.count == 0 {
            continue;
        }
        let shown: Vec<String> =
            sample.paths.iter().take(5).map(|p| Path::new(path).join(p.to_path()).display().to_string()).collect();
        let more = sample.count - shown.len() as u64;
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        lines.push(format!("not held ({what}): {}{more}", shown.join(", ")));
    }
    lines
}

fn list(global: &Global, screen: &mut Screen) -> Result<Exit> {
    let context = open_configured(global, Vec::new(), screen)?;
    let answer = List { checkpoints: checkpoint::list(&context)? };
    screen.answer(&answer, || {
        if answer.checkpoints.is_empty() {
            return "There is no checkpoint yet.\n".to_owned();
        }
        let heading = ["#", "time", "type", "name", "since"].map(str::to_owned).to_vec();
        let rows = answer.checkpoints.iter().map(|one| {
            let commits = one.commits_since.map_or_else(|| "? commits".to_owned(), |count| format!("{count} commits"));
            vec![
                one.number.to_string(),
                one.created_at.strftime("%Y-%m-%d %H:%M:%S").to_string(),
                one.kind.as_str().to_owned(),
                one.name.to_string(),
                format!("{} tasks, {commits}", one.tasks_since),
            ]
        });
        table(&std::iter::once(heading).chain(rows).collect::<Vec<_>>())
    })?;
    Ok(Exit::Done)
}

fn show(args: &Show, global: &Global, screen: &mut Screen) -> Result<Exit> {
    let context = open_configured(global, Vec::new(), screen)?;
    let shown = checkpoint::show(&context, &args.name)?;
    screen.answer(&Single { checkpoint: &shown }, || people(&shown))?;
    Ok(Exit::Done)
}

fn people(shown: &Shown) -> String {
    let document = &shown.document;
    let none = || "none".to_owned();
    let mut rows = vec![
        vec!["name".to_owned(), document.name.to_string()],
        vec!["made".to_owned(), format!("{}, {} ({})", document.created_at, document.kind.as_str(), document.trigger.as_str())],
        vec!["commit".to_owned(), document.git_commit.as_ref().map_or_else(none, ToString::to_string)],
        vec!["branch".to_owned(), document.branch.as_ref().map_or_else(none, |branch| branch.short().to_owned())],
        vec!["files".to_owned(), format!("refs/axiom/captures/{}", document.name)],
        vec!["tag".to_owned(), shown.listed.tag.clone()],
    ];
    for workspace in &document.workspaces {
        let branch = workspace.branch.as_ref().map_or("detached", RefName::short);
        rows.push(vec!["workspace".to_owned(), format!("{} ({branch}, {})", workspace.path, workspace.capture.short())]);
    }
    let mut counts = std::collections::BTreeMap::new();
    for status in document.case_states.values() {
        *counts.entry(status.as_str()).or_insert(0_u32) += 1;
    }
    let counts: Vec<String> = counts.iter().map(|(status, count)| format!("{count} {status}")).collect();
    rows.push(vec!["tasks".to_owned(), if counts.is_empty() { none() } else { counts.join(", ") }]);
    let commits = shown.listed.commits_since.map_or_else(|| "?".to_owned(), |count| count.to_string());
    rows.push(vec!["since".to_owned(), format!("{} tasks, {commits} commits", shown.listed.tasks_since)]);
    let mut text = table(&rows);
    for (path, coverage) in &document.coverage {
        for line in left_out(path, coverage) {
            text.push_str(&line);
            text.push('\n');
        }
    }
    text
}
