//! The event log's files: the active one, and sealed segments named by the number of their first event.

use std::fs::File;
use std::io::{ErrorKind, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::layout::StoreLayout;
use crate::log_files::line;
use crate::log_files::line::BadLine;
use axiom_base::error::{Code, Error, Result};
use axiom_base::{env, files};

/// The active log is sealed when it is longer than this, in bytes.
pub const SEAL_AT: u64 = 8 * 1024 * 1024;

/// The length of the beginning of a line that contains its number, time, transaction (100 characters) and author.
const HEAD: u64 = 384;

/// One file of the log.
#[derive(Debug)]
pub struct LogSegment {
    /// The number of its first event; `None` for an active log that has no event yet.
    pub first: Option<u64>,
    /// Its path when it was listed.
    pub path: PathBuf,
    file: Option<File>,
}

impl LogSegment {
    /// The file from its beginning; `None` where it does not exist any more. For the active log, this is the same file even
    /// if it was sealed since it was listed.
    pub fn open(&mut self) -> Result<Option<File>> {
        match self.file.take() {
            Some(mut file) => {
                file.seek(SeekFrom::Start(0)).map_err(|e| Error::io("read", &self.path, e))?;
                Ok(Some(file))
            }
            None => files::open_optional(&self.path),
        }
    }

    /// Whether its first event is an adopted state: then all earlier events are ignored.
    pub fn begins_anew(&self) -> Result<bool> {
        let head = match &self.file {
            Some(file) => head_of(file, &self.path)?,
            None => match files::open_optional(&self.path)? {
                Some(file) => head_of(&file, &self.path)?,
                None => return Ok(false),
            },
        };
        Ok(line::begins_anew(&head))
    }
}

/// The path of a sealed segment.
pub fn segment_path(layout: &StoreLayout, first: u64) -> PathBuf {
    layout.state_dir().join(format!("events-{first:020}.jsonl"))
}

fn segment_number(path: &Path) -> Option<u64> {
    path.file_name()?.to_str()?.strip_prefix("events-")?.strip_suffix(".jsonl")?.parse().ok()
}

/// All files, oldest first, the active one last. The active one is opened before the others are listed: a log that is sealed
/// in between is then seen twice, but never missed.
pub fn list(layout: &StoreLayout) -> Result<Vec<LogSegment>> {
    let path = layout.events();
    let active = files::open_optional(&path)?;
    let mut all = sealed(layout)?;
    let first = match &active {
        Some(file) => first_number(file, &path)?,
        None => None,
    };
    let listed_already = first.is_some() && all.last().is_some_and(|last| last.first == first);
    if !listed_already {
        all.push(LogSegment { first, path, file: active });
    }
    Ok(all)
}

/// The sealed segments alone, oldest first.
pub fn sealed(layout: &StoreLayout) -> Result<Vec<LogSegment>> {
    let folder = layout.state_dir();
    let mut found = Vec::new();
    for entry in files::list(&folder)? {
        let path = entry.path();
        if let Some(first) = segment_number(&path) {
            found.push(LogSegment { first: Some(first), path, file: None });
        }
    }
    found.sort_by_key(|segment| segment.first);
    Ok(found)
}

/// The index of the file that contains event `expected`: the newest one that can contain it, or a newer one that begins with
/// an adopted state.
pub fn beginning(all: &[LogSegment], expected: u64) -> Result<usize> {
    for (index, segment) in all.iter().enumerate().rev() {
        let Some(first) = segment.first else { continue };
        if first <= expected || segment.begins_anew()? {
            return Ok(index);
        }
    }
    Ok(0)
}

fn head_of(file: &File, path: &Path) -> Result<Vec<u8>> {
    use std::os::unix::fs::FileExt;
    let (mut head, mut filled) = (vec![0; HEAD as usize], 0);
    while filled < head.len() {
        match file.read_at(&mut head[filled..], filled as u64) {
            Ok(0) => break,
            Ok(more) => filled += more,
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(Error::io("read", path, e)),
        }
    }
    head.truncate(filled);
    Ok(head)
}

/// The number of the first event of a file; `None` where its first line is not complete yet.
pub fn first_number(file: &File, path: &Path) -> Result<Option<u64>> {
    let head = head_of(file, path)?;
    if head.is_empty() {
        return Ok(None);
    }
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    if let Some(bad) = line::foreign(&head) {
        return Err(bad.into_error(&format!("line 1 of {name}")));
    }
    match line::sequence_of(&head) {
        Some(first) => Ok(Some(first)),
        None if (head.len() as u64) < HEAD && !head.contains(&b'\n') => Ok(None),
        None => Err(BadLine::Corrupt("it has no number".into()).into_error(&format!("line 1 of {name}"))),
    }
}

/// Syncs the active log, whose last events may not be synced yet. One that is just being sealed is synced by whoever seals it.
pub fn sync_active(layout: &StoreLayout) -> Result<()> {
    match files::sync_file(&layout.events()) {
        Err(error) if error.is_of_something_gone() => Ok(()),
        synced => synced,
    }
}

/// Seals the active log: renames it to the segment of its first number. The caller holds the state lock. A crash leaves the
/// log under its old or its new name. All of it is synced: what comes after it is in another file.
pub fn seal(layout: &StoreLayout, first: u64) -> Result<()> {
    let name = segment_path(layout, first);
    env::fault_point("store.before-seal");
    sync_active(layout)?;
    if !files::rename_no_replace(&layout.events(), &name)? {
        return Err(Error::new(Code::Internal, format!("the segment '{}' exists already", name.display())));
    }
    env::fault_point("store.after-seal");
    files::sync_dir(&layout.state_dir())
}
