//! A keeper that may start its program: what it holds, and where it works.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use super::agent::ProgramFolders;
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
    pub folders: ProgramFolders,
    pub holds: Arc<Mutex<ProcessHolds>>,
    pub orders: KeeperOrders,
    /// Rings when there is something to look at.
    pub bell: WakeListener,
    /// What rings it from other threads.
    pub rope: Arc<WakeSender>,
    pub workspace_lock: FileLock,
    /// The folders in which the program works: its workspace and the common git directory.
    pub written: Vec<FolderToSync>,
    /// Freed only when the process ends.
    pub _own_lock: FileLock,
}

/// What a keeper is told to do.
#[derive(Debug)]
pub(crate) struct KeeperOrders {
    /// What comes by its socket.
    pub commands: Receiver<KeeperCommand>,
    /// Whether SIGTERM was received: that is how a keeper is stopped when its socket was deleted.
    pub terminate: Arc<AtomicBool>,
}

impl KeeperOrders {
    /// The next command, where one came.
    pub fn next(&self) -> Option<KeeperCommand> {
        self.commands.try_recv().ok()
    }

    /// Whether SIGTERM was received.
    pub fn is_terminated(&self) -> bool {
        self.terminate.load(Ordering::Relaxed)
    }
}
