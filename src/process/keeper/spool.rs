//! The way of a signal from the agent to its keeper: files in the agent's own temporary folder. This works where a sandbox
//! makes everything else read-only, and needs no lock.
//!
//! The agent's side ([`submit`]) writes a file under a temporary name and renames it to `<order>-<id>.json`. The keeper's
//! side ([`SignalSpool`]) records the signal durably and then writes `<order>-<id>.ack`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::client::state::{ReceivedSignal, signal_line};
use crate::run_folder::record_files;
use crate::run_folder::spec;
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_base::files::AppendFile;
use axiom_model::base::ids::Token;
use axiom_model::work::signals::signal::AgentSignal;

/// How long [`submit`] waits by default.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// The largest request, in bytes: a text of maximum length with every byte escaped.
const MAX_REQUEST: u64 = 512 * 1024;
/// The largest number of signals in one iteration.
const MAX_SIGNALS: u64 = 10_000;
/// The largest size of these signals on disk, in bytes.
const MAX_BYTES: u64 = 64 * 1024 * 1024;
/// How many requests are handled at once, so that many requests do not keep the keeper from its other work.
const BATCH: usize = 64;

#[derive(Debug, Serialize, Deserialize)]
struct SpoolRequest {
    token: String,
    signal: AgentSignal,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum SpoolAnswer {
    Recorded,
    Refused(String),
}

/// Passes `signal` to the keeper that reads `spool`, and waits until it is on disk. A crash leaves a request that the keeper
/// handles, or a file `.new-…` that is ignored.
pub fn submit(spool: &Path, token: &Token, signal: AgentSignal, patience: Duration) -> Result<()> {
    let request = SpoolRequest { token: token.to_string(), signal: signal.validated()? };
    let json = serde_json::to_vec(&request).map_err(|e| record_files::unreadable(spool).because(e))?;
    if !spool.parent().is_some_and(Path::is_dir) {
        return Err(nobody());
    }
    files::create_dir_all(spool)?;
    let name = format!("{:016}-{}", env::now().as_millisecond(), env::fresh_id());
    let (new, wanted, ack) =
        (spool.join(format!(".new-{name}")), spool.join(format!("{name}.json")), spool.join(format!("{name}.ack")));
    put(&new, &wanted, &json)?;
    let begun = Instant::now();
    loop {
        if let Some(bytes) = files::read_optional(&ack, MAX_REQUEST)? {
            files::remove_file(&ack)?;
            return match serde_json::from_slice(&bytes) {
                Ok(SpoolAnswer::Recorded) => Ok(()),
                Ok(SpoolAnswer::Refused(why)) => Err(Error::new(Code::AgentFailed, "the signal was refused").why(why)),
                Err(e) => Err(record_files::unreadable(&ack).because(e)),
            };
        }
        if begun.elapsed() >= patience {
            files::remove_file(&wanted)?;
            return Err(nobody());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn nobody() -> Error {
    Error::new(Code::KeeperFailed, "the keeper of this iteration does not answer").hint("the iteration may have ended")
}

/// Writes a file under a temporary name and renames it, so that a reader sees all of it or nothing.
fn put(new: &Path, name: &Path, bytes: &[u8]) -> Result<()> {
    files::write_scratch(new, bytes)?;
    env::fault_point("spool.before-rename");
    files::rename_no_replace(new, name).map(|_| ())
}

/// The keeper's side.
#[derive(Debug)]
pub struct SignalSpool {
    folder: PathBuf,
    token: Token,
    log: AppendFile,
    recorded: u64,
    /// How many of them the agent has sent.
    reported: u64,
    bytes: u64,
    /// Set after a failed sync: from then on no signal can be acknowledged.
    broken: Option<String>,
    /// Requests that were handled and cannot be removed.
    stuck: BTreeSet<PathBuf>,
    /// The reports of the agent that were recorded since somebody asked.
    news: Vec<AgentSignal>,
}

impl SignalSpool {
    /// Creates the spool's folder, and `signals.jsonl` in the folder of the run.
    pub fn open(folder: &Path, dir: &Path, token: Token) -> Result<Self> {
        // No signal waits for an answer in it once the machine has stopped.
        files::create_dirs_unsynced(folder)?;
        let log = AppendFile::open(&dir.join(spec::SIGNALS))?;
        Ok(Self {
            folder: folder.to_owned(),
            token,
            log,
            recorded: 0,
            reported: 0,
            bytes: 0,
            broken: None,
            stuck: BTreeSet::new(),
            news: Vec::new(),
        })
    }

    /// Whether nothing more can be recorded.
    pub fn is_broken(&self) -> bool {
        self.broken.is_some()
    }

    /// The reports of the agent that were recorded since the last call.
    pub fn news(&mut self) -> Vec<AgentSignal> {
        std::mem::take(&mut self.news)
    }

    /// How many signals were recorded.
    pub fn recorded(&self) -> u64 {
        self.recorded
    }

    /// Records the waiting signals, oldest first: each is appended and synced, then acknowledged. Returns how many requests
    /// were handled. After a crash in between, a signal may be recorded although its sender gets no answer.
    pub fn take(&mut self) -> usize {
        let mut handled = 0;
        for path in self.requests() {
            let answer = self.record(&path);
            env::fault_point("spool.before-ack");
            let bytes = serde_json::to_vec(&answer).unwrap_or_default();
            let ack = path.with_extension("ack");
            // The sender may have ended and deleted its folder: the signal is recorded anyway.
            let _ = put(&path.with_extension("ack-new"), &ack, &bytes);
            if files::remove_file(&path).is_err() {
                // Its folder is read-only, for example. It is not recorded again.
                self.stuck.insert(path);
            }
            handled += 1;
        }
        handled
    }

    /// Records what the keeper itself has read: all of it is appended and synced at once, or none. Its caller limits how much it is.
    pub fn record_all(&mut self, signals: &[AgentSignal]) -> Result<()> {
        if let Some(why) = &self.broken {
            return Err(Error::new(Code::IoFailed, why.clone()));
        }
        let mut lines = Vec::new();
        for signal in signals {
            let id = format!("{:016}-{}", env::now().as_millisecond(), env::fresh_id());
            lines.extend(signal_line(&ReceivedSignal { at: env::now(), id, signal: signal.clone() })?);
        }
        self.log.append(&lines)?;
        env::fault_point("spool.stream-appended");
        self.log.sync().inspect_err(|why| self.broken = Some(why.to_string()))?;
        self.recorded += signals.len() as u64;
        Ok(())
    }

    fn requests(&self) -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(&self.folder) else { return Vec::new() };
        let mut found: Vec<PathBuf> = entries
            .flatten()
            // Only regular files: opening a fifo would block.
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
            .map(|entry| entry.path())
            .filter(|path| !self.stuck.contains(path))
            .filter(|path| path.extension().is_some_and(|end| end == "json"))
            .filter(|path| path.file_name().is_some_and(|name| !name.as_encoded_bytes().starts_with(b".")))
            .collect();
        found.sort();
        found.truncate(BATCH);
        found
    }

    fn record(&mut self, path: &Path) -> SpoolAnswer {
        let refused = |why: &dyn std::fmt::Display| SpoolAnswer::Refused(why.to_string());
        if let Some(why) = &self.broken {
            return refused(why);
        }
        if self.reported >= MAX_SIGNALS {
            return refused(&format!("this iteration has given {MAX_SIGNALS} signals"));
        }
        let request: SpoolRequest = match files::read(path, MAX_REQUEST).map(|bytes| serde_json::from_slice(&bytes)) {
            Ok(Ok(request)) => request,
            Ok(Err(why)) => return refused(&why),
            Err(why) => return refused(&why),
        };
        if request.token != self.token.as_str() {
            return refused(&"its token belongs to another iteration");
        }
        if request.signal.is_of_output() {
            return refused(&"only the output of a program says that");
        }
        let signal = match request.signal.validated() {
            Ok(signal) => signal,
            Err(why) => return refused(&why),
        };
        let id = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let line = match signal_line(&ReceivedSignal { at: env::now(), id, signal: signal.clone() }) {
            Ok(line) => line,
            Err(why) => return refused(&why),
        };
        if self.bytes + line.len() as u64 > MAX_BYTES {
            return refused(&format!("the signals of this iteration take more than {MAX_BYTES} bytes"));
        }
        if let Err(why) = self.log.append(&line) {
            return refused(&why);
        }
        env::fault_point("spool.appended");
        if let Err(why) = self.log.sync() {
            self.broken = Some(why.to_string());
            return refused(&why);
        }
        self.recorded += 1;
        self.reported += 1;
        self.bytes += line.len() as u64;
        self.news.push(signal);
        SpoolAnswer::Recorded
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]
    use super::*;
    use crate::bound::bound_by_permissions;
    use crate::client::state::read_signals;

    fn token(text: &str) -> Token {
        Token::new(text).unwrap()
    }

    #[test]
    fn signals_are_recorded_in_order_and_then_acknowledged() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("spool");
        let mut spool = SignalSpool::open(&folder, dir.path(), token("t1")).unwrap();
        let sender = std::thread::spawn({
            let folder = folder.clone();
            move || {
                for percent in 0..20 {
                    submit(&folder, &token("t1"), AgentSignal::Progress { percent }, PATIENCE).unwrap();
                }
                submit(&folder, &token("t2"), AgentSignal::Complete {}, PATIENCE).unwrap_err()
            }
        });
        while !sender.is_finished() {
            spool.take();
        }
        let error = sender.join().unwrap();
        assert!(error.to_string().contains("another iteration"), "{error}");
        let read = read_signals(dir.path(), 0).unwrap();
        let expected: Vec<AgentSignal> = (0..20).map(|percent| AgentSignal::Progress { percent }).collect();
        assert_eq!(read.signals.into_iter().map(|received| received.signal).collect::<Vec<_>>(), expected);
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    }

    #[test]
    fn nobody_there_is_said_and_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let error = submit(dir.path(), &token("t"), AgentSignal::Complete {}, Duration::from_millis(30)).unwrap_err();
        assert_eq!(error.code(), Code::KeeperFailed);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn rubbish_is_refused_and_a_pipe_does_not_block() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("spool");
        let mut spool = SignalSpool::open(&folder, dir.path(), token("t")).unwrap();
        std::fs::write(folder.join("1.json"), b"{").unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, folder.join("2.json"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        assert_eq!(spool.take(), 1);
        assert!(std::fs::read_to_string(folder.join("1.ack")).unwrap().contains("refused"));
        assert_eq!(spool.recorded(), 0);
    }

    /// An agent may take away its own right to change the folder.
    #[test]
    fn a_request_that_cannot_be_removed_is_recorded_once() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("spool");
        let mut spool = SignalSpool::open(&folder, dir.path(), token("t")).unwrap();
        let request = SpoolRequest { token: "t".into(), signal: AgentSignal::Progress { percent: 1 } };
        std::fs::write(folder.join("1.json"), serde_json::to_vec(&request).unwrap()).unwrap();
        let set_mode = |mode| std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(mode)).unwrap();
        set_mode(0o555);
        bound_by_permissions(|| assert_eq!([spool.take(), spool.take()], [1, 0]));
        assert_eq!(spool.recorded(), 1);
        set_mode(0o755);
    }
}
