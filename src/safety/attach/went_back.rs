//! What an agent is told after a human went back: which of the files that it has read are others now.

use std::collections::BTreeSet;

use super::prompts;
use crate::context::handle::Context;
use crate::history;
use axiom_base::error::{Result, some_of};
use axiom_model::base::names::Oid;
use axiom_model::checkpoint::record::CheckpointRecord;
use axiom_model::operation::operation_record::OperationRecord;
use axiom_model::state::event::EventAuthor;

/// The most files that an agent is told of by name.
const NAMED: usize = 5;

/// What a human took back in this worktree since event `seen`, as a sentence for the agent: of the files that `record`, made just now, holds
/// otherwise than the agent left them, those that are as the human's last step made them. A step and its undo say nothing.
pub(super) fn went_back(ctx: &Context, worktree: &str, seen: u64, record: &CheckpointRecord) -> Option<String> {
    let enough = |known: &[OperationRecord]| known.iter().any(|one| one.first_seq <= seen);
    let all = history::newest_transactions(ctx, enough).ok()?;
    let since = all.iter().filter(|one| one.first_seq > seen && one.by == EventAuthor::User);
    // The oldest first.
    let changes: Vec<_> =
        since.flat_map(|one| &one.worktrees).filter(|change| change.path == worktree).map(|change| &change.files).collect();
    let (oldest, newest) = (changes.first()?, changes.last()?);
    let now = prompts::files_of(ctx, record, worktree)?;
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
