//! Captures of submodules, which are in their own repositories: what the path has there is taken out in the same way.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::contents::in_kept;
use super::find::PurgeSubject;
use axiom_base::error::Result;
use axiom_git::{ExpectedRefValue, RefEdit, Repository};
use axiom_model::base::names::{Oid, RefName, RepoPath};
use axiom_model::base::own_names::{BROUGHT_CAPTURES, SUPERPROJECT_CAPTURES, SUPERPROJECT_KEPT};
use axiom_model::checkpoint::purge::CaptureRemovals;
use axiom_model::checkpoint::submodules::SubmoduleState;
use axiom_safety::beside_log::journals::purge::{PurgeJournal, PurgeRefChange, PurgedObjectsFate, SubmodulePurge};
use axiom_safety::checkpoint;
use axiom_safety::checkpoint::submodules::{SubmoduleWhereabouts, whereabouts};
use axiom_safety::context::handle::Context;

/// The refs of a submodule that are its superproject's.
const OURS: [&str; 3] = [SUPERPROJECT_CAPTURES, BROUGHT_CAPTURES, SUPERPROJECT_KEPT];

/// What becomes of the captures of submodules.
#[derive(Debug, Default)]
pub(super) struct SubmoduleRewrite {
    pub plans: Vec<SubmodulePurge>,
    /// Old captures, their new ids, and the paths that these lack.
    pub captures: BTreeMap<Oid, (Oid, BTreeSet<RepoPath>)>,
}

/// What is taken out of a submodule: what its path has there, or the content that was named.
#[derive(Debug, Clone, PartialEq, Eq)]
enum SubmodulePurgeSubject {
    Path(RepoPath),
    Content(Oid),
}

impl SubmodulePurgeSubject {
    fn of(subject: &PurgeSubject, state: &SubmoduleState) -> Option<Self> {
        match (&subject.path, &subject.blob) {
            // One that is at the path, or below it, goes with all that is in it.
            (Some(path), _) if state.path.within(path).is_some() => Some(Self::Path(RepoPath::default())),
            (Some(path), _) => path.within(&state.path).map(Self::Path),
            (None, Some(blob)) => Some(Self::Content(blob.clone())),
            (None, None) => None,
        }
    }

    fn cut(&self) -> CaptureRemovals {
        match self {
            Self::Path(path) => CaptureRemovals { path: Some(path.clone()), blobs: BTreeSet::new() },
            Self::Content(blob) => CaptureRemovals { path: None, blobs: BTreeSet::from([blob.clone()]) },
        }
    }

    /// What is to go of a capture that has to be made anew.
    fn in_capture(&self, repo: &Repository, capture: &Oid) -> BTreeSet<Oid> {
        match self {
            Self::Path(path) => repo.capture_rewrites().contents_at(capture, path),
            Self::Content(blob) => BTreeSet::from([blob.clone()]),
        }
    }

    /// What is to go of what is kept for an undo.
    fn in_kept(&self, repo: &Repository, kept: &Oid) -> Result<BTreeSet<Oid>> {
        match self {
            Self::Path(path) => in_kept(repo, kept, path),
            Self::Content(blob) => {
                let tree = repo.objects().read_commit(kept)?.tree;
                let reached = repo.forgotten().reached_from(&BTreeSet::from([tree]))?;
                Ok(reached.into_iter().filter(|oid| oid == blob).collect())
            }
        }
    }
}

/// Makes the captures of the submodules anew that have what is to go. Nothing refers to them yet.
pub(super) fn anew(ctx: &Context, subject: &PurgeSubject) -> Result<SubmoduleRewrite> {
    let mut anew = SubmoduleRewrite::default();
    let mut places: BTreeMap<(PathBuf, PathBuf), SubmodulePurgeSubject> = BTreeMap::new();
    for record in ctx.state().record.checkpoints.all()? {
        for state in checkpoint::read_document(ctx, record)?.submodules {
            if let Some(within) = SubmodulePurgeSubject::of(subject, &state) {
                places.insert(place_of(ctx, &state)?, within);
            }
        }
    }
    for ((folder, git_dir), within) in places {
        if let Some(repo) = opened(ctx, &folder, &git_dir)? {
            let plan = in_one(&repo, (folder, git_dir), &within, &mut anew.captures)?;
            // Captures that are made anew count, also where all that they lack is in the submodule's own history.
            if plan.secrets.is_empty() && plan.refs.is_empty() {
                repo.durability().put_stage_away();
            } else {
                anew.plans.push(plan);
            }
        }
    }
    Ok(anew)
}

