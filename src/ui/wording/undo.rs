//! The output of an undo, in words and as JSON.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Serialize;

use crate::cli::{visible, words};
use axiom_base::error::{Code, Error};
use axiom_model::base::names::RepoPath;
use axiom_model::base::own_names::CAPTURES;
use axiom_model::base::ref_change::{ChangeDirection, RefChange};
use axiom_model::checkpoint::branch_config::said;
use axiom_model::journal::journaled::{HeadState, TrashChange};
use axiom_model::operation::change_json::{FileChange, WorkspaceFate};
use axiom_model::operation::operation_record::OperationRecord;
use axiom_model::operation::undo::UndoSelector;
use axiom_model::state::audit::change_text;
use axiom_safety::context::handle::Context;
use axiom_safety::operation::in_progress::GitOperationLine;
use axiom_safety::undo::{UndoPreview, UndoReport, UndoTarget};

/// How many lines of each part are shown.
const SHOWN: usize = 20;
/// How many other transactions are named when the last one cannot be undone.
const LISTED: usize = 5;

/// The answer as JSON.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UndoOutcomeJson<'a> {
    undo_of: &'a str,
    what: &'a str,
    redo: bool,
    dry_run: bool,
    #[serde(flatten)]
    preview: &'a UndoPreview,
    safety: Option<String>,
    undo: Option<String>,
    moved_aside: Vec<String>,
    brought_back: Vec<String>,
    still_aside: Vec<String>,
}

impl<'a> UndoOutcomeJson<'a> {
    /// For a dry run, or before the question.
    pub fn before(chosen: &'a UndoTarget, preview: &'a UndoPreview) -> Self {
        // The places to which they come back, if those are free by then.
        let place = |change: &TrashChange| Path::new(&change.worktree).join(change.path.to_path()).display().to_string();
        Self {
            undo_of: chosen.transaction.id.as_str(),
            what: &chosen.what,
            redo: chosen.redo,
            dry_run: true,
            preview,
            safety: None,
            undo: None,
            moved_aside: Vec::new(),
            brought_back: preview.asides.iter().map(place).collect(),
            still_aside: Vec::new(),
        }
    }

    /// After the undo.
    pub fn after(chosen: &'a UndoTarget, done: &'a UndoReport) -> Self {
        Self {
            undo_of: chosen.transaction.id.as_str(),
            what: &chosen.what,
            redo: chosen.redo,
            dry_run: false,
            preview: &done.preview,
            safety: done.safety.as_ref().map(ToString::to_string),
            undo: done.is_undoable.then(|| format!("git axiom undo {}", done.txn)),
            moved_aside: done.moved_aside.iter().map(|moved| moved.now_at.display().to_string()).collect(),
            brought_back: done.brought_back.iter().map(|place| place.display().to_string()).collect(),
            still_aside: done.still_aside.iter().map(|moved| moved.now_at.display().to_string()).collect(),
        }
    }

    /// The planned changes, in words.
    pub fn plan(&self, chosen: &UndoTarget, main: &Path) -> String {
        let mut text =
            format!("{} {}\n", if self.redo { "Would do again" } else { "Would take back" }, visible::line(&which(chosen)));
        text.push_str(&changes(self.preview, main));
        for place in &self.brought_back {
            text.push_str(&format!("  would restore from the trash: {}\n", visible::line(place)));
        }
        text.push_str(&self.lost_from_trash("cannot be restored"));
        text.push_str(&self.left_out("would leave out"));
        text.push_str(&self.unread("would leave as it is"));
        text
    }

    /// The result, in words.
    pub fn outcome(&self, chosen: &UndoTarget) -> String {
        let mut text = format!("{} {}\n", if self.redo { "Did again" } else { "Took back" }, visible::line(&which(chosen)));
        for place in &self.moved_aside {
            text.push_str(&format!("moved to the trash: {}\n", visible::line(place)));
        }
        for place in &self.brought_back {
            text.push_str(&format!("restored from the trash: {}\n", visible::line(place)));
        }
        for place in &self.still_aside {
            text.push_str(&format!("still in the trash, since its path is occupied: {}\n", visible::line(place)));
        }
        text.push_str(&self.lost_from_trash("not restored"));
        text.push_str(&self.left_out("left out"));
        text.push_str(&self.unread("left as it is"));
        if let Some(name) = &self.safety {
            text.push_str(&format!("What was there before is in checkpoint {name}.\n"));
        }
        let again = if self.redo { "To take it back again" } else { "To take the undo back" };
        if let Some(undo) = &self.undo {
            text.push_str(&format!("{again}: {undo}\n"));
        }
        text
    }
}

