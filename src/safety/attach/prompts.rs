//! The timeline of prompts: what each changed, and how to go back to it.

pub mod changed_by_others;
pub mod session_files;
mod way_back;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;

use super::elsewhere::PromptElsewhere;
use super::join::wait_until_saved;
use super::prompt_lines::change;
use super::{elsewhere, not_saved};
use crate::context::handle::Context;
use crate::history::work_diff::TaskDiff;
use crate::{checkpoint, history};
use axiom_base::error::{Code, Error, Result};
use axiom_git::{Repository, TreeChange};
use axiom_model::agent::attached_program::AttachedProgram;
use axiom_model::base::ids::OperationId;
use axiom_model::base::names::Oid;
use axiom_model::checkpoint::document::CheckpointDocument;
use axiom_model::checkpoint::record::CheckpointRecord;
use axiom_model::checkpoint::stamp::{prompt_name, prompt_number};
use axiom_model::checkpoint::trigger::CheckpointTrigger;
use axiom_model::operation::operation_record::{OperationRecord, OperationRecordState};
use axiom_store::beside::attach::AttachFiles;
pub use way_back::{CheckpointRollbackScope, back};

/// How long a list waits for what an agent did a moment ago.
const PATIENCE: Duration = Duration::from_secs(3);
/// The most commits that are told of a prompt.
const MOST_COMMITS: usize = 200;

/// A prompt of an attached session.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Prompt {
    /// Its number.
    pub number: u32,
    /// When it was sent.
    pub at: Timestamp,
    /// The agent program.
    pub program: Option<AttachedProgram>,
    /// The attached session.
    pub session: Option<String>,
    /// The worktree of the session.
    pub worktree: Option<String>,
    /// Its first line, masked, at most 80 characters; `null` where it is not kept.
    pub text: Option<String>,
    /// How many files changed until the next prompt of the session, or until the newest checkpoint.
    pub files: Option<usize>,
    /// How many lines it added.
    pub insertions: Option<u64>,
    /// How many lines it removed.
    pub deletions: Option<u64>,
    /// What it changed in other worktrees, such as that of a subagent.
    pub elsewhere: Vec<PromptElsewhere>,
    /// The rollback that took back what it did, and was not undone.
    pub taken_back_by: Option<OperationId>,
    /// The command that goes back to before it.
    pub back: String,
}

/// Forgets the first lines of these prompts, or of all; returns how many there were. What a checkpoint saved stays.
pub fn forget(ctx: &Context, numbers: Option<&[u32]>) -> Result<usize> {
    let files = AttachFiles::of(ctx.layout());
    files.ensure()?;
    let mut gone = 0;
    change(&files, |all| {
        let before = all.len();
        all.retain(|one| numbers.is_some_and(|numbers| !numbers.contains(&one.number)));
        gone = before - all.len();
    })?;
    if numbers.is_none() {
        gone += not_saved::forget(&files)?;
    }
    Ok(gone)
}

/// What is kept of the prompts' texts, by their numbers.
pub fn texts(ctx: &Context) -> Result<BTreeMap<u32, String>> {
    let lines = AttachFiles::of(ctx.layout()).prompts().lines()?;
    Ok(lines.into_iter().map(|one| (one.number, one.text)).collect())
}

/// The prompts, newest first, at most `most`.
pub fn list(ctx: &mut Context, most: usize) -> Result<Vec<Prompt>> {
    // What the newest changed is known once that is saved.
    let is_saved = wait_until_saved(&AttachFiles::of(ctx.layout()), PATIENCE)?;
    ctx.store.refresh()?;
    let ctx = &*ctx;
    let all = ctx.state().record.checkpoints.by_age()?;
    let texts = texts(ctx)?;
    let places = all.iter().enumerate().rev().filter(|(_, record)| record.trigger == CheckpointTrigger::Prompt);
    let shown: Vec<_> = places.take(most).collect();
    let since = shown.last().map(|(_, record)| record.created_at);
    let backs = since.map_or_else(|| Ok(Vec::new()), |since| rollbacks(ctx, since))?;
    let known = shown.into_iter().filter_map(|(place, record)| {
        let mut prompt = prompt(ctx, record, (&all[..=place], &all[place + 1..]), (&texts, &backs))?;
        if prompt.files == Some(0) && !is_saved {
            (prompt.files, prompt.insertions, prompt.deletions) = (None, None, None);
        }
        Some(prompt)
    });
    Ok(known.collect())
}

