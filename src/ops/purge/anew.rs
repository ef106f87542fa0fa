//! Everything of ours that has what is to go, made anew without it. Nothing refers to the new objects yet.

use std::collections::{BTreeMap, BTreeSet};

use super::find::Subject;
use super::journal::{Journal, Moved};
use super::{find, others, words};
use crate::domain::base::names::{Oid, RefName, RepoPath};
use crate::domain::base::own_names::{KEPT, LIVE, LOST, NOTES, TEXTS, capture_ref, checkpoint_tag};
use crate::domain::checkpoint::document::{CheckpointDocument, CheckpointRecord};
use crate::domain::checkpoint::purge::{Cut, Masks};
use crate::error::{Code, Error, Result};
use crate::git::{Marking, RefEdit, RefValue, Rewritten};
use crate::ops::checkpoint;
use crate::ops::context::handle::Context;
use crate::ops::deinit::own_refs;

/// Contents that are shorter are taken out at their path alone: they are in files that have nothing to do with it.
const SHORTEST: usize = 8;

struct Making<'c> {
    ctx: &'c Context,
    cut: Cut,
    masks: Masks,
    /// Old captures of workspaces and their new ids.
    captures: BTreeMap<Oid, Oid>,
    paths: BTreeMap<Oid, BTreeSet<RepoPath>>,
    notes: BTreeMap<Oid, Option<Oid>>,
    journal: Journal,
}

/// The journal of a purge.
///
/// # Errors
/// Those of reading and writing objects.
pub(super) fn plan(ctx: &Context, subject: &Subject) -> Result<Journal> {
    let mut journal = Journal::new(&subject.given);
    let (own, _) = own_refs(ctx)?;
    let values: Vec<Oid> = own.iter().map(|value| value.oid.clone()).collect();
    let others = others();
    let without: Vec<&str> = others.iter().map(String::as_str).collect();
    let reached = ctx.repo.objects().reached(&values, &without)?;
    journal.secrets = secrets(ctx, subject, &reached)?;
    journal.ours = reached.into_iter().map(|(oid, _)| oid).collect();
    let besides = find::Besides::of(ctx)?;
    left_over(ctx, subject, &besides, &mut journal)?;
    journal.held = besides.held_elsewhere(ctx, &journal.secrets)?;
    let is_short = |oid: &Oid| ctx.repo.objects().read_blob(oid, super::CONTENT).is_ok_and(|content| content.len() < SHORTEST);
    let blobs = journal.secrets.difference(&journal.held).filter(|oid| !is_short(oid)).cloned().collect();
    let cut = Cut { path: subject.path.clone(), blobs };
    let masks = words(ctx, &journal.secrets);
    let (captures, paths, notes) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let mut making = Making { ctx, cut, masks, captures, paths, notes, journal };
    making.texts()?;
    making.checkpoints()?;
    making.live_captures()?;
    making.what_cannot_be_made_anew()?;
    making.notes()?;
    Ok(making.journal)
}

/// The contents at the path in what only we hold, and in captures; or the one that was named.
fn secrets(ctx: &Context, subject: &Subject, reached: &[(Oid, Vec<u8>)]) -> Result<BTreeSet<Oid>> {
    if let Some(blob) = &subject.blob {
        return Ok(BTreeSet::from([blob.clone()]));
    }
    let cut = Cut { path: subject.path.clone(), blobs: BTreeSet::new() };
    let named = reached.iter().filter(|(_, path)| cut.names(&RepoPath::new(path.clone())));
    let is_blob = |oid: &&Oid| ctx.repo.objects().is_blob(oid);
    let mut found: BTreeSet<Oid> = named.map(|(oid, _)| oid).filter(is_blob).cloned().collect();
    // An object that several paths have is listed with one of them.
    let mut look = |capture: &Oid| -> Result<()> {
        if let Some(made) = ctx.repo.captures().without(capture, &cut, |further| Ok(further.clone()))? {
            found.extend(made.blobs);
        }
        Ok(())
    };
    for record in ctx.state().record.checkpoints.all()? {
        look(&record.capture)?;
        for workspace in &checkpoint::read_document(ctx, record)?.workspaces {
            look(&workspace.capture)?;
        }
    }
    for live in live(ctx)? {
        look(&live.oid)?;
    }
    Ok(found)
}

