//! What of ours is in the repository, and what becomes of it. Changes nothing.

use axiom_model::base::ids::CheckpointName;
use axiom_model::work::tasks::branch_names;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::left_in_place;
use super::left_in_place::DeinitBranch;
use crate::revert_task;
use axiom_base::error::Result;
use axiom_base::{env, files};
use axiom_git::{Head, RefValue, WorktreeEntry, WorktreeOwner};
use axiom_model::base::names::{Oid, RefName};
use axiom_model::base::own_names::{BRANCHES, NOTES, REFS, TAGS};
use axiom_model::checkpoint::coverage::CaptureCoverage;
use axiom_model::operation::deinit_branches::{TaskBranch, TaskBranchFate};
use axiom_safety::beside_log::journals::deinit::{DeinitJournal, DeinitMove, DeinitRef, DeinitWorkspace};
use axiom_safety::context::handle::Context;
use axiom_safety::context::target::target_branch;
use axiom_safety::folders::{trash, workspace_folder};
use axiom_safety::program_hooks::program_files::OF_THIS_USER;
use axiom_safety::settings::hide_refs;
use axiom_store::identity;

/// All that is ours and goes, and what stays. `coverage` says what the captures of workspaces lack.
pub(super) fn plan(
    ctx: &Context,
    folder: PathBuf,
    coverage: &BTreeMap<String, CaptureCoverage>,
) -> Result<(DeinitJournal, Vec<RefValue>)> {
    let mut journal = DeinitJournal::new(folder);
    let locked = workspaces_of_ours(ctx, &mut journal, coverage)?;
    other_folders(ctx, &mut journal)?;
    let branches = branches(ctx, &journal)?;
    let (ours, foreign) = own_refs(ctx)?;
    let notes = notes(ctx)?;
    let mut bundled: Vec<RefValue> = ours.clone();
    bundled.extend(branches.iter().filter(|one| one.fate != TaskBranchFate::IsUsers).map(|one| one.value.clone()));
    let leaving = branches.iter().filter(|one| one.fate == TaskBranchFate::Goes).map(|one| &one.value).chain(&ours);
    let stays_with_notes = |one: &&RefValue| one.name.as_str() != NOTES || !notes.of_others;
    journal.refs =
        leaving.filter(stays_with_notes).map(|one| DeinitRef { name: one.name.clone(), oid: one.oid.clone() }).collect();
    journal.notes = if notes.of_others { notes.ours } else { Vec::new() };
    journal.hidden = hide_refs::written(ctx)?;
    journal.workspace_folder = workspace_folder::root(ctx).ok();
    journal.id = identity::read(ctx.layout())?.map(|identity| identity.id);
    journal.stays = left_in_place::all(
        ctx,
        &left_in_place::DeinitFindings { branches: &branches, foreign: &foreign, locked: &locked, notes: notes.of_others },
    )?;
    Ok((journal, bundled))
}

/// Plans the moves of workspaces; returns the paths of those that are locked and stay.
fn workspaces_of_ours(
    ctx: &Context,
    journal: &mut DeinitJournal,
    coverage: &BTreeMap<String, CaptureCoverage>,
) -> Result<Vec<String>> {
    let recorded = ctx.state().restorable.workspaces.values().map(|one| one.path.clone());
    let settling = revert_task::settling(ctx)?.into_iter().map(|one| one.path);
    let paths: BTreeSet<String> = recorded.chain(settling).collect();
    let mut locked = Vec::new();
    for text in paths {
        let path = Path::new(&text);
        let to = free_name(
            &journal.folder.join("workspaces"),
            path.file_name().unwrap_or(OsStr::new("workspace")),
            &journal.workspaces,
        );
        let not_held = coverage.get(&text).and_then(not_held);
        let told = DeinitWorkspace { path: path.to_owned(), moved_to: to.clone(), not_held };
        match ctx.repo.worktrees().worktree_at(path)?.filter(|entry| !entry.worktree.is_main()) {
            Some(entry) if entry.locked.is_some() && !entry.is_half_made() => locked.push(text),
            Some(entry) if entry.present => {
                journal.asides.push(ctx.repo.workspaces().plan_aside(&entry.worktree, &to)?);
                journal.workspaces.push(told);
            }
            found => {
                // Its registration, its folder, or neither: each is moved by itself.
                let registration = found.map(|entry: WorktreeEntry| entry.worktree.git_dir().to_owned());
                let aside = |from| DeinitMove { from, to: ctx.repo.common_dir().join("axiom/trash").join(env::fresh_id()) };
                journal.moves.extend(registration.map(aside));
                if path.symlink_metadata().is_ok() && !matches!(ctx.repo.worktree_owners().whose(path)?, WorktreeOwner::Others(_))
                {
                    journal.moves.push(DeinitMove { from: path.to_owned(), to });
                    journal.workspaces.push(DeinitWorkspace { not_held: None, ..told });
                }
            }
        }
    }
    Ok(locked)
}

fn not_held(coverage: &CaptureCoverage) -> Option<u64> {
    coverage.not_captured.is_none().then(|| coverage.samples().iter().map(|sample| sample.count).sum())
}