impl UndoOutcomeJson<'_> {
    /// Worktrees that were removed since, and are left out.
    fn left_out(&self, what: &str) -> String {
        let paths = self.preview.left_out.iter();
        paths.map(|path| format!("{what}, since the worktree was removed: {}\n", visible::line(path))).collect()
    }

    /// Files that cannot be read.
    fn unread(&self, what: &str) -> String {
        let paths = self.preview.unread.iter();
        paths
            .map(|path| format!("{what}, since it cannot be read and so not be saved first: {}\n", visible::line(path)))
            .collect()
    }

    /// Files that are no longer in the trash.
    fn lost_from_trash(&self, what: &str) -> String {
        let lost = self.preview.lost.iter();
        let asides = lost.map(|place| format!("{what}, since it is no longer in the trash: {}\n", visible::line(place)));
        let again = self.preview.workspaces.iter().filter(|workspace| workspace.action == WorkspaceFate::MadeAgain);
        let again = again.map(|workspace| {
            let path = &workspace.path;
            format!("{what}, since they are no longer in the trash: ignored files of '{path}' (created again from its capture)\n")
        });
        asides.chain(again).collect()
    }
}

/// If the user named no transaction, and the last one cannot be undone, the error lists those that can.
pub fn with_possible(ctx: &Context, asked: &UndoSelector, error: Error) -> Error {
    let impossible = [Code::NotUndoable, Code::ChangedMeanwhile, Code::InTheWay, Code::BranchInUse];
    if *asked != UndoSelector::Undo || !impossible.contains(&error.code()) {
        return error;
    }
    // If the log cannot be read, the error is returned without a list.
    let possible = axiom_safety::undo::possible(ctx, LISTED).unwrap_or_default();
    possible.iter().fold(error, |error, one| error.hint(format!("git axiom undo {}    takes back: {}", one.id, one.what)))
}

/// Adds to a `CHANGED_MEANWHILE` error which later transactions changed the same things, and what the user can do.
pub fn explain(ctx: &Context, transaction: &OperationRecord, error: Error) -> Error {
    if error.code() != Code::ChangedMeanwhile {
        return error;
    }
    // If the log cannot be read, the error is returned without them.
    let since = axiom_safety::undo::changed_since(ctx, &transaction.id).unwrap_or_default();
    let error = since.iter().filter(|one| one.matters()).take(3).fold(error, |error, later| {
        let OperationRecord { id, at, by, what, .. } = later;
        let way = if later.undoable() { format!("; to take that back first: git axiom undo {id}") } else { String::new() };
        error.hint(format!("since then: {what} ({}, {by}){way}", words::time(*at)))
    });
    let merged = transaction.edits.iter().find(|edit| edit.changes.iter().any(|change| change.merges().is_some()));
    let error = match merged {
        Some(edit) => error.hint(format!("git axiom rollback task {}    reverts its commits on top of what came after", edit.id)),
        None => error,
    };
    error.hint("git axiom log --undoable    lists what can be taken back; git axiom undo ID    takes one of them back")
}

fn which(chosen: &UndoTarget) -> String {
    let id = &chosen.transaction.id;
    let (at, by) = (words::time(chosen.transaction.at), &chosen.transaction.by);
    let UndoTarget { what, redo, .. } = chosen;
    if *redo { format!("{what} (taken back by {id}, {at}, {by})") } else { format!("{id}: {what} ({at}, {by})") }
}