/// Captures that nothing refers to any more, and that git has not deleted yet: those that have it go as a whole.
fn left_over(ctx: &Context, subject: &Subject, besides: &find::Besides, journal: &mut Journal) -> Result<()> {
    let cut = Cut { path: subject.path.clone(), blobs: journal.secrets.clone() };
    for capture in ctx.repo.captures().left_over(&besides.reached_with_all(ctx)?)? {
        if let Some(made) = ctx.repo.captures().without(&capture, &cut, |further| Ok(further.clone()))? {
            let reached = ctx.repo.objects().reached(std::slice::from_ref(&capture), &[])?;
            journal.ours.extend(reached.into_iter().map(|(oid, _)| oid));
            journal.secrets.extend(made.blobs);
        }
    }
    Ok(())
}

fn live(ctx: &Context) -> Result<Vec<crate::git::RefValue>> {
    Ok([ctx.repo.refs().refs_below(LIVE)?, ctx.repo.refs().refs_below(LOST)?].concat())
}

impl Making<'_> {
    fn texts(&mut self) -> Result<()> {
        if let Some(masked) = self.ctx.repo.notes().masked_texts(&mut self.masks)? {
            self.journal.texts = masked.renamed;
            self.moved(masked.edit);
        }
        Ok(())
    }

    fn moved(&mut self, edit: RefEdit) {
        if let crate::git::Expected::Value(old) = edit.expected {
            self.journal.refs.push(Moved { name: edit.name, old, new: edit.new });
        }
    }

    /// Oldest first: later ones name the captures of earlier ones.
    fn checkpoints(&mut self) -> Result<()> {
        let mut records: Vec<CheckpointRecord> = self.ctx.state().record.checkpoints.all()?.into_iter().cloned().collect();
        records.sort_by(|one, other| one.age().cmp(&other.age()));
        for record in records {
            self.checkpoint(&record)?;
        }
        Ok(())
    }

    fn capture(&mut self, capture: &Oid) -> Result<()> {
        if self.captures.contains_key(capture) {
            return Ok(());
        }
        if let Some(made) = self.ctx.repo.captures().without(capture, &self.cut, |further| Ok(further.clone()))? {
            self.masks.rename(capture, &made.capture);
            self.captures.insert(capture.clone(), made.capture);
            self.paths.insert(capture.clone(), made.paths);
        }
        Ok(())
    }

    fn checkpoint(&mut self, record: &CheckpointRecord) -> Result<()> {
        let checkpoints = self.ctx.repo.checkpoints();
        let (_, old) = checkpoints.checkpoint_json(&record.capture)?;
        let damaged = |why: String| {
            Error::new(Code::CheckpointDamaged, format!("the document of checkpoint '{}' is damaged", record.name)).why(why)
        };
        let document = CheckpointDocument::from_json(&old).map_err(damaged)?;
        document.workspaces.iter().try_for_each(|workspace| self.capture(&workspace.capture))?;
        // First what the main worktree's capture loses: the document says it.
        let main = self.ctx.repo.captures().without(&record.capture, &self.cut, |further| Ok(further.clone()))?;
        let masked = self.masks.applied(&old);
        let lost: Vec<(String, BTreeSet<RepoPath>)> = self.lost(&document, main.as_ref());
        if lost.is_empty() && masked.is_none() {
            return Ok(());
        }
        let mut document = CheckpointDocument::from_json(masked.as_deref().unwrap_or(&old)).map_err(damaged)?;
        document.purged(&lost);
        let json = checkpoint::to_json(&document)?;
        let Some(made) = checkpoints.checkpoint_without(&record.capture, &self.cut, &json, &self.captures)? else {
            return Ok(());
        };
        self.masks.rename(&record.capture, &made.capture);
        let noted = self.ctx.repo.notes().note_of(&self.ctx.repo.notes().load()?, &record.tag)?;
        let tag = match checkpoint::marking(&document) {
            Marking::Tag(data) => {
                let new = checkpoints.tag_of_checkpoint(&record.name, &made.capture, &data)?;
                let name = checkpoint_tag(&record.name);
                if self.ctx.repo.refs().read_ref(&name)?.as_ref() == Some(&record.tag) {
                    self.journal.refs.push(Moved { name, old: record.tag.clone(), new: Some(new.clone()) });
                }
                new
            }
            Marking::Note | Marking::Nothing => made.capture.clone(),
        };
        if let Some(note) = noted {
            let new = self.ctx.repo.notes().note_with(&note, &old, &json, &self.masks)?;
            self.notes.insert(record.tag.clone(), None);
            self.notes.insert(tag.clone(), Some(new));
        }
        let name = capture_ref(&record.name);
        if self.ctx.repo.refs().read_ref(&name)?.as_ref() == Some(&record.capture) {
            self.journal.refs.push(Moved { name, old: record.capture.clone(), new: Some(made.capture.clone()) });
        }
        self.journal.made_anew.push(checkpoint::record_of(&document, made.capture, tag, record.size));
        Ok(())
    }

    /// The paths that each worktree of a checkpoint loses, by the worktree's path.
    fn lost(&self, document: &CheckpointDocument, main: Option<&Rewritten>) -> Vec<(String, BTreeSet<RepoPath>)> {
        let of = |workspace: &crate::domain::checkpoint::document::WorkspaceState| {
            Some((workspace.path.clone(), self.paths.get(&workspace.capture)?.clone()))
        };
        let mut lost: Vec<_> = document.workspaces.iter().filter_map(of).collect();
        if let (Some(made), Some(path)) = (main, document.main_path()) {
            lost.push((path.to_owned(), made.paths.clone()));
        }
        lost
    }

    fn live_captures(&mut self) -> Result<()> {
        for value in live(self.ctx)? {
            self.capture(&value.oid)?;
            if let Some(new) = self.captures.get(&value.oid).cloned() {
                self.journal.refs.push(Moved { name: value.name, old: value.oid, new: Some(new) });
            }
        }
        Ok(())
    }

    fn notes(&mut self) -> Result<()> {
        if self.notes.is_empty() {
            return Ok(());
        }
        let notes = self.ctx.repo.notes();
        if let Some(edit) = notes.edit_without_history(&notes.load()?, &self.notes)? {
            self.moved(edit);
        }
        Ok(())
    }

    /// What still has it goes as a whole: checkpoints that hold commits with it which nobody else has, and what undo would need.
    fn what_cannot_be_made_anew(&mut self) -> Result<()> {
        let (own, _) = own_refs(self.ctx)?;
        let others = others();
        let without: Vec<&str> = others.iter().map(String::as_str).collect();
        let mut bad: BTreeSet<Oid> = self.journal.secrets.difference(&self.journal.held).cloned().collect();
        bad.extend(self.journal.texts.iter().map(|(old, _)| old.clone()));
        let deleted: Vec<CheckpointRecord> =
            self.ctx.state().record.deleted_checkpoints.values().map(|gone| gone.record.clone()).collect();
        for record in &deleted {
            if let Ok((id, json)) = self.ctx.repo.checkpoints().checkpoint_json(&record.capture)
                && self.masks.find_in(&json)
            {
                bad.insert(id);
            }
        }
        let places: BTreeMap<RefName, usize> =
            self.journal.refs.iter().enumerate().map(|(at, one)| (one.name.clone(), at)).collect();
        let now = |value: &RefValue| match places.get(&value.name).and_then(|at| self.journal.refs.get(*at)) {
            Some(one) => one.new.clone(),
            None => Some(value.oid.clone()),
        };
        let own: Vec<(RefValue, Oid)> = own
            .into_iter()
            .filter(|value| !matches!(value.name.as_str(), NOTES | TEXTS))
            .filter_map(|value| now(&value).map(|now| (value, now)))
            .collect();
        // One walk over all of them: there may be thousands.
        let tips: Vec<Oid> = own.iter().map(|(_, now)| now.clone()).collect();
        let graph = self.ctx.repo.objects().graph(&tips, &without)?;
        let reaching = graph.reaching(&bad);
        let mut lost_captures: BTreeSet<Oid> = BTreeSet::new();
        for (value, now) in own.into_iter().filter(|(_, now)| reaching.contains(now)) {
            if value.name.as_str().starts_with(KEPT) {
                lost_captures.extend(graph.below(&now));
            }
            match self.journal.refs.iter_mut().find(|one| one.name == value.name) {
                Some(one) => one.new = None,
                None => self.journal.refs.push(Moved { name: value.name.clone(), old: value.oid.clone(), new: None }),
            }
            self.goes(&value.name)?;
        }
        let forgotten = deleted.into_iter().map(|record| record.capture).filter(|capture| lost_captures.contains(capture));
        self.journal.forgotten = forgotten.collect();
        Ok(())
    }

    /// A checkpoint whose capture ref goes takes its tag and note along.
    fn goes(&mut self, name: &RefName) -> Result<()> {
        let records = self.ctx.state().record.checkpoints.all()?;
        let Some(record) = records.into_iter().find(|record| capture_ref(&record.name) == *name) else { return Ok(()) };
        for made in self.journal.made_anew.extract_if(.., |made| made.name == record.name) {
            self.notes.remove(&made.tag);
        }
        self.notes.insert(record.tag.clone(), None);
        self.journal.gone.push(record.name.clone());
        let tag = checkpoint_tag(&record.name);
        match self.journal.refs.iter_mut().find(|one| one.name == tag) {
            Some(one) => one.new = None,
            None if record.marks().has_tag() => {
                self.journal.refs.push(Moved { name: tag, old: record.tag.clone(), new: None });
            }
            None => {}
        }
        Ok(())
    }
}
