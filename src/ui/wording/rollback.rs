//! A rollback to a checkpoint in words: before it, what would change, and afterwards, what was changed.

use std::collections::BTreeMap;

use super::checkpoints::only_text;
use super::counted_sections::CountedSections;
use crate::cli::visible::quoted;
use crate::cli::words::{count, time};
use axiom_model::base::names::RefName;
use axiom_model::base::text::ValueChange;
use axiom_model::checkpoint::branch_config::said;
use axiom_model::journal::journaled::HeadState;
use axiom_model::operation::change_json::{FileChange, WorkspaceFate};
use axiom_model::operation::rollback::TaskChange;
use axiom_safety::operation::in_progress::GitOperationLine;
use axiom_safety::rollback::{
    AffectedFileLine, EarlierCaptureLine, FileLossLine, RemovedCommitLine, RollbackPreview, StoppedAgentLine, UnrestoredPathLine,
};

/// What is said before it is asked.
pub const KEPT: &str = "The present state is kept in a checkpoint; 'git axiom undo' restores it.";

/// The whole text. `goes` is its beginning: `Would go`, `Went`.
pub fn people(preview: &RollbackPreview, goes: &str) -> String {
    let only = preview.checkpoint.only.as_ref().map_or_else(String::new, |only| format!("\n  for it, {}", only_text(only)));
    let place = preview.worktree.as_ref().map_or_else(String::new, |path| format!(" in '{path}' only"));
    let which = format!("checkpoint {} ({})", preview.checkpoint.name, time(preview.checkpoint.created_at));
    let mut parts = match preview.paths.as_slice() {
        [] => CountedSections::below(&format!("{goes} back to {which}{place}:{only}")),
        [one] => {
            let one = if one.as_bytes().is_empty() { "all files".to_owned() } else { format!("'{}'", quoted(one.as_bytes())) };
            CountedSections::below(&format!("{goes} back to {which} with {one}{place}, the rest stays:{only}"))
        }
        all => CountedSections::below(&format!(
            "{goes} back to {which} with {}{place}, the rest stays:{only}",
            count(all.len(), "path")
        )),
    };
    parts.add("agent stopped", "agents stopped", agents(&preview.agents));
    add_history(preview, &mut parts);
    add_branches(preview, &mut parts);
    add_refs(preview, &mut parts);
    add_state(preview, &mut parts);
    add_files(preview, &mut parts);
    add_left_alone(preview, &mut parts);
    let nothing = if parts.is_empty() { "  no present content is lost\n" } else { "" };
    format!("{}{nothing}", parts.into_text())
}

/// The text where everything is as in the checkpoint already, with the things that are left alone.
pub fn nothing_changes(preview: &RollbackPreview) -> String {
    let what = match (&preview.worktree, preview.paths.is_empty()) {
        (_, false) => "what was named".to_owned(),
        (Some(worktree), true) => format!("'{}'", quoted(worktree.as_bytes())),
        (None, true) => "everything".to_owned(),
    };
    let mut parts = CountedSections::below(&format!(
        "Nothing was changed: {what} is as in checkpoint {} ({}) already.{}",
        preview.checkpoint.name,
        time(preview.checkpoint.created_at),
        preview.checkpoint.only.as_ref().map_or_else(String::new, |only| format!("\n  for it, {}", only_text(only)))
    ));
    add_refs(preview, &mut parts);
    add_files(preview, &mut parts);
    add_left_alone(preview, &mut parts);
    parts.into_text()
}

/// Agents and their tasks.
pub fn agents(agents: &[StoppedAgentLine]) -> Vec<String> {
    agents.iter().map(|agent| format!("{}, which works on {}", agent.id, agent.task_id)).collect()
}

fn add_history(preview: &RollbackPreview, parts: &mut CountedSections) {
    let heads =
        preview.heads.iter().map(|line| format!("{}: {} → {}", line.worktree, head(&line.head.old), head(&line.head.new)));
    parts.add("HEAD moved to another branch or commit", "HEADs moved to other branches or commits", heads.collect());
    let of = |line: &RemovedCommitLine| match &line.branch {
        Some(branch) => format!("{} {} ({})", line.id.short(), line.subject, branch.short()),
        None => format!("{} {}", line.id.short(), line.subject),
    };
    let (on_branch, on_none): (Vec<&RemovedCommitLine>, Vec<&RemovedCommitLine>) =
        preview.commits.iter().partition(|line| line.branch.is_some());
    parts.add("commit taken off its branch", "commits taken off their branches", on_branch.into_iter().map(of).collect());
    parts.add("commit that no branch will contain", "commits that no branch will contain", on_none.into_iter().map(of).collect());
    let reverted = preview.on_upstream.iter().map(|(branch, all, there)| {
        let commits = preview.reverted_commits.iter().filter(|line| line.branch.as_ref() == Some(branch));
        let named: Vec<&str> = commits.take(5).map(|line| line.id.short()).collect();
        let more = if *all > named.len() { ", …" } else { "" };
        format!("{}: {} ({there} of {all} on an upstream)", branch.short(), named.join(", ") + more)
    });
    let words = (
        "branch gets a reverting commit; its newer commits stay",
        "branches get a reverting commit each; their newer commits stay",
    );
    parts.add(words.0, words.1, reverted.collect());
    let branches = preview.branches.iter().map(|name| name.short().to_owned());
    parts.add("branch kept for undo and deleted", "branches kept for undo and deleted", branches.collect());
}

