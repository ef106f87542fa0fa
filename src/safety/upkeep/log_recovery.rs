//! Recovery of the event log itself: reporting the damage, and starting a new log from the source that a human (or `--from`)
//! chose.
//!
//! Works without a context, because the state may not load.

use std::path::PathBuf;
use std::time::Duration;

use crate::beside_log::session_lock;
use crate::context::handle::{below_an_operation, fresh_txn};
use crate::context::ownership;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files::{FileLock, LockAttempt};
use axiom_git::Repository;
use axiom_model::base::ids::OperationId;
use axiom_model::base::names::Oid;
use axiom_model::base::own_names::CAPTURES;
use axiom_model::checkpoint::document::CheckpointDocument;
use axiom_model::state::current_state::State;
use axiom_store::beside::tasks;
use axiom_store::layout::StoreLayout;
use axiom_store::log_files::log;
use axiom_store::states::handle::Store;
use axiom_store::states::inspect;
use axiom_store::states::inspect::StoreDamage;
use axiom_store::states::{adopt, rebuild};

pub use axiom_store::states::inspect::{RebuildChoice, SnapshotReport, StoreInspection};
pub use axiom_store::states::rebuild::{RebuildSource, is_of_damage};

/// How long recovery waits for an append or operation of another process.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long to wait for the supervisor's lock: a child of a supervisor that has just ended may hold it between fork and
/// exec.
const MOMENT: Duration = Duration::from_millis(500);

/// The source of the new log.
#[derive(Debug)]
pub enum NewLogSource {
    /// One of the choices of [`StoreInspection`].
    Stored(RebuildSource),
    /// A state that the caller has read, for example from a checkpoint, and the name of its source.
    Given(String, Box<State>),
}

/// The result of a recovery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogRecoveryReport {
    /// The source of the new log.
    pub source: String,
    /// The number of its first event.
    pub seq: u64,
    /// How many tasks the new state has.
    pub tasks: usize,
    /// The folder with the old files; `None` where an earlier run had done everything.
    pub kept: Option<PathBuf>,
}

/// Loads the stored state. If the log is empty, checkpoints, which git keeps, show that events are missing.
///
/// # Errors
/// As [`Store::load`]; `EVENT_LOG_TRUNCATED` where there are no events, but a checkpoint; `GIT_FAILED`.
pub fn load(repo: &Repository) -> Result<Store> {
    let layout = StoreLayout::new(repo.common_dir());
    let store = Store::load(layout.clone())?;
    if store.state().seq > 0 || repo.checkpoints().list()?.is_empty() {
        return Ok(store);
    }
    // The first checkpoint may have been made after the log was read.
    let again = Store::load(layout.clone())?;
    if again.state().seq > 0 {
        Ok(again)
    } else {
        Err(log::emptied(&layout, &format!("there are checkpoints ({})", CAPTURES.trim_end_matches('/'))))
    }
}

/// Inspects the stored files and the checkpoints; changes nothing.
pub fn look_everywhere(repo: &Repository) -> Result<StoreInspection> {
    let mut found = look(&StoreLayout::new(repo.common_dir()))?;
    if let Err(error) = load(repo) {
        found.blocked_by.get_or_insert_with(|| StoreDamage::from(&error));
    }
    if let Some(document) = newest(documents(repo)?) {
        let choice = RebuildChoice {
            from: RebuildSource::Checkpoint.to_string(),
            source: RebuildSource::Checkpoint,
            seq: Some(document.seq),
            at: Some(document.created_at),
            tasks: document.state_snapshot.tasks.len() as u64,
        };
        // The last choice is the one that knows least; it stays last.
        found.choices.insert(found.choices.len().saturating_sub(1), choice);
    }
    Ok(found)
}

/// Inspects the stored files; changes nothing.
///
/// # Errors
/// `IO_FAILED`, `EVENT_LOG_TOO_NEW`.
pub fn look(layout: &StoreLayout) -> Result<StoreInspection> {
    inspect::inspect(layout)
}

