//! Verifying that a checkpoint is complete: every object exists and can be read, and capture, document, tag and note agree.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::checkpoint_list::document_of;
use super::checkpoint_problem::{CheckpointProblem, CheckpointVerifyDepth};
use super::{heal, marking, submodules, unrestorable};
use crate::checkpoint::{HealDepth, find};
use crate::context::handle::Context;
use axiom_base::error::{Result, some_of};
use axiom_git::{CheckpointMark, ReadBackReport};
use axiom_model::base::forms::plural::count;
use axiom_model::base::ids::CheckpointName;
use axiom_model::base::names::Oid;
use axiom_model::base::own_names::{capture_ref, checkpoint_tag};
use axiom_model::checkpoint::availability::CheckpointAvailability;
use axiom_model::checkpoint::document::CheckpointDocument;
use axiom_model::checkpoint::record::CheckpointRecord;

/// The result for one checkpoint.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VerifiedCheckpoint {
    /// The checkpoint.
    pub name: CheckpointName,
    /// What is wrong; empty where the checkpoint is complete.
    pub problems: Vec<CheckpointProblem>,
    /// The submodules that it held and that are not held any more, in words: their repository was removed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub submodules_not_held: Vec<String>,
    /// How it stands, as in `checkpoint list`.
    pub standing: CheckpointAvailability,
    /// How many of its objects are missing here because this is a partial clone: git fetches them from a promisor remote
    /// when it needs them.
    pub owed: usize,
}

/// The result for all checkpoints that were verified.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckpointVerifyReport {
    /// Each checkpoint, oldest first.
    pub checkpoints: Vec<VerifiedCheckpoint>,
    /// What else `git gc` would fail on, in words. Looked for where all checkpoints were verified and are whole.
    pub beside: Option<String>,
    /// How many objects were read completely.
    pub read: usize,
    /// What was not read, in words.
    pub not_read: Option<String>,
}

/// Something that was repaired.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckpointRepair {
    /// The checkpoint.
    pub name: CheckpointName,
    /// What had been wrong, in words.
    pub what: String,
}

/// Verifies one checkpoint, or all of them, oldest first. Changes nothing that a user sees.
pub fn verify(ctx: &Context, name: Option<&str>, look: CheckpointVerifyDepth) -> Result<CheckpointVerifyReport> {
    let mut records: Vec<CheckpointRecord> = match name {
        Some(name) => vec![find(ctx, name)?],
        None => ctx.state().record.checkpoints.all()?.into_iter().cloned().collect(),
    };
    records.sort_by(|a, b| a.age().cmp(&b.age()));
    let standings = unrestorable::ended_of(ctx, &records.iter().collect::<Vec<_>>())?;
    // One walk for all captures: only where it fails, each is walked separately, to find the damaged ones.
    let all: Vec<Oid> = records.iter().map(|record| record.capture.clone()).collect();
    let whole = ctx.repo.connectivity().missing_below(&all)?.is_none();
    let read = if look == CheckpointVerifyDepth::Whole { read(ctx, &records, whole)? } else { ReadBackReport::default() };
    let mut contents = BTreeMap::new();
    let mut verified = |record: &CheckpointRecord| {
        let standing = standings.get(&record.name).copied().unwrap_or(CheckpointAvailability::There);
        let mut problems = problems(ctx, record, standing, whole)?;
        problems.extend(lfs_contents(ctx, record, look, &mut contents));
        problems.extend(unreadable(ctx, record, &read.damaged));
        let (of_submodules, submodules_not_held) = match document_of(ctx, &record.capture) {
            Ok((_, document)) => submodules::problems(ctx, &document, look)?,
            // That is among the problems already.
            Err(_) => (Vec::new(), Vec::new()),
        };
        problems.extend(of_submodules);
        let owed = if problems.is_empty() { owed(ctx, record)? } else { 0 };
        Ok(VerifiedCheckpoint { name: record.name.clone(), problems, submodules_not_held, standing, owed })
    };
    let mut checkpoints = records.iter().map(&mut verified).collect::<Result<Vec<_>>>()?;
    if name.is_none() {
        checkpoints.extend(heal::look(ctx, HealDepth::Names)?.unreadable.into_iter().map(no_checkpoint));
    }
    let damaged = checkpoints.iter().any(|one| !one.problems.is_empty());
    let beside = if name.is_none() && !damaged { ctx.repo.connectivity().missing_of_all()? } else { None };
    let not_read = match (look, read.too_large.len()) {
        (CheckpointVerifyDepth::Quick, _) => Some("file contents; only their existence was checked".to_owned()),
        (CheckpointVerifyDepth::Whole, 0) => None,
        (CheckpointVerifyDepth::Whole, large) => Some(format!("{} of more than 512 MB", count(large, "object"))),
    };
    Ok(CheckpointVerifyReport { checkpoints, beside, read: read.whole, not_read })
}

