//! One run of the agent program: start, watch, end, record.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitStatus};

use super::acp::connection::AcpConnection;
use super::agent;
use super::output::{AgentOutputCollector, AgentOutputSettings};
use super::recorded_keeper::Keeper;
use super::stream::{self, StreamRecorder};
use crate::client::control::{self, KeeperCommand};
use crate::client::proof_of_life::note_alive;
use crate::os::child_reaper::ChildReaper;
use crate::os::family::{self, EndedFamily, FamilyHead};
use crate::os::process_id::ProcessId;
use crate::os::sys;
use crate::run_folder::record_files;
use crate::run_folder::records::{EndCause, ExitRecord, OutputRecord, WorkOnDisk};
use crate::run_folder::spec::{self, KeeperStopSignal};
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_base::files::FolderToSync;
use axiom_base::platform;
use axiom_model::work::signals::markers::markers;
use axiom_model::work::signals::signal::AgentSignal;

/// How often the keeper checks everything where it cannot wait for events.
const TICK: Duration = Duration::from_millis(20);
/// How long the workspace may be missing: git replaces its `.git` when it repairs a worktree.
const MISSING: Duration = Duration::from_secs(1);
/// How often the descendants are noted: at first, and at most, while they stay the same.
const NOTE_FIRST: Duration = Duration::from_secs(1);
const NOTE_MOST: Duration = Duration::from_secs(30);
/// How long descendants may run after SIGTERM when the program itself has ended.
const DESCENDANTS_GRACE: Duration = Duration::from_millis(500);
/// How long to wait for the end of the output when all descendants have ended: another process may hold the pipe.
const DRAIN_PATIENCE: Duration = Duration::from_secs(3);
/// How long to retry writing the record of the end on a full disk.
const RECORD_PATIENCE: Duration = Duration::from_secs(600);
const MAX_MARKERS: usize = 16;

/// The end of the program, before it is recorded.
#[derive(Debug)]
struct ProgramEnd {
    cause: EndCause,
    status: Option<WaitStatus>,
    /// Whether its turn was over: a program that is talked to would wait for the next one, and is ended.
    is_over: bool,
    ended: EndedFamily,
    output: OutputRecord,
    tail: Vec<u8>,
}

impl ProgramEnd {
    fn unstarted(cause: EndCause) -> Self {
        Self {
            cause,
            status: None,
            is_over: false,
            ended: EndedFamily::default(),
            output: OutputRecord::default(),
            tail: Vec::new(),
        }
    }
}

/// Runs the program and records its end.
pub(crate) fn run(mut keeper: Keeper) -> Result<()> {
    let end = if has_worktree(&keeper) { start(&mut keeper) } else { ProgramEnd::unstarted(EndCause::LostWorkspace) };
    control::lock(&keeper.holds).close();
    // Signals of the last moment count too. Many signals are taken in several batches.
    while keeper.spool.take() > 0 {}
    env::fault_point("keeper.ended");
    // The record is the proof that the work exists, so the work is synced before it.
    let work = sync_work(&keeper);
    env::fault_point("keeper.work-synced");
    write_end(&keeper, end, work)?;
    env::fault_point("keeper.end-recorded");
    // Freed before the cleanup, which may take long, so that the next iteration can begin.
    drop(keeper.workspace_lock);
    files::remove_scratch(&keeper.record.runtime)
}

fn has_worktree(keeper: &Keeper) -> bool {
    keeper.spec.workspace.join(".git").exists()
}

