//! Removing git's lock files whose owners are provably dead.

use std::time::{Duration, Instant};

use super::report::RepairReport;
use crate::context::handle::Context;
use axiom_base::error::{Code, Result};
use axiom_git::Repository;

/// A lock file of git's is judged only when it is at least this old.
pub const LOCK_AGE: Duration = Duration::from_secs(2);

/// How often locks that are too new to judge are examined again.
const LOCK_LOOK: Duration = Duration::from_millis(100);

/// Removes git's lock files whose owners are provably dead.
pub fn clear_dead_locks(ctx: &mut Context) -> Result<RepairReport> {
    let mut report = RepairReport::default();
    ctx.with_change_lock(|ctx| clear_locks(&ctx.repo, &mut report))?;
    Ok(report)
}

/// The same before an interrupted call is completed that keeps recovery out. The caller holds the operation lock.
pub fn clear_locks_of_interrupted(repo: &Repository) -> Result<()> {
    wait_for_new_locks(repo)?;
    let mut report = RepairReport::default();
    clear_locks(repo, &mut report)?;
    report.done.iter().chain(&report.left).for_each(|what| tracing::info!(%what, "a lock of git's"));
    Ok(())
}

/// No other process of ours can hold these locks: this process holds the operation lock, which git children of a dead
/// supervisor would hold too.
pub fn clear_locks(repo: &Repository, report: &mut RepairReport) -> Result<()> {
    for lock in repo.lock_files().git_locks()? {
        match repo.lock_files().remove_dead_lock(&lock, LOCK_AGE) {
            Ok(()) => report.done.push(format!("removed the lock '{}' that a dead process left", lock.path.display())),
            // A running `git maintenance` or `git gc` does not block other commands.
            Err(error) if error.code() == Code::GitLocked && !lock.stops_commands => {}
            Err(error) if error.code() == Code::GitLocked => report.left.push(error.to_string()),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Waits until git's locks can be judged: a process that died a moment ago left new ones, and the following steps would fail
/// because of them.
pub fn wait_for_new_locks(repo: &Repository) -> Result<()> {
    let started = Instant::now();
    loop {
        let locks = repo.lock_files().git_locks()?;
        let wait = locks.iter().map(|lock| LOCK_AGE.saturating_sub(lock.age)).max().unwrap_or_default();
        // New locks that come and go belong to a running process: the wait for those is limited.
        if wait.is_zero() || started.elapsed() > LOCK_AGE * 2 {
            return Ok(());
        }
        std::thread::sleep(LOCK_LOOK.min(wait));
    }
}
