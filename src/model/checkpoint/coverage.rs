//! What a capture does not hold, by kind.

use crate::base::names::RepoPath;
use crate::checkpoint::known_scope::KnownPathsScope;
use serde::{Deserialize, Serialize};

/// How many paths of one kind are listed. The others are only counted.
pub const LISTED: usize = 200;

/// Paths of one kind: how many, and the first of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathSample {
    /// How many there are.
    pub count: u64,
    /// The first 200 of them.
    pub paths: Vec<RepoPath>,
}

impl PathSample {
    /// Counts a path, and lists it unless the list is full.
    pub fn add(&mut self, path: RepoPath) {
        self.count += 1;
        if self.paths.len() < LISTED {
            self.paths.push(path);
        }
    }
}

/// How an index that cannot be read is named among what is not held, wherever it lies.
pub const INDEX: &str = ".git/index";

/// What a checkpoint does not hold. A rollback leaves alone what is in any of them but `dirtySubmodules`, `converted`,
/// `unfiltered`, `stagedNotHeld`, `othersMayRead` and `included`; of what is in `converted` it leaves the bytes alone where mode
/// and blob are the same.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CaptureCoverage {
    /// Ignored files and folders, the topmost ones.
    pub ignored: PathSample,
    /// Repositories that are no submodules; only `FOLDER/.git` where the files beside it are held.
    pub nested_repositories: PathSample,
    /// Submodules with changes of their own that are not held: their repository is elsewhere, or cannot be captured.
    pub dirty_submodules: PathSample,
    /// Untracked files over `checkpoints.maxFileSize`.
    pub too_large: PathSample,
    /// Sockets, fifos and devices.
    pub special: PathSample,
    /// What cannot be read, the topmost ones; a tracked file has its blob of the index in the tree.
    pub unreadable: PathSample,
    /// Files that did not fit into `attach.deadline`; a tracked one has its blob of the index in the tree.
    #[serde(skip_serializing_if = "PathSample::is_empty")]
    pub not_in_time: PathSample,
    /// Held: untracked files that only their owner may read, where others may enter the git directory.
    #[serde(skip_serializing_if = "PathSample::is_empty")]
    pub others_may_read: PathSample,
    /// Git directories that lie in the worktree under another name than `.git`: never content.
    #[serde(skip_serializing_if = "PathSample::is_empty")]
    pub git_directories: PathSample,
    /// Files that git accepts in no tree because of their names: `git~1`, `.GIT/x`.
    pub refused_names: PathSample,
    /// Files held as git converts them (line ends, `ident`, filters, encodings), not byte for byte: over 256 MiB, changed while
    /// read, or not tried yet (of unchanged files with a filter, an encoding or `ident`, 256 MiB or 1,000 files each time).
    pub converted: PathSample,
    /// Held: files whose filter is missing, fails or does not answer, or which are not in their `working-tree-encoding`, with
    /// their bytes as they are.
    #[serde(skip_serializing_if = "PathSample::is_empty")]
    pub unfiltered: PathSample,
    /// Changed files whose filter encrypts (git-crypt, transcrypt, sops) and did not run: their plain text is not stored.
    #[serde(skip_serializing_if = "PathSample::is_empty")]
    pub encrypted: PathSample,
    /// Files whose staged content is lost: the files are held, and in the index HEAD's content stands in its place, or nothing.
    #[serde(skip_serializing_if = "PathSample::is_empty")]
    pub staged_not_held: PathSample,
    /// Untracked and ignored files and folders that `checkpoints.exclude` excludes, the topmost ones.
    #[serde(skip_serializing_if = "PathSample::is_empty")]
    pub excluded: PathSample,
    /// What a human took out of it with `purge`.
    #[serde(skip_serializing_if = "PathSample::is_empty")]
    pub purged: PathSample,
    /// Ignored files of `checkpoints.include` beyond 100 MB, and what a risky command names that is too large.
    #[serde(skip_serializing_if = "PathSample::is_empty")]
    pub over_include_limit: PathSample,
    /// Held: ignored files of `checkpoints.include`, and those that a risky command names.
    #[serde(skip_serializing_if = "PathSample::is_empty")]
    pub included: PathSample,
    /// Whether the worktree's folder was gone.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub missing: bool,
    /// Why nothing of the worktree is held: a linked worktree that cannot be captured or read, or something else in the place of
    /// one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_captured: Option<String>,
    /// For a checkpoint of known paths: only these were looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only: Option<KnownPathsScope>,
}

impl PathSample {
    fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The first three, and how many more there are; `None` where there are none.
    fn in_words(&self) -> Option<String> {
        let named: Vec<String> = self.paths.iter().take(3).map(ToString::to_string).collect();
        let more = self.count.saturating_sub(named.len() as u64);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        (self.count > 0).then(|| format!("{}{more}", named.join(", ")))
    }

    /// Whether there are more paths than the list has.
    fn is_cut(&self) -> bool {
        self.count > self.paths.len() as u64
    }

    /// Whether a path is in the list, or below a path of the list.
    fn covers(&self, path: &RepoPath) -> bool {
        self.paths.iter().any(|root| {
            let rest = path.as_bytes().strip_prefix(root.as_bytes());
            root.as_bytes().is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
        })
    }
}