fn start(keeper: &mut Keeper) -> ProgramEnd {
    let failed = |e: Error| ProgramEnd::unstarted(EndCause::SpawnFailed { why: e.to_string() });
    let mut child = match agent::start(&keeper.spec, &keeper.folders) {
        Ok(child) => child,
        Err(error) => return failed(error),
    };
    env::fault_point("keeper.program-started");
    let pid = i32::try_from(child.id()).unwrap_or(0);
    keeper.record.program = Some(sys::look(pid).map_or(ProcessId { pid, start: 0 }, |process| process.id));
    // Only a hint for a later process that finds this keeper dead: the environment of the processes shows it too.
    let _ = record_files::write_json(&keeper.record.dir.join(spec::KEEPER), &keeper.record);
    env::fault_point("keeper.program-recorded");
    let head = FamilyHead { pid, mark: format!("AXIOM_TOKEN={}", keeper.spec.token) };
    control::lock(&keeper.holds).watch(head.clone());
    let mut reaper = ChildReaper { program: Pid::from_raw(pid), status: None };
    let reading = &keeper.spec.reading;
    let read = reading.has_rules().then(|| stream::open(&keeper.spec, &keeper.rope));
    let (taps, mut told) = read.map_or(([None, None], None), |(taps, told)| (taps.map(Some), Some(told)));
    let mut acp = None;
    let pipes = child.stdout.take().zip(child.stderr.take());
    let output = pipes
        .ok_or_else(|| Error::new(Code::Internal, "a pipe is missing"))
        .and_then(|pipes| {
            let (taps, talks) = stream::talking(&keeper.spec, child.stdin.take(), taps)?;
            acp = talks;
            Ok((pipes, taps))
        })
        .and_then(|(pipes, taps)| {
            AgentOutputCollector::start(&keeper.spec.log, AgentOutputSettings::of(&keeper.spec), pipes, taps)
        });
    let output = match output {
        Ok(output) => output,
        Err(error) => {
            family::end_all(&head, Duration::ZERO, &mut || reaper.collect());
            return failed(error);
        }
    };
    let begun = Instant::now();
    let mut watch = ProgramWatch {
        keeper,
        head: &head,
        output: &output,
        told: &mut told,
        begun,
        heard: begun,
        missing: None,
        family: Vec::new(),
        note: (begun + NOTE_FIRST, NOTE_FIRST),
        asked: None,
        acp: &mut acp,
        cause: EndCause::Exited,
    };
    let grace = watch.until_end(&mut reaper);
    let cause = watch.cause;
    let is_over = watch.acp.as_ref().is_some_and(|acp| acp.over.is_some());
    control::lock(&keeper.holds).close();
    let ended = family::end_all(&head, grace, &mut || reaper.collect());
    reaper.collect();
    let (output, tail) = output.finish(DRAIN_PATIENCE);
    if let Some(told) = &mut told {
        told_to_the_end(told, keeper);
    }
    if let Some(acp) = &mut acp {
        acp.permissions.end(&mut keeper.spool);
    }
    let tail = if keeper.spec.reading.finds_texts() { Vec::new() } else { tail };
    ProgramEnd { cause, status: reaper.status, is_over, ended, output, tail }
}

/// Spools what was told last. A full disk may get free space again, and how the run has ended may depend on this.
fn told_to_the_end(told: &mut StreamRecorder, keeper: &mut Keeper) {
    let begun = Instant::now();
    while told.end(&mut keeper.spool).is_err() {
        if begun.elapsed() >= RECORD_PATIENCE || !keeper.record.dir.is_dir() || keeper.spool.is_broken() {
            break;
        }
        std::thread::sleep(Duration::from_secs(1));
    }
}

/// Watching the program while it runs.
struct ProgramWatch<'a> {
    keeper: &'a mut Keeper,
    head: &'a FamilyHead,
    output: &'a AgentOutputCollector,
    told: &'a mut Option<StreamRecorder>,
    begun: Instant,
    heard: Instant,
    /// Since when the workspace is missing.
    missing: Option<Instant>,
    family: Vec<ProcessId>,
    /// When the descendants are noted next, and the pause before.
    note: (Instant, Duration),
    /// When the stop signal was sent.
    asked: Option<Instant>,
    /// The session with a program that is talked to.
    acp: &'a mut Option<AcpConnection>,
    cause: EndCause,
}

