//! Ignored files that a risky command names: they are held in the checkpoint before it, in full or not at all.
//!
//! Which words a command has is for `model::attach::shell`; here they are absolute paths with patterns as a shell has them.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use axiom_base::files;
use axiom_model::base::names::RepoPath;

use super::captured::CaptureOptions;
use super::sorted_ignored::SortedIgnoredPaths;
use crate::index::path_patterns::PathPatterns;

/// The most files of a folder that is held.
const MOST_FILES: usize = 1000;
/// The most bytes of all of them together, as of what the configuration includes.
const MOST_BYTES: u64 = 100 * 1024 * 1024;
/// The most entries of a folder that is looked through for what is named in it.
const MOST_ENTRIES: usize = 10_000;

/// Moves what is named from the ignored files and folders that are not held to those that are.
pub(super) fn hold_named(root: &Path, options: &CaptureOptions, sorted: &mut SortedIgnoredPaths) {
    let named = options.named.within(root);
    if named.is_empty() {
        return;
    }
    let mut naming = NamedIgnoredSearch { root, options, named, bytes: 0 };
    for path in std::mem::take(&mut sorted.rest) {
        naming.sort(path, sorted);
    }
}

struct NamedIgnoredSearch<'a> {
    root: &'a Path,
    options: &'a CaptureOptions,
    named: PathPatterns,
    /// Of what is held so far.
    bytes: u64,
}

