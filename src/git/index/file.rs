//! Copies a worktree's index, reads the information in it that a tree cannot hold, and edits such copies with
//! `git update-index`. Writing the worktree's own index is in `restore::install`.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_model::base::names::{Oid, RepoPath};

use super::edit::without_racy_sizes;
use crate::base::conflict_stage::ConflictStage;
use crate::base::formats::HashKind;
use crate::repo::own_scratch::ScratchFolder;
use crate::repo::repository::Repository;
use crate::repo::shortcuts::FastWay;
use crate::repo::shortcuts::read::forbidding_part;
use crate::repo::worktrees::Worktree;
use axiom_base::own_process::threads;

/// In bytes.
const LARGE: u64 = 1024 * 1024;

/// The information in an index that a tree cannot hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct IndexExtras {
    /// The stages of unresolved conflicts.
    pub unmerged: Vec<ConflictStage>,
    /// Paths added with `git add -N`.
    pub intent_to_add: Vec<RepoPath>,
    /// The modes of `intent_to_add`, in the same order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub intent_modes: Vec<u32>,
    /// Paths with the `skip-worktree` flag.
    pub skip_worktree: Vec<RepoPath>,
    /// Paths with the `assume-unchanged` flag.
    pub assume_unchanged: Vec<RepoPath>,
    /// Whether this is from a sparse checkout. If so, the paths in `skip_worktree` have no file in the worktree, except
    /// those in `present`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub sparse: bool,
    /// Paths with the `skip-worktree` flag in a sparse checkout whose files exist nevertheless.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub present: Vec<RepoPath>,
}

/// How far the stat data of a copied index are believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StatTrust {
    /// As git does.
    AsGit,
    /// Less: nothing is believed of entries of the moment in which the index was written. git then looks at none of these files when it
    /// writes the copy, where it would fail at an attribute of one. An index that is not understood is believed as ever.
    Less,
}

/// Copies an index file to `to`. If there is no index, no copy is made. The copy keeps the modification time of the
/// original, or its racy entries are not believed: see [`write_as_of`].
pub(crate) fn copy_index(hash: HashKind, from: &Path, to: &Path) -> Result<()> {
    copy_index_believing(StatTrust::AsGit, hash, from, to)
}

/// As [`copy_index`], of which stat data are believed so far.
pub(crate) fn copy_index_believing(belief: StatTrust, hash: HashKind, from: &Path, to: &Path) -> Result<()> {
    let Some(mut file) = files::open_optional(from)? else { return Ok(()) };
    let mut bytes = Vec::new();
    let modified = file.metadata().and_then(|meta| meta.modified()).map_err(|e| Error::io("access", from, e))?;
    file.read_to_end(&mut bytes).map_err(|e| Error::io("read", from, e))?;
    let careful = match belief {
        StatTrust::AsGit => None,
        StatTrust::Less => without_racy_sizes(&bytes, hash, seconds_of(modified)),
    };
    write_as_of(to, &careful.unwrap_or(bytes), hash, modified)
}

/// The seconds of a time, as an index has them.
fn seconds_of(time: SystemTime) -> i64 {
    time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs()) as i64
}

/// Writes an index that is to count as written at `time`. git believes that a file is unchanged only if it is older than the
/// index, so a newer index would hide edits of the same moment. Where a file system does not take the time (some say that
/// they did), git reads those files instead.
pub(crate) fn write_as_of(place: &Path, bytes: &[u8], hash: HashKind, time: SystemTime) -> Result<()> {
    files::write_scratch(place, bytes)?;
    if files::set_times(place, time) {
        return Ok(());
    }
    let careful = without_racy_sizes(bytes, hash, seconds_of(time)).ok_or_else(|| {
        let what =
            format!("'{}' cannot be given the time of the index, and the index is split or of a newer kind", place.display());
        Error::new(Code::IoFailed, what).hint("git update-index --no-split-index    writes a whole index")
    })?;
    files::write_scratch(place, &careful)
}

/// What an index contains in addition to plain entries.
#[derive(Debug, Default)]
pub(crate) struct IndexFacts {
    pub unmerged: Vec<ConflictStage>,
    pub skip_worktree: Vec<RepoPath>,
    pub assume_unchanged: Vec<RepoPath>,
    /// Paths added with `git add -N`, with their modes.
    pub intent_to_add: Vec<(RepoPath, u32)>,
    /// The paths of submodules.
    pub gitlinks: Vec<RepoPath>,
    /// The tree of the whole index, if the index contains a valid cached tree for its root.
    pub tree: Option<Oid>,
}

/// Reads an index file with gix, which starts no process.
pub(crate) fn read(repository: &Repository, index: &Path) -> Option<gix::index::File> {
    // Asking the system how many threads there can be takes a dozen calls, which a small index is not worth.
    let is_large = index.metadata().is_ok_and(|meta| meta.len() > LARGE);
    let options =
        gix::index::decode::Options { thread_limit: Some(if is_large { threads::at_once() } else { 1 }), ..Default::default() };
    gix::index::File::at(index, repository.hash().gix(), true, options).ok()
}

