//! The life of a conversation: both directions, and what follows from each end of it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use std::os::fd::AsFd;

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;

use super::conversation::{AcpConversation, AcpSide};
use super::pass_on::pass_on;
use super::saver::AcpSaver;
use axiom_base::error::{Code, Error, Result};
use axiom_base::own_process::session;
use axiom_model::attach::acp::watcher::AcpWatcher;
use axiom_model::attach::act::BEHIND_ACP;
use axiom_process::os::foreground::{is_in_the_foreground, status_of};
use axiom_process::os::guarded::{GuardedProgram, ProgramGuard, own_number};

/// How long an agent has to end after its editor has.
const GRACE: Duration = Duration::from_secs(5);
/// How long its guard has to end its family: longer than that takes.
const TO_END: Duration = Duration::from_secs(10);
/// How long the last lines, and the last calls, may take after the end of the agent.
const LAST: Duration = Duration::from_secs(3);

/// An agent between whose lines we are.
#[derive(Debug)]
pub struct AcpRun {
    /// The agent and its arguments.
    pub command: Vec<OsString>,
    /// Our folder, in which sessions are of which no folder is known.
    pub folder: PathBuf,
    /// Whether the agent is told what a human took back.
    pub tells: bool,
}

/// What happens to the conversation.
enum AcpRunEvent {
    /// The editor sends no more, or the agent reads no more.
    EditorDone,
    /// The agent sends no more, or the editor reads no more.
    AgentDone,
    /// We are asked to end.
    Signal,
    /// The agent and its family have ended.
    Ended(std::io::Result<ExitStatus>),
}

/// Runs the agent until one of the two ends, and returns its exit status.
pub fn run(wanted: AcpRun) -> Result<u8> {
    let mut arguments: Vec<OsString> = vec!["acp".into(), "--guard".into(), own_number().to_string().into(), "--".into()];
    arguments.extend(wanted.command.iter().cloned());
    let mut program = GuardedProgram::start(&arguments, &[(BEHIND_ACP, "1")])?;
    let guard = program.guard();
    let Some((to_agent, from_agent)) = program.pipes() else { return Err(Error::new(Code::Internal, "the agent has no pipes")) };
    let saver = AcpSaver::begin(wanted.folder)?;
    let watcher = Arc::new(Mutex::new(AcpWatcher::new(name_of(&wanted.command))));
    let has_ended = Arc::new(AtomicBool::new(false));
    let side = |side| {
        let (watcher, saver, has_ended) = (watcher.clone(), saver.clone(), has_ended.clone());
        AcpConversation { side, watcher, saver, tells: wanted.tells, has_ended }
    };
    let (tell, events) = mpsc::channel();
    let (mut editor, mut agent) = (side(AcpSide::Editor), side(AcpSide::Agent));
    let from_editor = session::own_pipe(std::io::stdin().as_fd())?;
    let to_editor = session::own_pipe(std::io::stdout().as_fd())?;
    in_thread("editor", &tell, move || {
        pass_on(from_editor, to_agent, &mut editor);
        AcpRunEvent::EditorDone
    })?;
    in_thread("agent", &tell, move || {
        pass_on(from_agent, to_editor, &mut agent);
        AcpRunEvent::AgentDone
    })?;
    let to_note = has_ended.clone();
    in_thread("end", &tell, move || {
        let status = program.wait();
        to_note.store(true, Ordering::Relaxed);
        AcpRunEvent::Ended(status)
    })?;
    watch_signals(&tell)?;
    let status = until_the_end(&events, guard)?;
    let ends = watcher.lock().unwrap_or_else(PoisonError::into_inner).ends();
    saver.finish(ends, LAST);
    Ok(status)
}

