//! Taking out what the journal names, step by step. Each step finds out whether it was done already, so after a crash the same
//! call completes it. Nothing is deleted but refs whose values are in the bundle, lines of ours, and empty folders.

use std::collections::BTreeMap;
use std::path::Path;

use super::submodules;
use axiom_base::error::Result;
use axiom_base::{env, files};
use axiom_git::{ExpectedRefValue, RefEdit, Repository};
use axiom_model::base::names::RefName;
use axiom_model::base::own_names::{BRANCHES, NOTES, REFS, TAGS};
use axiom_safety::beside_log::journals::deinit::{DeinitJournal, DeinitPhase};
use axiom_safety::beside_log::journals::journal_file::JournalFile;
use axiom_safety::settings::hide_refs;
use axiom_store::beside::known_repositories;
use axiom_store::layout::StoreLayout;

/// Takes everything out; returns the refs that somebody else changed since, which stay. The caller holds the locks.
pub(super) fn carry_out(repo: &Repository, journal: &mut DeinitJournal) -> Result<Vec<RefName>> {
    let mut stayed = Vec::new();
    if journal.phase == DeinitPhase::Leaving {
        for aside in &journal.asides {
            repo.workspaces().put_aside(aside)?;
        }
        env::fault_point("deinit.workspaces-moved");
        for one in &journal.moves {
            repo.workspaces().move_away(&one.from, &one.to)?;
        }
        env::fault_point("deinit.folders-moved");
        forget_notes(repo, journal)?;
        stayed = delete_refs(repo, journal)?;
        submodules::take_out(repo, &journal.folder)?;
        env::fault_point("deinit.refs-gone");
        hide_refs::take_out(repo, &journal.hidden)?;
        repo.workspaces().exclude_no_longer(&journal.exclude)?;
        env::fault_point("deinit.lines-gone");
        if let Some(id) = &journal.id {
            known_repositories::forget(id)?;
        }
        if let Some(folder) = &journal.workspace_folder {
            files::remove_empty_dir(folder)?;
        }
        journal.phase = DeinitPhase::Folder;
        journal.write(repo.common_dir())?;
        env::fault_point("deinit.folder-left");
    }
    // Objects wait in our folder until they land.
    repo.durability().put_stage_away();
    repo.workspaces().move_away(StoreLayout::new(repo.common_dir()).root(), &journal.state())?;
    env::fault_point("deinit.folder-moved");
    remove_empty_folders(repo.common_dir());
    DeinitJournal::end(repo.common_dir())?;
    Ok(stayed)
}

/// The folders in which our refs and worktrees were, as far as they are empty: git leaves them. One that stays harms nobody.
fn remove_empty_folders(common_dir: &Path) {
    fn below(folder: &Path) {
        if !folder.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
            return;
        }
        for entry in files::list(folder).unwrap_or_default() {
            below(&entry.path());
        }
        let _ = files::remove_empty_dir(folder);
    }
    [REFS, TAGS, BRANCHES].iter().for_each(|ours| {
        below(&common_dir.join(ours));
        below(&common_dir.join("logs").join(ours));
    });
    ["refs/notes", "logs/refs/notes", "worktrees"]
        .iter()
        .for_each(|shared| drop(files::remove_empty_dir(&common_dir.join(shared))));
}

/// Where others have notes in our ref, only ours go, and the history that has them.
fn forget_notes(repo: &Repository, journal: &DeinitJournal) -> Result<()> {
    if journal.notes.is_empty() {
        return Ok(());
    }
    let notes = repo.notes();
    notes.set_notes(&journal.notes.iter().map(|object| (object.clone(), None)).collect::<BTreeMap<_, _>>())?;
    env::fault_point("deinit.notes-gone");
    let cut = notes.cut_notes(&notes.load()?)?;
    repo.refs().update_refs(cut.as_slice(), "git axiom: taken out")
}

fn delete_refs(repo: &Repository, journal: &DeinitJournal) -> Result<Vec<RefName>> {
    let names: Vec<RefName> = journal.refs.iter().map(|one| one.name.clone()).collect();
    let now = repo.refs().read_refs(&names)?;
    let (mut edits, mut stayed) = (Vec::new(), Vec::new());
    for gone in &journal.refs {
        match now.get(&gone.name) {
            Some(oid) if *oid == gone.oid => {
                edits.push(RefEdit { name: gone.name.clone(), expected: ExpectedRefValue::Value(oid.clone()), new: None });
            }
            Some(_) => stayed.push(gone.name.clone()),
            None => {}
        }
    }
    // The notes last: checkpoints without them are whole.
    edits.sort_by_key(|edit| edit.name.as_str() == NOTES);
    repo.refs().update_refs(&edits, "git axiom: taken out")?;
    Ok(stayed)
}
