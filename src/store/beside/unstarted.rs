//! Calls of the launchers of plugins that found no git axiom which they may call: one small file for each program and folder, in the
//! user's own state folder.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use axiom_base::{env, files};

/// The largest file of theirs that is read.
const LIMIT: u64 = 64 * 1024;
/// The most of them.
const MOST: usize = 1000;

/// The last such call in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnstartedCall {
    /// The program.
    pub program: String,
    /// The folder.
    pub folder: PathBuf,
    /// When.
    pub at: Timestamp,
}

/// All that are known.
pub fn all() -> Vec<UnstartedCall> {
    let Some(folder) = env::user_state_dir().map(|state| state.join("git-axiom/unstarted")) else { return Vec::new() };
    let entries = std::fs::read_dir(folder).map(|entries| entries.flatten().take(MOST).collect()).unwrap_or_else(|_| Vec::new());
    entries.into_iter().filter_map(|entry| read(&entry.path())).collect()
}

fn read(file: &Path) -> Option<UnstartedCall> {
    let text = String::from_utf8(files::read_optional(file, LIMIT).ok().flatten()?).ok()?;
    let mut lines = text.splitn(3, '\n');
    let (program, at, folder) = (lines.next()?, lines.next()?, lines.next()?);
    let at = Timestamp::from_second(at.parse().ok()?).ok()?;
    Some(UnstartedCall { program: program.to_owned(), folder: PathBuf::from(folder.trim_end_matches('\n')), at })
}
