//! What is known of the watches of a repository: one file each, and a lock that lives as long as the watch does. A watch ends when
//! its file is gone, so nobody has to be killed.

use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::context::handle::Context;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_store::beside::attach::AttachFiles;

/// How long is waited for the end of a watch.
const PATIENCE: Duration = Duration::from_secs(10);

/// A watch of a worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WatchRecord {
    /// The worktree.
    pub worktree: String,
    /// Its process.
    pub pid: u32,
    /// When it began.
    pub since: Timestamp,
    /// How many folders the system watches for it.
    pub watched: u64,
    /// How many it scans, because the system watches no more.
    pub scanned: u64,
    /// When files had settled last and were handed over to be saved.
    #[serde(default)]
    pub last_change: Option<Timestamp>,
    /// Why something is not saved yet.
    #[serde(default)]
    pub unsaved: Option<String>,
}

/// A watch, and whether it is at work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WatchStatus {
    /// The watch.
    #[serde(flatten)]
    pub watcher: WatchRecord,
    /// Whether it is at work: else its process has ended without a word.
    pub alive: bool,
}

/// The watches of a repository, by worktree.
pub fn list(ctx: &Context) -> Vec<WatchStatus> {
    let files = AttachFiles::of(ctx.layout());
    let read = |json: Vec<u8>| serde_json::from_slice::<WatchRecord>(&json).ok();
    let alive = |worktree: &str| files::is_locked(&files.watches().lock(worktree)).unwrap_or(false);
    let mut all: Vec<WatchStatus> = files
        .watches()
        .all()
        .into_iter()
        .filter_map(read)
        .map(|watcher| WatchStatus { alive: alive(&watcher.worktree), watcher })
        .collect();
    all.sort_by(|one, other| one.watcher.worktree.cmp(&other.watcher.worktree));
    all
}

/// The watch of a worktree that is at work.
pub fn of(ctx: &Context, worktree: &str) -> Option<WatchRecord> {
    list(ctx).into_iter().find(|one| one.alive && one.watcher.worktree == worktree).map(|one| one.watcher)
}

/// Ends the watch of the worktree that we were called in and waits for its end; returns the worktree, and whether there was one.
pub fn stop(ctx: &Context) -> Result<(String, bool)> {
    let files = AttachFiles::of(ctx.layout());
    let worktree = ctx.repo.worktrees().current_worktree()?.path_text()?;
    let was_there = files.watches().forget(&worktree)?;
    let begun = Instant::now();
    while files::is_locked(&files.watches().lock(&worktree))? {
        if begun.elapsed() > PATIENCE {
            return Err(Error::new(Code::Busy, format!("the watch of '{worktree}' has not ended yet")));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok((worktree, was_there))
}