/// A path in `folder` that no other workspace gets.
fn free_name(folder: &Path, name: &OsStr, taken: &[DeinitWorkspace]) -> PathBuf {
    let wanted = folder.join(name);
    if taken.iter().all(|one| one.moved_to != wanted) {
        return wanted;
    }
    let mut name = name.to_owned();
    name.push(format!("-{}", env::fresh_id()));
    folder.join(name)
}

/// The trash folders: what is in them may be nowhere else.
fn other_folders(ctx: &Context, journal: &mut DeinitJournal) -> Result<()> {
    for (number, from) in trash::places(ctx)?.into_iter().enumerate() {
        if files::metadata(&from)?.is_some_and(|meta| meta.is_dir()) {
            let name = if number == 0 { "trash".to_owned() } else { format!("trash-{number}") };
            journal.moves.push(DeinitMove { from, to: journal.folder.join(name) });
        }
    }
    Ok(())
}

fn branches(ctx: &Context, journal: &DeinitJournal) -> Result<Vec<DeinitBranch>> {
    let target = match target_branch(ctx) {
        Ok(branch) => ctx.repo.refs().read_ref(&branch)?,
        Err(_) => None,
    };
    let used = used_branches(ctx, journal)?;
    let merged_into = |name: &RefName| {
        let case = branch_names::task_of(name).and_then(|task| ctx.state().restorable.tasks.get(&task)?.merged.as_ref());
        case.map(|merged| merged.target.clone())
    };
    let mut found = Vec::new();
    for value in ctx.repo.refs().refs_below(BRANCHES)? {
        let into = match merged_into(&value.name) {
            Some(branch) => ctx.repo.refs().read_ref(&branch)?,
            None => target.clone(),
        };
        let is_merged = match &into {
            Some(into) => ctx.repo.history().is_ancestor(&value.oid, into)?,
            None => false,
        };
        let name = value.name.clone();
        let branch = TaskBranch { made_by_us: ctx.state().made_branch(&name), is_merged, is_used: used.contains(&name), name };
        found.push(DeinitBranch { value, fate: branch.fate() });
    }
    Ok(found)
}

/// The branches that worktrees have checked out that stay.
fn used_branches(ctx: &Context, journal: &DeinitJournal) -> Result<BTreeSet<RefName>> {
    let moves = |entry: &WorktreeEntry| journal.asides.iter().any(|aside| aside.path == entry.worktree.path());
    let mut used = BTreeSet::new();
    for entry in ctx.repo.worktrees().list()?.into_iter().filter(|entry| !moves(entry)) {
        used.extend(entry.head.as_ref().and_then(Head::branch).cloned());
        used.extend(ctx.repo.git_operations().branches_in_progress(&entry.worktree)?.into_iter().map(|(branch, _)| branch));
    }
    Ok(used)
}

/// Our refs but branches, and tags below `axiom/` that are not ours.
pub(crate) fn own_refs(ctx: &Context) -> Result<(Vec<RefValue>, Vec<RefName>)> {
    let (refs, mut foreign) = (ctx.repo.refs(), Vec::new());
    let mut ours = refs.refs_below(REFS)?;
    for tag in refs.refs_below(TAGS)? {
        let name = tag.name.as_str().strip_prefix(TAGS).and_then(|name| CheckpointName::new(name).ok());
        let is_ours = match &name {
            Some(name) => ctx.repo.checkpoints().is_tag_of_ours(name, &tag.oid)?,
            None => false,
        };
        if is_ours { ours.push(tag) } else { foreign.push(tag.name) }
    }
    let notes = RefName::new(NOTES);
    ours.extend(refs.read_ref(&notes)?.map(|oid| RefValue { name: notes, oid }));
    Ok((ours, foreign))
}

struct DeinitNotes {
    ours: Vec<Oid>,
    of_others: bool,
}

fn notes(ctx: &Context) -> Result<DeinitNotes> {
    let record = &ctx.state().record;
    let there = ctx.repo.notes().all_notes(&ctx.repo.notes().load()?)?;
    let deleted = record.deleted_checkpoints.values().map(|gone| &gone.record);
    let ours: BTreeSet<&Oid> = record.checkpoints.all()?.into_iter().chain(deleted).map(|one| &one.tag).collect();
    let of_others = there.keys().any(|object| !ours.contains(object));
    Ok(DeinitNotes { ours: ours.into_iter().filter(|object| there.contains_key(*object)).cloned().collect(), of_others })
}

/// The lines that we write into `info/exclude`. Those of files that stay there are kept.
pub(super) fn exclude_lines(ctx: &Context) -> Vec<String> {
    let folder = workspace_folder::folder(ctx).map(|folder| format!("/{folder}/"));
    let all = ctx.repo.worktrees().list().unwrap_or_default();
    let is_gone =
        |path: &&str| !all.is_empty() && all.iter().all(|one| one.worktree.path().join(path).symlink_metadata().is_err());
    let attached = OF_THIS_USER.iter().copied().filter(is_gone).map(|path| format!("/{path}"));
    folder.into_iter().chain([format!("/{}/", trash::IN_WORKTREE)]).chain(attached).collect()
}
