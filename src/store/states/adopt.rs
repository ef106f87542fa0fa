//! Starting a new log from a state that recovery found. Nothing is deleted: all existing files are first saved in a folder.
//!
//! The commit point is one rename. Before it, the old files are unchanged; after it, the new log is in place, and old files
//! that are still next to it are ignored (see `segments::beginning`).

use std::path::{Path, PathBuf};

use crate::beside::tasks;
use crate::layout::StoreLayout;
use crate::log_files::{line, segments};
use crate::states::{anchors, checkpoints};
use axiom_base::error::{Error, Result};
use axiom_base::{env, files};
use axiom_model::base::ids::OperationId;
use axiom_model::state::current_state::State;
use axiom_model::state::event::Event;
use axiom_model::state::event_envelope::{EventAuthor, EventEnvelope};

/// Saves all files in a new folder below `damaged/`, and starts a log with `state` as its event number `seq`, which is above
/// all known ones. The caller holds the state lock and the snapshot lock. A crash leaves the old log or the new one;
/// [`tidy`] removes the rest. Returns the folder.
pub fn begin_anew(layout: &StoreLayout, txn: &OperationId, source: &str, state: State, seq: u64) -> Result<PathBuf> {
    let event = Event::StateAdopted { source: source.to_owned(), state: Box::new(state) };
    let envelope = EventEnvelope { seq, at: env::now(), txn: txn.clone(), by: EventAuthor::Recovery, event };
    let bytes = line::encode(&envelope)?;
    let kept = layout.damaged_dir().join(format!("log-{}", env::fresh_id()));
    keep_all(layout, &kept)?;
    env::fault_point("adopt.before-commit");
    files::write_atomic(&layout.events(), &bytes)?;
    env::fault_point("adopt.after-commit");
    tidy(layout, Some(&kept))?;
    let mut state = State::default();
    state.apply(&envelope)?;
    tasks::rewrite(layout, &state)?;
    Ok(kept)
}

/// Links or copies every stored file into the folder `kept`. The caller may then replace or remove the originals.
fn keep_all(layout: &StoreLayout, kept: &Path) -> Result<()> {
    files::create_dir_all(kept)?;
    for path in stored_files(layout)? {
        env::fault_point("adopt.before-keep");
        keep(&path, kept)?;
    }
    files::sync_dir(kept)
}

fn keep(path: &Path, kept: &Path) -> Result<()> {
    let Some(name) = path.file_name() else { return Ok(()) };
    let second = kept.join(name);
    // `cases.jsonl` is appended to in place, so a link would change with it. File systems without hard links need copies
    // too.
    if name != "cases.jsonl" && matches!(files::hard_link(path, &second), Ok(Some(_))) {
        return Ok(());
    }
    match files::read_optional(path, u64::MAX - 1)? {
        Some(bytes) => files::write_atomic(&second, &bytes),
        None => Ok(()),
    }
}

/// Log, segments, snapshot, anchors, older checkpoints, backups and tasks, those that exist.
fn stored_files(layout: &StoreLayout) -> Result<Vec<PathBuf>> {
    let folder = layout.state_dir();
    let mut found = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(|e| Error::io("list", &folder, e))? {
        let entry = entry.map_err(|e| Error::io("list", &folder, e))?;
        let ours = entry.file_name().to_str().is_some_and(|name| name.starts_with("events") || name == "snapshot.json");
        let ours = ours || checkpoints::number(&entry.path()).is_some() || anchors::number(&entry.path()).is_some();
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if ours && is_file {
            found.push(entry.path());
        }
    }
    if layout.tasks().exists() {
        found.push(layout.tasks());
    }
    found.sort();
    Ok(found)
}

/// Moves away segments and snapshots that are older than a newly started log, and no longer valid. Safe to repeat; does
/// nothing to a log that does not begin with an adopted state. Files that have a link in the folder `kept` already are only
/// unlinked. The caller holds the state lock and the snapshot lock.
pub fn tidy(layout: &StoreLayout, kept: Option<&Path>) -> Result<()> {
    let all = match segments::list(layout) {
        // If the first line is damaged, the beginning of the log is unknown: this log is about to be replaced.
        Err(error) if crate::states::rebuild::is_damage(&error) => return Ok(()),
        listed => listed?,
    };
    let begin = segments::beginning(&all, 0)?;
    let Some(first) = all.get(begin).and_then(|segment| segment.first) else { return Ok(()) };
    if !all[begin].begins_anew()? {
        return Ok(());
    }
    let mut old: Vec<PathBuf> = all[..begin].iter().map(|segment| segment.path.clone()).collect();
    if crate::states::snapshot::written_seq(layout)?.is_none_or(|seq| seq < first) && layout.snapshot().exists() {
        old.push(layout.snapshot());
    }
    let is_older = |path: &PathBuf| anchors::number(path).is_some_and(|seq| seq < first);
    old.extend(files::list(&layout.state_dir())?.into_iter().map(|entry| entry.path()).filter(is_older));
    old.extend(checkpoints::all(layout)?.into_iter().filter(|path| checkpoints::number(path) < Some(first)));
    if old.is_empty() {
        return Ok(());
    }
    let aside = layout.damaged_dir().join(format!("left-over-{}", env::fresh_id()));
    for path in &old {
        let Some(name) = path.file_name() else { continue };
        env::fault_point("adopt.before-put-aside");
        if kept.is_some_and(|kept| kept.join(name).exists()) {
            files::remove_file(path)?;
        } else {
            files::create_dir_all(&aside)?;
            files::rename(path, &aside.join(name))?;
        }
    }
    files::sync_dir(&layout.state_dir())
}
