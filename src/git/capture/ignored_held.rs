//! Untracked files about which the configuration decides: `checkpoints.include` makes ignored files content,
//! `checkpoints.exclude` leaves out untracked and ignored files; what a command names is in `named_ignored`. Both ways of capturing use this.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use axiom_base::error::Result;
use axiom_base::files;
use axiom_model::base::names::RepoPath;

use super::captured::CaptureOptions;
use super::named_ignored::hold_named;
use super::sorted_ignored::SortedIgnoredPaths;
use crate::index::file::in_folder;
use crate::index::status::{StatusEntry, StatusKind};
use crate::repo::handles::Captures;
use crate::repo::own_scratch::ScratchFolder;
use crate::repo::worktrees::Worktree;

/// The largest file of the user's with patterns that is read.
const IGNORED_LIMIT: u64 = 4 * 1024 * 1024;

/// How many bytes of ignored files are held for one worktree at most.
const LIMIT: u64 = 100 * 1024 * 1024;

/// Sorts the topmost ignored files and folders by what the configuration includes. A folder is listed only if a pattern
/// covers it or leads into it.
pub(crate) fn sort_ignored(root: &Path, ignored: Vec<RepoPath>, options: &CaptureOptions) -> SortedIgnoredPaths {
    let mut sorted = SortedIgnoredPaths::default();
    if options.include.is_empty() {
        sorted.rest = ignored;
        hold_named(root, options, &mut sorted);
        return sorted.ordered();
    }
    for path in ignored {
        sort_one(root, path, options, &mut sorted);
    }
    let mut sorted = sorted.ordered();
    let mut bytes = 0;
    let mut held = Vec::with_capacity(sorted.held.len());
    for path in std::mem::take(&mut sorted.held) {
        let size = root.join(path.to_path()).symlink_metadata().map_or(0, |meta| meta.len());
        // A file over the size limit is listed as too large, and does not count here.
        let counted = if size <= options.max_file_size { size } else { 0 };
        if bytes + counted > LIMIT {
            sorted.over_limit.push(path);
        } else {
            bytes += counted;
            held.push(path);
        }
    }
    sorted.held = held;
    hold_named(root, options, &mut sorted);
    sorted.ordered()
}

fn sort_one(root: &Path, path: RepoPath, options: &CaptureOptions, sorted: &mut SortedIgnoredPaths) {
    if options.never.contains(&path) {
        return;
    }
    let place = root.join(path.to_path());
    let meta = match files::metadata(&place) {
        Ok(Some(meta)) => meta,
        Ok(None) => return,
        Err(_) => return sorted.unread.push(path),
    };
    let covered = options.include.covers(&path, meta.is_dir());
    if covered && options.exclude.covers(&path, meta.is_dir()) {
        sorted.excluded.push(path);
    } else if !meta.is_dir() {
        match covered {
            true if meta.is_file() || meta.is_symlink() => sorted.held.push(path),
            true => sorted.special.push(path),
            false => sorted.rest.push(path),
        }
    } else if !(covered || options.include.leads_into(&path)) || place.join(".git").symlink_metadata().is_ok() {
        sorted.rest.push(path);
    } else {
        let mut below = SortedIgnoredPaths::default();
        let Ok(listed) = files::list(&place) else { return sorted.unread.push(path) };
        for entry in listed {
            use std::os::unix::ffi::OsStrExt;
            let inside = RepoPath::new([path.as_bytes(), b"/", entry.file_name().as_bytes()].concat());
            sort_one(root, inside, options, &mut below);
        }
        let SortedIgnoredPaths { held, rest, excluded, over_limit: _, special, unread } = below;
        sorted.unread.extend(unread);
        if held.is_empty() && excluded.is_empty() {
            sorted.rest.push(path);
        } else {
            sorted.held.extend(held);
            sorted.rest.extend(rest);
            sorted.excluded.extend(excluded);
            sorted.special.extend(special);
        }
    }
}

/// What the configuration excludes.
#[derive(Debug, Default)]
pub(crate) struct ExcludedPaths {
    /// The topmost files and folders, as far as git reports something in them.
    pub paths: BTreeSet<RepoPath>,
    /// All that is tracked, in order, where anything may be excluded.
    tracked: Vec<RepoPath>,
}

impl ExcludedPaths {
    fn has_tracked(&self, folder: &RepoPath) -> bool {
        let below = RepoPath::new([folder.as_bytes(), b"/"].concat());
        let first = self.tracked.partition_point(|path| *path < below);
        self.tracked.get(first).is_some_and(|path| path.as_bytes().starts_with(below.as_bytes()))
    }

    /// Whether a folder is excluded as a whole, whatever is in it: nobody looks into it.
    pub fn closes(&self, options: &CaptureOptions, folder: &RepoPath) -> bool {
        // A submodule is tracked itself.
        options.exclude.covers(folder, true) && !self.has_tracked(folder) && self.tracked.binary_search(folder).is_err()
    }
}

