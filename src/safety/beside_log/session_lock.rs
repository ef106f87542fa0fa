//! The lock of sessions. A verb that looks after agents, or that keeps sessions out, takes it too: which process it is says its content.

use std::time::Duration;

use axiom_base::error::Result;
use axiom_base::files;
use axiom_base::files::{FileLock, LockAttempt};
use axiom_git::Repository;
use axiom_model::work::sessions::session::Session;
use axiom_store::layout::StoreLayout;

/// The most bytes of a process's number.
const MOST_PID: u64 = 64;

/// Takes it for this process.
pub fn take(layout: &StoreLayout, patience: Duration) -> Result<LockAttempt> {
    let place = layout.locks().supervisor();
    let attempt = FileLock::take(&place, patience)?;
    if let LockAttempt::Taken(lock) = &attempt
        && let Err(error) = lock.describe(std::process::id().to_string().as_bytes(), &place)
    {
        tracing::info!(%error, "nobody sees whose lock it is");
    }
    Ok(attempt)
}

/// Whether a process holds it, in a repository that nobody has opened.
pub fn is_held(repo: &Repository) -> Result<bool> {
    files::is_locked(&StoreLayout::new(repo.common_dir()).locks().supervisor())
}

/// Whether the process that holds it is that of this session; nobody else is known where the lock does not say.
pub fn is_of(layout: &StoreLayout, session: Option<&Session>) -> Result<bool> {
    let place = layout.locks().supervisor();
    if !files::is_locked(&place)? {
        return Ok(false);
    }
    let said = files::read_optional(&place, MOST_PID).ok().flatten().unwrap_or_default();
    let pid: Option<u32> = std::str::from_utf8(&said).ok().and_then(|pid| pid.trim().parse().ok());
    Ok(pid.is_none() || session.map(|session| session.pid) == pid)
}
