//! The rollback of a task in words.

use super::counted_sections::{CountedSections, listed};
use super::rollback::agents;
use crate::cli::words;
use axiom_agents::revert_task::TaskRollbackPreview;
use axiom_base::error::{Code, Error};
use axiom_model::base::names::Oid;
use axiom_model::operation::change_json::WorkspaceFate;

/// How many files in conflict are named.
const NAMED: usize = 20;

/// The whole text. `takes` is its beginning: `Would take`, `Took`.
pub fn people(preview: &TaskRollbackPreview, takes: &str) -> String {
    let mut parts = CountedSections::below(&format!("{takes} '{}' back on {}:", preview.task_id, preview.target.short()));
    let mut part = |one: &str, many: &str, lines: Vec<String>| parts.add(one, many, lines);
    let brings = |id: &Oid| {
        let merge = preview.merges.iter().find(|merge| merge.id == *id).filter(|merge| !merge.brings.is_empty());
        merge.map_or_else(String::new, |merge| format!(" (with {} that it merged)", words::count(merge.brings.len(), "commit")))
    };
    part("agent stopped", "agents stopped", agents(&preview.agents));
    let commits = preview.commits.iter().map(|one| format!("{} {}{}", one.id.short(), one.subject, brings(&one.id)));
    part("commit reverted", "commits reverted, in this order", commits.collect());
    part(
        "commit not to revert",
        "commits not to revert",
        preview.skipped.iter().map(|one| format!("{} {}", one.id.short(), one.why)).collect(),
    );
    let tasks = preview.tasks.iter().map(|task| {
        let merged = if task.unmerged { ", no longer merged" } else { "" };
        format!("{}: {} → {}{merged}", task.id, task.status.old, task.status.new)
    });
    part("task to be done again", "tasks to be done again", tasks.collect());
    let workspaces = |action: WorkspaceFate| {
        let those = preview.workspaces.iter().filter(|one| one.action == action);
        those.map(|one| one.path.clone()).collect()
    };
    part("workspace moved to the trash", "workspaces moved to the trash", workspaces(WorkspaceFate::PutAside));
    part(
        "workspace forgotten, its folder is gone",
        "workspaces forgotten, their folders are gone",
        workspaces(WorkspaceFate::Forgotten),
    );
    part(
        "branch kept for undo and deleted",
        "branches kept for undo and deleted",
        preview.branches.iter().map(|one| one.short().to_owned()).collect(),
    );
    part("file changed", "files changed", preview.files.iter().map(|file| file.path.to_string()).collect());
    parts.into_text()
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
        .hint(format!("git axiom rollback task {} --resolve    makes a worktree to resolve it in", preview.task_id))
}
