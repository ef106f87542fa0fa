//! Everything of ours that has what is to go, made anew without it. Nothing refers to the new objects yet.

use std::collections::{BTreeMap, BTreeSet};

use super::find::PurgeSubject;
use super::holders::OtherObjectHolders;
use super::{contents, others, submodules, words};
use crate::deinit::own_refs;
use axiom_base::error::{Code, Error, Result};
use axiom_git::{CheckpointMark, ObjectGraph, RefEdit, RefValue};
use axiom_model::base::names::{Oid, RefName, RepoPath};
use axiom_model::base::own_names::{NOTES, TEXTS, capture_ref, checkpoint_tag};
use axiom_model::checkpoint::document::CheckpointDocument;
use axiom_model::checkpoint::purge::{CaptureRemovals, TextMasks};
use axiom_model::checkpoint::record::CheckpointRecord;
use axiom_safety::beside_log::journals::purge::{PurgeJournal, PurgeRefChange};
use axiom_safety::checkpoint;
use axiom_safety::context::handle::Context;

struct PurgeRewriter<'c> {
    ctx: &'c Context,
    cut: CaptureRemovals,
    masks: TextMasks,
    /// Old captures of workspaces and their new ids.
    captures: BTreeMap<Oid, Oid>,
    paths: BTreeMap<Oid, BTreeSet<RepoPath>>,
    /// New captures of submodules, and the paths that they lack.
    in_submodules: BTreeMap<Oid, BTreeSet<RepoPath>>,
    notes: BTreeMap<Oid, Option<Oid>>,
    journal: PurgeJournal,
}

/// The journal of a purge.
pub(super) fn plan(ctx: &Context, subject: &PurgeSubject) -> Result<PurgeJournal> {
    let mut journal = PurgeJournal::new(&subject.given);
    journal.path.clone_from(&subject.path);
    let (own, _) = own_refs(ctx)?;
    let others = others();
    let without: Vec<&str> = others.iter().map(String::as_str).collect();
    let values: Vec<Oid> = own.iter().map(|value| value.oid.clone()).collect();
    let graph = ctx.repo.objects().graph(&values, &without)?;
    journal.secrets = contents::of(ctx, subject, &own, &graph)?;
    journal.ours = graph.all().cloned().collect();
    let besides = OtherObjectHolders::of(ctx)?;
    left_over(ctx, subject, &besides, &mut journal)?;
    journal.held = besides.held_elsewhere(ctx, &journal.secrets)?;
    let submodules::SubmoduleRewrite { plans, captures: in_submodules } = submodules::anew(ctx, subject)?;
    journal.submodules = plans;
    let mut masks = words(ctx, &journal);
    in_submodules.iter().for_each(|(old, (new, _))| masks.rename(old, new));
    let in_submodules = in_submodules.into_values().collect();
    let (captures, paths, notes) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let mut making = PurgeRewriter { ctx, cut: contents::cut(subject), masks, captures, paths, in_submodules, notes, journal };
    making.texts()?;
    making.checkpoints()?;
    making.live_captures()?;
    making.what_cannot_be_made_anew(subject)?;
    making.notes()?;
    Ok(making.journal)
}

/// Captures that nothing refers to any more, and that git has not deleted yet: those that have it go as a whole.
fn left_over(ctx: &Context, subject: &PurgeSubject, besides: &OtherObjectHolders, journal: &mut PurgeJournal) -> Result<()> {
    for capture in ctx.repo.capture_rewrites().left_over(&besides.reached_with_all(ctx)?)? {
        // A part of it may be gone.
        let reached = ctx.repo.forgotten().reached_from(&BTreeSet::from([capture.clone()]))?;
        let found = match &subject.path {
            Some(path) => ctx.repo.capture_rewrites().contents_at(&capture, path),
            None => journal.secrets.intersection(&reached).cloned().collect(),
        };
        if !found.is_empty() {
            journal.ours.extend(reached);
            journal.secrets.extend(found);
        }
    }
    Ok(())
}

