//! Reading checkpoints: the list, one of them by name or time, its document.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use serde::Serialize;

use crate::checkpoint::unrestorable;
use crate::context::handle::Context;
use crate::context::target::target_branch;
use axiom_base::error::{Code, Error, Result};
use axiom_base::{env, files};
use axiom_model::base::forms::times;
use axiom_model::base::ids::CheckpointName;
use axiom_model::base::names::{Oid, RefName};
use axiom_model::base::own_names::checkpoint_tag;
use axiom_model::checkpoint::availability::CheckpointAvailability;
use axiom_model::checkpoint::document::CheckpointDocument;
use axiom_model::checkpoint::known_scope::KnownPathsCount;
use axiom_model::checkpoint::record::CheckpointRecord;
use axiom_model::checkpoint::trigger::{CheckpointTrigger, CheckpointType};
use axiom_model::operation::change_json;
use axiom_model::state::current_state::State;
use axiom_model::state::known_ids::{self, IdKind};
use axiom_model::work::tasks::task::TaskStatus;

/// The most files that are counted to measure paths that a checkpoint does not hold.
const ENTRIES: u64 = 200_000;

/// For how many of the newest checkpoints the commits since are counted: each count opens a tag.
const COUNTED: usize = 200;

/// For how many commits that no tag of ours stands on: each needs a call of git.
const CALLED: usize = 30;

/// A checkpoint in the list.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckpointListing {
    /// Its number in the list, from 1, oldest first.
    pub number: usize,
    /// Its name.
    pub name: CheckpointName,
    /// Whether the user named it, or it is automatic.
    #[serde(rename = "type")]
    pub kind: CheckpointType,
    /// The reason for making it.
    pub trigger: CheckpointTrigger,
    /// When it was made.
    pub created_at: Timestamp,
    /// The commit that was checked out in the main worktree.
    pub git_commit: Option<Oid>,
    /// The commit that `refs/axiom/captures/<name>` points to.
    pub capture: Oid,
    /// Null where it has none: `checkpoints.tags`, and attached sessions.
    pub tag: Option<RefName>,
    /// The tag's id.
    pub tag_id: Option<Oid>,
    /// How many of the tasks that are done now became so after it, those that were done before too.
    pub tasks_since: u32,
    /// The number of commits on the target branch since; `None` where it is not known.
    pub commits_since: Option<u64>,
    /// How many bytes it added to the repository.
    pub size: Option<u64>,
    /// Whether it can be restored: `refGone` by `checkpoint verify --repair`; `rewritten` by a rewrite of the history and `gone`
    /// never again.
    pub standing: CheckpointAvailability,
    /// Where only known paths were looked at.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "change_json::only")]
    pub only: Option<KnownPathsCount>,
}

/// A checkpoint with its document.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckpointDetails {
    /// Its line in the list.
    #[serde(flatten)]
    pub listed: CheckpointListing,
    /// The JSON of the checkpoint, whose key `axiom` is the version of its format; its `coverage` is a `CaptureCoverage`, and
    /// each of its `submodules` has one of its own.
    pub document: CheckpointDocument,
    /// The size in bytes now of each path that the coverage lists. Missing paths are left out, and folders with too many files to
    /// count quickly.
    pub sizes_now: BTreeMap<String, u64>,
}

/// All checkpoints, or only the newest ones (at most `newest`), oldest first.
pub fn list(ctx: &Context, newest: Option<usize>) -> Result<Vec<CheckpointListing>> {
    let all = &ctx.state().record.checkpoints;
    let records = all.newest(newest.unwrap_or(usize::MAX))?;
    let first = all.len() - records.len();
    let since = commits_since(ctx, &records)?;
    let standings = unrestorable::ended_of(ctx, &records)?;
    let done = CompletionTimes::of(ctx.state());
    let numbered = records.into_iter().enumerate();
    let standing = |record: &CheckpointRecord| standings.get(&record.name).copied().unwrap_or(CheckpointAvailability::There);
    numbered.map(|(index, record)| listed(ctx, first + index + 1, (record, standing(record)), (&since, &done))).collect()
}

