//! The keeper: owns one agent program from its start to the record of its end, whatever happens to the supervisor.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use signal_hook::consts::{SIGCHLD, SIGTERM};

use super::agent::ProgramFolders;
use super::recorded_keeper::{Keeper, KeeperOrders};
use super::spool::SignalSpool;
use super::{finding_us, run};
use crate::client::control::{self, KeeperCommandSender};
use crate::client::launch::{self, DetachStage, LaunchReport};
use crate::os::bell::{FolderTrigger, WakeListener};
use crate::os::hold::ProcessHolds;
use crate::os::sys;
use crate::run_folder::record_files;
use crate::run_folder::records::KeeperRecord;
use crate::run_folder::spec::{self, KeeperSpec};
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_base::files::{FileLock, FolderToSync, LockAttempt};
use axiom_base::platform;

/// How long to wait for a lock: the keeper of the last iteration may just be ending, and readers hold locks for a moment.
const LOCK_PATIENCE: Duration = Duration::from_secs(5);
/// The longest socket path that all systems accept.
const MAX_SOCKET_PATH: usize = 100;

/// The hidden verb `git axiom keeper --spec PATH`: detaches, takes the locks, calls `still_wanted` to check that the spawn
/// intent is still valid, runs the program and records its end. Returns the exit status of this process.
///
/// After a crash before `keeper.json` is written, nothing was started. After a later crash there is no `exit.json`, and
/// [`crate::end_leftovers`] ends the remaining processes.
pub fn run(spec_path: &Path, still_wanted: &dyn Fn(&KeeperSpec) -> Result<bool>) -> Result<i32> {
    match launch::detach(spec_path) {
        Ok(DetachStage::First) => return Ok(0),
        Ok(DetachStage::Keeper) => {}
        Err(error) => {
            LaunchReport::Failed(error.to_string()).say();
            return Err(error);
        }
    }
    match prepare(spec_path, still_wanted) {
        Ok(Some(keeper)) => {
            LaunchReport::Started.say();
            run::run(keeper)?;
            Ok(0)
        }
        Ok(None) => {
            LaunchReport::Unwanted.say();
            Ok(0)
        }
        Err(error) => {
            LaunchReport::Failed(error.to_string()).say();
            Err(error)
        }
    }
}

/// The hidden verb `git axiom keeper --here --spec PATH`: the same as a child of the process that starts it, for a run whose end nobody
/// else waits for. Whoever starts it ends what it leaves.
pub fn run_here(spec_path: &Path) -> Result<i32> {
    match prepare(spec_path, &|_| Ok(true))? {
        Some(keeper) => run::run(keeper).map(|()| 0),
        None => Ok(0),
    }
}