impl NamedIgnoredSearch<'_> {
    fn sort(&mut self, path: RepoPath, sorted: &mut SortedIgnoredPaths) {
        if self.options.never.contains(&path) {
            return;
        }
        let place = self.root.join(path.to_path());
        let meta = match files::metadata(&place) {
            Ok(Some(meta)) => meta,
            Ok(None) => return,
            Err(_) => return sorted.unread.push(path),
        };
        let is_folder = meta.is_dir();
        if self.options.exclude.covers(&path, is_folder) {
            sorted.rest.push(path);
        } else if self.named.covers(&path, is_folder) {
            let held = if is_folder { self.below(&path) } else { Some((vec![path.clone()], meta.len())) };
            let most = self.options.max_file_size;
            match held.filter(|(_, bytes)| *bytes <= most && self.bytes + bytes <= MOST_BYTES) {
                Some((files, bytes)) => {
                    self.bytes += bytes;
                    sorted.held.extend(files);
                }
                None => sorted.over_limit.push(path),
            }
        } else if is_folder && self.named.leads_into(&path) {
            self.enter(path, &place, sorted);
        } else {
            sorted.rest.push(path);
        }
    }

    /// A folder of which something may be named.
    fn enter(&mut self, path: RepoPath, place: &Path, sorted: &mut SortedIgnoredPaths) {
        let listed = files::list(place).ok().filter(|listed| listed.len() <= MOST_ENTRIES);
        let Some(listed) = listed else {
            sorted.rest.push(path);
            return;
        };
        let mut below = SortedIgnoredPaths::default();
        for entry in listed {
            self.sort(RepoPath::new([path.as_bytes(), b"/", entry.file_name().as_bytes()].concat()), &mut below);
        }
        if below.held.is_empty() && below.over_limit.is_empty() {
            sorted.rest.push(path);
        } else {
            sorted.held.extend(below.held);
            sorted.rest.extend(below.rest);
            sorted.over_limit.extend(below.over_limit);
            sorted.unread.extend(below.unread);
        }
    }

    /// The files of a folder with their bytes, where they are few and small enough and all of them can be held.
    fn below(&self, folder: &RepoPath) -> Option<(Vec<RepoPath>, u64)> {
        let (mut found, mut bytes) = (Vec::new(), 0);
        let mut open = vec![folder.clone()];
        while let Some(folder) = open.pop() {
            for entry in files::list(&self.root.join(folder.to_path())).ok()? {
                let name = entry.file_name();
                let path = RepoPath::new([folder.as_bytes(), b"/", name.as_bytes()].concat());
                let kind = entry.file_type().ok()?;
                if name.eq_ignore_ascii_case(".git") || self.options.never.contains(&path) {
                    return None;
                } else if self.options.exclude.covers(&path, kind.is_dir()) {
                    continue;
                } else if kind.is_dir() {
                    open.push(path);
                } else if kind.is_file() || kind.is_symlink() {
                    bytes += entry.metadata().ok()?.len();
                    found.push(path);
                }
                if found.len() > MOST_FILES || open.len() > MOST_FILES || bytes > self.options.max_file_size {
                    return None;
                }
            }
        }
        Some((found, bytes))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use super::*;
    use crate::capture::captured::NamedPaths;

    fn sorted(named: &[&str], files: &[(&str, u64)], ignored: &[&str]) -> [Vec<String>; 3] {
        let dir = tempfile::tempdir().unwrap();
        for (path, size) in files {
            let place = dir.path().join(path);
            std::fs::create_dir_all(place.parent().unwrap()).unwrap();
            std::fs::File::create(place).unwrap().set_len(*size).unwrap();
        }
        let named = NamedPaths::new(named.iter().map(|path| dir.path().join(path)).collect());
        let exclude = PathPatterns::new(&["*.no".to_owned()]);
        let options = CaptureOptions { max_file_size: 1000, named, exclude, ..CaptureOptions::default() };
        let rest = ignored.iter().map(|path| RepoPath::new(path.as_bytes())).collect();
        let mut sorted = SortedIgnoredPaths { rest, ..SortedIgnoredPaths::default() };
        hold_named(dir.path(), &options, &mut sorted);
        [sorted.held, sorted.rest, sorted.over_limit].map(|paths| {
            let mut paths: Vec<String> = paths.iter().map(ToString::to_string).collect();
            paths.sort();
            paths
        })
    }

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn what_is_named_is_held_in_full_or_named_as_not_held() {
        let files = [
            (".env", 1),
            ("big", 1001),
            ("x.no", 1),
            ("few/a", 1),
            ("few/b/c", 2),
            ("few/d.no", 2),
            ("repo/.git/HEAD", 1),
            ("a[1]", 1),
        ];
        let all = [".env", "big", "few", "repo", "x.no", "a[1]", "gone"];
        assert_eq!(sorted(&[".env"], &files, &all), [texts(&[".env"]), texts(&["a[1]", "big", "few", "repo", "x.no"]), vec![]]);
        let expected = [texts(&[".env", "a[1]", "few/a", "few/b/c"]), texts(&["x.no"]), texts(&["big", "repo"])];
        assert_eq!(sorted(&["*"], &files, &all), expected);
        assert_eq!(sorted(&[""], &files, &all), expected, "the worktree itself");
        assert_eq!(sorted(&["few/b/../.."], &files, &all)[0], Vec::<String>::new(), "whoever names it has made it plain");
        assert_eq!(
            sorted(&["few/b/c"], &files, &all)[..2],
            [texts(&["few/b/c"]), texts(&[".env", "a[1]", "big", "few/a", "few/d.no", "repo", "x.no"])]
        );
        assert_eq!(sorted(&["a[1]"], &files, &all)[0], ["a[1]"]);
        assert_eq!(sorted(&[], &files, &all)[0], Vec::<String>::new());
    }

    #[test]
    fn a_folder_of_many_files_is_not_held() {
        let names: Vec<String> = (0..=MOST_FILES).map(|number| format!("node_modules/{number}")).collect();
        let files: Vec<(&str, u64)> = names.iter().map(|name| (name.as_str(), 0)).collect();
        assert_eq!(sorted(&["node_modules"], &files, &["node_modules"]), [vec![], vec![], texts(&["node_modules"])]);
        assert_eq!(sorted(&["node_modules"], &files[1..], &["node_modules"])[0].len(), MOST_FILES);
    }
}
