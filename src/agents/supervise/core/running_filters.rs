//! Filters of a workspace's files run aside, in a thread, when an iteration has ended: only its own task waits for them. Rules of
//! the commit itself are in `keeping`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::{Duration, Instant};

use jiff::Timestamp;

use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_git::{FilteredIndex, Repository};
use axiom_process::os::bell::WakeSender;

/// How long a session that ends waits for filters.
const PATIENCE: Duration = Duration::from_secs(3);
/// How long a human waits at least who ends the agent, where its program has taken all of the grace time.
const LEAST: Duration = Duration::from_secs(1);

/// Whether somebody waits for filters to end.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FilterWait {
    /// Nobody: they take as long as they need.
    Nobody,
    /// The session ends.
    Session,
    /// A human ends the agent: for so long still.
    Human(Duration),
}

/// Filters at work in a workspace.
#[derive(Debug)]
pub(crate) struct RunningFilters {
    since: Timestamp,
    begun: Instant,
    given_up: Arc<AtomicBool>,
    stored: Receiver<Result<Option<FilteredIndex>>>,
}

impl Drop for RunningFilters {
    fn drop(&mut self) {
        self.given_up.store(true, Ordering::SeqCst);
    }
}

impl RunningFilters {
    /// Since when they are at work.
    pub(crate) fn since(&self) -> Timestamp {
        self.since
    }

    /// What they have stored; `None` while they are at work. Who ends the agent waits only a while for them.
    pub(crate) fn said(&self, waits: FilterWait, workspace: &Path) -> Option<Result<Option<FilteredIndex>>> {
        let is_over = match waits {
            FilterWait::Nobody => false,
            FilterWait::Session => self.begun.elapsed() > PATIENCE,
            FilterWait::Human(left) => left.is_zero() && self.begun.elapsed() > LEAST,
        };
        match self.stored.try_recv() {
            Ok(stored) => Some(stored),
            Err(TryRecvError::Empty) if is_over => {
                Some(Err(Error::new(Code::FilterFailed, "a filter had not answered when its agent was ended")
                    .why(format!("the work is in '{}' as it was left", workspace.display()))
                    .hint("git config --get-regexp '^filter'    shows the filters")))
            }
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Err(Error::new(Code::Internal, "nobody says what the filters did"))),
        }
    }

    pub(crate) fn begin(workspace: PathBuf, limit: u64, rope: Option<WakeSender>) -> Result<Self> {
        let given_up = Arc::new(AtomicBool::new(false));
        let (to, stored) = channel();
        let until = Arc::clone(&given_up);
        let work = move || {
            drop(to.send(store(&workspace, limit, &until)));
            rope.iter().for_each(WakeSender::ring);
        };
        let begun = std::thread::Builder::new().name("filters".into()).spawn(work);
        begun.map_err(|e| Error::cannot_start("a thread that waits for filters", e))?;
        Ok(Self { since: env::now(), begun: Instant::now(), given_up, stored })
    }
}

/// With a repository of its own: what it writes belongs to no operation.
fn store(workspace: &Path, limit: u64, given_up: &Arc<AtomicBool>) -> Result<Option<FilteredIndex>> {
    let repo = Repository::discover(workspace)?;
    let Some(entry) = repo.worktrees().worktree_at(workspace)? else { return Ok(None) };
    repo.workspaces().store_aside(&entry.worktree, limit, given_up)
}