impl CaptureCoverage {
    /// Whether files that somebody may have worked on are not held: anything but ignored files, and what has no content.
    pub fn leaves_out_work(&self) -> bool {
        let lists = [
            &self.nested_repositories,
            &self.dirty_submodules,
            &self.too_large,
            &self.unreadable,
            &self.refused_names,
            &self.excluded,
            &self.purged,
            &self.encrypted,
            &self.not_in_time,
            &self.over_include_limit,
        ];
        lists.into_iter().any(|list| !list.is_empty()) || self.missing || self.not_captured.is_some() || self.only.is_some()
    }

    /// Whether the capture has no information about a path, or may have none because not all such paths are listed: a
    /// rollback must leave the path alone. Ignored paths that are not listed are not decided here: that needs the ignore
    /// rules of that time.
    pub fn says_nothing_of(&self, path: &RepoPath) -> bool {
        let Self { ignored, nested_repositories, too_large, special, unreadable, refused_names, .. } = self;
        // The other kinds are held in some form: a submodule by its commit, a file as git converts it. Paths that were not
        // looked at are held as in the earlier checkpoint.
        let Self { dirty_submodules: _, converted: _, missing: _, not_captured: _, only: _, included: _, unfiltered: _, .. } =
            self;
        let Self { excluded, purged, over_include_limit, git_directories, encrypted, not_in_time, others_may_read: _, .. } = self;
        let Self { staged_not_held: _, .. } = self;
        let others = [nested_repositories, too_large, refused_names, excluded, purged, over_include_limit, encrypted];
        // A capture lists all that it did not read beside its trees; what has no content is no file that can be deleted.
        let listed = [ignored, special, unreadable, not_in_time, git_directories];
        listed.into_iter().any(|sample| sample.covers(path))
            || others.into_iter().any(|sample| sample.is_cut() || sample.covers(path))
    }

    /// Whether the exact bytes of a held file are known: they are kept next to the tree, or else they are what a checkout
    /// writes.
    pub fn decides_bytes_of(&self, path: &RepoPath) -> bool {
        self.has_a_capture() && !self.converted.is_cut() && !self.converted.covers(path)
    }

    /// Whether a path that the capture lists as not read was too late, as far as its coverage names it.
    pub fn is_late(&self, path: &RepoPath) -> bool {
        self.not_in_time.covers(path) || (self.not_in_time.is_cut() && !self.unreadable.covers(path))
    }

    /// For a worktree that could not be captured.
    pub fn of_nothing(why: impl Into<String>) -> Self {
        Self { not_captured: Some(why.into()), ..Self::default() }
    }

    /// Why nothing of the worktree is held, in words; `None` where there is a capture.
    pub fn why_nothing(&self) -> Option<String> {
        let missing = self.missing.then(|| "its folder was gone".to_owned());
        self.not_captured.clone().or(missing)
    }

    /// What of the worktree was not read, in one line; `None` where all was.
    pub fn not_held_in_words(&self) -> Option<String> {
        let unread = self.unreadable.in_words().map(|paths| format!("{paths} cannot be read, and no checkpoint holds it"));
        let late = self.not_in_time.in_words();
        let late = late.map(|paths| {
            format!("{paths} did not fit into attach.deadline, and is to be held by a checkpoint in the background")
        });
        let both: Vec<String> = unread.into_iter().chain(late).collect();
        (!both.is_empty()).then(|| format!("not held: {}", both.join("; ")))
    }

    /// Which files of their owner alone others may read in the git directory, in one line.
    pub fn read_by_others_in_words(&self) -> Option<String> {
        let paths = self.others_may_read.in_words()?;
        Some(format!("only you may read {paths}, but others may enter the git directory, where checkpoints hold it"))
    }

    /// Whether there was time for all files.
    pub fn all_read(&self) -> bool {
        self.not_in_time.is_empty()
    }

    /// Whether there is a capture at all.
    pub fn has_a_capture(&self) -> bool {
        !self.missing && self.not_captured.is_none()
    }

    /// Whether more paths were ignored than are listed.
    pub fn lists_not_all_ignored(&self) -> bool {
        self.ignored.is_cut()
    }

    /// Whether the capture holds everything that was in the worktree when it was made.
    pub fn is_complete(&self) -> bool {
        self.has_a_capture() && self.only.is_none() && self.samples().iter().all(|sample| sample.count == 0)
    }

    /// The paths that are not held, or not exactly, one sample for each kind.
    pub fn samples(&self) -> [&PathSample; 15] {
        let Self { ignored, nested_repositories, dirty_submodules, too_large, special, not_in_time, others_may_read: _, .. } =
            self;
        let Self { unreadable, refused_names, converted, excluded, purged, over_include_limit, encrypted, .. } = self;
        let Self { git_directories, staged_not_held, missing: _, not_captured: _, only: _, included: _, unfiltered: _, .. } =
            self;
        let named = [unreadable, refused_names, converted, excluded, purged, over_include_limit, encrypted, staged_not_held];
        let [a, b, c, d, e, f, g, h] = named;
        [ignored, nested_repositories, dirty_submodules, too_large, special, a, b, c, d, e, f, g, h, not_in_time, git_directories]
    }
}