/// The rollback that went back to a state from before a prompt, in its worktree, after it; `before` are the checkpoints up to its own.
fn taken_back_by<'b>(
    backs: &'b [OperationRecord],
    (record, worktree): (&CheckpointRecord, &str),
    before: &[&CheckpointRecord],
) -> Option<&'b OperationRecord> {
    let took = |back: &&OperationRecord| {
        let is_from_before = before.iter().any(|one| Some(&one.name) == back.brought_back.checkpoint.as_ref());
        let is_there = back.changes.worktrees.iter().any(|change| change.path == worktree);
        back.at > record.created_at && is_from_before && is_there
    };
    backs.iter().find(took)
}

/// The checkpoint at which what a prompt did is over: that of the session's next prompt, or what the rollback that took it back saved.
fn end_of<'a>(
    record: &CheckpointRecord,
    later: &[&'a CheckpointRecord],
    back: Option<&OperationRecord>,
) -> Option<&'a CheckpointRecord> {
    let session = record.attached.as_ref().map(|stamp| &stamp.session);
    let is_next = |one: &CheckpointRecord| {
        one.trigger == CheckpointTrigger::Prompt && one.attached.as_ref().map(|stamp| &stamp.session) == session
    };
    let is_saved = |one: &CheckpointRecord| back.is_some_and(|back| back.checkpoints.contains(&one.name));
    later.iter().copied().find(|one| is_next(one) || is_saved(one))
}

/// The rollbacks since then that stand.
fn rollbacks(ctx: &Context, since: Timestamp) -> Result<Vec<OperationRecord>> {
    let mut all = history::newest_transactions(ctx, |known| known.first().is_some_and(|first| first.at < since))?;
    all.retain(|one| {
        one.brought_back.checkpoint.is_some()
            && one.progress == OperationRecordState::Done
            && one.undo.by.is_none()
            && one.at >= since
    });
    Ok(all)
}

/// A prompt, as far as it is known without looking at any git object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptHeader {
    /// Its number.
    pub number: u32,
    /// Its checkpoint.
    pub checkpoint: String,
    /// Its session.
    pub session: String,
    /// When it was sent.
    pub at: Timestamp,
    /// Its first line, where it is kept.
    pub text: Option<String>,
}

/// The prompts among the newest checkpoints, newest first.
pub fn newest(ctx: &Context, among: usize) -> Result<Vec<PromptHeader>> {
    let mut texts = AttachFiles::of(ctx.layout()).prompts().lines()?;
    let of = |record: &CheckpointRecord| {
        let number = prompt_number(record.name.as_str()).filter(|_| record.trigger == CheckpointTrigger::Prompt)?;
        let place = texts.iter().position(|one| one.number == number);
        Some(PromptHeader {
            number,
            checkpoint: record.name.to_string(),
            session: record.attached.as_ref()?.session.clone(),
            at: record.created_at,
            text: place.map(|place| texts.swap_remove(place).text),
        })
    };
    let mut all: Vec<PromptHeader> = ctx.state().record.checkpoints.newest(among)?.into_iter().filter_map(of).collect();
    all.sort_by_key(|one| std::cmp::Reverse(one.number));
    Ok(all)
}