fn prepare(spec_path: &Path, still_wanted: &dyn Fn(&KeeperSpec) -> Result<bool>) -> Result<Option<Keeper>> {
    let (started_at, begun) = (env::now(), Instant::now());
    let terminate = watch_signals()?;
    let mut bell = WakeListener::new()?;
    [SIGCHLD, SIGTERM].into_iter().try_for_each(|signal| bell.ring_on(signal))?;
    let rope = Arc::new(bell.rope()?);
    platform::adopt_orphans();
    let spec = KeeperSpec::read(spec_path)?;
    let own_lock = take(&spec.dir.join(spec::KEEPER_LOCK), "another keeper runs this iteration")?;
    for name in [spec::EXIT, spec::KEEPER] {
        if files::read_optional(&spec.dir.join(name), u64::MAX - 1)?.is_some() {
            return Err(Error::new(Code::KeeperFailed, "this iteration was started before").why(format!("there is a {name}")));
        }
    }
    let workspace_lock = take(&spec.workspace_lock, "the workspace is in use by another keeper")?;
    env::fault_point("keeper.locked");
    // Checked with the locks held: a process that ends the intent and then checks the locks cannot miss this keeper.
    if !still_wanted(&spec)? {
        return Ok(None);
    }
    let record = record(&spec, started_at)?;
    let written = written(&spec)?;
    record_files::write_json(&spec.dir.join(spec::KEEPER), &record)?;
    env::fault_point("keeper.recorded");
    let temp = record.runtime.join("tmp");
    let spool_folder = temp.join(".axiom-spool");
    let (holds, (to, commands)) = (Arc::new(Mutex::new(ProcessHolds::default())), mpsc::channel());
    let sender = KeeperCommandSender { to, rope: Arc::clone(&rope) };
    let ready = SignalSpool::open(&spool_folder, &spec.dir, spec.token.clone())
        .and_then(|spool| control::serve(&record.socket, holds.clone(), sender).map(|()| spool))
        .and_then(|spool| Ok((spool, finding_us::make_folder(&record.runtime)?)));
    let (spool, us) = match ready {
        Ok(ready) => ready,
        Err(error) => {
            // Nothing was started. Without its record, this run does not exist.
            let _ = files::remove_scratch(&record.runtime);
            files::remove_file(&spec.dir.join(spec::KEEPER))?;
            return Err(error);
        }
    };
    bell.watch_only(vec![(spool_folder.clone(), FolderTrigger::Comes), (spec.workspace.clone(), FolderTrigger::Goes)]);
    let _own_lock = own_lock;
    Ok(Some(Keeper {
        spec,
        record,
        begun,
        spool,
        folders: ProgramFolders { temp, spool: spool_folder, us },
        rope,
        holds,
        orders: KeeperOrders { commands, terminate },
        bell,
        workspace_lock,
        written,
        _own_lock,
    }))
}

/// The folders in which the program works. Opening them fails here, before the program is started, if the workspace cannot
/// be used.
fn written(spec: &KeeperSpec) -> Result<Vec<FolderToSync>> {
    let folders = [&spec.workspace, &spec.state_check.common_dir].into_iter().filter(|folder| folder.is_dir());
    folders.map(|folder| FolderToSync::open(folder)).collect()
}

fn take(path: &Path, held: &str) -> Result<FileLock> {
    if let Some(folder) = path.parent() {
        files::create_dir_all(folder)?;
    }
    match FileLock::take(path, LOCK_PATIENCE)? {
        LockAttempt::Taken(lock) => Ok(lock),
        LockAttempt::Held => Err(Error::new(Code::Busy, held).why(format!("'{}' is locked", path.display()))),
    }
}

/// SIGTERM stops the program. SIGHUP, SIGINT and a closed pipe to the starting process must not end the keeper.
pub(crate) fn watch_signals() -> Result<Arc<AtomicBool>> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGPIPE};
    let (terminate, ignored) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let failed = |e: std::io::Error| Error::new(Code::KeeperFailed, "cannot watch for signals").because(e);
    signal_hook::flag::register(SIGTERM, terminate.clone()).map_err(failed)?;
    for signal in [SIGHUP, SIGINT, SIGPIPE] {
        signal_hook::flag::register(signal, ignored.clone()).map_err(failed)?;
    }
    Ok(terminate)
}

fn record(spec: &KeeperSpec, started_at: Timestamp) -> Result<KeeperRecord> {
    let own = sys::look(sys::own_pid()).ok_or_else(|| {
        Error::new(Code::KeeperFailed, "cannot find this process in the process table")
            .hint("is /proc mounted, and does `ps` run?")
    })?;
    let name = format!("{}{}", files::SCRATCH_PREFIX, env::fresh_id());
    let mut runtime = env::temp_dir().join(&name);
    if runtime.join("s").as_os_str().len() > MAX_SOCKET_PATH || !runtime.is_absolute() {
        runtime = Path::new("/tmp").join(&name);
    }
    Ok(KeeperRecord {
        v: record_files::VERSION,
        agent: spec.agent.clone(),
        task: spec.task.clone(),
        iteration: spec.iteration,
        token: spec.token.clone(),
        dir: spec.dir.clone(),
        keeper: own.id,
        program: None,
        boot: env::boot_id(),
        socket: runtime.join("s"),
        runtime,
        started_at,
    })
}