/// For the commits of the newest [`COUNTED`] checkpoints: how many commits the target branch has that they lack. The count
/// of a missing commit (shallow clone, pruned) is unknown.
fn commits_since(ctx: &Context, records: &[&CheckpointRecord]) -> Result<BTreeMap<Oid, u64>> {
    let target = match target_branch(ctx) {
        Ok(branch) => ctx.repo.refs().read_ref(&branch)?,
        Err(_) => None,
    };
    let Some(target) = target else { return Ok(BTreeMap::new()) };
    let newest = records.iter().rev().take(COUNTED);
    let (mut tagged, mut others): (BTreeMap<Oid, RefName>, Vec<Oid>) = (BTreeMap::new(), Vec::new());
    for record in newest {
        match &record.git_commit {
            Some(commit) if record.marks().has_tag() => drop(tagged.insert(commit.clone(), checkpoint_tag(&record.name))),
            Some(commit) if others.len() < CALLED && !others.contains(commit) => others.push(commit.clone()),
            Some(_) | None => {}
        }
    }
    others.retain(|commit| !tagged.contains_key(commit));
    ctx.repo.history().commits_since(&tagged, &others, &target)
}

/// When the tasks that are done now were, in order.
struct CompletionTimes(Vec<Timestamp>);

impl CompletionTimes {
    fn of(state: &State) -> Self {
        let done = state.restorable.tasks.values().filter(|task| task.status == TaskStatus::Done);
        let mut times: Vec<Timestamp> = done.filter_map(|task| state.record.tasks.get(&task.id)?.completed_at).collect();
        times.sort_unstable();
        Self(times)
    }

    fn since(&self, at: Timestamp) -> u32 {
        let before = self.0.partition_point(|time| *time <= at);
        u32::try_from(self.0.len() - before).unwrap_or(u32::MAX)
    }
}

fn listed(
    ctx: &Context,
    number: usize,
    (record, standing): (&CheckpointRecord, CheckpointAvailability),
    (since, done): (&BTreeMap<Oid, u64>, &CompletionTimes),
) -> Result<CheckpointListing> {
    Ok(CheckpointListing {
        number,
        name: record.name.clone(),
        kind: record.kind,
        trigger: record.trigger,
        created_at: record.created_at,
        git_commit: record.git_commit.clone(),
        capture: record.capture.clone(),
        tag: record.marks().has_tag().then(|| checkpoint_tag(&record.name)),
        tag_id: record.marks().has_tag().then(|| record.tag.clone()),
        tasks_since: done.since(record.created_at),
        commits_since: record.git_commit.as_ref().and_then(|commit| since.get(commit)).copied(),
        size: record.size,
        standing,
        only: record.only.as_ref().map(|only| ctx.state().record.checkpoints.shown(only)).transpose()?,
    })
}

/// The checkpoint that `text` names: its name without regard to case, or a unique prefix of it.
pub fn find(ctx: &Context, text: &str) -> Result<CheckpointRecord> {
    let folded = text.to_ascii_lowercase();
    let all = ctx.state().record.checkpoints.all()?;
    // Two may have names that differ in case only: a power failure can lose that the first one was made.
    let exact = all.iter().find(|record| record.name.as_str() == text);
    if let Some(exact) = exact.or_else(|| all.iter().find(|record| record.name.folded() == folded)) {
        return Ok((*exact).clone());
    }
    let begins: Vec<_> = all.iter().filter(|record| record.name.folded().starts_with(&folded)).collect();
    match begins.as_slice() {
        [one] if !folded.is_empty() => Ok(CheckpointRecord::clone(one)),
        [] | [_] => {
            let error = Error::new(Code::UnknownCheckpoint, format!("there is no checkpoint '{text}'"));
            Err(known_ids::hinted(ctx.state(), error, text, &[IdKind::Checkpoint], "see 'git axiom checkpoint list'"))
        }
        many => {
            let names: Vec<&str> = many.iter().map(|record| record.name.as_str()).collect();
            Err(Error::new(Code::AmbiguousName, format!("'{text}' can be {}", names.join(", "))).hint("write more of the name"))
        }
    }
}