fn changes(preview: &UndoPreview, main: &Path) -> String {
    let mut text = String::new();
    let mut part = |one: &str, many: &str, lines: Vec<String>| {
        if lines.is_empty() {
            return;
        }
        text.push_str(&format!("  {} {}\n", lines.len(), words::verb(lines.len(), one, many)));
        lines.iter().take(SHOWN).for_each(|line| text.push_str(&format!("    {}\n", visible::line(line))));
        if lines.len() > SHOWN {
            text.push_str(&format!("    and {} more\n", lines.len() - SHOWN));
        }
    };
    part("ref changes", "refs change", preview.refs.iter().map(ref_text).collect());
    let configs = preview.branch_configs.iter().map(|change| match change.way {
        ChangeDirection::BringBack => format!("{}: {}", change.branch.short(), said(&change.values)),
        ChangeDirection::PutAside => format!("{}: is removed ({})", change.branch.short(), said(&change.values)),
    });
    part("branch gets another configuration", "branches get another configuration", configs.collect());
    let stash = preview.stash.iter().map(|change| match change.way {
        ChangeDirection::BringBack => format!("{}: is restored", change.entry.message),
        ChangeDirection::PutAside => format!("{}: is deleted", change.entry.message),
    });
    part("stash entry changes", "stash entries change", stash.collect());
    let heads = preview.heads.iter().map(|change| {
        let (old, new) = (head_text(&change.head.old), head_text(&change.head.new));
        format!("{}: {old} → {new}", change.worktree)
    });
    part("worktree gets another branch", "worktrees get another branch", heads.collect());
    let operations = preview.operations.iter().map(GitOperationLine::text);
    part("operation in progress", "operations in progress", operations.collect());
    part("file changes", "files change", file_lines(preview, main));
    let workspaces = preview.workspaces.iter().map(|workspace| match workspace.action {
        WorkspaceFate::PutAside => format!("{}: moved to the trash", workspace.path),
        WorkspaceFate::Forgotten => format!("{}: forgotten, its folder is gone", workspace.path),
        WorkspaceFate::BroughtBack | WorkspaceFate::MadeAgain => format!("{}: is restored", workspace.path),
        WorkspaceFate::Restored | WorkspaceFate::NotCaptured => workspace.path.clone(),
    });
    part("workspace", "workspaces", workspaces.collect());
    let tasks = preview.tasks.iter().map(|edit| {
        let changes: Vec<String> = edit.changes.iter().map(change_text).collect();
        format!("{}: {}", edit.id, changes.join("; "))
    });
    part("task changes", "tasks change", tasks.collect());
    let mode = preview.mode.iter().map(|mode| format!("{} → {}", mode.old.as_str(), mode.new.as_str()));
    part("mode changes", "modes change", mode.collect());
    if text.is_empty() {
        text.push_str("  nothing changes\n");
    }
    text
}

fn file_lines(preview: &UndoPreview, main: &Path) -> Vec<String> {
    let line = |worktree: &str, path: &RepoPath, action: &str| {
        let place = Path::new(worktree).join(path.to_path());
        format!("{}: {action}", place.strip_prefix(main).unwrap_or(&place).display())
    };
    let files = preview.files.iter().map(|file| {
        let action = match file.change {
            FileChange::Added => "is restored",
            FileChange::Modified | FileChange::ModeChanged | FileChange::TypeChanged => "changes",
            FileChange::Deleted => "is deleted",
        };
        line(&file.worktree, &file.path, action)
    });
    let permissions = preview.permissions.iter();
    let permissions = permissions.map(|file| line(&file.worktree, &file.path, "content stays, permissions are restored"));
    // The index entry of a changed file changes with it, and is not listed separately.
    let changes: BTreeSet<(&str, &RepoPath)> = preview.files.iter().map(|file| (file.worktree.as_str(), &file.path)).collect();
    let staged = preview.staged.iter().chain(&preview.staged_back).map(|file| (file.worktree.as_str(), &file.path));
    let staged: BTreeSet<_> = staged.filter(|place| !changes.contains(place)).collect();
    let staged = staged.into_iter().map(|(worktree, path)| line(worktree, path, "stays, but is staged differently"));
    files.chain(permissions).chain(staged).collect()
}

fn ref_text(change: &RefChange) -> String {
    let name = match change.name.as_str().strip_prefix(CAPTURES) {
        Some(checkpoint) => format!("checkpoint {checkpoint}"),
        None => change.name.short().to_owned(),
    };
    match (&change.value.old, &change.value.new) {
        (Some(old), Some(new)) => format!("{name}: {} → {}", old.short(), new.short()),
        (None, Some(new)) => format!("{name}: is restored at {}", new.short()),
        (Some(old), None) => format!("{name}: is deleted (is at {})", old.short()),
        (None, None) => format!("{name}: stays deleted"),
    }
}

fn head_text(head: &HeadState) -> String {
    match head {
        HeadState::Branch(name) => name.short().to_owned(),
        HeadState::Detached(commit) => format!("detached at {}", commit.short()),
    }
}
