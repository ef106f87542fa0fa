//! What is kept of attached sessions beside the log: files of this machine alone, mode 0600, below `axiom/attach`. None of them is needed
//! after a crash but the first lines of prompts, which are nowhere else.

pub mod prompt_files;
pub mod watch_files;

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::layout::StoreLayout;
use axiom_base::error::Result;
use axiom_base::{env, files};
use axiom_model::base::text_hash::text_hash;
use prompt_files::PromptFiles;
use watch_files::WatchFiles;

/// The largest file of ours that is read.
const LIMIT: u64 = 4 * 1024 * 1024;
/// The largest file whose bytes are kept.
const LARGEST_COPY: u64 = 64 * 1024 * 1024;
/// A copy that is older was forgotten: its line would have been carried out long ago.
const OLD: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// How the file of a session ends of which something could not be written down.
const UNSAVED: &str = "unsaved";
/// How a line that is being written begins.
const HALF: &str = ".half-";

/// The files of attached sessions of one repository.
#[derive(Debug, Clone)]
pub struct AttachFiles {
    root: PathBuf,
}

impl AttachFiles {
    /// Those below a repository's folder of ours.
    pub fn of(layout: &StoreLayout) -> Self {
        Self { root: layout.root().join("attach") }
    }

    fn below(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// What is kept of prompts.
    pub fn prompts(&self) -> PromptFiles<'_> {
        PromptFiles { files: self }
    }