/// The folder and the git directory of a submodule, where they are now.
fn place_of(ctx: &Context, state: &SubmoduleState) -> Result<(PathBuf, PathBuf)> {
    Ok(match whereabouts(ctx, state)? {
        SubmoduleWhereabouts::Here(repo) | SubmoduleWhereabouts::Moved(repo) => {
            (repo.submodule_worktree().path().to_owned(), repo.git_dir().to_owned())
        }
        SubmoduleWhereabouts::Lost(_) | SubmoduleWhereabouts::Torn => (state.folder(), PathBuf::from(&state.git_dir)),
    })
}

/// The repository of a submodule; `None` where it is none of ours any more.
fn opened(ctx: &Context, folder: &Path, git_dir: &Path) -> Result<Option<Arc<Repository>>> {
    match ctx.repo.worktrees().is_submodule(folder, git_dir) {
        true => ctx.repo.submodule(folder, git_dir).map(Some),
        false => Ok(None),
    }
}

/// The arguments that stand for all refs of a submodule but those of its superproject.
fn others() -> Vec<String> {
    OURS.iter().map(|below| format!("--exclude={below}*")).chain(["--all".to_owned()]).collect()
}

fn is_ours(name: &RefName) -> bool {
    OURS.iter().any(|below| name.as_str().starts_with(below))
}

fn in_one(
    repo: &Repository,
    (folder, git_dir): (PathBuf, PathBuf),
    within: &SubmodulePurgeSubject,
    made: &mut BTreeMap<Oid, (Oid, BTreeSet<RepoPath>)>,
) -> Result<SubmodulePurge> {
    let mut plan = SubmodulePurge { folder, git_dir, ..SubmodulePurge::default() };
    let cut = within.cut();
    let others = others();
    let without: Vec<&str> = others.iter().map(String::as_str).collect();
    let (refs, objects) = (repo.refs(), repo.objects());
    let mut captures = refs.refs_below(SUPERPROJECT_CAPTURES)?;
    captures.extend(refs.refs_below(BROUGHT_CAPTURES)?);
    let kept = refs.refs_below(SUPERPROJECT_KEPT)?;
    let tips: Vec<Oid> = captures.iter().chain(&kept).map(|value| value.oid.clone()).collect();
    plan.ours = objects.graph(&tips, &without)?.all().cloned().collect();
    for value in captures {
        // The same capture may be in the repositories of several submodules, and is made anew in each.
        let is_here = made.get(&value.oid).is_some_and(|(new, _)| repo.connectivity().holds(new));
        if !is_here && let Some(new) = repo.capture_rewrites().without(&value.oid, &cut, |further| Ok(further.clone()))? {
            made.insert(value.oid.clone(), (new.capture, new.paths));
        }
        let new = made.get(&value.oid).map(|(new, _)| new.clone());
        if new.is_some() || matches!(within, SubmodulePurgeSubject::Path(_)) {
            plan.secrets.extend(within.in_capture(repo, &value.oid));
        }
        plan.refs.extend(new.map(|new| PurgeRefChange { name: value.name, old: value.oid, new: Some(new) }));
    }
    // What an undo would need goes, as in the repository itself.
    for value in kept {
        let commit = objects.read_commit(&value.oid)?;
        let contents = within.in_kept(repo, &value.oid)?;
        if !contents.is_empty() || commit.parents.iter().any(|parent| made.contains_key(parent)) {
            plan.refs.push(PurgeRefChange { name: value.name, old: value.oid, new: None });
            plan.secrets.extend(contents);
        }
    }
    let what = [&without[..], &["--indexed-objects"]].concat();
    let reached = repo.forgotten().reached_by(&what, &besides(repo)?)?;
    match within {
        // All of it: what its own history has too is no secret, and stays.
        SubmodulePurgeSubject::Path(path) if path.as_bytes().is_empty() => plan.secrets.retain(|oid| !reached.contains(oid)),
        SubmodulePurgeSubject::Path(path) => plan.secrets.extend(repo.history().contents_ever_at(path, &without)?),
        SubmodulePurgeSubject::Content(_) => {}
    }
    plan.held = plan.secrets.intersection(&reached).cloned().collect();
    Ok(plan)
}

