//! What every operation works with: the repository, the store, the configuration, and who is asking in which transaction.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::placement::{self, Purpose};
use crate::config::Config;
use crate::domain::base::ids::{AgentId, TxnId};
use crate::domain::state::event::{By, Envelope, Event};
use crate::domain::state::whole::{OpenOperation, State};
use crate::env;
use crate::error::{Code, Error, Result};
use crate::files::{self, FileLock, LockAttempt};
use crate::git::{Proof, Repository};
use crate::ops::recover::log_recovery;
use crate::process::client::kept;
use crate::process::os::command::IN_OPERATION;
use crate::store::handle::{Author, Store};
use crate::store::layout::Layout;

/// How long a verb waits for an operation of somebody else's.
const OPERATION_PATIENCE: Duration = Duration::from_secs(30);

/// What every operation works with.
#[derive(Debug)]
pub struct Context {
    /// The repository, shared with threads.
    pub repo: Arc<Repository>,
    /// The state and its log.
    pub store: Store,
    /// The configuration that applies.
    pub config: Config,
    /// What was come upon on the way, for placement and repair.
    pub found: Found,
    author: Author,
    /// Whether this holds the operation lock: then nobody else is carrying an operation out.
    holds_operation_lock: bool,
}

/// What opening the repository, and the first operation since the machine was started, came upon.
#[derive(Debug, Default)]
pub struct Found {
    /// What a human should hear of the repository's place.
    pub said: Vec<String>,
    /// Whether this only looks at a repository that was moved, restored or copied since: the next command that changes something
    /// settles that first, so the folders of the original's workspaces are still in their places.
    pub unsettled: bool,
    /// What looking at loose objects came to, where this was the first operation since the machine was started.
    pub proof: Proof,
    /// The repository's own configuration, where it wants merges to be verified and nobody has approved it.
    pub unapproved_verify: Option<PathBuf>,
    /// What was mended of workspaces before git was asked anything, for the next repair to say.
    pub mended: Vec<String>,
}

/// How an operation is doing that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Somebody is carrying it out.
    UnderWay,
    /// Whoever carried it out has ended.
    Interrupted,
}

/// What every process below a keeper has in its environment, and every process of a verification: the one sign that no
/// human calls.
const TOKEN: &str = "AXIOM_TOKEN";

/// Who acts where the environment does not say which agent it is.
const NAMELESS: &str = "agent-000";

/// The agent on whose behalf we run, below a keeper: verbs that decide for a human refuse then.
pub fn calling_agent() -> Option<AgentId> {
    env::var(TOKEN)?;
    let name = env::var("AXIOM_AGENT").and_then(|name| name.into_string().ok());
    name.and_then(|name| AgentId::new(name).ok()).or_else(|| AgentId::new(NAMELESS).ok())
}

/// The agent on whose behalf we run where the environment does not say so any more: this process descends from a keeper of
/// this repository.
fn kept_agent(common_dir: &Path) -> Option<AgentId> {
    let is_here = |place: &PathBuf| place.starts_with(common_dir);
    kept::keepers_above().iter().any(is_here).then(|| AgentId::new(NAMELESS).ok()).flatten()
}

/// As [`Context::for_humans_only`], where there is no state yet to be opened.
///
/// # Errors
/// `NOT_FOR_AGENTS`.
pub fn called_by_human(verb: &str, folder: &Path) -> Result<()> {
    let by_lineage = || {
        // Finding the repository is for the few who have a keeper above them.
        let above = !kept::keepers_above().is_empty();
        above.then(|| Repository::discover(folder).ok().and_then(|repo| kept_agent(repo.common_dir()))).flatten()
    };
    calling_agent().or_else(by_lineage).map_or(Ok(()), |agent| Err(not_for_agents(verb, &agent)))
}

fn not_for_agents(verb: &str, agent: &AgentId) -> Error {
    Error::new(Code::NotForAgents, format!("'{verb}' is for humans, and this is agent '{agent}'"))
        .hint("ask with 'git axiom signal waiting QUESTION'")
}

