//! Starting a session in the background, and waiting until it has begun.

use std::ffi::OsString;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use signal_hook::consts::SIGCHLD;

use super::shown::notice::{SessionNotice, SessionWatcher};
use axiom_base::error::{Code, Error, Result};
use axiom_base::own_process::session;
use axiom_base::{env, files};
use axiom_model::base::ids::SessionId;
use axiom_process::os::detached;
use axiom_safety::context::event_waiter::LogEventWaiter;
use axiom_safety::context::handle::Context;

/// How long it may take to begin: repairs and the first checkpoint come first.
const PATIENCE: Duration = Duration::from_secs(120);

/// How many bytes of its output are searched for its error.
const MOST_SAID: u64 = 64 * 1024;

/// The size at which the file with the output of sessions is put aside, in bytes, and how many of these are kept.
const LOG_LIMIT: u64 = 5_000_000;
const LOGS_KEPT: u32 = 3;

/// A session that has begun.
#[derive(Debug)]
pub struct DetachedSession {
    /// The supervisor's process id.
    pub pid: u32,
    /// The session.
    pub session: SessionId,
    /// The file with its output.
    pub log: PathBuf,
    /// Whether it has ended already.
    pub ended: bool,
}

/// Starts the present command line again, in the background, and waits until its session has begun: its lock is held and its
/// first checkpoint is made. If this process dies meanwhile, the session continues.
pub fn start(ctx: &mut Context) -> Result<DetachedSession> {
    if ctx.supervisor_alive()? {
        return Err(super::another_runs());
    }
    ctx.layout().ensure()?;
    let log = ctx.layout().session_log();
    put_aside(&log);
    let mut file = files::open_append(&log)?;
    let offset = file.seek(SeekFrom::End(0)).map_err(|e| Error::io("read", &log, e))?;
    let mut waiting = LogEventWaiter::begin();
    waiting.also_for(SIGCHLD);
    let mut child = detached::start(&arguments(env::arguments()), file)?;
    let (pid, started) = (child.id(), Instant::now());
    loop {
        let exited = child.try_wait().map_err(|e| Error::io("wait for", Path::new("git-axiom"), e))?;
        ctx.store.refresh()?;
        let session = ctx.state().record.session.as_ref().filter(|session| session.pid == pid);
        let begun = session.filter(|session| session.start_checkpoint.is_some());
        if let Some(session) = begun {
            return Ok(DetachedSession { pid, session: session.id.clone(), log, ended: exited.is_some() });
        }
        if exited.is_some() {
            return Err(what_it_said(&log, offset));
        }
        if started.elapsed() > PATIENCE {
            return Err(Error::new(Code::Busy, format!("the session of process {pid} has not begun yet"))
                .hint(format!("see {} and 'git axiom status'", log.display())));
        }
        waiting.for_the_log(ctx);
    }
}

/// Puts the file with the output of sessions aside where it is large.
fn put_aside(log: &Path) {
    if let Err(error) = files::rotate(log, LOG_LIMIT, LOGS_KEPT) {
        tracing::warn!(%error, "the output of sessions goes on growing");
    }
}

/// The watcher of a session in the background: its output goes to a new file where the present one has become large.
pub struct BackgroundWatcher<'a> {
    inner: &'a mut dyn SessionWatcher,
    log: PathBuf,
}

impl<'a> BackgroundWatcher<'a> {
    /// Passes notices on; the output goes to this file.
    pub fn new(inner: &'a mut dyn SessionWatcher, log: PathBuf) -> Self {
        Self { inner, log }
    }

    /// A line that another process writes meanwhile goes to the file that it has open: none is lost.
    fn begin_a_new_file_where_due(&self) {
        let is_large = files::metadata(&self.log).ok().flatten().is_some_and(|found| found.len() >= LOG_LIMIT);
        if !is_large {
            return;
        }
        put_aside(&self.log);
        let done = files::open_append(&self.log).and_then(|file| session::output_goes_to(&file, &self.log));
        if let Err(error) = done {
            tracing::warn!(%error, "the output of the session goes on to the file that was put aside");
        }
    }
}

impl SessionWatcher for BackgroundWatcher<'_> {
    fn notice(&mut self, notice: SessionNotice) {
        self.inner.notice(notice);
        self.begin_a_new_file_where_due();
    }
}

/// This process's arguments, changed for the one in the background.
fn arguments(ours: Vec<OsString>) -> Vec<OsString> {
    let mut rest = false;
    let mut arguments = Vec::new();
    for argument in ours.into_iter().skip(1) {
        rest |= argument == "--";
        if !rest && argument == "--json" {
            continue;
        }
        arguments.push(if !rest && (argument == "--detach" || argument == "--panel") { "--detached".into() } else { argument });
    }
    arguments
}

/// The error that the other process printed.
fn what_it_said(log: &Path, offset: u64) -> Error {
    let mut bytes = Vec::new();
    let read = std::fs::File::open(log).and_then(|mut file| {
        file.seek(SeekFrom::Start(offset))?;
        file.take(MOST_SAID).read_to_end(&mut bytes)
    });
    let said = String::from_utf8_lossy(&bytes);
    let error = read.ok().and_then(|_| parse(&said));
    error.unwrap_or_else(|| {
        Error::new(Code::Internal, "the session in the background ended before it had begun")
            .hint(format!("see {}", log.display()))
    })
}

/// Reads `error[CODE]: …` and the hints after it.
fn parse(said: &str) -> Option<Error> {
    let mut lines = said.lines().skip_while(|line| !line.starts_with("error["));
    let (code, what) = lines.next()?.strip_prefix("error[")?.split_once("]: ")?;
    let code = Code::ALL.iter().find(|known| known.as_str() == code)?;
    let hints = lines.filter_map(|line| line.strip_prefix("hint: ").map(str::to_owned));
    Some(Error::new(*code, what).hints_of(hints))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_options_are_changed() {
        let ours = ["git-axiom", "--json", "run", "--detach", "--agents", "2", "--", "x", "--detach", "--json"];
        let theirs = arguments(ours.into_iter().map(OsString::from).collect());
        assert_eq!(theirs, ["run", "--detached", "--agents", "2", "--", "x", "--detach", "--json"]);
    }

    #[test]
    fn its_error_becomes_ours() {
        let said = "12:00:00 recovered: x\nerror[UNBORN_BRANCH]: the branch has no commit yet\nhint: make one\n";
        let error = parse(said).unwrap();
        assert_eq!((error.code(), error.hints()), (Code::UnbornBranch, &["make one".to_owned()][..]));
        assert_eq!(error.to_string(), "the branch has no commit yet");
        assert!(parse("nothing of the kind").is_none());
    }
}