/// Branches that come back or move forward. For other branches, the commits they lose are listed instead.
fn add_branches(preview: &RollbackPreview, parts: &mut CountedSections) {
    let told = |name: &RefName| {
        preview.commits.iter().any(|line| line.branch.as_ref() == Some(name))
            || preview.reverted.contains(name)
            || preview.refs_back.iter().any(|line| line.name == *name)
            || preview.refs_moved.iter().any(|line| line.name == *name)
    };
    let with = configurations(preview);
    let untold = || preview.refs.iter().filter(|change| !told(&change.name));
    let back = untold().filter_map(|change| match (&change.value.old, &change.value.new) {
        (None, Some(new)) => Some(format!("{} at {}{}", change.name.short(), new.short(), with(&change.name))),
        (_, None) | (Some(_), Some(_)) => None,
    });
    parts.add("branch restored", "branches restored", back.collect());
    let forward = untold().filter_map(|change| match (&change.value.old, &change.value.new) {
        (Some(old), Some(new)) => Some(format!("{}: {} → {}", change.name.short(), old.short(), new.short())),
        (None, _) | (_, None) => None,
    });
    parts.add("branch moved forward", "branches moved forward", forward.collect());
}

fn add_refs(preview: &RollbackPreview, parts: &mut CountedSections) {
    let with = configurations(preview);
    let back = preview.refs_back.iter();
    let back = back.map(|line| format!("{} at {}{}", ref_name(&line.name), line.id.short(), with(&line.name)));
    parts.add("deleted ref restored", "deleted refs restored", back.collect());
    let stash = preview.stash_back.iter().map(|entry| format!("{} ({})", entry.message, entry.id.short()));
    parts.add("stash entry restored", "stash entries restored", stash.collect());
    let of = |moves: bool| {
        let lines = preview.refs_moved.iter().filter(move |line| line.moves == moves);
        lines.map(|line| format!("{}: {} → {}", ref_name(&line.name), line.old.short(), line.new.short())).collect::<Vec<_>>()
    };
    parts.add("ref moved back", "refs moved back", of(true));
    let words =
        ("ref that moved since is not moved back (--refs does it)", "refs that moved since are not moved back (--refs does it)");
    parts.add(words.0, words.1, of(false));
    let left = preview.refs_left.iter().map(|line| format!("{}: {}", ref_name(&line.name), line.why));
    parts.add("deleted ref that is not restored", "deleted refs that are not restored", left.collect());
}

/// The text after the name of a branch that comes back: its configuration.
fn configurations(preview: &RollbackPreview) -> impl Fn(&RefName) -> String {
    let back = preview.configs_back.iter().map(|line| (line.branch.clone(), format!(", with {}", said(&line.values))));
    let left = preview.configs_left.iter().map(|branch| (branch.clone(), ", its present configuration stays".to_owned()));
    let all: BTreeMap<RefName, String> = back.chain(left).collect();
    move |name| all.get(name).cloned().unwrap_or_default()
}

/// The name of a ref for people, with its kind: a branch and a tag may have the same short name.
fn ref_name(name: &RefName) -> String {
    let kinds = [("refs/heads/", "branch"), ("refs/tags/", "tag"), ("refs/notes/", "notes")];
    let of = |(folder, kind): (&str, &str)| name.as_str().strip_prefix(folder).map(|short| format!("{kind} {short}"));
    kinds.into_iter().find_map(of).unwrap_or_else(|| name.to_string())
}

fn add_state(preview: &RollbackPreview, parts: &mut CountedSections) {
    let tasks = preview.tasks.iter().map(task_line);
    parts.add("task taken back", "tasks taken back", tasks.collect());
    let mode = preview.mode.iter().map(|mode| format!("{} → {}", mode.old.as_str(), mode.new.as_str()));
    parts.add("mode changed", "modes changed", mode.collect());
    let workspaces = preview.workspaces.iter().map(|w| format!("{}: {}", w.path, workspace(w.action)));
    parts.add("workspace", "workspaces", workspaces.collect());
}

