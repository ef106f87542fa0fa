//! The repositories in which this user prepared git axiom or began a session: one file in the user's own state folder, a line each,
//! for `recover --all`. What is listed is only a hint: it counts where the repository there still has that id.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::identity;
use crate::identity::RecordedIdentity;
use crate::layout::StoreLayout;
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_base::files::{FileLock, LockAttempt};

/// The largest list that is read, in bytes.
const LIMIT: u64 = 16 * 1024 * 1024;
/// From so many on, those that are gone are left out when one is added.
const MANY: usize = 200;
/// How long to wait for another process that adds one.
const PATIENCE: Duration = Duration::from_secs(5);

/// A line of the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KnownRepository {
    /// Its id.
    pub id: String,
    /// Its common git directory.
    pub common_dir: String,
}

impl KnownRepository {
    /// What is recorded of it, where it is still there: the same repository in the same place.
    pub fn still_there(&self) -> Option<RecordedIdentity> {
        let found = identity::read(&StoreLayout::new(Path::new(&self.common_dir))).ok().flatten()?;
        (found.id == self.id && found.place.common_dir == self.common_dir).then_some(found)
    }
}

/// The file; `None` where the user has no state folder.
fn file() -> Option<PathBuf> {
    env::user_state_dir().map(|state| state.join("git-axiom/repositories.jsonl"))
}

/// All that are listed, also those that are gone. Lines that cannot be read are none.
pub fn all() -> Result<Vec<KnownRepository>> {
    file().map_or_else(|| Ok(Vec::new()), |file| read(&file))
}

fn read(file: &Path) -> Result<Vec<KnownRepository>> {
    let bytes = files::read_optional(file, LIMIT)?.unwrap_or_default();
    Ok(bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect())
}

/// Takes a repository off the list. Safe to repeat.
pub fn forget(id: &str) -> Result<()> {
    let Some(file) = file() else { return Ok(()) };
    if !read(&file)?.iter().any(|one| one.id == id) {
        return Ok(());
    }
    let LockAttempt::Taken(_lock) = FileLock::take(&file.with_extension("lock"), PATIENCE)? else {
        return Err(Error::new(Code::Busy, "another process changes the list of your repositories"));
    };
    let mut list = read(&file)?;
    list.retain(|one| one.id != id);
    write(&file, &list)
}

/// Lists the repository, readable only by the user, if it is not listed yet. A crash leaves the old list or the new one.
pub fn note(layout: &StoreLayout) -> Result<()> {
    let (Some(file), Some(here)) = (file(), identity::read(layout)?) else { return Ok(()) };
    let known = KnownRepository { id: here.id, common_dir: here.place.common_dir };
    if read(&file)?.contains(&known) {
        return Ok(());
    }
    if let Some(folder) = file.parent() {
        files::create_dir_all(folder)?;
    }
    let LockAttempt::Taken(_lock) = FileLock::take(&file.with_extension("lock"), PATIENCE)? else {
        return Err(Error::new(Code::Busy, "another process changes the list of your repositories"));
    };
    let mut list = read(&file)?;
    if list.len() >= MANY {
        list.retain(|one| one.still_there().is_some());
    }
    // The place of one that was moved is another one now.
    list.retain(|one| one.id != known.id && one.common_dir != known.common_dir);
    list.push(known);
    write(&file, &list)
}

fn write(file: &Path, list: &[KnownRepository]) -> Result<()> {
    let mut text = Vec::new();
    for one in list {
        let line = serde_json::to_vec(one).map_err(|e| Error::new(Code::Internal, "a repository is no JSON").because(e))?;
        text.extend(line);
        text.push(b'\n');
    }
    files::write_atomic(file, &text)
}
