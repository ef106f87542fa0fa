//! `recover --all`: all repositories that this user prepared, a line each. One that fails stops no other.

use std::ffi::OsString;
use std::path::Path;

use serde::Serialize;

use crate::supervise::last_options;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_model::base::forms::plural::count;
use axiom_model::work::sessions::session::SessionState;
use axiom_process::os::detached;
use axiom_store::beside::known_repositories;
use axiom_store::identity::RecordedIdentity;
use axiom_store::layout::StoreLayout;
use axiom_store::states::handle::Store;

/// What was found in a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum RepositoryRecoveryState {
    /// Nothing is to be recovered.
    Well,
    /// A supervisor runs.
    Running,
    /// A human had paused the session, or ended it; agents may have been left.
    Left,
    /// Its session died.
    Crashed,
    /// Its state cannot be read, or its session could not be started.
    Failed,
}

/// How a repository stands.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RepositoryRecoveryLine {
    /// Its main worktree, or its git directory where it has none.
    pub path: String,
    /// `left`: a human had paused or ended the session.
    pub standing: RepositoryRecoveryState,
    /// How many tasks are active.
    pub active: usize,
    /// The same in words, and what was done.
    pub what: String,
    /// Whether its session was started again.
    pub started: bool,
}

/// Whether sessions that died are started again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestartDeadSessions {
    /// They are, in the background.
    Again,
    /// They are only shown.
    Nothing,
}

/// Looks at each of them, without its git, and starts those again whose session died.
pub fn look(start: RestartDeadSessions) -> Result<Vec<RepositoryRecoveryLine>> {
    let there = known_repositories::all()?.into_iter().filter_map(|known| known.still_there());
    Ok(there.map(|identity| one(&identity, start)).collect())
}

fn one(identity: &RecordedIdentity, start: RestartDeadSessions) -> RepositoryRecoveryLine {
    let path = identity.place.worktree.as_deref().unwrap_or(&identity.place.common_dir);
    let layout = StoreLayout::new(Path::new(&identity.place.common_dir));
    let (standing, active) = match standing(&layout) {
        Ok(found) => found,
        Err(error) => return failed(path, &error),
    };
    let tasks = count(active, "active task");
    let mut what = match standing {
        RepositoryRecoveryState::Well => "nothing to recover".to_owned(),
        RepositoryRecoveryState::Running => format!("a supervisor runs, {tasks}"),
        RepositoryRecoveryState::Left => format!("no session was to go on, {tasks}"),
        RepositoryRecoveryState::Crashed => format!("its session died, {tasks}"),
        RepositoryRecoveryState::Failed => "its state cannot be read".to_owned(),
    };
    let mut started = false;
    if standing == RepositoryRecoveryState::Crashed && start == RestartDeadSessions::Again {
        match begin(path, &layout) {
            Ok(()) => (started, what) = (true, format!("{what}; started again")),
            Err(error) => return failed(path, &error),
        }
    }
    RepositoryRecoveryLine { path: path.to_owned(), standing, active, what, started }
}

fn failed(path: &str, error: &Error) -> RepositoryRecoveryLine {
    let what = format!("{}: {error}", error.code());
    RepositoryRecoveryLine { path: path.to_owned(), standing: RepositoryRecoveryState::Failed, active: 0, what, started: false }
}

fn standing(layout: &StoreLayout) -> Result<(RepositoryRecoveryState, usize)> {
    let store = Store::load(layout.clone())?;
    let active = store.state().busy_agents().count();
    if files::is_locked(&layout.locks().supervisor())? {
        return Ok((RepositoryRecoveryState::Running, active));
    }
    let standing = match store.state().record.session.as_ref().map(|session| session.state) {
        Some(SessionState::Running) => RepositoryRecoveryState::Crashed,
        Some(SessionState::Pausing | SessionState::Paused | SessionState::Ending) => RepositoryRecoveryState::Left,
        Some(SessionState::Ended | SessionState::Interrupted | SessionState::Crashed) | None if active > 0 => {
            RepositoryRecoveryState::Left
        }
        Some(SessionState::Ended | SessionState::Interrupted | SessionState::Crashed) | None => RepositoryRecoveryState::Well,
    };
    Ok((standing, active))
}

/// Starts its session with the options that it had.
fn begin(path: &str, layout: &StoreLayout) -> Result<()> {
    let mut arguments: Vec<OsString> = vec!["run".into(), "--detach".into()];
    arguments.extend(last_options::arguments(layout)?.into_iter().map(OsString::from));
    let output = detached::in_repository(Path::new(path), &arguments)?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let why = said.lines().find(|line| line.starts_with("error")).or_else(|| said.lines().last());
    Err(Error::new(Code::RecoveryNeeded, format!("its session could not be started: {}", why.unwrap_or("it said nothing"))))
}