/// Whether we were called by a git child of an operation: from a hook, most likely. Where that operation has ended since, or
/// is one of another repository, the operation lock is free.
pub fn below_an_operation() -> bool {
    env::var(IN_OPERATION).is_some()
}

/// A fresh transaction id.
///
/// # Errors
/// None that can be reached: the id is made of hexadecimal digits.
pub fn fresh_txn() -> Result<TxnId> {
    TxnId::new(format!("t{}", env::fresh_id()))
}

impl Context {
    /// Finds the repository around `cwd` and loads its state. Takes no lock and writes nothing, unless the repository was moved,
    /// restored or copied since: see [`placement::settle`].
    ///
    /// # Errors
    /// `NOT_A_REPOSITORY` and what else the repository says, `REPOSITORY_UNSUPPORTED` where its path is not UTF-8; the codes of a damaged log.
    pub fn open(cwd: &Path, purpose: Purpose) -> Result<Self> {
        let repo = Repository::discover(cwd)?;
        repo.worktrees().require_plain_place()?;
        let store = log_recovery::load(&repo)?;
        let by = calling_agent().or_else(|| kept_agent(repo.common_dir())).map_or(By::User, By::Agent);
        let author = Author { txn: fresh_txn()?, by };
        let (config, found) = (Config::default(), Found::default());
        let mut ctx = Self { repo: Arc::new(repo), store, config, found, author, holds_operation_lock: false };
        ctx.found.said = placement::settle(&mut ctx, purpose)?;
        ctx.found.unsettled = purpose == Purpose::Look && !ctx.found.said.is_empty();
        Ok(ctx)
    }

    /// From now on acts as somebody, in a transaction of its own (the supervisor's steps, recovery).
    ///
    /// # Errors
    /// As [`fresh_txn`].
    pub fn act_as(&mut self, by: By) -> Result<()> {
        self.author = Author { txn: fresh_txn()?, by };
        Ok(())
    }

    /// Does `work` as somebody, in a transaction of its own; afterwards this context acts as before.
    ///
    /// # Errors
    /// Whatever `work` returns.
    pub fn in_its_own_transaction<T>(&mut self, by: By, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let apart = Author { txn: fresh_txn()?, by };
        let own = std::mem::replace(&mut self.author, apart);
        let outcome = work(self);
        self.author = own;
        outcome
    }

    /// Continues a transaction that is open in the log.
    pub fn join(&mut self, txn: TxnId) {
        self.author.txn = txn;
    }

    /// The transaction that events are appended in.
    pub fn txn(&self) -> &TxnId {
        &self.author.txn
    }

    /// Who appends.
    pub fn by(&self) -> &By {
        &self.author.by
    }

    /// The state as of the last look.
    pub fn state(&self) -> &State {
        self.store.state()
    }

    /// The paths of ours.
    pub fn layout(&self) -> &Layout {
        self.store.layout()
    }

    /// Appends one event; see [`Store::append_with`].
    ///
    /// # Errors
    /// As [`Store::append_with`].
    pub fn append(&mut self, event: Event) -> Result<Vec<Envelope>> {
        self.store.append(&self.author, vec![event])
    }

    /// Appends what `decide` wants, given the newest state under the lock; see [`Store::append_with`].
    ///
    /// # Errors
    /// As [`Store::append_with`].
    pub fn append_with(&mut self, decide: impl FnOnce(&State) -> Result<Vec<Event>>) -> Result<Vec<Envelope>> {
        self.store.append_with(&self.author, decide)
    }

    /// Appends an intent: see [`Store::append_unsynced`].
    ///
    /// # Errors
    /// As [`Store::append_with`].
    pub fn append_unsynced(&mut self, decide: impl FnOnce(&State) -> Result<Vec<Event>>) -> Result<Vec<Envelope>> {
        self.store.append_unsynced(&self.author, decide)
    }

