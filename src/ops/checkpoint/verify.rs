//! Proving that a checkpoint is whole: every object is there, and capture, document, tag and note agree.

use serde::Serialize;

use super::heal;
use super::look::document_of;
use super::tag_data;
use crate::domain::checkpoint::{CheckpointDocument, CheckpointRecord};
use crate::domain::ids::CheckpointName;
use crate::domain::names::Oid;
use crate::error::Result;
use crate::git::{Expected, RefEdit, Repository};
use crate::ops::checkpoint::find;
use crate::ops::context::Context;

/// Something that is wrong with a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// In words.
    pub what: String,
    /// Whether `--repair` puts it right from what is left.
    pub repairable: bool,
}

/// What was found of one checkpoint.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Verified {
    /// Which.
    pub name: CheckpointName,
    /// What is wrong; nothing where it is whole.
    pub problems: Vec<Problem>,
}

/// Looks at one checkpoint, or at all of them, oldest first. Changes nothing that a user sees.
///
/// # Errors
/// `UNKNOWN_CHECKPOINT`, `AMBIGUOUS_NAME`; `GIT_FAILED` where git itself fails. Damage is a result, no error.
pub fn verify(ctx: &Context, name: Option<&str>) -> Result<Vec<Verified>> {
    let mut records: Vec<CheckpointRecord> = match name {
        Some(name) => vec![find(ctx, name)?],
        None => ctx.state().record.checkpoints.values().cloned().collect(),
    };
    records.sort_by(|a, b| (a.seq, &a.name).cmp(&(b.seq, &b.name)));
    // One walk for all: only where it fails is each walked alone, to tell which it is.
    let all: Vec<Oid> = records.iter().map(|record| record.capture.clone()).collect();
    let whole = missing(ctx, &all)?.is_none();
    records.iter().map(|record| Ok(Verified { name: record.name.clone(), problems: problems(ctx, record, whole)? })).collect()
}

/// Rebuilds what [`verify`] says can be rebuilt, then looks again.
///
/// # Errors
/// As [`verify`]; `OPERATION_OPEN`, `BUSY`, `DISK_FULL`.
pub fn repair(ctx: &mut Context, name: Option<&str>) -> Result<Vec<Verified>> {
    ctx.with_operation_lock(|ctx| {
        ctx.no_open_operation()?;
        for found in verify(ctx, name)?.into_iter().filter(|found| found.problems.iter().any(|problem| problem.repairable)) {
            let Some(record) = ctx.state().record.checkpoints.get(&found.name).cloned() else { continue };
            let capture = Repository::capture_ref(&record.name);
            if ctx.repo.read_ref(&capture)?.is_none() {
                let edit = RefEdit { name: capture, expected: Expected::Absent, new: Some(record.capture.clone()) };
                ctx.repo.update_refs(&[edit], "git axiom: repaired")?;
            }
            if let Err(error) = heal::complete(ctx, &record) {
                tracing::warn!(name = %record.name, %error, "not repaired");
            }
        }
        heal::heal(ctx, true)?;
        verify(ctx, name)
    })
}

fn problems(ctx: &Context, record: &CheckpointRecord, whole: bool) -> Result<Vec<Problem>> {
    let mut problems = Vec::new();
    let mut add = |what: String, repairable: bool| problems.push(Problem { what, repairable });
    let present = whole || missing(ctx, std::slice::from_ref(&record.capture))?.is_none();
    match ctx.repo.read_ref(&Repository::capture_ref(&record.name))? {
        Some(capture) if capture == record.capture => {}
        Some(other) => add(format!("its capture ref names {} in place of {}", other.short(), record.capture.short()), false),
        None => add("its capture ref is gone".into(), present),
    }
    if let Some(words) = if present { None } else { missing(ctx, std::slice::from_ref(&record.capture))? } {
        add(format!("objects are missing or damaged: {words}"), false);
    }
    let (json, document) = match document_of(ctx, &record.capture) {
        Ok(found) => found,
        Err(error) => {
            add(error.to_string(), false);
            return Ok(problems);
        }
    };
    disagreements(ctx, record, &document).into_iter().for_each(|what| add(what, false));
    let tag_name = Repository::checkpoint_tag(&record.name);
    match (ctx.repo.tag_of_checkpoint(&record.name, &record.capture, &tag_data(&document)), ctx.repo.read_ref(&tag_name)?) {
        (Err(error), _) => add(format!("its tag cannot be made: {error}"), false),
        (Ok(_), None) => add(format!("its tag {} is gone", tag_name.short()), true),
        (Ok(expected), Some(tag)) if tag != expected => add(format!("another tag has the name {}", tag_name.short()), false),
        (Ok(expected), Some(_)) => {
            let note = ctx.repo.notes().and_then(|notes| ctx.repo.note_of(&notes, &expected));
            match note {
                Ok(Some(note)) if note == json => {}
                Ok(Some(_)) => add("its note is not its document".into(), true),
                Ok(None) => add("its note is gone".into(), true),
                Err(error) => add(format!("its note cannot be read: {error}"), false),
            }
        }
    }
    Ok(problems)
}

/// Where the document says something else than the record and the commits.
fn disagreements(ctx: &Context, record: &CheckpointRecord, document: &CheckpointDocument) -> Vec<String> {
    let mut found = Vec::new();
    if document.name != record.name {
        found.push(format!("its document is that of '{}'", document.name));
    }
    if document.git_commit != record.git_commit {
        found.push("document and state name different commits".into());
    }
    if document.only() != record.only {
        found.push("document and state disagree on what was looked at".into());
    }
    let base = ctx.repo.read_commit(&record.capture).ok().and_then(|commit| commit.parents.into_iter().next());
    if document.git_commit.is_some() && base != document.git_commit {
        found.push("the capture is not on top of the commit that the document names".into());
    }
    let kept = ctx.repo.kept_by_checkpoint(&record.capture).unwrap_or_default();
    let named = document.workspaces.iter().map(|workspace| &workspace.capture).chain(document.refs.values());
    for oid in named.filter(|oid| !kept.contains(oid)) {
        found.push(format!("{} is named and not kept", oid.short()));
    }
    found
}

/// What git says is missing of everything that these commits reach; `None` where all is there.
fn missing(ctx: &Context, commits: &[Oid]) -> Result<Option<String>> {
    if commits.is_empty() {
        return Ok(None);
    }
    let mut input = String::new();
    commits.iter().for_each(|commit| input.extend([commit.as_str(), "\n"]));
    let output = ctx.repo.git().args(["rev-list", "--objects", "--quiet", "--stdin"]).stdin(input).run()?;
    Ok((!output.ok()).then(|| output.stderr.trim().replace('\n', "; ")))
}