/// Waits for the end of the agent, and sees to it once it is wanted.
fn until_the_end(events: &Receiver<AcpRunEvent>, guard: ProgramGuard) -> Result<u8> {
    let (mut is_open, mut end_at, mut kill_at) = (true, None::<Instant>, None::<Instant>);
    let ended = loop {
        let next = kill_at.or(end_at).map(|at| at.saturating_duration_since(Instant::now()));
        match events.recv_timeout(next.unwrap_or(Duration::from_secs(3600))) {
            Ok(AcpRunEvent::EditorDone) => end_at = end_at.or(Some(Instant::now() + GRACE)),
            Ok(AcpRunEvent::AgentDone) => {
                is_open = false;
                end_at = end_at.or(Some(Instant::now() + GRACE));
            }
            Ok(AcpRunEvent::Signal) => end_at = Some(Instant::now()),
            Ok(AcpRunEvent::Ended(status)) => break status,
            Err(RecvTimeoutError::Timeout) if kill_at.is_some_and(|at| at <= Instant::now()) => {
                guard.kill();
                kill_at = Some(Instant::now() + TO_END);
            }
            Err(RecvTimeoutError::Timeout) if end_at.is_some_and(|at| at <= Instant::now()) && kill_at.is_none() => {
                guard.end();
                kill_at = Some(Instant::now() + TO_END);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(Error::new(Code::Internal, "nobody waits for the agent")),
        }
    };
    // What it said last is passed on.
    let begun = Instant::now();
    while is_open && begun.elapsed() < LAST {
        match events.recv_timeout(LAST.saturating_sub(begun.elapsed())) {
            Ok(AcpRunEvent::AgentDone) => is_open = false,
            Ok(AcpRunEvent::EditorDone | AcpRunEvent::Signal | AcpRunEvent::Ended(_)) => {}
            Err(_) => break,
        }
    }
    ended.map(status_of).map_err(|e| Error::new(Code::Internal, "the agent's end was not seen").because(e))
}

fn in_thread(name: &'static str, tell: &Sender<AcpRunEvent>, work: impl FnOnce() -> AcpRunEvent + Send + 'static) -> Result<()> {
    let tell = tell.clone();
    let work = move || drop(tell.send(work()));
    let begun = std::thread::Builder::new().name(name.into()).spawn(work);
    begun.map(drop).map_err(|e| Error::new(Code::IoFailed, "no thread can be started").because(e))
}

/// A key of the terminal reaches the agent itself.
fn watch_signals(tell: &Sender<AcpRunEvent>) -> Result<()> {
    let failed = |e: std::io::Error| Error::new(Code::Internal, "cannot watch for signals").because(e);
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM]).map_err(failed)?;
    let tell = tell.clone();
    let work = move || {
        for signal in signals.forever() {
            if matches!(signal, SIGHUP | SIGTERM) || !is_in_the_foreground() {
                drop(tell.send(AcpRunEvent::Signal));
            }
        }
    };
    let begun = std::thread::Builder::new().name("signals".into()).spawn(work);
    begun.map(drop).map_err(failed)
}

/// Programs that only start one.
const STARTERS: [&str; 12] = ["npx", "bunx", "uvx", "uv", "run", "node", "bun", "deno", "env", "python", "python3", "sh"];

/// The longest name that is one.
const LONGEST_NAME: usize = 40;

/// What an agent is called: its program, past those that only start one, and past what is no name of a program.
fn name_of(command: &[OsString]) -> String {
    let names = || command.iter().map(|word| Path::new(word).file_name().unwrap_or_default().to_string_lossy().into_owned());
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '@');
    let is_one =
        |name: &String| !name.is_empty() && !name.starts_with('-') && name.len() <= LONGEST_NAME && name.chars().all(is_plain);
    let own = names().find(|name| is_one(name) && !STARTERS.contains(&name.as_str()));
    own.or_else(|| names().next()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_called_by_its_program() {
        let name = |words: &[&str]| name_of(&words.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(name(&["/opt/bin/goose", "acp"]), "goose");
        assert_eq!(name(&["npx", "-y", "@agentclientprotocol/claude-agent-acp"]), "claude-agent-acp");
        assert_eq!(name(&["python3", "-u", "-c", "import sys\nfor line in sys.stdin: pass"]), "python3");
        assert_eq!(name(&[]), "");
    }
}