/// The result for a capture ref without a checkpoint.
fn no_checkpoint(name: CheckpointName) -> VerifiedCheckpoint {
    let named = capture_ref(&name);
    let what = format!("{named} holds no checkpoint that can be read; 'git update-ref -d {named}' deletes it");
    VerifiedCheckpoint {
        name,
        problems: vec![CheckpointProblem { what, repairable: false }],
        submodules_not_held: Vec::new(),
        standing: CheckpointAvailability::There,
        owed: 0,
    }
}

/// Reads all objects that the checkpoints hold: what their captures reach, and their tags.
fn read(ctx: &Context, records: &[CheckpointRecord], whole: bool) -> Result<ReadBackReport> {
    let captures: Vec<Oid> = records.iter().map(|record| record.capture.clone()).collect();
    let mut objects = if whole {
        ctx.repo.objects().all_below(&captures)?
    } else {
        // Only the captures that can be walked.
        let each = captures.iter().filter_map(|capture| ctx.repo.objects().all_below(std::slice::from_ref(capture)).ok());
        each.flatten().collect()
    };
    let tags = records.iter().map(|record| record.tag.clone()).filter(|tag| ctx.repo.connectivity().holds(tag));
    objects.extend(tags);
    objects.sort_unstable();
    objects.dedup();
    ctx.repo.objects().read_back(&objects)
}

/// The objects of a checkpoint that could not be read, as one problem.
fn unreadable(ctx: &Context, record: &CheckpointRecord, damaged: &[Oid]) -> Option<CheckpointProblem> {
    if damaged.is_empty() {
        return None;
    }
    let held: BTreeSet<Oid> = ctx.repo.objects().all_below(std::slice::from_ref(&record.capture)).ok()?.into_iter().collect();
    let of_it: Vec<&Oid> = damaged.iter().filter(|oid| held.contains(*oid) || **oid == record.tag).collect();
    if of_it.is_empty() {
        return None;
    }
    let only_tag = of_it.iter().all(|oid| **oid == record.tag);
    let what = format!("objects are corrupt: {}", some_of(&of_it, 5));
    Some(CheckpointProblem { what, repairable: only_tag })
}

/// The LFS files of a checkpoint whose contents are not here any more, as one problem. A capture that cannot be read is another one.
fn lfs_contents(
    ctx: &Context,
    record: &CheckpointRecord,
    look: CheckpointVerifyDepth,
    known: &mut BTreeMap<String, bool>,
) -> Option<CheckpointProblem> {
    let document = document_of(ctx, &record.capture).ok().map(|(_, document)| document);
    let others = document.iter().flat_map(|document| document.workspaces.iter().map(|workspace| &workspace.capture));
    let captures = std::iter::once(&record.capture).chain(others);
    let wrong: Vec<String> = captures
        .flat_map(|capture| {
            ctx.repo.lfs_files().lfs_problems(capture, look == CheckpointVerifyDepth::Whole, known).unwrap_or_default()
        })
        .map(|path| path.to_string())
        .collect();
    let what = format!("contents of LFS files are missing or damaged: {}", some_of(&wrong, 5));
    (!wrong.is_empty()).then_some(CheckpointProblem { what, repairable: false })
}

/// How many objects of its trees are missing here, in a partial clone.
fn owed(ctx: &Context, record: &CheckpointRecord) -> Result<usize> {
    if !ctx.repo.connectivity().is_partial() {
        return Ok(0);
    }
    let (_, document) = document_of(ctx, &record.capture)?;
    let captures = std::iter::once(&record.capture).chain(document.workspaces.iter().map(|workspace| &workspace.capture));
    let mut trees = Vec::new();
    for capture in captures {
        let commit = ctx.repo.objects().read_commit(capture)?;
        if let Some(index) = commit.parents.get(1) {
            trees.push(ctx.repo.objects().read_commit(index)?.tree);
        }
        trees.push(commit.tree);
    }
    ctx.repo.connectivity().owed_below(&trees)
}

