//! A keeper that may start its program: what it holds, and where it works.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use super::spool::SignalSpool;
use crate::client::control::KeeperCommand;
use crate::os::bell::{WakeListener, WakeSender};
use crate::os::hold::ProcessHolds;
use crate::run_folder::records::KeeperRecord;
use crate::run_folder::spec::KeeperSpec;
use axiom_base::files::{FileLock, FolderToSync};

/// A keeper that has its locks and has written its record.
#[derive(Debug)]
pub(crate) struct Keeper {
    pub spec: KeeperSpec,
    pub record: KeeperRecord,
    /// When it started, on a clock that stands still while the machine sleeps.
    pub begun: Instant,
    pub spool: SignalSpool,
    pub spool_folder: PathBuf,
    pub temp: PathBuf,
    /// The folder in which the program finds git axiom.
    pub us: PathBuf,
    pub holds: Arc<Mutex<ProcessHolds>>,
    pub commands: Receiver<KeeperCommand>,
    /// Rings when there is something to look at.
    pub bell: WakeListener,
    /// What rings it from other threads.
    pub rope: Arc<WakeSender>,
    /// Whether SIGTERM was received: that is how a keeper is stopped when its socket was deleted.
    pub terminate: Arc<AtomicBool>,
    pub workspace_lock: FileLock,
    /// The folders in which the program works: its workspace and the common git directory.
    pub written: Vec<FolderToSync>,
    /// Freed only when the process ends.
    pub _own_lock: FileLock,
}

impl Keeper {
    /// Whether SIGTERM was received.
    pub fn is_terminated(&self) -> bool {
        self.terminate.load(Ordering::Relaxed)
    }
}
