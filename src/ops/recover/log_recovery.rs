//! Recovery of the event log itself: looking at the damage, and beginning anew from what a human (or `--from`) chose.
//!
//! Works without a context, because the state may not load.

use std::path::PathBuf;
use std::time::Duration;

use crate::domain::base::ids::TxnId;
use crate::domain::base::names::Oid;
use crate::domain::base::own_names::CAPTURES;
use crate::domain::checkpoint::document::CheckpointDocument;
use crate::domain::state::whole::State;
use crate::error::{Code, Error, Result};
use crate::files::{FileLock, LockAttempt};
use crate::git::Repository;
use crate::ops::context::handle::{below_an_operation, fresh_txn};
use crate::ops::context::ownership;
use crate::store::handle::Store;
use crate::store::inspect::{self, Choice, Damage};
use crate::store::layout::Layout;
use crate::store::rebuild;
use crate::store::{adopt, cases, log};

pub use crate::store::inspect::{Inspection, SnapshotReport};
pub use crate::store::rebuild::Source;

/// How long recovery waits for somebody else's append or operation.
const PATIENCE: Duration = Duration::from_secs(10);

/// A supervisor that has just ended may leave its lock to a child for the moment between fork and exec.
const MOMENT: Duration = Duration::from_millis(500);

/// What to begin anew from.
#[derive(Debug)]
pub enum Beginning {
    /// One of the choices of [`Inspection`].
    Stored(Source),
    /// A state that the caller has read, for example from a checkpoint, and where from.
    Given(String, Box<State>),
}

/// What recovery did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovered {
    /// What the log began anew from.
    pub source: String,
    /// The number of its first event.
    pub seq: u64,
    /// How many cases there are.
    pub cases: usize,
    /// Where the old files are; none where an earlier run had done it all.
    pub kept: Option<PathBuf>,
}

/// Loads the stored state. Checkpoints, which git keeps, tell of events too.
///
/// # Errors
/// As [`Store::load`]; `EVENT_LOG_TRUNCATED` where there is no event but a checkpoint.
pub fn load(repo: &Repository) -> Result<Store> {
    let layout = Layout::new(repo.common_dir());
    let store = Store::load(layout.clone())?;
    if store.state().seq > 0 || repo.checkpoints().list()?.is_empty() {
        return Ok(store);
    }
    // The first one may have been made since the log was read.
    let again = Store::load(layout.clone())?;
    if again.state().seq > 0 {
        Ok(again)
    } else {
        Err(log::emptied(&layout, &format!("there are checkpoints ({})", CAPTURES.trim_end_matches('/'))))
    }
}

/// Looks at the stored files and at the checkpoints, and changes nothing.
///
/// # Errors
/// As [`look`]; `GIT_FAILED`.
pub fn look_everywhere(repo: &Repository) -> Result<Inspection> {
    let mut found = look(&Layout::new(repo.common_dir()))?;
    if let Err(error) = load(repo) {
        found.blocked_by.get_or_insert_with(|| Damage::from(&error));
    }
    if let Some(document) = newest(documents(repo)?) {
        let choice = Choice {
            from: Source::Checkpoint.to_string(),
            source: Source::Checkpoint,
            seq: Some(document.seq),
            at: Some(document.created_at),
            cases: document.state_snapshot.cases.len() as u64,
        };
        // What knows least stays the last.
        found.choices.insert(found.choices.len().saturating_sub(1), choice);
    }
    Ok(found)
}

/// Looks at the stored files and changes nothing.
///
/// # Errors
/// `IO_FAILED`, `EVENT_LOG_TOO_NEW`.
pub fn look(layout: &Layout) -> Result<Inspection> {
    inspect::inspect(layout)
}

/// Whether the stored state loads, so that nothing has to begin anew.
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
pub fn begin_anew_from(repo: &Repository, source: Source) -> Result<Recovered> {
    ownership::root_is_the_owner(repo)?;
    let beginning = match source {
        Source::Checkpoint => newest_checkpoint(repo)?,
        Source::Snapshot | Source::Events | Source::Partial | Source::Backup(_) | Source::Cases | Source::Fresh => {
            Beginning::Stored(source)
        }
    };
    begin_anew_above(&Layout::new(repo.common_dir()), &fresh_txn()?, beginning, last_seq_of_checkpoints(repo)?)
}

