//! A rollback to a checkpoint in words: before it, what would change, and afterwards, what was changed.

use std::path::Path;

use super::changes;
use super::changes::{ComingFiles, ref_name};
use super::checkpoints::only_text;
use super::counted_sections::CountedSections;
use crate::cli::visible::quoted;
use crate::cli::words::{count, time};
use axiom_model::base::names::RefName;
use axiom_model::base::ref_change::RefChange;
use axiom_safety::operation::planned_changes::FileLossLine;
use axiom_safety::rollback::{EarlierCaptureLine, RemovedCommitLine, RollbackPreview, UnrestoredPathLine};

/// What is said before it is asked.
pub const KEPT: &str = "The present state is kept in a checkpoint; 'git axiom undo' restores it.";

/// The whole text. `goes` is its beginning: `Would go`, `Went`; paths are named from the worktree `here`.
pub fn people(preview: &RollbackPreview, goes: &str, here: &Path) -> String {
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
    let changes = &preview.changes;
    changes::add_agents(&mut parts, changes);
    changes::add_heads(&mut parts, changes);
    add_history(preview, &mut parts);
    // Of a branch that stays, the commits that it loses are listed instead.
    let loses = |name: &RefName| preview.commits.iter().any(|line| line.branch.as_ref() == Some(name));
    let is_said = |name: &RefName| loses(name) || preview.reverted.contains(name);
    let wanted = |change: &RefChange| change.value.new.is_none() || !is_said(&change.name);
    changes::add_refs(&mut parts, changes, &preview.configs_left, wanted);
    add_refs_left(preview, &mut parts);
    changes::add_state(&mut parts, changes, here);
    changes::add_files(&mut parts, changes, ComingFiles::Back, here);
    add_files_left(preview, &mut parts, here);
    add_left_alone(preview, &mut parts);
    let nothing = if parts.is_empty() { "  no present content is lost\n" } else { "" };
    format!("{}{nothing}{}", parts.into_text(), changes::totals(changes, ComingFiles::Back))
}

/// The text where everything is as in the checkpoint already, with the things that are left alone.
pub fn nothing_changes(preview: &RollbackPreview, here: &Path) -> String {
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
    add_refs_left(preview, &mut parts);
    add_files_left(preview, &mut parts, here);
    add_left_alone(preview, &mut parts);
    parts.into_text()
}

fn add_history(preview: &RollbackPreview, parts: &mut CountedSections) {
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
}

fn add_refs_left(preview: &RollbackPreview, parts: &mut CountedSections) {
    let stays = preview.refs_moved.iter().filter(|line| !line.moves);
    let stays = stays.map(|line| format!("{}: {} → {}", ref_name(&line.name), line.old.short(), line.new.short()));
    let words =
        ("ref that moved since is not moved back (--refs does it)", "refs that moved since are not moved back (--refs does it)");
    parts.add(words.0, words.1, stays.collect());
    let left = preview.refs_left.iter().map(|line| format!("{}: {}", ref_name(&line.name), line.why));
    parts.add("deleted ref that is not restored", "deleted refs that are not restored", left.collect());
}

fn add_files_left(preview: &RollbackPreview, parts: &mut CountedSections, here: &Path) {
    let places = |files: &[FileLossLine]| files.iter().map(|file| file.place_from(here)).collect::<Vec<_>>();
    let aside = (
        "file or folder that no checkpoint holds, moved to the trash",
        "files or folders that no checkpoint holds, moved to the trash",
    );
    parts.add(aside.0, aside.1, places(&preview.moves_aside));
    let gone = ("earlier file or folder that is not restored", "earlier files or folders that are not restored");
    let (stays, lost): (Vec<&UnrestoredPathLine>, Vec<&UnrestoredPathLine>) =
        preview.not_restored.iter().partition(|one| one.stays());
    parts.add(gone.0, gone.1, lost.into_iter().map(|one| one.text(here)).collect());
    let left = ("file, folder or worktree left as it is", "files, folders or worktrees left as they are");
    parts.add(left.0, left.1, stays.into_iter().map(|one| one.text(here)).collect());
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
