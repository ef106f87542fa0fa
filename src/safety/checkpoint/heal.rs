//! Rebuilding lost tags and notes of checkpoints, and removing those that a deletion left behind: the existing capture refs
//! decide which tags and notes there should be.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use super::checkpoint_list::document_of;
use super::{marking, record_of, size_of};
use crate::context::handle::Context;
use axiom_base::env;
use axiom_base::error::{Code, Result};
use axiom_base::own_process::threads;
use axiom_git::{ExpectedRefValue, RefEdit};
use axiom_model::base::ids::CheckpointName;
use axiom_model::base::names::{Oid, RefName};
use axiom_model::base::own_names::{CAPTURES, TAGS, capture_ref, checkpoint_tag};
use axiom_model::checkpoint::marks::CheckpointMarks;
use axiom_model::checkpoint::record::CheckpointRecord;
use axiom_model::state::event::Event;
use axiom_model::state::event_envelope::EventAuthor;

/// The number of notes from which on a second thread is worth its start.
const MANY: usize = 256;

/// What does not agree with the capture refs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckpointRefDamage {
    /// Checkpoints without tag or note.
    pub incomplete: Vec<CheckpointName>,
    /// Capture refs of checkpoints that the state does not know.
    pub unknown: Vec<CheckpointName>,
    /// Capture refs that the state does not know, and that hold no checkpoint which can be read. Nothing can be done about them here;
    /// `verify` names them.
    pub unreadable: Vec<CheckpointName>,
    /// Whether the tag of a deleted checkpoint is still there, or its note where it has no tag.
    pub left_over: bool,
}

impl CheckpointRefDamage {
    /// Whether nothing is wrong that can be put right.
    pub fn is_empty(&self) -> bool {
        self.incomplete.is_empty() && self.unknown.is_empty() && !self.left_over
    }
}

/// What is read to find lost tags and notes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HealDepth {
    /// The refs of this many of the newest checkpoints. If one is lost, all are looked at.
    Newest(usize),
    /// The names of all refs, and the notes of the newest and the oldest checkpoint. If one of these two notes is missing,
    /// other notes may be too: then every note is read.
    Names,
    /// Every note.
    Notes,
}

/// Looks for lost tags and notes.
pub fn look(ctx: &Context, depth: HealDepth) -> Result<CheckpointRefDamage> {
    let record = &ctx.state().record;
    let mut thorough = match depth {
        HealDepth::Newest(count) if newest_are_whole(ctx, count)? => return Ok(CheckpointRefDamage::default()),
        HealDepth::Newest(_) | HealDepth::Names => false,
        HealDepth::Notes => true,
    };
    let all = record.checkpoints.all()?;
    let [captures, tags] = ctx.repo.ref_lists().ref_listings([CAPTURES, TAGS])?;
    let notes = ctx.repo.notes().load()?;
    let by_age = |one: &&CheckpointRecord| one.seq;
    let noted = || all.iter().copied().filter(|one| one.marks().has_note());
    let ends = [noted().max_by_key(by_age), noted().min_by_key(by_age)];
    for end in ends.into_iter().flatten() {
        thorough = thorough || ctx.repo.notes().note_of(&notes, &end.tag)?.is_none();
    }
    let mut lost = CheckpointRefDamage::default();
    // All three lists are sorted by name and may be long: they are walked in parallel.
    let (mut known, mut tagged) = (all.into_iter().peekable(), tags.iter().peekable());
    for (name, capture) in captures.iter() {
        while known.next_if(|one| one.name.as_str() < name).is_some() {}
        let Some(one) = known.next_if(|one| one.name.as_str() == name) else {
            let unknown = CheckpointName::new(name).ok().filter(|name| Some(name) != record.checkpoint_intent.as_ref());
            match Oid::new(capture).and_then(|capture| document_of(ctx, &capture)) {
                Ok(_) => lost.unknown.extend(unknown),
                Err(error) if error.code() == Code::DiskFull => return Err(error),
                Err(_) => lost.unreadable.extend(unknown),
            }
            continue;
        };
        while tagged.next_if(|(tag, _)| *tag < name).is_some() {}
        let lacks_tag = one.marks().has_tag() && tagged.peek().is_none_or(|(tag, _)| *tag != name);
        if lacks_tag || (thorough && one.marks().has_note() && ctx.repo.notes().note_of(&notes, &one.tag)?.is_none()) {
            lost.incomplete.push(one.name.clone());
        }
    }
    if !record.deleted_checkpoints.is_empty() {
        let tags: HashMap<&str, &str> = tags.iter().collect();
        for gone in record.deleted_checkpoints.values() {
            // A newer checkpoint may have the same name.
            let again = record.checkpoints.get(&gone.record.name)?.is_some();
            lost.left_over |= !again
                && match gone.record.marks() {
                    CheckpointMarks::Tagged => tags.get(gone.record.name.as_str()) == Some(&gone.record.tag.as_str()),
                    CheckpointMarks::Noted => ctx.repo.notes().note_of(&notes, &gone.record.tag)?.is_some(),
                    CheckpointMarks::Bare => false,
                };
        }
    }
    Ok(lost)
}

