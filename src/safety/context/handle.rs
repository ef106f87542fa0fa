//! The context of every operation: the repository, the store, the configuration, and who acts in which transaction.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::recorded_place;
use crate::config::Config;
use crate::context::approved_hooks::{DEPTH, RepositoryHooks};
use crate::context::kept_hooks;
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_base::files::{FileLock, LockAttempt};
use axiom_git::{LooseCheckReport, Repository};
use axiom_model::base::ids::{AgentId, OperationId, Token};
use axiom_model::hook::due::due;
use axiom_model::state::current_state::{OpenOperation, State};
use axiom_model::state::event::Event;
use axiom_model::state::event_envelope::{EventAuthor, EventEnvelope};
use axiom_model::state::trace_facts::{self, TraceInterest};
use axiom_process::client::keeper_ancestry;
use axiom_process::os::command::IN_OPERATION;
use axiom_store::beside::{learnings as pages, planning};
use axiom_store::layout::StoreLayout;
use axiom_store::states::handle::{AppendAuthor, Store};

/// How long a verb waits for an operation of another process.
pub const OPERATION_PATIENCE: Duration = Duration::from_secs(30);

/// The context of every operation.
#[derive(Debug)]
pub struct Context {
    /// The repository, shared with threads.
    pub repo: Arc<Repository>,
    /// The state and its log.
    pub store: Store,
    /// The configuration that applies.
    pub config: Config,
    /// What was found while the repository was opened, for placement and repair.
    pub found: OpeningFindings,
    /// The hooks, and what they are to be told; none before the configuration is loaded.
    pub hooks: RepositoryHooks,
    author: AppendAuthor,
    /// Whether this context holds the change lock: then no other process is carrying out an operation.
    holds_change_lock: bool,
    /// How long to wait for an operation of another process.
    patience: Duration,
    /// What the first operation after the machine was started does first.
    after_start: fn(&mut Self) -> Result<()>,
}

/// What was found while the repository was opened, and by the first operation after the machine was started.
#[derive(Debug, Default)]
pub struct OpeningFindings {
    /// Notes for the user on the place of the repository.
    pub said: Vec<String>,
    /// Whether the repository was moved, restored or copied, and this command only reads: the next command that changes
    /// something settles that first. Until then the folders of the original's workspaces are still in their places.
    pub unsettled: bool,
    /// The result of checking loose objects, where this was the first operation after the machine was started.
    pub proof: LooseCheckReport,
    /// The repository's own configuration file, where it sets `merge.verify` and nobody has approved it.
    pub unapproved_verify: Option<PathBuf>,
    /// Who has set `agents.default`.
    pub agent_chosen: DefaultAgentChoice,
    /// Whether a part of the configuration does not count, which may say that more is kept: then nothing expires.
    pub nothing_expires: bool,
    /// The keys of the project's configuration that counted when it was approved, and do not count now.
    pub lapsed_keys: Vec<String>,
    /// What was repaired of workspaces before the first git command; the next repair reports it.
    pub mended: Vec<String>,
}

/// Who has set the agent program that is the default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DefaultAgentChoice {
    /// Nobody.
    #[default]
    Nobody,
    /// The command line, for this call.
    ForThisCall,
    /// A file.
    Configured,
}

/// The progress of an open operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenOperationProgress {
    /// A process is carrying it out.
    UnderWay,
    /// The process that carried it out has ended.
    Interrupted,
}

/// An environment variable of every process below a keeper, and of every process of a verification: it shows that no human
/// is calling.
const TOKEN: &str = "AXIOM_TOKEN";

/// The agent id for callers whose environment does not name the agent.
const NAMELESS: &str = "agent-000";

/// The agent on whose behalf this process runs, from the environment that a keeper sets; below a hook, one without a name. Verbs
/// that decide for a human refuse it.
pub fn calling_agent() -> Option<AgentId> {
    if env::var(DEPTH).is_some() {
        return AgentId::new(NAMELESS).ok();
    }
    env::var(TOKEN)?;
    let name = env::var("AXIOM_AGENT").and_then(|name| name.into_string().ok());
    name.and_then(|name| AgentId::new(name).ok()).or_else(|| AgentId::new(NAMELESS).ok())
}

/// The agent on whose behalf this process runs, where its environment no longer names one: a keeper of this repository is
/// among its ancestors.
fn kept_agent(common_dir: &Path) -> Option<AgentId> {
    let is_here = |place: &PathBuf| place.starts_with(common_dir);
    keeper_ancestry::keepers_above().iter().any(is_here).then(|| AgentId::new(NAMELESS).ok()).flatten()
}

/// The agent of a session on whose behalf this process runs, where there is no state to open yet.
pub fn agent_in(folder: &Path) -> Option<AgentId> {
    let by_lineage = || {
        // The repository is looked for only where there is a keeper among the ancestors.
        let above = !keeper_ancestry::keepers_above().is_empty();
        above.then(|| Repository::discover(folder).ok().and_then(|repo| kept_agent(repo.common_dir()))).flatten()
    };
    calling_agent().or_else(by_lineage)
}