/// Rebuilds what [`verify`] reports as repairable, then verifies again; returns also what was repaired. Text that someone
/// else added to a note stays, below the document.
pub fn repair(
    ctx: &mut Context,
    name: Option<&str>,
    look: CheckpointVerifyDepth,
) -> Result<(CheckpointVerifyReport, Vec<CheckpointRepair>)> {
    ctx.with_change_lock(|ctx| {
        ctx.no_open_operation()?;
        let before = verify(ctx, name, look)?.checkpoints;
        unrestorable::refs_again(ctx)?;
        let mut failed = Vec::new();
        for found in before.iter().filter(|found| found.problems.iter().any(|problem| problem.repairable)) {
            let Some(record) = ctx.state().record.checkpoints.get(&found.name)?.cloned() else { continue };
            let outcome = heal::complete(ctx, &record).and_then(|()| {
                let (_, document) = document_of(ctx, &record.capture)?;
                submodules::repair(ctx, &document)
            });
            if let Err(error) = outcome {
                failed.push((record.name, error.to_string()));
            }
        }
        let healed = heal::heal(ctx, HealDepth::Notes)?;
        let mut after = verify(ctx, name, look)?;
        let repaired = put_right(before, &after.checkpoints, healed);
        for (name, why) in failed {
            // What failed may have been completed since.
            let left = after.checkpoints.iter_mut().find(|found| found.name == name && !found.problems.is_empty());
            let problem = CheckpointProblem { what: format!("it could not be repaired: {why}"), repairable: true };
            left.into_iter().for_each(|found| found.problems.push(problem.clone()));
        }
        Ok((after, repaired))
    })
}

/// The problems that no longer exist, and what else was completed.
fn put_right(
    before: Vec<VerifiedCheckpoint>,
    after: &[VerifiedCheckpoint],
    healed: Vec<CheckpointName>,
) -> Vec<CheckpointRepair> {
    let mut repaired = Vec::new();
    for VerifiedCheckpoint { name, problems, .. } in before {
        let left = after.iter().find(|found| found.name == name);
        let gone = problems.into_iter().filter(|problem| left.is_some_and(|left| !left.problems.contains(problem)));
        repaired.extend(gone.map(|problem| CheckpointRepair { name: name.clone(), what: problem.what }));
    }
    let others = healed.into_iter().filter(|name| !repaired.iter().any(|one| one.name == *name));
    let others: Vec<CheckpointRepair> =
        others.map(|name| CheckpointRepair { name, what: "its tag, note or record was missing".into() }).collect();
    repaired.extend(others);
    repaired
}

fn problems(
    ctx: &Context,
    record: &CheckpointRecord,
    standing: CheckpointAvailability,
    whole: bool,
) -> Result<Vec<CheckpointProblem>> {
    let mut problems = Vec::new();
    let mut add = |what: String, repairable: bool| problems.push(CheckpointProblem { what, repairable });
    match standing {
        CheckpointAvailability::There => {}
        CheckpointAvailability::RefGone => add(standing.words().into(), true),
        CheckpointAvailability::Rewritten | CheckpointAvailability::Gone => {
            add(standing.words().into(), false);
            return Ok(problems);
        }
    }
    let missing = if whole { None } else { missing_of(ctx, record)? };
    if let Some(words) = missing {
        add(format!("objects are missing or damaged: {words}"), false);
    }
    let (json, document) = match document_of(ctx, &record.capture) {
        Ok(found) => found,
        Err(error) => {
            add(error.to_string(), false);
            return Ok(problems);
        }
    };
    match ctx.repo.checkpoints().refs_not_kept(&record.capture) {
        Ok(wrong) => wrong.into_iter().for_each(|what| add(what, false)),
        Err(error) => add(format!("its refs cannot be read: {error}"), false),
    }
    disagreements(ctx, record, &document).into_iter().for_each(|what| add(what, false));
    let noted = match marking(&document) {
        CheckpointMark::Tag(tag) => {
            let tag_name = checkpoint_tag(&record.name);
            let expected = ctx.repo.checkpoints().tag_of_checkpoint(&record.name, &record.capture, &tag);
            match (expected, ctx.repo.refs().read_ref(&tag_name)?) {
                (Err(error), _) => Err((format!("its tag cannot be made: {error}"), false)),
                (Ok(_), None) => Err((format!("its tag {} is gone", tag_name.short()), true)),
                (Ok(expected), Some(tag)) if tag != expected => {
                    Err((format!("another tag has the name {}", tag_name.short()), false))
                }
                (Ok(expected), Some(_)) => Ok(expected),
            }
        }
        CheckpointMark::Note => Ok(record.capture.clone()),
        CheckpointMark::Nothing => return Ok(problems),
    };
    match noted.map(|noted| wrong_note(ctx, &noted, &json)) {
        Ok(None) => {}
        Ok(Some((what, repairable))) | Err((what, repairable)) => add(what, repairable),
    }
    Ok(problems)
}

