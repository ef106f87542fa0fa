//! What a capture of a worktree is asked for, and what it holds.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use axiom_model::base::names::{Oid, RepoPath};
use axiom_model::checkpoint::coverage::CaptureCoverage;

use super::extras::CaptureExtras;
use crate::base::head::Head;
use crate::index::path_patterns::PathPatterns;

/// What a capture holds, and what it leaves out.
#[derive(Debug, Clone, Default)]
pub struct CaptureOptions {
    /// Untracked files over this many bytes are listed in the coverage, not held.
    pub max_file_size: u64,
    /// Folders that are never content of this worktree: the root of the workspaces.
    pub excluded: Vec<RepoPath>,
    /// The folders of the repository's linked worktrees, wherever they are and whatever state they are in: none is content of
    /// another worktree.
    pub apart: BTreeSet<PathBuf>,
    /// Of `excluded`, what is not even looked at where something in it is tracked: `never_content` fills it in.
    pub never: Vec<RepoPath>,
    /// Ignored files that are held like untracked ones.
    pub include: PathPatterns,
    /// Untracked and ignored files that are listed in the coverage, not held.
    pub exclude: PathPatterns,
    /// Ignored files and folders that a command is about to change: held too, as far as they are small enough.
    pub named: NamedPaths,
    /// Until when files are read, where somebody waits: what does not fit is listed in the coverage.
    pub until: Option<Instant>,
}

/// The captured state of a worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorktreeCapture {
    /// HEAD at the time of the capture.
    pub head: Head,
    /// The tree of the files, tracked and untracked.
    pub tree: Oid,
    /// The tree of the index; for an unresolved conflict it has our side.
    pub index_tree: Oid,
    /// What the trees cannot hold: flags and conflicts of the index, the operation in progress, permissions, kept bytes.
    pub extras: CaptureExtras,
    /// What is not held.
    pub coverage: CaptureCoverage,
    /// The ignored files that are held; empty if only some paths were looked at.
    #[serde(default)]
    pub included: Vec<RepoPath>,
    /// The submodules that the index has, and repositories that git keeps as those of submodules though it has none there any more.
    #[serde(default)]
    pub submodules: Vec<RepoPath>,
}

/// Paths that a command names, whatever worktree they are in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamedPaths {
    /// Absolute, without `.` and `..`.
    paths: Vec<PathBuf>,
}

impl NamedPaths {
    /// These absolute paths.
    pub fn new(paths: Vec<PathBuf>) -> Self {
        Self { paths }
    }

    /// Whether nothing is named.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// As patterns of a worktree.
    pub(super) fn within(&self, root: &Path) -> PathPatterns {
        let mut texts = Vec::new();
        for path in &self.paths {
            if root.starts_with(path) {
                texts.push("*".to_owned());
            } else if let Ok(inside) = path.strip_prefix(root)
                && let Some(text) = inside.to_str()
            {
                texts.push(format!("/{text}"));
                // A name with the signs of patterns in quotes.
                let literal: String = text
                    .chars()
                    .flat_map(|c| matches!(c, '*' | '?' | '[' | '\\').then_some('\\').into_iter().chain([c]))
                    .collect();
                texts.extend((literal != text).then(|| format!("/{literal}")));
            }
        }
        PathPatterns::new(&texts)
    }
}
