//! The rollback of a task in words.

use std::path::Path;

use super::changes;
use super::changes::ComingFiles;
use super::counted_sections::{CountedSections, listed};
use crate::cli::words;
use axiom_agents::revert_task::TaskRollbackPreview;
use axiom_base::error::{Code, Error};
use axiom_model::base::names::Oid;

/// How many files in conflict are named.
const NAMED: usize = 20;

/// The whole text. `takes` is its beginning: `Would take`, `Took`; paths are named from the worktree `here`.
pub fn people(preview: &TaskRollbackPreview, takes: &str, here: &Path) -> String {
    let mut parts = CountedSections::below(&format!("{takes} '{}' back on {}:", preview.task_id, preview.target.short()));
    changes::add_agents(&mut parts, &preview.changes);
    let brings = |id: &Oid| {
        let merge = preview.merges.iter().find(|merge| merge.id == *id).filter(|merge| !merge.brings.is_empty());
        merge.map_or_else(String::new, |merge| format!(" (with {} that it merged)", words::count(merge.brings.len(), "commit")))
    };
    let commits = preview.commits.iter().map(|one| format!("{} {}{}", one.id.short(), one.subject, brings(&one.id)));
    parts.add("commit reverted", "commits reverted, in this order", commits.collect());
    parts.add(
        "commit not to revert",
        "commits not to revert",
        preview.skipped.iter().map(|one| format!("{} {}", one.id.short(), one.why)).collect(),
    );
    changes::add_heads(&mut parts, &preview.changes);
    changes::add_refs(&mut parts, &preview.changes, &[], |_| true);
    changes::add_state(&mut parts, &preview.changes, here);
    changes::add_files(&mut parts, &preview.changes, ComingFiles::Back, here);
    parts.into_text() + &changes::totals(&preview.changes, ComingFiles::Back)
}

/// Why a task cannot be taken back, and what to do.
pub fn in_conflict(preview: &TaskRollbackPreview) -> Error {
    let files = preview.conflicts.iter().map(|conflict| {
        let behind: Vec<String> = conflict.behind.iter().map(|one| format!("{} {}", one.id.short(), one.subject)).collect();
        let since = if behind.is_empty() { String::new() } else { format!(" (changed since by {})", behind.join("; ")) };
        format!("{}{since}", conflict.path)
    });
    let commit = preview.conflicts.first().map_or("?", |conflict| conflict.commit.short());
    Error::new(Code::MergeConflict, format!("{commit} of '{}' cannot be reverted: nothing was changed", preview.task_id))
        .why(listed(files, NAMED))
        .hint("take back what was built on it first")
        .hint(format!("{}    makes a worktree to resolve it in", preview.resolve))
}