/// Whether the stored state loads, so that no new log is needed.
///
/// # Errors
/// `IO_FAILED`, `GIT_FAILED`, `EVENT_LOG_TOO_NEW`.
pub fn is_sound(repo: &Repository) -> Result<bool> {
    match load(repo) {
        Ok(_) => Ok(true),
        Err(error) if rebuild::is_damage(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Begins the log anew from `source`. Checkpoints know of events too: the new ones have higher numbers than those.
///
/// # Errors
/// As [`begin_anew`] and [`newest_checkpoint`]; `NOT_THE_OWNER`.
pub fn begin_anew_from(repo: &Repository, source: RebuildSource) -> Result<LogRecoveryReport> {
    ownership::root_is_the_owner(repo)?;
    let beginning = match source {
        RebuildSource::Checkpoint => newest_checkpoint(repo)?,
        RebuildSource::Snapshot
        | RebuildSource::Events
        | RebuildSource::Partial
        | RebuildSource::Backup(_)
        | RebuildSource::Cases
        | RebuildSource::Fresh => NewLogSource::Stored(source),
    };
    begin_anew_above(&StoreLayout::new(repo.common_dir()), &fresh_txn(0)?, beginning, last_seq_of_checkpoints(repo)?)
}

/// The error of `git axiom recover` where the state cannot be loaded because of `error`: `RECOVERY_FAILED` where no source is left.
pub fn with_a_way_on(found: &StoreInspection, error: Error) -> Error {
    if only_fresh_is_left(found) {
        return no_way_is_left(error);
    }
    error.hint("git axiom recover --from SOURCE --yes    starts again from one of the choices; damaged files are kept")
}

/// Whether nothing can be recovered. A fresh start works all the same: it takes what is readable and needs nothing, so that no damage
/// leaves a repository without a way on. It fails only where a new log cannot be written (`IO_FAILED`, `DISK_FULL`), may not be
/// (`NOT_THE_OWNER`, `SUPERVISOR_RUNNING`, `BUSY`), or nothing is damaged (`EVENT_LOG_TOO_NEW`).
pub fn only_fresh_is_left(found: &StoreInspection) -> bool {
    found.blocked_by.is_some() && found.choices.iter().all(|choice| choice.source == RebuildSource::Fresh)
}

fn no_way_is_left(error: Error) -> Error {
    let what = "no way of recovery works: log, snapshot, backups, tasks and checkpoints are damaged or missing";
    Error::new(Code::RecoveryFailed, what).because(error).hint(
        "git axiom recover --from fresh --yes    begins with an empty state; damaged files are kept, branches and files stay",
    )
}

/// `error`, the one of a source that gives no state: `RECOVERY_FAILED` only where no other one gives a state either.
pub fn if_no_way_is_left(repo: &Repository, source: RebuildSource, error: Error) -> Result<Error> {
    if error.code() != Code::RecoveryFailed {
        return Ok(error);
    }
    let found = look_everywhere(repo)?;
    if only_fresh_is_left(&found) {
        return Ok(no_way_is_left(error));
    }
    let others = found.choices.into_iter().map(|choice| choice.source).filter(|other| *other != source);
    let others: Vec<String> = others.map(|other| other.to_string()).collect();
    Ok(Error::new(Code::InvalidInput, format!("nothing can start again from {source}"))
        .because(error)
        .hint(format!("git axiom recover --from SOURCE    with another one of: {}", others.join(", "))))
}

/// Starts a new log from `beginning`, in transaction `txn`. The old files are kept below `state/damaged/`. After a crash at
/// any point, the log is the old one or the new one; a second run finishes the work, and a third one finds nothing to do.
///
/// # Errors
/// `SUPERVISOR_RUNNING`, `BUSY`; `RECOVERY_FAILED` where the source gives no state; `EVENT_LOG_TOO_NEW`; `IO_FAILED`,
/// `DISK_FULL`: then the old files are unchanged.
pub fn begin_anew(layout: &StoreLayout, txn: &OperationId, beginning: NewLogSource) -> Result<LogRecoveryReport> {
    begin_anew_above(layout, txn, beginning, 0)
}

/// As [`begin_anew`]; the new event numbers are also above `known`: see [`last_seq_of_checkpoints`].
pub fn begin_anew_above(
    layout: &StoreLayout,
    txn: &OperationId,
    beginning: NewLogSource,
    known: u64,
) -> Result<LogRecoveryReport> {
    layout.ensure()?;
    let LockAttempt::Taken(_supervisor) = session_lock::take(layout, MOMENT)? else {
        return Err(Error::new(Code::SupervisorRunning, "a supervisor runs, so the event log cannot be restarted")
            .hint("end it first: Ctrl+C where it runs, or SIGTERM to the process that 'ps' shows as 'git-axiom run'"));
    };
    let _operation = take(layout.locks().change(), "an operation is under way")?;
    let _state = take(layout.locks().state(), "the state is locked by another process")?;
    let _snapshot = take(layout.locks().snapshot(), "a snapshot is being written")?;
    adopt::tidy(layout, None)?;
    let (source, given) = match beginning {
        NewLogSource::Stored(source) => (source.to_string(), Err(source)),
        NewLogSource::Given(source, state) => (source, Ok(*state)),
    };
    if let Ok(store) = Store::load(layout.clone())
        && rebuild::is_adopted(layout, &source)?
    {
        let state = store.state();
        // After a crash between the commit point and this step, the file of tasks is still the old one.
        if tasks::load(layout)?.tasks != state.restorable.tasks {
            tasks::rewrite(layout, state)?;
        }
        return Ok(LogRecoveryReport { source, seq: state.seq, tasks: state.restorable.tasks.len(), kept: None });
    }
    let seq = inspect::inspect(layout)?.next_seq.max(known + 1);
    let state = match given {
        Ok(state) => state,
        Err(source) => rebuild::state_from(layout, source)?,
    };
    let tasks = state.restorable.tasks.len();
    let kept = adopt::begin_anew(layout, txn, &source, state, seq)?;
    Ok(LogRecoveryReport { source, seq, tasks, kept: Some(kept) })
}

fn take(lock: PathBuf, what: &str) -> Result<FileLock> {
    // An operation whose hook called this process ends only after it: waiting would be a deadlock.
    let patience = if below_an_operation() { Duration::ZERO } else { PATIENCE };
    match FileLock::take(&lock, patience)? {
        LockAttempt::Taken(lock) => Ok(lock),
        LockAttempt::Held => Err(Error::new(Code::Busy, what).hint("wait for it to end, then run the command again")),
    }
}

/// The documents of all checkpoints that can be read.
fn documents(repo: &Repository) -> Result<Vec<CheckpointDocument>> {
    let read = |(_, json): (Oid, Vec<u8>)| CheckpointDocument::from_json(&json).ok();
    let all = repo.checkpoints().list()?.into_iter();
    Ok(all.filter_map(|one| repo.checkpoints().checkpoint_json(&one.capture).ok().and_then(read)).collect())
}

fn newest(documents: Vec<CheckpointDocument>) -> Option<CheckpointDocument> {
    documents.into_iter().max_by_key(|document| document.created_at)
}

/// The number of the last event that the checkpoints show to have existed, including the event of the checkpoint itself; 0
/// without checkpoints.
pub fn last_seq_of_checkpoints(repo: &Repository) -> Result<u64> {
    Ok(documents(repo)?.iter().map(|document| document.seq + 1).max().unwrap_or(0))
}

/// The state of the newest checkpoint whose document can be read. Tasks that an agent worked on then become pending.
///
/// # Errors
/// `RECOVERY_FAILED` where there is no such checkpoint.
pub fn newest_checkpoint(repo: &Repository) -> Result<NewLogSource> {
    let Some(document) = newest(documents(repo)?) else {
        return Err(Error::new(Code::RecoveryFailed, "there is no checkpoint to start from").hint("see 'git axiom recover'"));
    };
    let mut state = State { restorable: document.state_snapshot, ..State::default() };
    state.record.tasks_completed = document.tasks_completed;
    state.restorable.put_to_rest();
    Ok(NewLogSource::Given(format!("checkpoint {}", document.name), Box::new(state)))
}
