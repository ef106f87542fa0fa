//! `git axiom task audit`.

use clap::Args;
use jiff::Timestamp;
use serde::Serialize;

use crate::cli::grid::StyledGrid;
use crate::cli::screen::Screen;
use crate::cli::words;
use crate::commands::grammar::arguments::GlobalArgs;
use crate::commands::look;
use axiom_base::error::{Exit, Result};
use axiom_model::base::ids::TaskId;
use axiom_model::state::attempt::AttemptRecord;
use axiom_model::state::audit::AuditEntry;
use axiom_safety::history;

/// Arguments of `task audit`.
#[derive(Debug, Args)]
#[command(after_help = "\
Oldest first: when, who, and what happened, with the old and new value of each field that
changed. All of it is from the event log; 'git axiom events' prints the whole log.")]
pub struct TaskAuditArgs {
    /// The task
    id: String,
}

/// What happened to a task.
#[derive(Serialize)]
struct TaskAuditJson<'a> {
    /// The task.
    id: &'a TaskId,
    /// Oldest first.
    entries: Vec<TaskAuditEntryJson<'a>>,
}

/// Something that happened to a task.
#[derive(Serialize)]
struct TaskAuditEntryJson<'a> {
    /// The number of the event.
    seq: u64,
    at: Timestamp,
    by: String,
    operation: &'a str,
    event: &'a str,
    text: &'a str,
    /// What an attempt at the task did.
    attempt: Option<&'a AttemptRecord>,
}

fn as_json(entry: &AuditEntry) -> TaskAuditEntryJson<'_> {
    let AuditEntry { seq, at, by, txn, event, text, attempt } = entry;
    TaskAuditEntryJson { seq: *seq, at: *at, by: by.to_string(), operation: txn.as_str(), event, text, attempt: attempt.as_ref() }
}

/// Shows a task's history, oldest first.
pub fn run(args: &TaskAuditArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let id = TaskId::new(args.id.as_str())?;
    let ctx = look(global, screen)?;
    let history = history::audit(&ctx, &id)?;
    let entry = |entry: &AuditEntry| vec![words::time(entry.at), entry.by.to_string(), entry.text.clone()];
    let answer = TaskAuditJson { id: &id, entries: history.iter().map(as_json).collect() };
    screen.answer(&answer, || StyledGrid::of(history.iter().map(entry)).folded())?;
    Ok(Exit::Done)
}
