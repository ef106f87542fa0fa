//! Other saved files that have the same value: they are named, since nobody can say whether they are the secret or only use it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::find::PurgeSubject;
use super::{contents, words};
use axiom_base::error::{Result, some_of};
use axiom_base::shell_word::shell_word;
use axiom_git::{ContentSearch, Repository};
use axiom_model::base::names::{Oid, RepoPath};
use axiom_model::checkpoint::record::CheckpointRecord;
use axiom_model::checkpoint::submodules::SubmoduleState;
use axiom_safety::beside_log::journals::purge::PurgeJournal;
use axiom_safety::checkpoint;
use axiom_safety::checkpoint::submodules::repository_of;
use axiom_safety::context::handle::Context;

/// The most paths, and the most checkpoints of one path, that are named.
const NAMED: usize = 100;
const CHECKPOINTS: usize = 5;

/// The paths in captures that stay, besides what is taken out, whose content has a value of it or is the same.
pub(super) fn named(ctx: &Context, journal: &PurgeJournal, subject: &PurgeSubject) -> Result<Vec<String>> {
    let finder = words(ctx, journal).telling().finder();
    if finder.is_empty() {
        return Ok(Vec::new());
    }
    let has_it = |content: &[u8]| finder.is_in(content);
    let mut search = ContentSearch::new(&has_it);
    let cut = contents::cut(subject);
    let mut found: BTreeMap<RepoPath, Vec<String>> = BTreeMap::new();
    let mut add = |path: RepoPath, place: &str| {
        let places = found.entry(path).or_default();
        if !places.iter().any(|known| known == place) {
            places.push(place.to_owned());
        }
    };
    for (capture, place) in captures(ctx, journal)? {
        ctx.repo.capture_rewrites().paths_holding(&capture, &mut search)?.into_iter().for_each(|path| add(path, &place));
    }
    for (repo, state, place) in in_submodules(ctx, journal)? {
        let inside = repo.capture_rewrites().paths_holding(&state.capture, &mut search)?;
        inside.iter().for_each(|path| add(state.path.join(path), &place));
    }
    found.retain(|path, _| !cut.names(path));
    let many = found.len().saturating_sub(NAMED);
    let mut lines: Vec<String> = found.iter().take(NAMED).map(|(path, places)| line(path, places)).collect();
    if many > 0 {
        lines.push(format!("{many} more saved paths have the same value"));
    }
    if !search.too_large.is_empty() {
        lines.push(format!("saved files over 64 MB were not looked through: {}", search.too_large.len()));
    }
    Ok(lines)
}

fn line(path: &RepoPath, places: &[String]) -> String {
    let path = path.to_string();
    let named = some_of(places, CHECKPOINTS);
    format!("{path} in {named} has the same value: git axiom purge {} takes that out", shell_word(&path))
}

/// The checkpoints that are there afterwards.
fn staying<'c>(ctx: &'c Context, journal: &PurgeJournal) -> Result<Vec<&'c CheckpointRecord>> {
    let gone: BTreeSet<&str> = journal.gone.iter().map(|name| name.as_str()).collect();
    let all = ctx.state().record.checkpoints.all()?;
    Ok(all.into_iter().filter(|record| !gone.contains(record.name.as_str())).collect())
}

/// The same of submodules, as far as their repositories still hold them.
fn in_submodules(ctx: &Context, journal: &PurgeJournal) -> Result<Vec<(Arc<Repository>, SubmoduleState, String)>> {
    let mut all = Vec::new();
    for record in staying(ctx, journal)? {
        for state in checkpoint::read_document(ctx, record)?.submodules {
            if let Ok(repo) = repository_of(ctx, &state) {
                all.push((repo, state, format!("checkpoint {}", record.name)));
            }
        }
    }
    Ok(all)
}

/// The captures that are there afterwards, as they are now, with what they are called.
fn captures(ctx: &Context, journal: &PurgeJournal) -> Result<Vec<(Oid, String)>> {
    let mut all = Vec::new();
    for record in staying(ctx, journal)? {
        let place = format!("checkpoint {}", record.name);
        all.push((record.capture.clone(), place.clone()));
        let document = checkpoint::read_document(ctx, record)?;
        all.extend(document.workspaces.into_iter().map(|workspace| (workspace.capture, place.clone())));
    }
    all.extend(contents::live(ctx)?.into_iter().map(|live| (live.oid, live.name.to_string())));
    Ok(all)
}