fn prompt(
    ctx: &Context,
    record: &CheckpointRecord,
    (before, later): (&[&CheckpointRecord], &[&CheckpointRecord]),
    (texts, backs): (&BTreeMap<u32, String>, &[OperationRecord]),
) -> Option<Prompt> {
    let number = prompt_number(record.name.as_str())?;
    let stamp = checkpoint::read_document(ctx, record).ok().and_then(|document| document.attached);
    let back = stamp.as_ref().and_then(|stamp| taken_back_by(backs, (record, &stamp.worktree), before));
    // What an undo saved is what it took back.
    let newest = || later.iter().rev().find(|one| one.trigger != CheckpointTrigger::BeforeUndo).copied();
    let end = end_of(record, later, back).or_else(newest).unwrap_or(record);
    let changed = stamp.as_ref().and_then(|stamp| changed(ctx, (record, end), &stamp.worktree));
    let sum = |of: fn(&(u64, u64)) -> u64| changed.as_ref().map(|files| files.iter().flatten().map(of).sum());
    Some(Prompt {
        number,
        at: record.created_at,
        program: record.attached.as_ref().map(|stamp| stamp.program),
        session: record.attached.as_ref().map(|stamp| stamp.session.clone()),
        worktree: stamp.map(|stamp| stamp.worktree),
        text: texts.get(&number).cloned(),
        files: changed.as_ref().map(Vec::len),
        insertions: sum(|lines| lines.0),
        deletions: sum(|lines| lines.1),
        elsewhere: record
            .attached
            .as_ref()
            .and_then(|stamp| elsewhere::counted(ctx, (record, stamp), later).ok())
            .unwrap_or_default(),
        taken_back_by: back.map(|back| back.id.clone()),
        back: format!("git axiom rollback --prompt {number}"),
    })
}

/// The lines of each file that changed in a worktree between two checkpoints.
fn changed(ctx: &Context, ends: (&CheckpointRecord, &CheckpointRecord), worktree: &str) -> Option<Vec<Option<(u64, u64)>>> {
    let lines = between(ctx, ends, worktree, |repo, old, new| repo.history().file_lines(old, new))?;
    Some(lines.into_iter().map(|file| file.lines).collect())
}

/// What differs in a worktree between two checkpoints, in its submodules too; `each` finds it between two trees. `None` where they cannot
/// be read.
pub(super) fn between<T>(
    ctx: &Context,
    (from, to): (&CheckpointRecord, &CheckpointRecord),
    worktree: &str,
    each: impl Fn(&Repository, &Oid, &Oid) -> Result<Vec<T>>,
) -> Option<Vec<T>> {
    let [old, new] = [from, to].map(|record| checkpoint::files_of_worktree(ctx, record, worktree));
    let (old, new) = (old?, new?);
    let mut found = if old == new { Vec::new() } else { each(&ctx.repo, &old, &new).ok()? };
    for (repo, (old, new)) in checkpoint::submodules_between(ctx, (from, to), worktree).ok()? {
        found.extend(each(&repo, &old, &new).ok()?);
    }
    Some(found)
}

/// The prompt of this number, as far as it is known.
pub fn one(ctx: &Context, number: u32) -> Result<Prompt> {
    let (record, _) = find(ctx, number)?;
    let all = ctx.state().record.checkpoints.by_age()?;
    let place = all.iter().position(|one| one.name == record.name).ok_or_else(|| unknown(number))?;
    let texts = AttachFiles::of(ctx.layout()).prompts().lines()?;
    let texts: BTreeMap<u32, String> = texts.into_iter().map(|one| (one.number, one.text)).collect();
    let backs = rollbacks(ctx, record.created_at)?;
    prompt(ctx, &record, (&all[..=place], &all[place + 1..]), (&texts, &backs)).ok_or_else(|| unknown(number))
}

/// Whether there is a prompt of this number.
pub fn is_known(ctx: &Context, number: u32) -> Result<bool> {
    let name = prompt_name(number);
    let is_it = |record: &&CheckpointRecord| record.trigger == CheckpointTrigger::Prompt && record.name.as_str() == name;
    Ok(ctx.state().record.checkpoints.all()?.iter().any(is_it))
}

fn unknown(number: u32) -> Error {
    Error::new(Code::UnknownCheckpoint, format!("there is no prompt {number}")).hint("git axiom prompts    lists them")
}

