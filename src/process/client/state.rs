//! The state of a run, read from its files and locks only, so that a restarted supervisor can read it too.

use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::run_folder::record_files;
use crate::run_folder::records::{ExitRecord, KeeperRecord, KeeperState};
use crate::run_folder::spec;
use axiom_base::error::{Code, Error, Result};
use axiom_base::{env, files};
use axiom_model::base::sealed;
use axiom_model::work::agent::IterationStage;
use axiom_model::work::signals::signal::AgentSignal;

/// How many bytes one call reads: more than any line has.
const MAX_READ: u64 = 16 * 1024 * 1024;

/// A signal as recorded by its keeper.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReceivedSignal {
    /// When it was recorded.
    pub at: Timestamp,
    /// The id that the sender gave it.
    pub id: String,
    /// The signal.
    pub signal: AgentSignal,
}

/// The result of [`read_signals`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SignalsRead {
    /// The signals, in order.
    pub signals: Vec<ReceivedSignal>,
    /// The offset for the next call. One call reads a limited amount: call again until this stays the same.
    pub next: u64,
    /// How many complete lines were damaged, and were skipped.
    pub damaged: u64,
}

/// The state of the run in the folder `dir`.
pub fn keeper_state(dir: &Path) -> Result<KeeperState> {
    // A keeper writes exit.json before it frees its lock. So if the lock is free and there is no exit.json afterwards, there
    // will never be one. Reading the file only before checking the lock would report a keeper as dead that ended in between.
    let exit: Option<ExitRecord> = record_files::read_record(&dir.join(spec::EXIT))?;
    let locked = if exit.is_some() { false } else { files::is_locked(&dir.join(spec::KEEPER_LOCK))? };
    let record: Result<Option<KeeperRecord>> = record_files::read_record(&dir.join(spec::KEEPER));
    let exit = if exit.is_some() { exit } else { record_files::read_record(&dir.join(spec::EXIT))? };
    let boot = env::boot_id();
    // An end that is proved without the record of the keeper needs none, damaged or not.
    let record = match (record, &exit) {
        (Err(_), Some(exit)) if exit.is_proved(None, &boot) => None,
        (record, _) => record?,
    };
    Ok(match (exit, locked, record) {
        (Some(exit), _, record) if exit.is_proved(record.as_ref(), &boot) => KeeperState::Ended(exit),
        (Some(_), _, Some(record)) => KeeperState::Unproved(record),
        (Some(_), _, None) => {
            return Err(record_files::unreadable(dir).why(format!("there is a {} without a {}", spec::EXIT, spec::KEEPER)));
        }
        (None, true, Some(record)) => KeeperState::Alive(record),
        (None, true, None) => KeeperState::Starting,
        (None, false, Some(record)) if record.boot != boot => KeeperState::Unproved(record),
        (None, false, Some(record)) => KeeperState::Dead(record),
        (None, false, None) => KeeperState::NotStarted,
    })
}

/// What became of an iteration, by its record in the log and by its keeper's folder.
#[derive(Debug, Clone, PartialEq)]
pub enum IterationState {
    /// What its keeper recorded.
    Known(KeeperState),
    /// It was begun, no keeper is alive, and what its keeper recorded is gone or damaged: why.
    Lost(String),
}

/// The state of an iteration whose keeper's folder is `dir`.
pub fn iteration_state(dir: &Path, stage: &IterationStage) -> Result<IterationState> {
    match (keeper_state(dir), stage) {
        (Err(error), _) if error.code() == Code::KeeperFailed && !crate::client::state::is_kept(dir)? => {
            Ok(IterationState::Lost(error.to_string()))
        }
        (Ok(KeeperState::NotStarted), IterationStage::Running { .. }) => {
            Ok(IterationState::Lost("nothing is recorded of it any more".to_owned()))
        }
        (state, IterationStage::Intended { .. } | IterationStage::Running { .. } | IterationStage::Between { .. }) => {
            Ok(IterationState::Known(state?))
        }
    }
}

/// The line of `signals.jsonl` for a signal, with its checksum and line feed.
pub(crate) fn signal_line(received: &ReceivedSignal) -> Result<Vec<u8>> {
    record_files::sealed_line(Path::new(spec::SIGNALS), received)
}

/// The signals that a keeper recorded in `dir`, from byte `from` on. A line that is still being written is left for the
/// next call.
pub fn read_signals(dir: &Path, from: u64) -> Result<SignalsRead> {
    let path = dir.join(spec::SIGNALS);
    let mut read = SignalsRead { next: from, ..SignalsRead::default() };
    let failed = |e| Error::io("read", &path, e);
    // The usual case: a watching supervisor looks often, and an agent says little.
    if std::fs::metadata(&path).is_ok_and(|meta| meta.len() == from) {
        return Ok(read);
    }
    let mut file = match File::open(&path) {
        Ok(file) => file,
        Err(e) if e.kind() == ErrorKind::NotFound && from == 0 => return Ok(read),
        Err(e) => return Err(failed(e)),
    };
    let length = file.seek(SeekFrom::End(0)).map_err(failed)?;
    if from > length {
        return Err(failed(std::io::Error::other(format!("it has {length} bytes, reading begins at {from}"))));
    }
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(from)).map_err(failed)?;
    file.take(MAX_READ).read_to_end(&mut bytes).map_err(failed)?;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let Some(whole) = line.strip_suffix(b"\n") else { break };
        read.next += line.len() as u64;
        match parse_signal(whole) {
            Some(signal) => read.signals.push(signal),
            None => read.damaged += 1,
        }
    }
    Ok(read)
}

