//! The output of an undo, in words and as JSON.

use std::path::Path;

use serde::Serialize;

use super::changes::{ComingFiles, add_all, totals};
use super::counted_sections::CountedSections;
use crate::cli::{visible, words};
use axiom_base::error::{Code, Error};
use axiom_model::journal::journaled_changes::TrashChange;
use axiom_model::operation::change_json::WorkspaceFate;
use axiom_model::operation::operation_record::OperationRecord;
use axiom_model::operation::undo::UndoSelector;
use axiom_safety::context::handle::Context;
use axiom_safety::operation::planned_changes::PlannedChanges;
use axiom_safety::undo::{UndoPreview, UndoReport, UndoTarget};

/// How many other transactions are named when the last one cannot be undone.
const LISTED: usize = 5;

/// What was taken back, or would be. Old is what is there before it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UndoOutcomeJson<'a> {
    /// The operation that is taken back.
    undo_of: &'a str,
    /// In words.
    what: &'a str,
    /// Whether an undo is taken back.
    redo: bool,
    dry_run: bool,
    #[serde(flatten)]
    preview: &'a UndoPreview,
    safety: Option<String>,
    undo: Option<String>,
    /// What was in the way and no capture holds: where it is now.
    moved_aside: Vec<String>,
    /// What was moved aside before and is back in its place.
    brought_back: Vec<String>,
    /// What was moved aside before and stays there, since its place is taken.
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

    /// The planned changes, in words; paths are named from the worktree `here`.
    pub fn plan(&self, chosen: &UndoTarget, here: &Path) -> String {
        let mut text =
            format!("{} {}\n", if self.redo { "Would do again" } else { "Would take back" }, visible::line(&which(chosen)));
        text.push_str(&changes(&self.preview.changes, here));
        for place in &self.brought_back {
            text.push_str(&format!("  would restore from the trash: {}\n", visible::line(place)));
        }
        text.push_str(&self.lost_from_trash("cannot be restored"));
        text.push_str(&self.left_out("would leave out"));
        text.push_str(&self.unread("would leave as it is"));
        text
    }

    /// The result, in words.
    pub fn outcome(&self, chosen: &UndoTarget, here: &Path) -> String {
        let mut text = format!("{} {}\n", if self.redo { "Did again" } else { "Took back" }, visible::line(&which(chosen)));
        text.push_str(&changes(&self.preview.changes, here));
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
        let again = self.preview.changes.workspaces.iter().filter(|workspace| workspace.action == WorkspaceFate::MadeAgain);
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
    let since = axiom_safety::undo::later_changes_of_the_same(ctx, &transaction.id).unwrap_or_default();
    let error = since.iter().filter(|one| one.matters()).take(3).fold(error, |error, later| {
        let OperationRecord { id, at, by, what, .. } = later;
        let way = if later.undoable() { format!("; to take that back first: git axiom undo {id}") } else { String::new() };
        error.hint(format!("since then: {what} ({}, {by}){way}", words::time(*at)))
    });
    let merged = transaction.tasks.edits.iter().find(|edit| edit.changes.iter().any(|change| change.merges().is_some()));
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

fn changes(changes: &PlannedChanges, here: &Path) -> String {
    let mut parts = CountedSections::default();
    add_all(&mut parts, changes, ComingFiles::Back, here);
    let nothing = if parts.is_empty() { "  nothing changes\n" } else { "" };
    format!("{}{nothing}{}", parts.into_text(), totals(changes, ComingFiles::Back))
}