/// What reflogs and files of a submodule name.
fn besides(repo: &Repository) -> Result<BTreeSet<Oid>> {
    let mut ids = repo.ref_lists().in_reflogs(&is_ours)?;
    ids.extend(repo.ref_lists().named_in(&repo.submodule_worktree())?.into_values().flatten());
    Ok(ids)
}

/// The contents of what goes in submodules, not larger than `limit`.
pub(super) fn contents(ctx: &Context, journal: &PurgeJournal, limit: u64) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for plan in &journal.submodules {
        let Ok(Some(repo)) = opened(ctx, &plan.folder, &plan.git_dir) else { continue };
        let there = plan.secrets.iter().filter(|oid| repo.forgotten().is_blob(oid));
        found.extend(there.filter_map(|oid| repo.objects().read_blob(oid, limit).ok()));
    }
    found
}

/// What holds it in submodules besides us, in words.
pub(super) fn holders(ctx: &Context, journal: &PurgeJournal) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for plan in journal.submodules.iter().filter(|plan| !plan.held.is_empty()) {
        let Some(repo) = opened(ctx, &plan.folder, &plan.git_dir)? else { continue };
        let (place, before) = (plan.folder.display(), found.len());
        for value in repo.refs().refs_below("refs/")?.iter().filter(|value| !is_ours(&value.name)) {
            if let Some(oid) = repo.history().has_one_of(&value.name, &plan.held, None)? {
                found.push(format!("{} of the submodule '{place}' has {} in its history", value.name, oid.short()));
            }
        }
        if found.len() == before {
            found.push(format!("the index, a reflog or HEAD of the submodule '{place}' holds it"));
        }
    }
    Ok(found)
}

/// Puts what was made anew into the object databases of the submodules.
pub(super) fn land(ctx: &Context, journal: &PurgeJournal) -> Result<()> {
    for plan in &journal.submodules {
        if let Some(repo) = opened(ctx, &plan.folder, &plan.git_dir)? {
            repo.durability().land()?;
        }
    }
    Ok(())
}

/// Throws away what was made anew, where it was only looked at.
pub(super) fn put_away(ctx: &Context, journal: &PurgeJournal) -> Result<()> {
    for plan in &journal.submodules {
        if let Some(repo) = opened(ctx, &plan.folder, &plan.git_dir)? {
            repo.durability().put_stage_away();
        }
    }
    Ok(())
}

/// Changes the refs in the submodules. Safe to repeat.
pub(super) fn move_refs(ctx: &Context, journal: &PurgeJournal) -> Result<()> {
    for plan in &journal.submodules {
        let Some(repo) = opened(ctx, &plan.folder, &plan.git_dir)? else { continue };
        let names: Vec<RefName> = plan.refs.iter().map(|one| one.name.clone()).collect();
        let now = repo.refs().read_refs(&names)?;
        let open = plan.refs.iter().filter(|one| now.get(&one.name) == Some(&one.old));
        let edit = |one: &PurgeRefChange| RefEdit {
            name: one.name.clone(),
            expected: ExpectedRefValue::Value(one.old.clone()),
            new: one.new.clone(),
        };
        repo.refs().update_refs(&open.map(edit).collect::<Vec<_>>(), "git axiom: purged")?;
    }
    Ok(())
}

/// Deletes in the submodules what only we held, and nothing holds any more.
pub(super) fn forget(ctx: &Context, journal: &PurgeJournal) -> Result<()> {
    for plan in &journal.submodules {
        let Some(repo) = opened(ctx, &plan.folder, &plan.git_dir)? else { continue };
        let held = repo.forgotten().reached_by(&["--all", "--indexed-objects"], &besides(&repo)?)?;
        let doomed = plan.ours.iter().chain(&plan.secrets).filter(|oid| !held.contains(*oid)).cloned().collect();
        match journal.fate {
            PurgedObjectsFate::Deleted => repo.forgotten().forget(&doomed)?,
            PurgedObjectsFate::LeftToGit => repo.forgotten().leave_to_git(&doomed)?,
        }
        repo.durability().put_stage_away();
    }
    Ok(())
}