    /// The watches of worktrees.
    pub fn watches(&self) -> WatchFiles<'_> {
        WatchFiles { files: self }
    }

    /// Makes the folders; safe to repeat.
    pub fn ensure(&self) -> Result<()> {
        if ["spool", "watches", "before", "calls"].into_iter().all(|name| self.below(name).is_dir()) {
            return Ok(());
        }
        ["sessions", "watches", "before", "calls", "spool"]
            .into_iter()
            .try_for_each(|name| files::create_dirs_unsynced(&self.below(name)))
    }

    /// The folder of the lines that wait for the joiner.
    pub fn spool(&self) -> PathBuf {
        self.below("spool")
    }

    /// Held by the joiner while it works.
    pub fn joiner_lock(&self) -> PathBuf {
        self.below("joiner.lock")
    }

    /// Held by the watch of a session's turn while it works.
    pub fn turn_lock(&self, session: &str) -> PathBuf {
        self.below("watches").join(format!("turn-{}.turn", key_of(session)))
    }

    /// The file whose time says when a worktree was last looked at for an attached session: a file that is older has been saved.
    pub fn looked_at(&self) -> PathBuf {
        self.below("looked-at")
    }

    /// The file whose time says when a human's operation last changed worktrees.
    pub fn changed_by_human(&self) -> PathBuf {
        self.below("changed-by-human")
    }

    /// One of a few files for calls of hooks; which one is chosen by the hash of a call.
    pub fn call(&self, hash: &str) -> PathBuf {
        self.below("calls").join(hash.get(..2).unwrap_or_default())
    }

    fn session_file(&self, key: &str, end: &str) -> PathBuf {
        self.below("sessions").join(format!("{key}.{end}"))
    }

    /// What is known of a session.
    pub fn session(&self, key: &str) -> Option<Vec<u8>> {
        let read = |end| files::read_optional(&self.session_file(key, end), LIMIT).ok().flatten();
        read("json").or_else(|| read(UNSAVED))
    }

    /// What is known of each session, and whether more happened that could not be written down.
    pub fn sessions(&self) -> Vec<(Vec<u8>, bool)> {
        let mut all = Vec::new();
        for path in names_in(&self.below("sessions")) {
            let is_unsaved = path.extension().is_some_and(|end| end == UNSAVED);
            let is_whole = path.extension().is_some_and(|end| end == "json");
            if is_whole || (is_unsaved && !path.with_extension("json").exists()) {
                all.extend(files::read_optional(&path, LIMIT).ok().flatten().map(|json| (json, is_unsaved)));
            }
        }
        all
    }

    /// Notes that something of a session could not be written down, without needing any space.
    pub fn mark_unsaved(&self, key: &str) -> Result<()> {
        files::replace_unsynced(&self.session_file(key, "json"), &self.session_file(key, UNSAVED))
    }

    fn json_in(&self, folder: &str) -> Vec<Vec<u8>> {
        let names = names_in(&self.below(folder));
        let plain = names.into_iter().filter(|path| path.extension().is_some_and(|end| end == "json"));
        plain.filter_map(|path| files::read_optional(&path, LIMIT).ok().flatten()).collect()
    }

    /// Replaces what is known of a session.
    pub fn write_session(&self, key: &str, json: &[u8]) -> Result<()> {
        self.put(&self.below("sessions"), &format!("{key}.json"), json)?;
        let unsaved = self.session_file(key, UNSAVED);
        if files::metadata(&unsaved)?.is_some() { files::remove_file(&unsaved) } else { Ok(()) }
    }

    /// Hands a line to the joiner.
    pub fn hand_over(&self, line: &[u8]) -> Result<()> {
        let name = format!("{:024}-{}", env::now().as_nanosecond().max(0), env::fresh_id());
        self.put(&self.spool(), &name, line)
    }

    /// Keeps bytes until the joiner has saved them; returns the name of the copy. Not synced.
    pub fn keep(&self, bytes: &[u8]) -> Result<String> {
        let copy = env::fresh_id();
        self.put(&self.below("before"), &copy, bytes)?;
        Ok(copy)
    }

    /// Bytes that were kept.
    pub fn kept(&self, copy: &str) -> Option<Vec<u8>> {
        let is_name = !copy.is_empty() && copy.bytes().all(|byte| byte.is_ascii_alphanumeric());
        is_name.then(|| files::read_optional(&self.below("before").join(copy), LARGEST_COPY).ok().flatten()).flatten()
    }

    /// Takes away bytes that were saved, and those that no line names: a hook died before it wrote one.
    pub fn forget_copies<'c>(&self, saved: impl Iterator<Item = &'c str>) {
        let saved: Vec<PathBuf> = saved.map(|copy| self.below("before").join(copy)).collect();
        let is_old = |path: &PathBuf| {
            let modified = std::fs::metadata(path).and_then(|meta| meta.modified()).ok();
            modified.and_then(|time| time.elapsed().ok()).is_some_and(|age| age > OLD)
        };
        for path in names_in(&self.below("before")).into_iter().filter(|path| saved.contains(path) || is_old(path)) {
            if let Err(error) = files::remove_file(&path) {
                tracing::debug!(%error, "bytes that were kept stay");
            }
        }
    }

    /// Why the joiner could not save what waits for it; `None` where it did, or has not ended yet.
    pub fn unsaved(&self) -> Option<String> {
        let bytes = files::read_optional(&self.below("unsaved"), LIMIT).ok().flatten()?;
        Some(String::from_utf8_lossy(&bytes).into_owned()).filter(|text| !text.is_empty())
    }

    /// Notes why what waits for the joiner could not be saved, or that it could.
    pub fn note_unsaved(&self, why: Option<&str>) -> Result<()> {
        match why {
            None if files::metadata(&self.below("unsaved"))?.is_none() => Ok(()),
            why => files::write_scratch(&self.below("unsaved"), why.unwrap_or_default().as_bytes()),
        }
    }

    /// The lines that wait for the joiner, oldest first, with their files.
    pub fn lines(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let read = |path: PathBuf| Some((path.clone(), files::read_optional(&path, LIMIT).ok().flatten()?));
        names_in(&self.spool()).into_iter().filter_map(read).collect()
    }

    /// Takes away lines that were carried out.
    pub fn carried_out(&self, lines: &[PathBuf]) -> Result<()> {
        let mut outcome = Ok(());
        for path in lines {
            outcome = outcome.and(files::remove_file(path).map(drop));
        }
        outcome
    }

    /// How many events the log had when the checkpoints of sessions were packed; 0 where they never were.
    pub fn packed(&self) -> u64 {
        let bytes = files::read_optional(&self.below("packed"), LIMIT).ok().flatten().unwrap_or_default();
        String::from_utf8_lossy(&bytes).trim().parse().unwrap_or(0)
    }

    /// Notes that they are packed.
    pub fn note_packed(&self, seq: u64) -> Result<()> {
        files::write_scratch(&self.below("packed"), seq.to_string().as_bytes())
    }

    fn put(&self, folder: &Path, name: &str, bytes: &[u8]) -> Result<()> {
        let half = folder.join(format!("{HALF}{}", env::fresh_id()));
        files::create_if_free(&half, bytes)?;
        files::replace_unsynced(&half, &folder.join(name))
    }
}

/// The path of a worktree as a file name.
fn key_of(worktree: &str) -> String {
    let hash = text_hash(&[worktree]);
    hash[..32.min(hash.len())].to_owned()
}

/// The whole files in a folder, sorted by name.
fn names_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let is_whole = |path: &PathBuf| path.file_name().is_some_and(|name| !name.to_string_lossy().starts_with(HALF));
    let mut names: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(is_whole).collect();
    names.sort();
    names
}