impl ProgramWatch<'_> {
    /// Returns when the program has ended or has to be killed. The result is the grace period for its descendants.
    fn until_end(&mut self, reaper: &mut ChildReaper) -> Duration {
        loop {
            reaper.collect();
            if reaper.status.is_some() {
                return DESCENDANTS_GRACE;
            }
            match self.keeper.orders.next() {
                Some(KeeperCommand::Kill) => {
                    self.cause = EndCause::Killed;
                    return Duration::ZERO;
                }
                // The program may have ended by itself just now: then that is its end.
                Some(KeeperCommand::Stop) => {
                    reaper.collect();
                    if reaper.status.is_none() {
                        self.ask(EndCause::Stopped);
                    }
                    continue;
                }
                None => {}
            }
            if self.keeper.orders.is_terminated() {
                self.ask(EndCause::Stopped);
            }
            if let Some(Err(error)) = self.told.as_mut().map(|told| told.record(&mut self.keeper.spool)) {
                tracing::warn!(%error, "what the output says is not recorded yet");
            }
            if self.is_over() {
                return DESCENDANTS_GRACE;
            }
            let took = self.keeper.spool.take() > 0;
            self.keeper.spool.news().iter().for_each(|signal| self.output.report(signal));
            if took {
                self.heard = Instant::now();
            }
            let next_look = self.look();
            let left = self.limits();
            if left.is_zero() {
                return Duration::ZERO;
            }
            if took {
                // There may be more than it takes at once.
                continue;
            }
            let most = if self.keeper.bell.watch_again() { next_look.min(left) } else { TICK.min(left) };
            self.keeper.bell.wait(most);
        }
    }

    /// Looks after the session with a program that is talked to; returns whether it is over, and the program had the time to end by itself.
    fn is_over(&mut self) -> bool {
        self.acp.as_mut().is_some_and(|acp| acp.is_over(&mut self.keeper.spool))
    }

    /// Looks at the workspace and the descendants. Returns when to look again, if nothing rings.
    fn look(&mut self) -> Duration {
        note_alive(&self.keeper.record.dir);
        if has_worktree(self.keeper) {
            self.missing = None;
        } else if self.missing.get_or_insert_with(Instant::now).elapsed() >= MISSING {
            self.ask(EndCause::LostWorkspace);
        }
        let (at, pause) = self.note;
        if at <= Instant::now() {
            let changed = family::note(&self.keeper.record.runtime, self.head, &mut self.family);
            let pause = if changed { NOTE_FIRST } else { (pause * 2).min(NOTE_MOST) };
            self.note = (Instant::now() + pause, pause);
        }
        let until_noted = self.note.0.saturating_duration_since(Instant::now());
        let until_answered = self.acp.as_ref().map_or(Duration::MAX, AcpConnection::next_look);
        if self.missing.is_some() { TICK } else { until_noted.max(TICK).min(until_answered) }
    }

    /// Asks the program to end where it went beyond a limit. Returns when the next one comes; zero where the time that it had
    /// to end is over.
    fn limits(&mut self) -> Duration {
        let left = |limit: Option<u64>, passed: Duration| {
            limit.map_or(Duration::MAX, |limit| Duration::from_secs(limit).saturating_sub(passed))
        };
        if control::lock(&self.keeper.holds).is_any() {
            // A program that is held cannot say anything.
            self.heard = Instant::now();
        }
        // The time for which it waits for a human is not its own.
        let waits = self.acp.as_ref().is_some_and(|acp| acp.permissions.is_waited_for());
        self.heard = if waits { Instant::now() } else { self.heard };
        let waited = self.acp.as_ref().map_or(Duration::ZERO, |acp| acp.permissions.waited());
        let silent = self.output.silent_for().min(self.heard.elapsed());
        let of_time = left(self.keeper.spec.time_limit_seconds, self.begun.elapsed().saturating_sub(waited));
        let of_silence = left(self.keeper.spec.silence_limit_seconds, silent);
        if of_time.is_zero() {
            self.ask(EndCause::TimeLimit);
        } else if of_silence.is_zero() {
            self.ask(EndCause::SilenceLimit);
        }
        match self.asked {
            Some(asked) => self.keeper.spec.grace().saturating_sub(asked.elapsed()),
            None => of_time.min(of_silence),
        }
    }

    /// Sends the stop signal to the program and its process group. Its tools in other sessions are ended by the program, or
    /// by the keeper afterwards. Sent once: the first cause is kept.
    fn ask(&mut self, cause: EndCause) {
        if self.asked.is_some() {
            return;
        }
        self.asked = Some(Instant::now());
        self.cause = cause;
        // A held process would not react to a signal.
        control::lock(&self.keeper.holds).close();
        if let Some(acp) = self.acp.as_mut() {
            // Its program would only lose the end of the turn by a signal. After the time that it has, it is ended.
            acp.lines.cancel();
            acp.permissions.end(&mut self.keeper.spool);
            return;
        }
        let signal = match self.keeper.spec.stop_signal {
            KeeperStopSignal::Term => Signal::TERM,
            KeeperStopSignal::Int => Signal::INT,
            KeeperStopSignal::Hup => Signal::HUP,
            KeeperStopSignal::Quit => Signal::QUIT,
        };
        // The program was not waited for yet, so its process id, which is also the id of its group, cannot belong to another
        // process.
        if let Some(group) = Pid::from_raw(self.head.pid) {
            let _ = rustix::process::kill_process_group(group, signal);
        }
    }
}

