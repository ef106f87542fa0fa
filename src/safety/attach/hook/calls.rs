//! An act that several hooks of a program tell of is done once: a plugin and a file of the repository may both have ours, and each calls.
//!
//! A call that says the same, word for word, as one of another source did a moment ago is not done again. It waits for that one, and acts
//! itself where that one died. A few files hold the newest calls; one that is overwritten costs a checkpoint too many, never one too few.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::HookCaller;
use axiom_base::files::{FileLock, LockAttempt};
use axiom_base::{env, files};
use axiom_model::base::text_hash::text_hash;
use axiom_store::beside::attach::AttachFiles;

/// How long it is waited for another call: longer than a checkpoint may take that a program waits for.
const PATIENCE: Duration = Duration::from_secs(15);
/// For how many seconds a call is known: programs wait for all hooks of an act before they go on.
const KNOWN: i64 = 60;
/// The largest file that is read.
const LIMIT: u64 = 256;

/// Whose turn it is.
pub(super) enum HookCallTurn {
    /// This call does it.
    Mine(HeldHookCall),
    /// Another one has done it.
    Done,
}

/// A call that is being done.
pub(super) struct HeldHookCall {
    lock: Option<FileLock>,
    path: PathBuf,
    line: String,
}

/// Whether this call is to do something. Where that cannot be found out, it is.
pub(super) fn begin(files: &AttachFiles, caller: HookCaller, (folder, payload): (&Path, &[u8])) -> HookCallTurn {
    // Some programs say nothing at all: what they tell of is where they are.
    let hash = text_hash(&[caller.program.as_str(), &folder.to_string_lossy(), &String::from_utf8_lossy(payload)]);
    let (path, own) = (files.call(&hash), caller.source.bit());
    let line = |seen: u8| format!("{hash} {seen} {}", env::now().as_second());
    let Ok(LockAttempt::Taken(lock)) = FileLock::take(&path, PATIENCE) else {
        return HookCallTurn::Mine(HeldHookCall { lock: None, path, line: line(own) });
    };
    let known = files::read_optional(&path, LIMIT).ok().flatten().unwrap_or_default();
    match seen_by(&String::from_utf8_lossy(&known), &hash).filter(|seen| seen & own == 0) {
        Some(seen) if lock.describe(line(seen | own).as_bytes(), &path).is_ok() => HookCallTurn::Done,
        Some(_) | None => {
            // Until this one has ended, an earlier one that said the same counts no more.
            if let Err(error) = lock.describe(b"", &path) {
                tracing::debug!(%error, "an earlier call of a hook stays noted");
            }
            HookCallTurn::Mine(HeldHookCall { lock: Some(lock), path, line: line(own) })
        }
    }
}

impl HeldHookCall {
    /// It is done: the same call of another source does nothing.
    pub(super) fn done(self) {
        let described = self.lock.as_ref().map(|lock| lock.describe(self.line.as_bytes(), &self.path));
        if let Some(Err(error)) = described {
            tracing::debug!(%error, "that a hook was called was not noted, so another one does the same again");
        }
    }
}

/// The sources that a call was heard from lately.
fn seen_by(line: &str, hash: &str) -> Option<u8> {
    let mut words = line.split(' ');
    let (known, seen, at) = (words.next()?, words.next()?.parse().ok()?, words.next()?.parse::<i64>().ok()?);
    let age = env::now().as_second() - at;
    (known == hash && (0..KNOWN).contains(&age)).then_some(seen)
}