/// Whether a git child of an operation called this process, most likely from a hook. If that operation has ended, or is one
/// of another repository, the change lock is free.
pub fn below_an_operation() -> bool {
    env::var(IN_OPERATION).is_some()
}

/// A fresh transaction id, after event `seq` of the log.
pub fn fresh_txn(seq: u64) -> Result<OperationId> {
    OperationId::begun_after(seq, &env::fresh_id())
}

/// A fresh secret of a run: nobody guesses it.
pub fn fresh_token() -> Result<Token> {
    Token::new(format!("{}{}", env::fresh_id(), env::fresh_id()))
}

impl Context {
    /// A context of a repository and what is stored of it. `after_start` is done below the operation lock by the first operation
    /// after the machine was started.
    pub(crate) fn of(repo: Arc<Repository>, store: Store, after_start: fn(&mut Self) -> Result<()>) -> Result<Self> {
        let by = calling_agent().or_else(|| kept_agent(repo.common_dir())).map_or(EventAuthor::User, EventAuthor::Agent);
        let author = AppendAuthor { txn: fresh_txn(store.state().seq)?, by };
        let (config, found) = (Config::default(), OpeningFindings::default());
        Ok(Self {
            repo,
            store,
            config,
            found,
            hooks: RepositoryHooks::default(),
            author,
            holds_change_lock: false,
            patience: OPERATION_PATIENCE,
            after_start,
        })
    }

    /// From now on acts as `by`, in a new transaction (the supervisor's steps, recovery).
    pub fn act_as(&mut self, by: EventAuthor) -> Result<()> {
        self.author = AppendAuthor { txn: fresh_txn(self.state().seq)?, by };
        Ok(())
    }

    /// Does `work` as `by`, in a new transaction; afterwards this context acts as before.
    pub fn in_its_own_transaction<T>(&mut self, by: EventAuthor, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let apart = AppendAuthor { txn: fresh_txn(self.state().seq)?, by };
        let own = std::mem::replace(&mut self.author, apart);
        let outcome = work(self);
        self.author = own;
        outcome
    }

    /// Continues a transaction that exists in the log.
    pub fn join(&mut self, txn: OperationId) {
        self.author.txn = txn;
    }

    /// The transaction that events are appended in.
    pub fn txn(&self) -> &OperationId {
        &self.author.txn
    }

    /// Who appends events.
    pub fn by(&self) -> &EventAuthor {
        &self.author.by
    }

    /// The state when it was last read.
    pub fn state(&self) -> &State {
        self.store.state()
    }

    /// The paths of git axiom's own files.
    pub fn layout(&self) -> &StoreLayout {
        self.store.layout()
    }

    /// Appends one event; see [`Store::append_with`].
    pub fn append(&mut self, event: Event) -> Result<Vec<EventEnvelope>> {
        self.append_with(|_| Ok(vec![event]))
    }

    /// Appends the events that `decide` returns for the newest state, under the state lock; see [`Store::append_with`].
    pub fn append_with(&mut self, decide: impl FnOnce(&State) -> Result<Vec<Event>>) -> Result<Vec<EventEnvelope>> {
        let mut told = Vec::new();
        let listens = self.hooks.listen();
        let appended = self.store.append_with(&self.author, |state| {
            let events = decide(state)?;
            if listens {
                let numbered = (state.seq + 1..).zip(&events);
                told = numbered.flat_map(|(seq, event)| due(event, state, seq, env::now())).collect();
            }
            Ok(events)
        })?;
        if !told.is_empty() {
            told.into_iter().for_each(|facts| self.hooks.note(facts));
            kept_hooks::keep(self.store.layout(), &mut self.hooks);
        }
        self.trace(&appended);
        if appended.iter().any(|envelope| envelope.event.may_change_learnings())
            && let Err(error) = pages::write(self.store.layout(), self.store.state())
        {
            // They are copies: the next change writes them again.
            tracing::warn!(%error, "the pages of learnings could not be written");
        }
        if appended.iter().any(|envelope| envelope.event.may_change_plan())
            && let Err(error) = planning::write(self.store.layout(), self.store.state())
        {
            // It is a copy: the next step writes it again.
            tracing::warn!(%error, "the copy of the plan could not be written");
        }
        Ok(appended)
    }

    /// Before a verb changes something: an incomplete end of the log, which a crash left, is cut off, and whoever called is told of it once.
    /// Where that fails now, the verb's own change says so.
    pub fn mend_log(&mut self) -> Vec<Error> {
        if let Err(error) = self.store.mend_end(&self.author) {
            tracing::info!(%error, "the end of the event log could not be mended");
        }
        self.store.take_repairs()
    }