/// The newest checkpoint made at or before a time, to the second.
pub fn newest_at(ctx: &Context, at: Timestamp) -> Result<CheckpointRecord> {
    let all = ctx.state().record.checkpoints.all()?;
    let there = all.iter().filter(|record| record.created_at.as_second() <= at.as_second());
    if let Some(newest) = there.max_by_key(|record| record.created_at) {
        return Ok((*newest).clone());
    }
    let said = |at| times::said(&env::time_zone(), env::now(), at);
    let error = Error::new(Code::UnknownCheckpoint, format!("there is no checkpoint from {} or before", said(at)));
    Err(match all.iter().min_by_key(|record| record.created_at) {
        Some(oldest) => {
            let (name, made) = (&oldest.name, said(oldest.created_at));
            error.hint(format!("git axiom checkpoint show {name}    shows the oldest, from {made}: name it, or a later time"))
        }
        None => error.hint("git axiom checkpoint create    makes the first one"),
    })
}

/// A checkpoint with its document.
pub fn show(ctx: &Context, text: &str) -> Result<CheckpointDetails> {
    let record = find(ctx, text)?;
    let document = read_document(ctx, &record)?;
    let all = list(ctx, None)?;
    match all.into_iter().find(|listed| listed.name == record.name) {
        Some(listed) => {
            let sizes_now = sizes_now(&document);
            Ok(CheckpointDetails { listed, document, sizes_now })
        }
        None => Err(Error::new(Code::Internal, "a checkpoint is not in the list of them")),
    }
}

fn sizes_now(document: &CheckpointDocument) -> BTreeMap<String, u64> {
    let mut entries = ENTRIES;
    let mut sizes = BTreeMap::new();
    for (worktree, coverage) in &document.coverage_with_submodules() {
        for path in coverage.samples().into_iter().flat_map(|sample| &sample.paths) {
            let place = Path::new(worktree).join(path.to_path());
            if let Some(size) = files::size_below(&place, &mut entries) {
                sizes.insert(place.to_string_lossy().into_owned(), size);
            }
        }
    }
    sizes
}

/// The capture of a worktree in a checkpoint. That of the main worktree is known without the document, which may be damaged.
pub fn capture_of_worktree(ctx: &Context, record: &CheckpointRecord, worktree: &str) -> Option<Oid> {
    if ctx.repo.worktrees().main_worktree().is_ok_and(|main| main.path() == Path::new(worktree)) {
        return Some(record.capture.clone());
    }
    let document = read_document(ctx, record).ok()?;
    document.workspaces.into_iter().find(|one| one.path == worktree).map(|one| one.capture)
}

/// The tree of a worktree's files in a checkpoint.
pub fn files_of_worktree(ctx: &Context, record: &CheckpointRecord, worktree: &str) -> Option<Oid> {
    let capture = capture_of_worktree(ctx, record, worktree)?;
    Some(ctx.repo.captures().capture_parts(&capture).ok()?.files)
}

/// The document of a checkpoint, read from its capture: neither tag nor note is needed.
pub fn read_document(ctx: &Context, record: &CheckpointRecord) -> Result<CheckpointDocument> {
    document_of(ctx, &record.capture).map(|(_, document)| document)
}

/// The document attached to a capture, and the id of its blob.
pub(super) fn document_of(ctx: &Context, capture: &Oid) -> Result<(Oid, CheckpointDocument)> {
    let (blob, json) = ctx.repo.checkpoints().checkpoint_json(capture)?;
    let damaged = |why: String| {
        Error::new(Code::CheckpointDamaged, format!("the document of capture {} is damaged", capture.short())).why(why)
    };
    let mut document = CheckpointDocument::from_json(&json).map_err(damaged)?;
    // The document has the paths of the place where the repository was then: they are translated to the current place.
    let seq = document.seq;
    for placed in ctx.state().record.placings.iter().filter(|placed| placed.seq > seq) {
        placed.placing.document(&mut document);
    }
    Ok((blob, document))
}
