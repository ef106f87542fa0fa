//! Requests to a keeper, and its side of the connection: stop, kill, hold, ping.
//!
//! A Unix socket in the keeper's runtime folder, one JSON line in each direction; its path is in `keeper.json`. If the
//! socket was deleted (by a cleaner of temporary files), stop and kill fall back to SIGTERM, which a keeper treats as a
//! stop.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde::{Deserialize, Serialize};

use crate::os::bell::WakeSender;
use crate::os::hold::ProcessHolds;
use crate::os::sys;
use crate::run_folder::records::KeeperRecord;
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_base::platform;

/// The longest a hold lasts, whatever was asked for.
pub const MAX_HOLD: Duration = Duration::from_secs(60);
const ANSWER_PATIENCE: Duration = Duration::from_secs(10);
const REQUEST_PATIENCE: Duration = Duration::from_secs(5);
const MAX_LINE: u64 = 4096;
const MAX_CONNECTIONS: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "camelCase", rename_all_fields = "camelCase")]
enum ControlRequest {
    Stop,
    Kill,
    Ping,
    Hold { millis: u64, pid: i32 },
    Release,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ControlReply {
    ok: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    /// For a hold: how many processes are held.
    #[serde(default)]
    held: usize,
    /// For a hold: whether no process is running. For a release: whether the hold lasted until now.
    #[serde(default)]
    firm: bool,
}

/// A command to the keeper's main loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeeperCommand {
    /// Send the stop signal, then kill.
    Stop,
    /// Kill now.
    Kill,
}

/// Asks the keeper to stop the program: its stop signal, the grace time, then SIGKILL, descendants included. Returns once
/// the keeper has accepted; [`super::state::keeper_state`] shows the end.
pub fn stop(keeper: &KeeperRecord) -> Result<()> {
    command(keeper, &ControlRequest::Stop)
}

/// Asks the keeper to kill the program and all its descendants at once. Where only SIGTERM can reach the keeper, this is a
/// stop.
pub fn kill(keeper: &KeeperRecord) -> Result<()> {
    command(keeper, &ControlRequest::Kill)
}

/// Checks that the keeper answers.
pub fn ping(keeper: &KeeperRecord) -> Result<()> {
    KeeperConnection::open(keeper)?.ask(&ControlRequest::Ping).map(|_| ())
}

/// Freezes all descendants of the keeper, except this process, its ancestors and its descendants, until the guard is
/// released or dropped, this process ends, or `limit` (at most [`MAX_HOLD`]) is over. Processes that were stopped before
/// stay stopped.
pub fn hold(keeper: &KeeperRecord, limit: Duration) -> Result<HoldGuard> {
    let mut connection = KeeperConnection::open(keeper)?;
    let millis = u64::try_from(limit.min(MAX_HOLD).as_millis()).unwrap_or(u64::MAX);
    let reply = connection.ask(&ControlRequest::Hold { millis, pid: sys::own_pid() })?;
    Ok(HoldGuard { connection, held: reply.held, stable: reply.firm })
}

/// A hold on processes. They continue when it is dropped.
#[derive(Debug)]
pub struct HoldGuard {
    connection: KeeperConnection,
    held: usize,
    stable: bool,
}

impl HoldGuard {
    /// How many processes the hold stopped.
    pub fn held(&self) -> usize {
        self.held
    }

    /// Whether no process below the keeper is running (except this process, its ancestors and its descendants). Otherwise
    /// one of them is stuck in the kernel.
    pub fn is_stable(&self) -> bool {
        self.stable
    }

    /// Lets the processes continue. Returns whether the hold lasted until now.
    pub fn release(mut self) -> Result<bool> {
        self.connection.ask(&ControlRequest::Release).map(|reply| reply.firm)
    }
}

fn command(keeper: &KeeperRecord, request: &ControlRequest) -> Result<()> {
    let asked = KeeperConnection::open(keeper).and_then(|mut connection| connection.ask(request));
    match asked {
        Ok(_) => Ok(()),
        Err(_) if env::boot_id() == keeper.boot && sys::send(keeper.keeper, Signal::TERM) => Ok(()),
        Err(error) => Err(error),
    }
}

#[derive(Debug)]
struct KeeperConnection {
    reader: BufReader<UnixStream>,
}

impl KeeperConnection {
    fn open(keeper: &KeeperRecord) -> Result<Self> {
        let stream = UnixStream::connect(&keeper.socket).map_err(|e| silent(keeper).because(e))?;
        let reader = stream.set_read_timeout(Some(ANSWER_PATIENCE)).map(|()| BufReader::new(stream));
        reader.map(|reader| Self { reader }).map_err(|e| Error::new(Code::KeeperFailed, "cannot talk to the keeper").because(e))
    }

    fn ask(&mut self, request: &ControlRequest) -> Result<ControlReply> {
        let failed = |e: std::io::Error| Error::new(Code::KeeperFailed, "the keeper does not answer").because(e);
        send_line(self.reader.get_mut(), request).map_err(failed)?;
        let reply: ControlReply = receive_line(&mut self.reader).map_err(failed)?;
        match reply.why {
            Some(why) if !reply.ok => Err(Error::new(Code::KeeperFailed, "the keeper refuses").why(why)),
            Some(_) | None => Ok(reply),
        }
    }
}