/// Reads the facts with gix, which starts no process. `None` if gix cannot read them: of a sparse index it sees only a part.
pub(crate) fn facts_by_gix(repository: &Repository, index: &Path) -> Option<IndexFacts> {
    use gix::index::entry::Flags;
    if !index.exists() {
        return Some(IndexFacts::default());
    }
    let file = read(repository, index)?;
    if forbidding_part(FastWay::ReadIndex, &file).is_some() {
        return None;
    }
    let mut facts = IndexFacts::default();
    let special = Flags::ASSUME_VALID | Flags::SKIP_WORKTREE | Flags::STAGE_MASK | Flags::INTENT_TO_ADD;
    let is_link = |entry: &gix::index::Entry| entry.mode == gix::index::entry::Mode::COMMIT;
    for entry in file.entries().iter().filter(|entry| entry.flags.intersects(special) || is_link(entry)) {
        let path = RepoPath::new(entry.path(&file).to_vec());
        if is_link(entry) {
            facts.gitlinks.push(path.clone());
        }
        let stage = entry.stage_raw() as u8;
        if stage > 0 {
            let oid = Oid::from_bytes(entry.id.as_bytes()).ok()?;
            facts.unmerged.push(ConflictStage { path, stage, mode: entry.mode.bits(), oid });
            continue;
        }
        if entry.flags.contains(Flags::ASSUME_VALID) {
            facts.assume_unchanged.push(path.clone());
        }
        if entry.flags.contains(Flags::SKIP_WORKTREE) {
            facts.skip_worktree.push(path.clone());
        }
        if entry.flags.contains(Flags::INTENT_TO_ADD) {
            facts.intent_to_add.push((path, entry.mode.bits()));
        }
    }
    // The cached tree of a changed folder has no entry count, and then the root has none either.
    let root = file.tree().filter(|tree| tree.num_entries == Some(file.entries().len() as u32));
    facts.tree = root.filter(|_| facts.intent_to_add.is_empty()).and_then(|tree| Oid::from_bytes(tree.id.as_bytes()).ok());
    Some(facts)
}

/// Reads the flags and conflicts of a private index file. A second copy may be written next to it.
pub(crate) fn index_facts(repository: &Repository, worktree: &Worktree, index: &Path) -> Result<IndexFacts> {
    if let Some(facts) = facts_by_gix(repository, index) {
        return Ok(facts);
    }
    // git converts a sparse index to a complete one.
    let flat = index.with_extension("flat");
    copy_index(repository.hash(), index, &flat)?;
    let git = repository.git_in(worktree).index(&flat).config("core.splitIndex=false").config("index.sparse=false");
    git.args(["update-index", "--force-write-index"]).run_ok()?;
    facts_by_gix(repository, &flat).ok_or_else(|| {
        let what = format!("the index of '{}' cannot be read", worktree.path().display());
        Error::new(Code::GitFailed, what).hint("git status    shows more")
    })
}

/// Paths as git reads them with `-z --stdin`.
pub(crate) fn nul_list<'a>(paths: impl IntoIterator<Item = &'a RepoPath>) -> Vec<u8> {
    let mut list = Vec::new();
    for path in paths {
        list.extend_from_slice(path.as_bytes());
        list.push(0);
    }
    list
}

/// Sets or clears a flag of entries in a private index file. `flag` is an option of `git update-index`.
pub(crate) fn mark(r: &Repository, worktree: &Worktree, index: &Path, flag: &str, paths: &[RepoPath]) -> Result<()> {
    if paths.is_empty() {
        return Ok(());
    }
    let git = r.git_in(worktree).index(index).config("core.splitIndex=false").args(["update-index", flag, "-z", "--stdin"]);
    git.stdin(nul_list(paths)).run_ok().map(drop)
}

/// Lines for `update-index -z --index-info`.
#[derive(Debug, Default)]
pub(crate) struct IndexInfoInput {
    lines: Vec<u8>,
}

impl IndexInfoInput {
    /// Removes all stages of a path. `any` is any id of the repository: only its length matters.
    pub fn remove(&mut self, path: &RepoPath, any: &Oid) {
        self.line(&format!("0 {}", "0".repeat(any.as_str().len())), path);
    }

    /// Sets one stage of a path.
    pub fn set(&mut self, path: &RepoPath, mode: u32, oid: &Oid, stage: u8) {
        self.line(&format!("{mode:o} {oid} {stage}"), path);
    }

    fn line(&mut self, meta: &str, path: &RepoPath) {
        self.lines.extend_from_slice(meta.as_bytes());
        self.lines.push(b'\t');
        self.lines.extend_from_slice(path.as_bytes());
        self.lines.push(0);
    }

    /// Applies the lines to a private index file.
    pub fn apply(self, repository: &Repository, worktree: &Worktree, index: &Path) -> Result<()> {
        self.apply_and_tell(repository, worktree, index).map(drop)
    }

    /// The same; returns what git said: it leaves out paths that it refuses because of their names, and names them.
    pub(crate) fn apply_and_tell(self, repository: &Repository, worktree: &Worktree, index: &Path) -> Result<String> {
        if self.lines.is_empty() {
            return Ok(String::new());
        }
        let git = repository.git_in(worktree).index(index).config("core.splitIndex=false");
        Ok(git.args(["update-index", "-z", "--replace", "--index-info"]).stdin(self.lines).run_ok()?.stderr)
    }
}

/// The path of a scratch index in `folder`.
pub(crate) fn in_folder(folder: &ScratchFolder, name: &str) -> PathBuf {
    folder.path().join(name)
}