/// Whether the newest checkpoints have their refs, and the newest one its note.
fn newest_are_whole(ctx: &Context, count: usize) -> Result<bool> {
    let newest = ctx.state().record.checkpoints.newest(count)?;
    let tag = |record: &CheckpointRecord| record.marks().has_tag().then(|| checkpoint_tag(&record.name));
    let names: Vec<RefName> =
        newest.iter().flat_map(|record| std::iter::once(capture_ref(&record.name)).chain(tag(record))).collect();
    if ctx.repo.refs().read_refs(&names)?.len() < names.len() {
        return Ok(false);
    }
    match newest.iter().rev().find(|record| record.marks().has_note()) {
        Some(newest) => Ok(ctx.repo.notes().note_of(&ctx.repo.notes().load()?, &newest.tag)?.is_some()),
        None => Ok(true),
    }
}

/// Repairs what a look finds, if that is possible without waiting: no operation is open, and the change lock is
/// free. Returns the completed checkpoints. Failures are only logged: a command that only reads must not fail because of
/// them.
pub fn at_once(ctx: &mut Context, depth: HealDepth) -> Vec<CheckpointName> {
    if ctx.state().record.open.is_some() || matches!(ctx.by(), EventAuthor::Agent(_)) {
        return Vec::new();
    }
    let outcome = look(ctx, depth).and_then(|lost| {
        if lost.is_empty() {
            return Ok(Vec::new());
        }
        ctx.with_change_lock_within(Duration::ZERO, |ctx| heal(ctx, HealDepth::Names))
    });
    match outcome {
        Ok(healed) => healed,
        Err(error) => {
            tracing::warn!(%error, "what got lost of checkpoints was not rebuilt");
            Vec::new()
        }
    }
}

/// Rebuilds tags and notes, records checkpoints whose capture refs the state does not know, and removes what deletions left
/// behind. The caller holds the change lock. A checkpoint that cannot be completed stays as it is; `verify` reports it.
/// Safe to repeat.
pub fn heal(ctx: &mut Context, depth: HealDepth) -> Result<Vec<CheckpointName>> {
    ctx.no_open_operation()?;
    super::complete_intent(ctx)?;
    let lost = look(ctx, depth)?;
    let mut healed = Vec::new();
    for name in lost.unknown {
        match take_up(ctx, &name) {
            Ok(()) => healed.push(name),
            Err(error) if error.code() == Code::DiskFull => return Err(error),
            Err(error) => tracing::warn!(%name, %error, "a capture ref is no checkpoint that can be read"),
        }
    }
    let mut damaged: Vec<CheckpointRecord> = Vec::new();
    for name in &lost.incomplete {
        damaged.extend(ctx.state().record.checkpoints.get(name)?.cloned());
    }
    for record in damaged {
        match complete(ctx, &record) {
            Ok(()) => healed.push(record.name),
            Err(error) if error.code() == Code::DiskFull => return Err(error),
            Err(error) => tracing::warn!(name = %record.name, %error, "tag or note could not be rebuilt"),
        }
    }
    clear_deleted(ctx)?;
    Ok(healed)
}