impl PurgeRewriter<'_> {
    fn texts(&mut self) -> Result<()> {
        if let Some(masked) = self.ctx.repo.notes().masked_texts(&mut self.masks)? {
            self.journal.texts = masked.renamed;
            self.moved(masked.edit);
        }
        Ok(())
    }

    fn moved(&mut self, edit: RefEdit) {
        if let axiom_git::ExpectedRefValue::Value(old) = edit.expected {
            self.journal.refs.push(PurgeRefChange { name: edit.name, old, new: edit.new });
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
        if let Some(made) = self.ctx.repo.capture_rewrites().without(capture, &self.cut, |further| Ok(further.clone()))? {
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
        let main = self.ctx.repo.capture_rewrites().paths_without(&record.capture, &self.cut)?;
        let masked = self.masks.applied(&old);
        let lost: Vec<(String, BTreeSet<RepoPath>)> = self.lost(&document, main);
        if lost.is_empty() && masked.is_none() {
            return Ok(());
        }
        let mut document = CheckpointDocument::from_json(masked.as_deref().unwrap_or(&old)).map_err(damaged)?;
        document.purged(&lost);
        document.purged_in_submodules(&self.in_submodules);
        let json = checkpoint::to_json(&document)?;
        let Some(made) = checkpoints.checkpoint_without(&record.capture, &self.cut, &json, &self.captures)? else {
            return Ok(());
        };
        self.masks.rename(&record.capture, &made.capture);
        let noted = self.ctx.repo.notes().note_of(&self.ctx.repo.notes().load()?, &record.tag)?;
        let tag = match checkpoint::marking(&document) {
            CheckpointMark::Tag(data) => {
                let new = checkpoints.tag_of_checkpoint(&record.name, &made.capture, &data)?;
                let name = checkpoint_tag(&record.name);
                if self.ctx.repo.refs().read_ref(&name)?.as_ref() == Some(&record.tag) {
                    self.journal.refs.push(PurgeRefChange { name, old: record.tag.clone(), new: Some(new.clone()) });
                }
                new
            }
            CheckpointMark::Note | CheckpointMark::Nothing => made.capture.clone(),
        };
        if let Some(note) = noted {
            let new = self.ctx.repo.notes().note_with(&note, &old, &json, &self.masks)?;
            self.notes.insert(record.tag.clone(), None);
            self.notes.insert(tag.clone(), Some(new));
        }
        let name = capture_ref(&record.name);
        if self.ctx.repo.refs().read_ref(&name)?.as_ref() == Some(&record.capture) {
            self.journal.refs.push(PurgeRefChange { name, old: record.capture.clone(), new: Some(made.capture.clone()) });
        }
        self.journal.made_anew.push(checkpoint::record_of(&document, made.capture, tag, record.size));
        Ok(())
    }

    /// The paths that each worktree of a checkpoint loses, by the worktree's path.
    fn lost(&self, document: &CheckpointDocument, main: Option<BTreeSet<RepoPath>>) -> Vec<(String, BTreeSet<RepoPath>)> {
        let of = |workspace: &axiom_model::checkpoint::document::WorkspaceState| {
            Some((workspace.path.clone(), self.paths.get(&workspace.capture)?.clone()))
        };
        let mut lost: Vec<_> = document.workspaces.iter().filter_map(of).collect();
        if let (Some(paths), Some(path)) = (main, document.main_path()) {
            lost.push((path.to_owned(), paths));
        }
        lost
    }

    fn live_captures(&mut self) -> Result<()> {
        for value in contents::live(self.ctx)? {
            self.capture(&value.oid)?;
            if let Some(new) = self.captures.get(&value.oid).cloned() {
                self.journal.refs.push(PurgeRefChange { name: value.name, old: value.oid, new: Some(new) });
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
    fn what_cannot_be_made_anew(&mut self, subject: &PurgeSubject) -> Result<()> {
        let (own, _) = own_refs(self.ctx)?;
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
        let others = others();
        let without: Vec<&str> = others.iter().map(String::as_str).collect();
        let graph = self.ctx.repo.objects().graph(&tips, &without)?;
        let kept: BTreeSet<&Oid> = own.iter().filter(|(value, _)| contents::is_kept(&value.name)).map(|(_, now)| now).collect();
        let bad = self.still_has_it(subject, &graph, &kept)?;
        let reaching = graph.reaching(&bad);
        let stays = graph.below_all(own.iter().map(|(_, now)| now).filter(|now| !reaching.contains(*now)));
        self.journal.elsewhere = self.journal.secrets.intersection(&stays).cloned().collect();
        let mut lost_captures: BTreeSet<Oid> = BTreeSet::new();
        for (value, now) in own.into_iter().filter(|(_, now)| reaching.contains(now)) {
            if contents::is_kept(&value.name) {
                lost_captures.extend(graph.below(&now));
            }
            match self.journal.refs.iter_mut().find(|one| one.name == value.name) {
                Some(one) => one.new = None,
                None => self.journal.refs.push(PurgeRefChange { name: value.name.clone(), old: value.oid.clone(), new: None }),
            }
            self.goes(&value.name)?;
        }
        let deleted = self.ctx.state().record.deleted_checkpoints.values().map(|gone| &gone.record.capture);
        self.journal.forgotten = deleted.filter(|capture| lost_captures.contains(*capture)).cloned().collect();
        Ok(())
    }

    /// What has it after all that could be made anew was: commits and what undo needs, by what they have at the path, whatever
    /// else holds the same; or the content that was named; and texts of deleted checkpoints.
    fn still_has_it(&self, subject: &PurgeSubject, graph: &ObjectGraph, kept: &BTreeSet<&Oid>) -> Result<BTreeSet<Oid>> {
        let is_to_go = |oid: &Oid| self.journal.secrets.contains(oid) && !self.journal.held.contains(oid);
        let mut bad: BTreeSet<Oid> = self.journal.texts.iter().map(|(old, _)| old.clone()).collect();
        bad.extend(subject.blob.iter().filter(|oid| is_to_go(oid)).cloned());
        if let Some(path) = &subject.path {
            let commits = contents::in_commits(self.ctx, graph, kept, path)?;
            bad.extend(commits.into_iter().filter(|(_, contents)| contents.iter().any(is_to_go)).map(|(commit, _)| commit));
            for kept in kept {
                if contents::in_kept(&self.ctx.repo, kept, path)?.iter().any(is_to_go) {
                    bad.insert((*kept).clone());
                }
            }
        }
        for gone in self.ctx.state().record.deleted_checkpoints.values() {
            if let Ok((id, json)) = self.ctx.repo.checkpoints().checkpoint_json(&gone.record.capture)
                && self.masks.find_in(&json)
            {
                bad.insert(id);
            }
        }
        Ok(bad)
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
                self.journal.refs.push(PurgeRefChange { name: tag, old: record.tag.clone(), new: None });
            }
            None => {}
        }
        Ok(())
    }
}
