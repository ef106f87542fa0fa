//! A detached process for each turn of Claude Code, which calls no hook when a human presses Esc: it looks once a second whether the program
//! has written an interruption into its conversation, and saves what there is then. It ends with the turn, or with the session.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{join, sessions};
use crate::attach::join::joiner_line::JoinerLine;
use crate::attach::sessions::attached_session::AttachedSession;
use axiom_base::error::Result;
use axiom_base::files;
use axiom_base::files::{FileLock, LockAttempt};
use axiom_base::own_process::session::begin_session;
use axiom_git::Repository;
use axiom_model::attach::act::DeferredSave;
use axiom_model::attach::interruption::tells_interruption;
use axiom_model::checkpoint::stamp::AttachedSessionStamp;
use axiom_process::os::detached;
use axiom_store::beside::attach::AttachFiles;
use axiom_store::layout::StoreLayout;

/// How often it looks.
const INTERVAL: Duration = Duration::from_secs(1);
/// The most that is read of a conversation at once, in bytes.
const MOST: u64 = 4 * 1024 * 1024;

/// Whose turn is watched.
#[derive(Debug, Clone)]
pub struct WatchedTurn {
    /// The key of its session.
    pub session: String,
    /// The file in which the program writes the conversation down.
    pub transcript: PathBuf,
}

/// Starts it, unless one watches the session already.
pub(super) fn start(files: &AttachFiles, worktree: &Path, turn: &WatchedTurn) -> Result<()> {
    // In a new session the program makes the file only after the hook of its first prompt.
    let may_be_file = match std::fs::symlink_metadata(&turn.transcript) {
        Ok(meta) => meta.is_file(),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    };
    if !may_be_file || files::is_locked(&files.turn_lock(&turn.session))? {
        return Ok(());
    }
    let arguments: [OsString; 7] = [
        "hook".into(),
        "--join".into(),
        worktree.into(),
        "--turn".into(),
        turn.session.clone().into(),
        "--transcript".into(),
        turn.transcript.clone().into(),
    ];
    detached::start_alone(&arguments, files::open_append(Path::new("/dev/null"))?).map(drop)
}

/// The watch, in a process of its own.
pub fn run(worktree: &Path, turn: &WatchedTurn) -> Result<()> {
    begin_session()?;
    let repo = Repository::discover(worktree)?;
    let files = AttachFiles::of(&StoreLayout::new(repo.common_dir()));
    drop(repo);
    let length = || std::fs::symlink_metadata(&turn.transcript).map_or(0, |meta| meta.len());
    let mut seen = length();
    // A turn may begin while this one just ends.
    while is_going_on(&files, &turn.session).is_some() {
        let LockAttempt::Taken(lock) = FileLock::try_take(&files.turn_lock(&turn.session))? else { return Ok(()) };
        while let Some(session) = is_going_on(&files, &turn.session) {
            std::thread::sleep(INTERVAL);
            // Another file has taken its place where it is shorter.
            if length() < seen {
                seen = 0;
            }
            let more = files::read_from(&turn.transcript, seen, MOST).unwrap_or_default();
            // A line that is half written is read again.
            let whole = more.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
            seen += whole as u64;
            if tells_interruption(&String::from_utf8_lossy(more.get(..whole).unwrap_or_default())) {
                interrupted(&files, worktree, &session)?;
            }
        }
        drop(lock);
    }
    Ok(())
}

/// The session, while its turn goes on.
fn is_going_on(files: &AttachFiles, session: &str) -> Option<AttachedSession> {
    let json = files.session(session)?;
    serde_json::from_slice::<AttachedSession>(&json).ok().filter(|one| !one.rests && one.is_alive())
}

/// What there is now is saved, and what changes from now on is not the agent's, unless the next prompt has come already.
fn interrupted(files: &AttachFiles, worktree: &Path, session: &AttachedSession) -> Result<()> {
    let AttachedSession { program, id, worktree: home, prompts, .. } = session.clone();
    if let Some(now) = is_going_on(files, &id).filter(|now| now.prompts == prompts) {
        sessions::write(files, &AttachedSession { rests: true, ..now })?;
    }
    let stamp = AttachedSessionStamp { program, session: id, worktree: home.clone() };
    let line = JoinerLine { stamp: Some(stamp), worktree: home.clone(), folder: home, later: DeferredSave::Turn };
    files.hand_over(&serde_json::to_vec(&line).unwrap_or_default())?;
    join::start(files, worktree)
}