    /// Does `work` while holding the operation lock, with git children holding it too; waits for operations of others.
    /// The state is read again once the lock is held.
    ///
    /// # Errors
    /// `BUSY`, and whatever `work` returns.
    pub fn with_operation_lock<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.with_operation_lock_within(OPERATION_PATIENCE, work)
    }

    /// As [`Context::with_operation_lock`], waiting so long at most. Called from a hook of git's below an operation it does
    /// not wait at all: the operation waits for the hook.
    ///
    /// # Errors
    /// As [`Context::with_operation_lock`].
    pub fn with_operation_lock_within<T>(&mut self, patience: Duration, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.layout().ensure()?;
        placement::write_down(self.layout(), &self.repo)?;
        let in_hook = below_an_operation();
        let patience = if in_hook { Duration::ZERO } else { patience };
        let lock = match FileLock::take(&self.layout().operation_lock(), patience)? {
            LockAttempt::Taken(lock) => lock,
            LockAttempt::Held if in_hook => {
                return Err(Error::new(Code::Busy, "called from a git hook while git axiom is at work")
                    .hint("verbs that look, and 'git axiom task', work in hooks; call this one after the operation"));
            }
            LockAttempt::Held => {
                return Err(Error::new(Code::Busy, "another operation (checkpoint, merge, rollback or repair) is under way")
                    .hint("wait for it to end, then run the command again"));
            }
        };
        let held_before = std::mem::replace(&mut self.holds_operation_lock, true);
        let outcome = self.below_operation_lock(&lock, work);
        self.holds_operation_lock = held_before;
        outcome
    }

    fn below_operation_lock<T>(&mut self, lock: &FileLock, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let repo = Arc::clone(&self.repo);
        let _held = repo.hold_lock_in_children(lock)?;
        self.store.refresh()?;
        if !repo.durability().objects_are_proved() {
            // A damaged registration makes every git command fail.
            self.found.mended = crate::ops::recover::mend::registrations(self)?;
            self.found.proof = repo.durability().prove_objects()?;
            if !self.found.proof.put_aside.is_empty() {
                crate::ops::checkpoint::write_again(self);
            }
        }
        let outcome = work(self);
        repo.durability().put_stage_away();
        outcome
    }

    /// Whether a supervisor runs in this repository, known with certainty from its lock.
    ///
    /// # Errors
    /// `IO_FAILED`.
    pub fn supervisor_alive(&self) -> Result<bool> {
        files::is_locked(&self.layout().supervisor_lock())
    }

    /// Refuses a verb that decides for a human when it is called below an agent.
    ///
    /// # Errors
    /// `NOT_FOR_AGENTS`.
    pub fn for_humans_only(&self, verb: &str) -> Result<()> {
        match &self.author.by {
            By::Agent(agent) => Err(not_for_agents(verb, agent)),
            By::User | By::Supervisor | By::Recovery => Ok(()),
        }
    }

    /// The operation that is open, and whether somebody is carrying it out at this moment, known with certainty from the
    /// operation lock.
    ///
    /// # Errors
    /// `IO_FAILED`; the codes of a damaged log.
    pub fn open_operation(&self) -> Result<Option<(OpenOperation, Progress)>> {
        let Some(open) = self.state().record.open.clone() else { return Ok(None) };
        if self.holds_operation_lock {
            return Ok(Some((open, Progress::Interrupted)));
        }
        if files::is_locked(&self.layout().operation_lock())? {
            return Ok(Some((open, Progress::UnderWay)));
        }
        // It may have ended between the two looks.
        let now = Store::load(self.layout().clone())?;
        Ok(now.state().record.open.clone().map(|open| (open, Progress::Interrupted)))
    }

    /// Refuses a verb that touches files or refs while an operation is open.
    ///
    /// # Errors
    /// `OPERATION_OPEN` where it was interrupted; `BUSY` where it is under way.
    pub fn no_open_operation(&self) -> Result<()> {
        let Some((open, progress)) = self.open_operation()? else { return Ok(()) };
        let title = &open.operation.title;
        Err(match progress {
            Progress::Interrupted => Error::new(Code::OperationOpen, format!("'{title}' was interrupted"))
                .hint("git axiom rollback --continue    finishes it")
                .hint("git axiom rollback --abort    reverses it"),
            Progress::UnderWay => Error::new(Code::Busy, format!("'{title}' is under way in another process"))
                .hint("wait for it to end, then run the command again"),
        })
    }
}