fn parse_signal(line: &[u8]) -> Option<ReceivedSignal> {
    let open = std::str::from_utf8(sealed::opened(line, &[]).ok()?).ok()?;
    serde_json::from_str(&format!("{open}}}")).ok()
}

/// Whether the keeper of a run is alive.
pub fn is_kept(run: &Path) -> Result<bool> {
    files::is_locked(&run.join(spec::KEEPER_LOCK))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]
    use super::*;

    fn record() -> KeeperRecord {
        KeeperRecord {
            boot: axiom_base::env::boot_id(),
            ..serde_json::from_str(include_str!("../../../fixtures/records/keeper.json")).unwrap()
        }
    }

    /// What is left of a record that a machine, a disk, or a human damaged.
    fn damages(whole: &[u8]) -> Vec<(&'static str, Option<Vec<u8>>)> {
        let mut altered = whole.to_vec();
        altered[60] ^= 1;
        let newer =
            record_files::sealed_line(Path::new("x"), &KeeperRecord { v: record_files::VERSION + 1, ..record() }).unwrap();
        vec![
            ("gone", None),
            ("empty", Some(Vec::new())),
            ("truncated", Some(whole[..whole.len() / 2].to_vec())),
            ("NUL", Some(vec![0; whole.len()])),
            ("another object", Some(b"{\"a\":1}\n".to_vec())),
            ("no checksum", Some(serde_json::to_vec(&record()).unwrap())),
            ("no object", Some(b"[]\n".to_vec())),
            ("another byte", Some(altered)),
            ("not UTF-8", Some(vec![0xff; 20])),
            ("another version", Some(newer)),
        ]
    }

    #[test]
    fn an_iteration_whose_keepers_record_is_damaged_is_lost_unless_its_end_is_proved() {
        let whole = record_files::sealed_line(Path::new("x"), &record()).unwrap();
        let stage = IterationStage::Running { token: record().token, pid: 1 };
        let exit: ExitRecord = serde_json::from_str(include_str!("../../../fixtures/records/exit.json")).unwrap();
        let unsynced = ExitRecord { work: crate::run_folder::records::WorkOnDisk::Unknown, ..exit.clone() };
        let state = |content: Option<&[u8]>, exit: Option<&ExitRecord>| {
            let dir = tempfile::tempdir().unwrap();
            content.into_iter().for_each(|bytes| std::fs::write(dir.path().join(spec::KEEPER), bytes).unwrap());
            exit.into_iter().for_each(|exit| record_files::write_json(&dir.path().join(spec::EXIT), exit).unwrap());
            iteration_state(dir.path(), &stage).unwrap()
        };
        assert_eq!(state(Some(&whole), None), IterationState::Known(KeeperState::Dead(record())));
        assert_eq!(state(Some(&whole), Some(&exit)), IterationState::Known(KeeperState::Ended(exit.clone())));
        for (what, content) in damages(&whole) {
            let content = content.as_deref();
            assert!(matches!(state(content, None), IterationState::Lost(_)), "{what}: {:?}", state(content, None));
            assert!(matches!(state(content, Some(&unsynced)), IterationState::Lost(_)), "{what}, not synced");
            assert_eq!(state(content, Some(&exit)), IterationState::Known(KeeperState::Ended(exit.clone())), "{what}, ended");
        }
    }

    #[test]
    fn a_torn_line_waits_and_a_damaged_one_is_counted() {
        let dir = tempfile::tempdir().unwrap();
        let signal = |id: &str| ReceivedSignal { at: Timestamp::UNIX_EPOCH, id: id.into(), signal: AgentSignal::Complete {} };
        let (one, two) = (signal_line(&signal("1")).unwrap(), signal_line(&signal("2")).unwrap());
        let mut bad = one.clone();
        bad[30] ^= 1;
        let mut all = [one.clone(), bad, two.clone()].concat();
        all.extend_from_slice(&two[..two.len() - 1]);
        std::fs::write(dir.path().join(spec::SIGNALS), &all).unwrap();
        let read = read_signals(dir.path(), 0).unwrap();
        assert_eq!((read.signals, read.damaged), (vec![signal("1"), signal("2")], 1));
        assert_eq!(read.next as usize, all.len() - two.len() + 1);
        assert!(read_signals(dir.path(), 1_000_000).is_err());
        let rest = read_signals(dir.path(), one.len() as u64 * 2).unwrap();
        assert_eq!((rest.signals, rest.next), (vec![signal("2")], read.next));
    }
}