/// Begins the log anew from `beginning`, in transaction `txn`. The old files are kept below `state/damaged/`. Killed
/// anywhere, the log is the old one or the new one; a second run finishes, and finds nothing to do after that.
///
/// # Errors
/// `SUPERVISOR_RUNNING`, `BUSY`; `RECOVERY_FAILED` where the choice gives no state; `EVENT_LOG_TOO_NEW`; `IO_FAILED`,
/// `DISK_FULL`: the old files are then as they were.
pub fn begin_anew(layout: &Layout, txn: &TxnId, beginning: Beginning) -> Result<Recovered> {
    begin_anew_above(layout, txn, beginning, 0)
}

/// As [`begin_anew`], with event numbers above `known` too: see [`last_seq_of_checkpoints`].
///
/// # Errors
/// As [`begin_anew`].
pub fn begin_anew_above(layout: &Layout, txn: &TxnId, beginning: Beginning, known: u64) -> Result<Recovered> {
    layout.ensure()?;
    let LockAttempt::Taken(_supervisor) = FileLock::take(&layout.supervisor_lock(), MOMENT)? else {
        return Err(Error::new(Code::SupervisorRunning, "a supervisor runs, so the event log cannot begin anew")
            .hint("end it first: Ctrl+C where it runs, or SIGTERM to the process that 'ps' shows as 'git-axiom run'"));
    };
    let _operation = take(layout.operation_lock(), "an operation is under way")?;
    let _state = take(layout.state_lock(), "the state is locked by another process")?;
    let _snapshot = take(layout.snapshot_lock(), "a snapshot is being written")?;
    adopt::tidy(layout, None)?;
    let (source, given) = match beginning {
        Beginning::Stored(source) => (source.to_string(), Err(source)),
        Beginning::Given(source, state) => (source, Ok(*state)),
    };
    if let Ok(store) = Store::load(layout.clone())
        && rebuild::is_adopted(layout, &source)?
    {
        let state = store.state();
        // Killed between the commit point and this, the cases are still those of before.
        if cases::load(layout)?.cases != state.restorable.cases {
            cases::rewrite(layout, state)?;
        }
        return Ok(Recovered { source, seq: state.seq, cases: state.restorable.cases.len(), kept: None });
    }
    let seq = inspect::inspect(layout)?.next_seq.max(known + 1);
    let state = match given {
        Ok(state) => state,
        Err(source) => rebuild::state_from(layout, source)?,
    };
    let cases = state.restorable.cases.len();
    let kept = adopt::begin_anew(layout, txn, &source, state, seq)?;
    Ok(Recovered { source, seq, cases, kept: Some(kept) })
}

fn take(lock: PathBuf, what: &str) -> Result<FileLock> {
    // An operation that called us from a hook ends only after us.
    let patience = if below_an_operation() { Duration::ZERO } else { PATIENCE };
    match FileLock::take(&lock, patience)? {
        LockAttempt::Taken(lock) => Ok(lock),
        LockAttempt::Held => Err(Error::new(Code::Busy, what).hint("wait for it to end, then run the command again")),
    }
}

/// The documents of all checkpoints that can be read.
fn documents(repo: &Repository) -> Result<Vec<CheckpointDocument>> {
    let read = |(_, json): (Oid, Vec<u8>)| serde_json::from_slice(&json).ok();
    let all = repo.checkpoints().list()?.into_iter();
    Ok(all.filter_map(|one| repo.checkpoints().checkpoint_json(&one.capture).ok().and_then(read)).collect())
}

fn newest(documents: Vec<CheckpointDocument>) -> Option<CheckpointDocument> {
    documents.into_iter().max_by_key(|document| document.created_at)
}

/// The number of the last event that a checkpoint tells of, its own included; 0 where there is none.
///
/// # Errors
/// `GIT_FAILED`.
pub fn last_seq_of_checkpoints(repo: &Repository) -> Result<u64> {
    Ok(documents(repo)?.iter().map(|document| document.seq + 1).max().unwrap_or(0))
}

/// The state of the newest checkpoint whose document can be read. Work that was under way then is not: its tasks are
/// pending.
///
/// # Errors
/// `RECOVERY_FAILED` where there is none.
pub fn newest_checkpoint(repo: &Repository) -> Result<Beginning> {
    let Some(document) = newest(documents(repo)?) else {
        return Err(Error::new(Code::RecoveryFailed, "there is no checkpoint to begin from").hint("see 'git axiom recover'"));
    };
    let mut state = State { restorable: document.state_snapshot, ..State::default() };
    state.record.tasks_completed = document.tasks_completed;
    state.restorable.put_to_rest();
    Ok(Beginning::Given(format!("checkpoint {}", document.name), Box::new(state)))
}