/// Makes missing tags and notes of these checkpoints, records those that the state does not know, and removes tags and notes
/// of deleted checkpoints. The caller holds the change lock. Safe to repeat.
pub fn complete_all(ctx: &mut Context, names: &[CheckpointName]) -> Result<()> {
    for name in names {
        match ctx.state().record.checkpoints.get(name)?.cloned() {
            Some(record) => complete(ctx, &record)?,
            None => take_up(ctx, name)?,
        }
    }
    clear_deleted(ctx)
}

/// Rebuilds tag and note of a checkpoint.
pub(super) fn complete(ctx: &Context, record: &CheckpointRecord) -> Result<()> {
    let (json, document) = document_of(ctx, &record.capture)?;
    env::fault_point("checkpoint.healing");
    ctx.repo.checkpoints().complete_checkpoint(&record.name, &record.capture, &json, &marking(&document)).map(drop)
}

fn take_up(ctx: &mut Context, name: &CheckpointName) -> Result<()> {
    let Some(capture) = ctx.repo.refs().read_ref(&capture_ref(name))? else { return Ok(()) };
    let (json, document) = document_of(ctx, &capture)?;
    let tag = ctx.repo.checkpoints().complete_checkpoint(name, &capture, &json, &marking(&document))?;
    env::fault_point("checkpoint.before-take-up");
    let size = size_of(ctx, &document, &capture, None).ok();
    let record = record_of(&document, capture, tag, size);
    ctx.append(Event::CheckpointCreated { checkpoint: record }).map(drop)
}

/// The checkpoints whose notes are exactly what we wrote; compared in several threads where there are many. A note to which
/// someone else added text stays, and is there again when the deletion is undone. Where the document is missing, added text
/// cannot be distinguished from ours, so the note stays too.
fn not_written_in<'r>(ctx: &Context, noted: &[(&'r CheckpointRecord, &Oid)]) -> Vec<&'r CheckpointRecord> {
    let repo = &ctx.repo;
    let is_ours = |(gone, note): &&(&CheckpointRecord, &Oid)| {
        repo.checkpoints().checkpoint_json_id(&gone.capture).is_ok_and(|json| json == **note)
    };
    threads::in_parts(noted, MANY, |_, part| part.iter().filter(is_ours).map(|(gone, _)| *gone).collect())
}

/// Removes tags and notes of deleted checkpoints, all in one step; only tags and notes of ours.
pub(super) fn clear_deleted(ctx: &Context) -> Result<()> {
    let record = &ctx.state().record;
    if record.deleted_checkpoints.is_empty() {
        return Ok(());
    }
    let there: BTreeSet<String> = ctx.repo.ref_lists().ref_names(TAGS)?.into_iter().collect();
    let kept: BTreeSet<&Oid> = record.checkpoints.all()?.into_iter().map(|one| &one.tag).collect();
    let gone = record.deleted_checkpoints.values().map(|gone| &gone.record).filter(|gone| !kept.contains(&gone.tag));
    let left = gone.clone().filter(|gone| there.contains(gone.name.as_str())).map(|gone| checkpoint_tag(&gone.name));
    let tags = ctx.repo.refs().read_refs(&left.collect::<Vec<_>>())?;
    let mut edits = Vec::new();
    for gone in gone.clone() {
        let name = checkpoint_tag(&gone.name);
        if tags.get(&name) == Some(&gone.tag) {
            edits.push(RefEdit { name, expected: ExpectedRefValue::Value(gone.tag.clone()), new: None });
        }
    }
    // Without a tag the note itself shows what is left to do.
    let has_note_alone = |gone: &CheckpointRecord| gone.marks() == CheckpointMarks::Noted;
    if edits.is_empty() && !gone.clone().any(has_note_alone) {
        return Ok(());
    }
    let there = ctx.repo.notes().all_notes(&ctx.repo.notes().load()?)?;
    let noted: Vec<_> = gone.filter_map(|gone| Some((gone, there.get(&gone.tag)?))).collect();
    let notes: BTreeMap<_, _> = not_written_in(ctx, &noted).into_iter().map(|gone| (gone.tag.clone(), None)).collect();
    // Notes first: a remaining tag shows the next look that there is work left.
    ctx.repo.notes().set_notes(&notes)?;
    env::fault_point("checkpoint.notes-gone");
    ctx.repo.refs().update_refs(&edits, "git axiom: delete checkpoint")
}