fn silent(keeper: &KeeperRecord) -> Error {
    Error::new(Code::KeeperFailed, format!("the keeper of {} (process {}) does not answer", keeper.agent, keeper.keeper.pid))
}

fn send_line<T: Serialize>(to: &mut UnixStream, value: &T) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    to.write_all(&line)
}

fn receive_line<T: for<'de> Deserialize<'de>>(from: &mut BufReader<UnixStream>) -> std::io::Result<T> {
    let mut line = Vec::new();
    let mut limited = from.take(MAX_LINE);
    limited.read_until(b'\n', &mut line)?;
    if !line.ends_with(b"\n") {
        return Err(std::io::ErrorKind::UnexpectedEof.into());
    }
    Ok(serde_json::from_slice(&line)?)
}

/// Locks the holds, which the keeper's threads share. They stay usable after a thread has panicked with the lock.
pub(crate) fn lock(holds: &Mutex<ProcessHolds>) -> MutexGuard<'_, ProcessHolds> {
    holds.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Hands commands to the keeper's own thread, and wakes it.
#[derive(Debug, Clone)]
pub(crate) struct KeeperCommandSender {
    /// Where they go.
    pub to: Sender<KeeperCommand>,
    /// What wakes it.
    pub rope: Arc<WakeSender>,
}

impl KeeperCommandSender {
    fn give(&self, command: KeeperCommand) {
        let _ = self.to.send(command);
        self.rope.ring();
    }
}

/// Answers requests at `socket` from now on, in threads that end with the process.
pub(crate) fn serve(socket: &Path, holds: Arc<Mutex<ProcessHolds>>, orders: KeeperCommandSender) -> Result<()> {
    let listener = UnixListener::bind(socket).map_err(|e| Error::io("make the socket", socket, e))?;
    let accept = move || {
        let open = Arc::new(AtomicUsize::new(0));
        for stream in listener.incoming() {
            let Ok(stream) = stream else {
                std::thread::sleep(Duration::from_millis(50));
                continue;
            };
            if open.load(Ordering::Relaxed) >= MAX_CONNECTIONS {
                continue;
            }
            let (holds, orders, counter) = (holds.clone(), orders.clone(), open.clone());
            counter.fetch_add(1, Ordering::Relaxed);
            let served = std::thread::Builder::new().name("control".into()).spawn(move || {
                let _ = answer(stream, &holds, &orders);
                counter.fetch_sub(1, Ordering::Relaxed);
            });
            if served.is_err() {
                open.fetch_sub(1, Ordering::Relaxed);
            }
        }
    };
    let thread = std::thread::Builder::new().name("accept".into()).spawn(accept);
    thread.map(|_| ()).map_err(|e| Error::io("serve", socket, e))
}

fn answer(stream: UnixStream, holds: &Mutex<ProcessHolds>, orders: &KeeperCommandSender) -> std::io::Result<()> {
    stream.set_read_timeout(Some(REQUEST_PATIENCE))?;
    stream.set_write_timeout(Some(REQUEST_PATIENCE))?;
    let mut reader = BufReader::new(stream);
    let ok = ControlReply { ok: true, ..ControlReply::default() };
    match receive_line(&mut reader)? {
        ControlRequest::Ping => send_line(reader.get_mut(), &ok),
        ControlRequest::Release => {
            send_line(reader.get_mut(), &ControlReply { why: Some("nothing is held".into()), ..ControlReply::default() })
        }
        ControlRequest::Stop => {
            orders.give(KeeperCommand::Stop);
            send_line(reader.get_mut(), &ok)
        }
        ControlRequest::Kill => {
            orders.give(KeeperCommand::Kill);
            send_line(reader.get_mut(), &ok)
        }
        ControlRequest::Hold { millis, pid } => {
            let requester = platform::peer(reader.get_ref()).unwrap_or(pid);
            keep_held(&mut reader, holds, requester, Duration::from_millis(millis).min(MAX_HOLD))
        }
    }
}

/// Carries out one hold: from the request to the release, the end of the connection, or the time limit.
fn keep_held(
    reader: &mut BufReader<UnixStream>,
    holds: &Mutex<ProcessHolds>,
    requester: i32,
    limit: Duration,
) -> std::io::Result<()> {
    let Some(held) = lock(holds).hold(Some(requester)) else {
        return send_line(
            reader.get_mut(),
            &ControlReply { why: Some("the iteration is just ending".into()), ..ControlReply::default() },
        );
    };
    let until = Instant::now() + limit;
    let told = send_line(reader.get_mut(), &ControlReply { ok: true, why: None, held: held.count, firm: held.stable });
    let asked = told.and_then(|()| {
        // A timeout of zero is not allowed.
        let left = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        reader.get_ref().set_read_timeout(Some(left))?;
        receive_line::<ControlRequest>(reader)
    });
    let lasted = lock(holds).release(held.id) && asked.is_ok();
    match asked {
        Ok(_) => send_line(reader.get_mut(), &ControlReply { ok: true, firm: lasted, ..ControlReply::default() }),
        Err(e) if matches!(e.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => {
            // The time is over. A later request for the release must be answered that the hold did not last.
            reader.get_ref().set_read_timeout(Some(MAX_HOLD))?;
            receive_line::<ControlRequest>(reader)?;
            send_line(reader.get_mut(), &ControlReply { ok: true, firm: false, ..ControlReply::default() })
        }
        Err(e) => Err(e),
    }
}