impl Captures<'_> {
    /// A file in `folder` for `core.excludesFile`, with which git opens no folder that is excluded; `None` where nothing is. What
    /// the user's own file ignores it ignores too.
    pub(crate) fn closed_to_git(&self, folder: &ScratchFolder, options: &CaptureOptions) -> Result<Option<PathBuf>> {
        // git would take the patterns for those of other names too, and a negated one would show what the user's file ignores.
        if options.exclude.is_empty() || options.exclude.negates() || self.repo.settings().ignores_case() {
            return Ok(None);
        }
        let set = self.repo.git().args(["config", "--type=path", "--get", "core.excludesFile"]).run()?;
        let own = if set.ok() {
            Some(PathBuf::from(set.text()?))
        } else {
            axiom_base::env::user_config_dir().map(|folder| folder.join("git/ignore"))
        };
        let own = own.and_then(|file| files::read_small_of_user(&file, IGNORED_LIMIT).ok()?.content());
        let lines = [own.unwrap_or_default(), b"\n".to_vec(), options.exclude.as_lines()].concat();
        let file = in_folder(folder, "excluded");
        files::write_scratch(&file, &lines)?;
        Ok(Some(file))
    }

    /// Removes excluded paths from the entries of `git status`, and from the folders that it could not read (`unread`), and
    /// returns the topmost excluded files and folders. A folder is returned only if nothing in it is tracked.
    pub(crate) fn take_excluded(
        &self,
        worktree: &Worktree,
        (index, options): (&Path, &CaptureOptions),
        entries: &mut Vec<StatusEntry>,
        unread: &mut Vec<RepoPath>,
    ) -> Result<ExcludedPaths> {
        let (root, exclude) = (worktree.path(), &options.exclude);
        if exclude.is_empty() {
            return Ok(ExcludedPaths::default());
        }
        let output = self.repo.git_in(worktree).index(index).args(["ls-files", "-z"]).run_ok()?;
        let mut tracked: Vec<RepoPath> = output.stdout.split(|byte| *byte == 0).map(RepoPath::new).collect();
        tracked.sort_unstable();
        let mut excluded = BTreeSet::new();
        let all = ExcludedPaths { paths: BTreeSet::new(), tracked };
        let has_tracked = |folder: &RepoPath| all.has_tracked(folder);
        entries.retain(|StatusEntry { path, kind }| {
            let is_folder = match kind {
                StatusKind::Tracked { .. } | StatusKind::Unmerged => return true,
                StatusKind::NestedRepository => true,
                StatusKind::Untracked | StatusKind::Ignored => {
                    root.join(path.to_path()).symlink_metadata().is_ok_and(|m| m.is_dir())
                }
            };
            if !exclude.covers(path, is_folder) {
                return true;
            }
            let above = path.folders_above().find(|folder| exclude.covers(folder, true) && !has_tracked(folder));
            excluded.insert(above.unwrap_or_else(|| path.clone()));
            false
        });
        unread.retain(|path| {
            let stays = !exclude.covers(path, true) || has_tracked(path);
            if !stays {
                let above = path.folders_above().find(|folder| exclude.covers(folder, true) && !has_tracked(folder));
                excluded.insert(above.unwrap_or_else(|| path.clone()));
            }
            stays
        });
        Ok(ExcludedPaths { paths: excluded, ..all })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use super::*;
    use crate::index::path_patterns::PathPatterns;

    fn sorted(include: &[&str], files: &[(&str, u64)], ignored: &[&str]) -> [Vec<String>; 4] {
        let dir = tempfile::tempdir().unwrap();
        for (path, size) in files {
            let place = dir.path().join(path);
            std::fs::create_dir_all(place.parent().unwrap()).unwrap();
            std::fs::File::create(place).unwrap().set_len(*size).unwrap();
        }
        let patterns = |texts: &[&str]| PathPatterns::new(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
        let (include, exclude) = (patterns(include), patterns(&["*.no"]));
        let options = CaptureOptions { max_file_size: 1 << 40, include, exclude, ..CaptureOptions::default() };
        let ignored = ignored.iter().map(|path| RepoPath::new(path.as_bytes())).collect();
        let SortedIgnoredPaths { held, rest, excluded, over_limit, .. } = sort_ignored(dir.path(), ignored, &options);
        [held, rest, excluded, over_limit].map(|paths| paths.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn what_is_included_is_held_up_to_its_limit_and_no_more() {
        let mb = 1024 * 1024;
        let files = [("a", 60 * mb), ("b", 60 * mb), ("c", mb), ("d.no", 1)];
        let all = ["a", "b", "c", "d.no", "gone"];
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        assert_eq!(sorted(&["*"], &files, &all), [texts(&["a", "c"]), vec![], texts(&["d.no"]), texts(&["b"])]);
        assert_eq!(sorted(&["c"], &files, &all), [texts(&["c"]), texts(&["a", "b", "d.no"]), vec![], vec![]]);
    }

    #[test]
    fn of_an_ignored_folder_only_what_is_not_held_is_named() {
        let files = [("s/a.pem", 1), ("s/x", 1), ("s/deep/y", 1), ("r/.git/HEAD", 1), ("n/.env", 1)];
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let (all, rest) = (["n", "r", "s"], texts(&["n", "r", "s/deep", "s/x"]));
        assert_eq!(sorted(&["s/*.pem", ".env", "r/"], &files, &all), [texts(&["s/a.pem"]), rest, vec![], vec![]]);
        assert_eq!(sorted(&["s/*.none"], &files, &all)[1], ["n", "r", "s"]);
        assert_eq!(sorted(&["s/"], &files, &all)[0], ["s/a.pem", "s/deep/y", "s/x"]);
    }
}