/// Syncs everything that the program and its tools wrote. Their files are not known, so the whole file systems are synced.
fn sync_work(keeper: &Keeper) -> WorkOnDisk {
    match FolderToSync::sync_all(&keeper.written) {
        Ok(()) => WorkOnDisk::Synced,
        Err(error) => WorkOnDisk::Failed { why: error.to_string() },
    }
}

fn write_end(keeper: &Keeper, end: ProgramEnd, work: WorkOnDisk) -> Result<()> {
    let dir = &keeper.record.dir;
    // How the program ends that had nothing more to do says nothing.
    let status = end.status.filter(|_| !end.is_over);
    let mut said: Vec<AgentSignal> = markers(&String::from_utf8_lossy(&end.tail), &keeper.spec.token);
    let older = said.len().saturating_sub(MAX_MARKERS);
    said.drain(..older);
    if !end.tail.is_empty() {
        // The tail alone decides nothing, so a failure to write it is no error.
        let _ = files::write_atomic_unsynced(&dir.join(spec::TAIL), &end.tail);
    }
    let record = ExitRecord {
        v: record_files::VERSION,
        token: keeper.spec.token.clone(),
        iteration: keeper.spec.iteration,
        started_at: keeper.record.started_at,
        ended_at: env::now(),
        lasted_millis: u64::try_from(keeper.begun.elapsed().as_millis()).ok(),
        cause: end.cause,
        code: if end.is_over { Some(0) } else { status.and_then(WaitStatus::exit_status) },
        signal: status.and_then(WaitStatus::terminating_signal),
        output: end.output,
        markers: said,
        signals: keeper.spool.recorded(),
        cpu_millis: platform::children_cpu_millis(),
        ended_descendants: end.ended.count,
        survivors: end.ended.survivors,
        work,
    };
    let begun = Instant::now();
    loop {
        match record_files::write_json(&dir.join(spec::EXIT), &record) {
            Ok(()) => return Ok(()),
            // Without its folder (the repository was deleted), no process can read the record.
            Err(error) if begun.elapsed() >= RECORD_PATIENCE || !dir.is_dir() => return Err(error),
            // A full disk may get free space again. Without this record, a finished iteration would count as crashed.
            Err(_) => std::thread::sleep(Duration::from_secs(1)),
        }
    }
}