    /// Appends an intent: see [`Store::append_unsynced`].
    pub fn append_unsynced(&mut self, decide: impl FnOnce(&State) -> Result<Vec<Event>>) -> Result<Vec<EventEnvelope>> {
        let appended = self.store.append_unsynced(&self.author, decide)?;
        self.trace(&appended);
        Ok(appended)
    }

    /// Traces what was appended, where somebody wants to know: see [`traced`].
    fn trace(&self, appended: &[EventEnvelope]) {
        if !tracing::enabled!(tracing::Level::INFO) {
            return;
        }
        for EventEnvelope { seq, by, event, .. } in appended {
            let (interest, facts) = trace_facts::facts(event, self.state());
            let facts: Vec<String> = facts.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
            let (name, facts) = (event.name(), facts.join(" "));
            match interest {
                TraceInterest::Info => tracing::info!(seq, %by, "{name} {facts}"),
                TraceInterest::Debug => tracing::debug!(seq, %by, "{name} {facts}"),
            }
        }
    }

    /// Does `work` while holding the change lock, which git children hold too; waits for operations of other processes.
    /// The state is read again once the lock is held.
    pub fn with_change_lock<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.with_change_lock_within(self.patience, work)
    }

    /// From now on waits so long for an operation of another process, not [`OPERATION_PATIENCE`].
    pub fn set_patience(&mut self, patience: Duration) {
        self.patience = patience;
    }

    /// Does `work` with [`OPERATION_PATIENCE`]: what nobody tries again soon.
    pub fn patiently<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let patience = std::mem::replace(&mut self.patience, OPERATION_PATIENCE);
        let outcome = work(self);
        self.patience = patience;
        outcome
    }

    /// As [`Context::with_change_lock`], waiting at most `patience`. Called from a git hook below an operation, it does
    /// not wait at all: the operation waits for the hook.
    pub fn with_change_lock_within<T>(&mut self, patience: Duration, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.layout().ensure()?;
        recorded_place::write_down(self.layout(), &self.repo)?;
        let in_hook = below_an_operation();
        let patience = if in_hook { Duration::ZERO } else { patience };
        let lock = match FileLock::take(&self.layout().locks().change(), patience)? {
            LockAttempt::Taken(lock) => lock,
            LockAttempt::Held if in_hook => {
                return Err(Error::new(Code::Busy, "called from a git hook during an operation of git axiom")
                    .hint("read-only verbs and 'git axiom task' work in hooks; run this one after the operation"));
            }
            LockAttempt::Held => {
                return Err(Error::new(Code::Busy, "another operation (checkpoint, merge, rollback or repair) is under way")
                    .hint("wait for it to end, then run the command again"));
            }
        };
        let held_before = std::mem::replace(&mut self.holds_change_lock, true);
        let outcome = self.below_change_lock(&lock, work);
        self.holds_change_lock = held_before;
        outcome
    }

    fn below_change_lock<T>(&mut self, lock: &FileLock, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let repo = Arc::clone(&self.repo);
        let _held = repo.hold_lock_in_children(lock)?;
        self.store.refresh()?;
        if !repo.power_losses().objects_are_proved() {
            (self.after_start)(self)?;
        }
        let outcome = work(self);
        repo.durability().put_stage_away();
        outcome
    }

    /// Whether a supervisor runs in this repository: its lock decides, so the answer is certain.
    pub fn supervisor_alive(&self) -> Result<bool> {
        files::is_locked(&self.layout().locks().supervisor())
    }

    /// The open operation, and whether a process is carrying it out now: the change lock decides, so the answer is
    /// certain.
    pub fn open_operation(&self) -> Result<Option<(OpenOperation, OpenOperationProgress)>> {
        let Some(open) = self.state().record.open.clone() else { return Ok(None) };
        if self.holds_change_lock {
            return Ok(Some((open, OpenOperationProgress::Interrupted)));
        }
        if files::is_locked(&self.layout().locks().change())? {
            return Ok(Some((open, OpenOperationProgress::UnderWay)));
        }
        // The operation may have ended between reading the state and testing the lock.
        let now = Store::load(self.layout().clone())?;
        Ok(now.state().record.open.clone().map(|open| (open, OpenOperationProgress::Interrupted)))
    }

    /// Refuses a verb that touches files or refs while an operation is open.
    pub fn no_open_operation(&self) -> Result<()> {
        let Some((open, progress)) = self.open_operation()? else { return Ok(()) };
        let title = &open.operation.title;
        Err(match progress {
            OpenOperationProgress::Interrupted => Error::new(Code::OperationOpen, format!("'{title}' was interrupted"))
                .hint("git axiom rollback --continue    finishes it")
                .hint("git axiom rollback --abort    reverses it"),
            OpenOperationProgress::UnderWay => Error::new(Code::Busy, format!("'{title}' is under way in another process"))
                .hint("wait for it to end, then run the command again"),
        })
    }
}
