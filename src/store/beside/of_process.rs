//! `KIND-PID.json`: what a process says of itself while it runs. Not synced: a crash leaves an old file, or half of one, which says
//! nothing. Who reads it knows whether that very process still runs.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::layout::StoreLayout;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;

/// The largest file that is read, in bytes.
const LIMIT: u64 = 1024 * 1024;

/// What is in such a file.
#[derive(Debug, Serialize, Deserialize)]
pub struct Said<P, T> {
    /// The process, as the caller knows it again.
    pub process: P,
    /// What it says.
    pub said: Vec<T>,
}

/// Writes what this process says; where that is nothing, there is no file.
pub fn write(layout: &StoreLayout, kind: &str, process: impl Serialize, said: Vec<impl Serialize>) -> Result<()> {
    let place = layout.of_process(kind, std::process::id());
    if said.is_empty() {
        return files::remove_file(&place);
    }
    let bytes = serde_json::to_vec(&Said { process, said })
        .map_err(|e| Error::new(Code::Internal, format!("'{kind}' of a process is no JSON")).because(e))?;
    let new = layout.tmp_dir().join(format!("{kind}-{}", std::process::id()));
    files::write_scratch(&new, &bytes)?;
    files::replace_unsynced(&new, &place)
}

/// All files of this kind; `None` for one that cannot be read.
pub fn read<P: DeserializeOwned, T: DeserializeOwned>(layout: &StoreLayout, kind: &str) -> Vec<(PathBuf, Option<Said<P, T>>)> {
    let all = files::list(&layout.state_dir()).unwrap_or_default().into_iter();
    let of_kind = all.filter(|entry| entry.file_name().to_str().is_some_and(|name| StoreLayout::is_of_process(kind, name)));
    let mut paths: Vec<PathBuf> = of_kind.map(|entry| entry.path()).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), one(&path))).collect()
}

fn one<P: DeserializeOwned, T: DeserializeOwned>(path: &Path) -> Option<Said<P, T>> {
    serde_json::from_slice(&files::read_optional(path, LIMIT).ok().flatten()?).ok()
}

/// Removes what a process that has ended has left. It says nothing to anybody: where that fails, the next one tries again.
pub fn forget(path: &Path) {
    let _ = files::remove_file(path);
}
