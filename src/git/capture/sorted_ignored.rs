//! Ignored files and folders, sorted by what becomes of them in a capture.

use axiom_model::base::names::RepoPath;

/// Ignored files and folders, sorted; each list is ordered by path.
#[derive(Debug, Default)]
pub(crate) struct SortedIgnoredPaths {
    /// Files and links that are held.
    pub held: Vec<RepoPath>,
    /// The topmost files and folders that are not held.
    pub rest: Vec<RepoPath>,
    /// Files that would be held but are excluded.
    pub excluded: Vec<RepoPath>,
    /// Files that would be held but are over the limit.
    pub over_limit: Vec<RepoPath>,
    /// Sockets, fifos and devices that the configuration includes; they cannot be held.
    pub special: Vec<RepoPath>,
    /// Files and folders that the configuration includes and that cannot be read.
    pub unread: Vec<RepoPath>,
}

impl SortedIgnoredPaths {
    /// With each list in order.
    pub fn ordered(mut self) -> Self {
        let Self { held, rest, excluded, over_limit, special, unread } = &mut self;
        [held, rest, excluded, over_limit, special, unread].into_iter().for_each(|paths| paths.sort());
        self
    }
}