/// git's message if something that the checkpoint promises is missing: files, indexes, document and refs. The history of what was
/// checked out is the user's: what was lost of it before the checkpoint was made is missing beside it.
fn missing_of(ctx: &Context, record: &CheckpointRecord) -> Result<Option<String>> {
    let connectivity = ctx.repo.connectivity();
    let Some(words) = connectivity.missing_below(std::slice::from_ref(&record.capture))? else { return Ok(None) };
    let Ok((_, document)) = document_of(ctx, &record.capture) else { return Ok(Some(words)) };
    let captures: BTreeSet<&Oid> = document.workspaces.iter().map(|workspace| &workspace.capture).collect();
    let mut roots = BTreeSet::new();
    for capture in captures.iter().copied().chain([&record.capture]) {
        match own_roots(ctx, capture, &captures) {
            Ok(own) => roots.extend(own),
            Err(_) => return Ok(Some(words)),
        }
    }
    connectivity.missing_below(&roots.into_iter().collect::<Vec<_>>())
}

/// The trees of a capture and of its index, and what hangs on the index commit beside the commit that was checked out.
fn own_roots(ctx: &Context, capture: &Oid, others: &BTreeSet<&Oid>) -> Result<Vec<Oid>> {
    let objects = ctx.repo.objects();
    let commit = objects.read_commit(capture)?;
    let mut roots = vec![commit.tree];
    let Some(index) = commit.parents.get(1) else { return Ok(roots) };
    let index = objects.read_commit(index)?;
    roots.push(index.tree);
    for further in index.parents.iter().skip(1) {
        let further = objects.read_commit(further)?;
        roots.push(further.tree);
        roots.extend(further.parents.into_iter().filter(|parent| !others.contains(parent)));
    }
    Ok(roots)
}

/// What is wrong with the note on `noted`, and whether it can be repaired.
fn wrong_note(ctx: &Context, noted: &Oid, json: &Oid) -> Option<(String, bool)> {
    match ctx.repo.notes().load().and_then(|notes| ctx.repo.notes().note_of(&notes, noted)) {
        Ok(Some(note)) => match ctx.repo.notes().note_begins_with(&note, json) {
            Ok(true) => None,
            Ok(false) => Some(("its note differs from its document (text that others added stays)".into(), true)),
            Err(error) => Some((format!("its note cannot be read: {error}"), true)),
        },
        Ok(None) => Some(("its note is gone".into(), true)),
        Err(error) => Some((format!("its note cannot be read: {error}"), false)),
    }
}

/// The contradictions between the document and the record or the commits.
fn disagreements(ctx: &Context, record: &CheckpointRecord, document: &CheckpointDocument) -> Vec<String> {
    let mut found = Vec::new();
    if document.name != record.name {
        found.push(format!("its document is that of '{}'", document.name));
    }
    if document.git_commit != record.git_commit {
        found.push("document and state name different commits".into());
    }
    if document.only() != record.only {
        found.push("document and state disagree about which paths were checked".into());
    }
    let base = ctx.repo.objects().read_commit(&record.capture).ok().and_then(|commit| commit.parents.into_iter().next());
    if document.git_commit.is_some() && base != document.git_commit {
        found.push("the capture is not on top of the commit that the document names".into());
    }
    let kept = ctx.repo.checkpoints().kept_by_checkpoint(&record.capture).unwrap_or_default();
    let named = document.workspaces.iter().map(|workspace| &workspace.capture).chain(document.refs.values());
    for oid in named.filter(|oid| !kept.contains(oid)) {
        found.push(format!("{} is in the document, but is not kept", oid.short()));
    }
    found
}