fn task_line(task: &TaskChange) -> String {
    let ValueChange { old, new } = task.status;
    let mut line = if old == new { format!("{}: {new}", task.id) } else { format!("{}: {old} → {new}", task.id) };
    let words = [
        (task.unmerged, ", no longer merged"),
        (task.merged_again, ", merged again"),
        (task.edited, ", text or settings restored"),
    ];
    words.iter().filter(|(is_so, _)| *is_so).for_each(|(_, words)| line.push_str(words));
    line
}

fn add_files(preview: &RollbackPreview, parts: &mut CountedSections) {
    let operations = preview.operations.iter().map(GitOperationLine::text);
    parts.add("operation in progress", "operations in progress", operations.collect());
    let places =
        |wanted: &dyn Fn(&&AffectedFileLine) -> bool| preview.files.iter().filter(wanted).map(AffectedFileLine::place).collect();
    parts.add(
        "file with uncommitted content replaced",
        "files with uncommitted content replaced",
        places(&|file| file.uncommitted && file.change != FileChange::Deleted),
    );
    parts.add(
        "file with uncommitted content removed",
        "files with uncommitted content removed",
        places(&|file| file.uncommitted && file.change == FileChange::Deleted),
    );
    let words = match preview.files.iter().any(|file| file.uncommitted) {
        true => ("other file changed", "other files changed"),
        false => ("file changed", "files changed"),
    };
    parts.add(words.0, words.1, places(&|file| !file.uncommitted));
    let places = |files: &[FileLossLine]| files.iter().map(FileLossLine::place).collect::<Vec<_>>();
    let permissions = ("file or folder gets its earlier permissions", "files or folders get their earlier permissions");
    parts.add(permissions.0, permissions.1, places(&preview.permissions));
    parts.add("file no longer staged as it was", "files no longer staged as they were", places(&preview.staged));
    parts.add("file staged again", "files staged again", places(&preview.staged_back));
    let aside = (
        "file or folder that no checkpoint holds, moved to the trash",
        "files or folders that no checkpoint holds, moved to the trash",
    );
    parts.add(aside.0, aside.1, places(&preview.moves_aside));
    let gone = ("earlier file or folder that is not restored", "earlier files or folders that are not restored");
    let (stays, lost): (Vec<&UnrestoredPathLine>, Vec<&UnrestoredPathLine>) =
        preview.not_restored.iter().partition(|one| one.stays());
    parts.add(gone.0, gone.1, lost.into_iter().map(UnrestoredPathLine::text).collect());
    let left = ("file, folder or worktree left as it is", "files, folders or worktrees left as they are");
    parts.add(left.0, left.1, stays.into_iter().map(UnrestoredPathLine::text).collect());
    let moments = (
        "worktree goes back to its last capture before the checkpoint",
        "worktrees go back to their last captures before the checkpoint",
    );
    let moment = |one: &EarlierCaptureLine| format!("'{}', as of {}", quoted(one.worktree.as_bytes()), time(one.captured_at));
    parts.add(moments.0, moments.1, preview.moments.iter().map(moment).collect());
    let submodules = ("submodule left with its files and its commit", "submodules left with their files and their commits");
    parts.add(submodules.0, submodules.1, places(&preview.submodules));
}

fn add_left_alone(preview: &RollbackPreview, parts: &mut CountedSections) {
    let is_gone = |path: &&String| preview.gone.iter().any(|gone| gone.path == **path);
    let words = (
        "other worktree that differs from the checkpoint is left alone (--worktree PATH rolls it back)",
        "other worktrees that differ from the checkpoint are left alone (--worktree PATH rolls one back)",
    );
    let standing = preview.left_alone.iter().filter(|path| !is_gone(path)).cloned();
    parts.add(words.0, words.1, standing.collect());
    let words = (
        "other worktree of the checkpoint is gone from its place (this command brings it back; then use --worktree PATH)",
        "other worktrees of the checkpoint are gone from their places (these commands bring them back; then use --worktree PATH)",
    );
    parts.add(words.0, words.1, preview.gone.iter().map(|gone| gone.made_by.clone()).collect());
}

fn head(state: &HeadState) -> String {
    match state {
        HeadState::Branch(name) => name.short().to_owned(),
        HeadState::Detached(commit) => format!("detached at {}", commit.short()),
    }
}

/// What happens to a workspace, in words.
pub fn workspace(fate: WorkspaceFate) -> &'static str {
    match fate {
        WorkspaceFate::Restored => "restored",
        WorkspaceFate::PutAside => "moved to the trash",
        WorkspaceFate::BroughtBack => "restored from the trash",
        WorkspaceFate::MadeAgain => "created again",
        WorkspaceFate::Forgotten => "forgotten, its folder is gone",
        WorkspaceFate::NotCaptured => "cannot be captured, and is left alone",
    }
}
