//! A set of paths, each of which covers itself and everything below it. The empty path covers everything.

use std::collections::BTreeSet;

use super::names::RepoPath;

/// Paths, none of which is below another.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PathSet {
    paths: BTreeSet<RepoPath>,
}

impl PathSet {
    /// The set of these paths; those below another one are left out.
    pub fn new(paths: impl IntoIterator<Item = RepoPath>) -> Self {
        let all: BTreeSet<RepoPath> = paths.into_iter().collect();
        let topmost = |path: &&RepoPath| !path.folders_above().any(|folder| all.contains(&folder));
        Self { paths: all.iter().filter(topmost).cloned().collect() }
    }

    /// Whether a path is one of them or below one.
    pub fn covers(&self, path: &RepoPath) -> bool {
        let has = |path: &RepoPath| self.paths.contains(path);
        !self.paths.is_empty() && (has(path) || has(&RepoPath::new("")) || path.folders_above().any(|folder| has(&folder)))
    }

    /// Whether one of them is below a path.
    pub fn has_below(&self, path: &RepoPath) -> bool {
        let start = RepoPath::new([path.as_bytes(), b"/"].concat());
        self.paths.range(&start..).next().is_some_and(|next| next.as_bytes().starts_with(start.as_bytes()))
    }

    /// The paths, in order.
    pub fn iter(&self) -> impl Iterator<Item = &RepoPath> {
        self.paths.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.paths.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> RepoPath {
        RepoPath::new(text.as_bytes())
    }

    #[test]
    fn a_path_stands_for_what_is_below_it_and_for_nothing_else() {
        let set = PathSet::new(["a/b/c", "a/b", "d", "a.txt", "d", "a/b-c"].map(path));
        assert_eq!(set.iter().map(ToString::to_string).collect::<Vec<_>>(), ["a.txt", "a/b", "a/b-c", "d"]);
        for (text, covered, below) in [
            ("a", false, true),
            ("a/b", true, false),
            ("a/b/x/y", true, false),
            ("a/bc", false, false),
            ("d/e", true, false),
            ("dd", false, false),
            ("a.tx", false, false),
        ] {
            assert_eq!((set.covers(&path(text)), set.has_below(&path(text))), (covered, below), "{text}");
        }
        assert!(!PathSet::default().covers(&path("a")) && PathSet::default().is_empty());
    }
}