/// The checkpoint of a prompt, and its document.
pub fn find(ctx: &Context, number: u32) -> Result<(CheckpointRecord, CheckpointDocument)> {
    if !is_known(ctx, number)? {
        return Err(unknown(number));
    }
    let record = checkpoint::find(ctx, &prompt_name(number))?;
    let document = checkpoint::read_document(ctx, &record)?;
    Ok((record, document))
}

/// The last prompt to an agent in the current worktree.
pub fn last_here(ctx: &Context) -> Result<u32> {
    let here = ctx.repo.worktrees().current_worktree()?.path_text()?;
    let all = ctx.state().record.checkpoints.by_age()?;
    let is_here = |record: &&&CheckpointRecord| {
        let stamp = || checkpoint::read_document(ctx, record).ok()?.attached;
        record.trigger == CheckpointTrigger::Prompt && stamp().is_some_and(|stamp| stamp.worktree == here)
    };
    all.iter().rev().find(is_here).and_then(|record| prompt_number(record.name.as_str())).ok_or_else(|| {
        Error::new(Code::UnknownCheckpoint, "no agent was sent a prompt in this worktree")
            .hint("git axiom prompts    lists those of all worktrees")
    })
}

/// What happened in the worktree of a prompt's session from the prompt until its next one, or until it was taken back; else until now.
pub fn diff(ctx: &Context, number: u32) -> Result<TaskDiff> {
    let (record, document) = find(ctx, number)?;
    let damaged = || Error::new(Code::CheckpointDamaged, format!("the files of prompt {number} cannot be read"));
    let stamp = document.attached.ok_or_else(damaged)?;
    let then = checkpoint::capture_of_worktree(ctx, &record, &stamp.worktree).ok_or_else(damaged)?;
    let old = ctx.repo.captures().capture_parts(&then)?;
    let (all, backs) = (ctx.state().record.checkpoints.by_age()?, rollbacks(ctx, record.created_at)?);
    let place = all.iter().position(|one| one.name == record.name).ok_or_else(|| unknown(number))?;
    let (before, later) = all.split_at(place + 1);
    let next = end_of(&record, later, taken_back_by(&backs, (&record, &stamp.worktree), before));
    let entry = ctx.repo.worktrees().worktree_at(Path::new(&stamp.worktree))?.filter(|entry| entry.present);
    let (workspace, tip, new) = match (next, entry) {
        (None, Some(entry)) => {
            let now = ctx.repo.captures().capture_worktree(&entry.worktree, &checkpoint::capture_options(ctx))?;
            let tip = now.head.commit().cloned();
            (Some(stamp.worktree.clone()), tip.unwrap_or_else(|| old.base.clone()), now.tree)
        }
        (next, _) => {
            // Where the worktree is gone: as far as anything is known of it.
            let last = next.or_else(|| {
                later.iter().rev().find(|one| checkpoint::capture_of_worktree(ctx, one, &stamp.worktree).is_some()).copied()
            });
            let end = checkpoint::capture_of_worktree(ctx, last.unwrap_or(&record), &stamp.worktree).ok_or_else(damaged)?;
            let parts = ctx.repo.captures().capture_parts(&end)?;
            (None, parts.base, parts.files)
        }
    };
    let history = ctx.repo.history();
    let commits = history.log(&tip, std::slice::from_ref(&old.base), MOST_COMMITS)?;
    let uncommitted = history.diff_trees(&tip, &new)?.into_iter().map(|change| change.path).collect();
    // What was done in other worktrees is shown where they are.
    let more = elsewhere::changes(ctx, (&record, &stamp), later)?;
    let base = ctx.repo.trees().edit_tree(&old.files, &more.iter().cloned().map(TreeChange::reversed).collect::<Vec<_>>())?;
    let new = ctx.repo.trees().edit_tree(&new, &more)?;
    let files = history.file_lines(&base, &new)?;
    Ok(TaskDiff { base, new, workspace, commits, files, uncommitted, not_shown: Vec::new() })
}
