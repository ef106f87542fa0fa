//! What an agent is told after a human went back: which of the files that it has read are others now.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::{saving, sessions};
use crate::context::handle::Context;
use crate::{checkpoint, history};
use axiom_base::error::{Result, some_of};
use axiom_model::base::names::Oid;
use axiom_model::checkpoint::stamp::AttachedSessionStamp;
use axiom_model::operation::operation_record::OperationRecord;
use axiom_model::state::event_envelope::EventAuthor;
use axiom_store::beside::attach::AttachFiles;

/// The most files that an agent is told of by name.
const NAMED: usize = 5;

/// What a human took back in this worktree since event `seen`, as a sentence for the agent: of the files that differ from how the agent left
/// them (`now` finds their tree), those that are as the human's last step made them. A step and its undo say nothing.
pub(super) fn went_back(ctx: &Context, worktree: &str, seen: u64, now: impl FnOnce() -> Option<Oid>) -> Option<String> {
    let enough = |known: &[OperationRecord]| known.iter().any(|one| one.events.first <= seen);
    let all = history::newest_transactions(ctx, enough).ok()?;
    let since = all.iter().filter(|one| one.events.first > seen && one.by == EventAuthor::User);
    // The oldest first.
    let changes: Vec<_> = since
        .flat_map(|one| &one.changes.worktrees)
        .filter(|change| change.path == worktree)
        .map(|change| &change.files)
        .collect();
    let (oldest, newest) = (changes.first()?, changes.last()?);
    let now = now()?;
    let paths = |old: &Oid, new: &Oid| -> Result<BTreeSet<String>> {
        Ok(ctx.repo.history().diff_trees(old, new)?.into_iter().map(|change| change.path.to_string()).collect())
    };
    let mut touched = BTreeSet::new();
    for files in &changes {
        touched.extend(paths(&files.old, &files.new).ok()?);
    }
    let edited_since = paths(&newest.new, &now).ok()?;
    let (mut restored, mut gone) = (Vec::new(), Vec::new());
    for change in ctx.repo.history().diff_trees(&oldest.old, &now).ok()? {
        let path = change.path.to_string();
        if touched.contains(&path) && !edited_since.contains(&path) {
            if change.new.is_none() { gone.push(path) } else { restored.push(path) }
        }
    }
    in_words(&restored, &gone)
}

/// The same in the middle of a turn: what a human took back since the agent was told last. Costs one look at a file where nobody did.
pub(super) fn told_meanwhile(files: &AttachFiles, stamp: &AttachedSessionStamp) -> Option<String> {
    let changed = std::fs::symlink_metadata(files.changed_by_human()).ok()?;
    let changed = (changed.mtime(), changed.mtime_nsec());
    let mut session = sessions::of(files, stamp);
    if session.prompts == 0 || session.told.is_some_and(|told| told >= changed) {
        return None;
    }
    let ctx = saving::open(Path::new(&stamp.worktree)).ok()?;
    let entry = ctx.repo.worktrees().worktree_at(Path::new(&stamp.worktree)).ok()??;
    let now = || Some(ctx.repo.captures().capture_worktree(&entry.worktree, &checkpoint::capture_options(&ctx)).ok()?.tree);
    let fact = went_back(&ctx, &stamp.worktree, session.seen, now);
    session.told = Some(changed);
    if fact.is_some() {
        // The next prompt does not say it again.
        session.seen = ctx.state().seq;
    }
    sessions::write(files, &session).ok()?;
    fact
}

fn in_words(restored: &[String], gone: &[String]) -> Option<String> {
    let part = |what: &str, paths: &[String]| (!paths.is_empty()).then(|| format!("{what}: {}", some_of(paths, NAMED)));
    let parts = [
        part("these files were restored, and what you read of them before is out of date", restored),
        part("these files are no longer there", gone),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("The human went back with git axiom: {}", parts.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_restored_and_what_is_gone_are_apart() {
        let all = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(in_words(&[], &[]), None);
        let said = in_words(&all(&["1", "2", "3", "4", "5", "6", "7"]), &[]).unwrap();
        assert!(said.ends_with("out of date: 1, 2, 3, 4, 5 and 2 more"), "{said}");
        let said = in_words(&all(&["a"]), &all(&["b"])).unwrap();
        assert!(said.ends_with("out of date: a; these files are no longer there: b"), "{said}");
    }
}
