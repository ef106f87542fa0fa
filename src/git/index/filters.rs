//! The filters of git's configuration (`filter.NAME.clean`, `.smudge`, `.process`), which files have one, and calls of git in which
//! none runs. A filter is a program of the user's: it may be missing, fail, or not answer.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use axiom_base::error::{Code, Error, Result};
use axiom_model::base::git_config;
use axiom_model::base::names::RepoPath;

use super::file::nul_list;
use crate::repo::configured::configured;
use crate::repo::handles::Conversions;
use crate::repo::program::{FILTER_OFF, Git};
use crate::repo::worktrees::Worktree;

/// How long one filter may take in a capture, for all of its files together. Where it takes longer, they are held as they are.
pub(crate) const FILTER_LIMIT: Duration = Duration::from_secs(4);

/// How long all filters may take in a capture; after that each one has only [`LEAST`].
const ALL_FILTERS: Duration = Duration::from_secs(6);

/// What a filter has even after others did not answer.
const LEAST: Duration = Duration::from_millis(500);

/// The time that filters have in a capture.
#[derive(Debug)]
pub(crate) struct FilterTimeBudget(Instant);

impl FilterTimeBudget {
    /// From now on.
    pub fn begin() -> Self {
        Self(Instant::now() + ALL_FILTERS)
    }

    /// How long the next filter may take.
    pub fn of_next(&self) -> Duration {
        self.0.saturating_duration_since(Instant::now()).clamp(LEAST, FILTER_LIMIT)
    }
}

/// How long git may take where nothing can be done without the filters: files are written that only they can make.
pub(crate) const WHOLE_LIMIT: Duration = Duration::from_secs(300);

/// What the configuration says of a filter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FilterDriver {
    /// The commands of `clean` and `process`, one after the other; empty if nothing runs when a file is stored.
    pub stores_by: String,
    /// Whether git fails where it cannot run it.
    pub is_required: bool,
}

/// The filters of a configuration, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FilterDrivers(BTreeMap<String, FilterDriver>);

/// Files by the filter that they have.
#[derive(Debug, Default)]
pub(crate) struct FilesByFilter {
    /// Those without a filter that is configured.
    pub plain: Vec<RepoPath>,
    /// The others.
    pub filtered: BTreeMap<String, Vec<RepoPath>>,
}

impl FilterDrivers {
    /// Of all that the configuration says of filters.
    fn of(values: &[(String, String)]) -> Self {
        let mut all: BTreeMap<String, FilterDriver> = BTreeMap::new();
        for (key, value) in values {
            let Some((name, what)) = key.strip_prefix("filter.").and_then(|rest| rest.rsplit_once('.')) else { continue };
            let filter = all.entry(name.to_owned()).or_default();
            match what {
                "clean" | "process" => {
                    filter.stores_by.push_str(value);
                    filter.stores_by.push('\0');
                }
                "required" => filter.is_required = !git_config::is_false(value),
                _ => {}
            }
        }
        for filter in all.values_mut() {
            // Commands that are empty turn the filter off.
            if filter.stores_by.bytes().all(|byte| byte == 0) {
                filter.stores_by.clear();
            }
        }
        Self(all)
    }

    pub fn get(&self, name: &str) -> Option<&FilterDriver> {
        self.0.get(name)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Git<'_> {
    /// A call in which none of these filters runs: contents pass through them unchanged. Calls for an index of ours are such calls
    /// without it.
    #[must_use]
    pub(crate) fn without(self, filters: &FilterDrivers) -> Self {
        let pairs = filters.0.keys().flat_map(|name| FILTER_OFF.map(|off| format!("filter.{name}.{off}")));
        pairs.fold(self, |git, pair| git.config(pair))
    }
}

impl Conversions<'_> {
    /// The names of the filters that were configured when this was first asked.
    pub(crate) fn filter_names(&self) -> &[String] {
        self.repo.settings.filter_names.get_or_init(|| {
            let values = configured(self.repo, "filter", None).unwrap_or_default();
            FilterDrivers::of(&values).0.into_keys().collect()
        })
    }
}

impl Conversions<'_> {
    /// The filters that are configured for a worktree. As a rule there is none, and then git is not asked.
    pub(crate) fn filters(&self, worktree: &Worktree) -> Result<FilterDrivers> {
        Ok(FilterDrivers::of(&configured(self.repo, "filter", Some(worktree))?))
    }

    /// Whether Git LFS passes contents through further programs: then only it knows what it stores.
    pub(crate) fn lfs_has_extensions(&self, worktree: &Worktree) -> Result<bool> {
        Ok(configured(self.repo, "lfs", Some(worktree))?.iter().any(|(key, _)| key.starts_with("lfs.extension.")))
    }

    /// Sorts files by their filter. `git` is a call that looks where the attributes are to be read (`GIT_ATTR_SOURCE`, an index).
    pub(crate) fn by_filter(&self, filters: &FilterDrivers, git: Git<'_>, paths: &[&RepoPath]) -> Result<FilesByFilter> {
        let mut sorted = FilesByFilter::default();
        if filters.is_empty() || paths.is_empty() {
            sorted.plain = paths.iter().map(|path| (*path).clone()).collect();
            return Ok(sorted);
        }
        let output = git.args(["-z", "--stdin", "filter"]).stdin(nul_list(paths.iter().copied())).run_ok()?;
        let mut fields = output.stdout.split(|byte| *byte == 0);
        for path in paths {
            let unclear = || Error::new(Code::GitFailed, "cannot make sense of what 'git check-attr' printed");
            let name = String::from_utf8_lossy(fields.nth(2).ok_or_else(unclear)?).into_owned();
            match filters.get(&name) {
                Some(filter) if !filter.stores_by.is_empty() || filter.is_required => {
                    sorted.filtered.entry(name).or_default().push((*path).clone());
                }
                Some(_) | None => sorted.plain.push((*path).clone()),
            }
        }
        Ok(sorted)
    }
}

/// Whether git's words say that a filter failed.
pub(crate) fn is_of_a_filter(stderr: &str) -> bool {
    // The last ones are said of a process that ended while git spoke with it.
    [
        "clean filter '",
        "smudge filter ",
        "external filter",
        "the remote end hung up",
        "packet write",
        "packet read",
        "unexpected EOF",
    ]
    .iter()
    .any(|words| stderr.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_that_fails_is_told_from_a_file_that_cannot_be_read() {
        let of_filters = [
            "fatal: m.bin: clean filter 'big' failed",
            "error: external filter 'x' failed 1",
            "sh: 1: git-lfs: not found\nfatal: the remote end hung up unexpectedly",
        ];
        assert!(of_filters.iter().all(|words| is_of_a_filter(words)));
        assert!(!is_of_a_filter("error: open(\"a\"): Permission denied\nfatal: Unable to process path a"));
    }

    #[test]
    fn what_runs_is_told_from_the_configuration() {
        let listed = "filter.lfs.clean\ngit-lfs clean -- %f\0filter.lfs.process\ngit-lfs filter-process\0filter.lfs.required\ntrue\0\
            filter.a.b.smudge\ncat\0filter.off.clean\n\0filter.off.process\n\0filter.must.required\0filter.may.required\nfalse\0\
            filter.loud.required\nFalse\0";
        let values: Vec<_> = git_config::entries(listed).map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
        let filters = FilterDrivers::of(&values);
        let of = |name: &str| filters.get(name).map(|one| (!one.stores_by.is_empty(), one.is_required));
        assert_eq!(of("lfs"), Some((true, true)));
        assert_eq!(of("a.b"), Some((false, false)));
        assert_eq!(of("off"), Some((false, false)));
        assert_eq!(of("must"), Some((false, true)));
        assert_eq!(of("may"), Some((false, false)));
        assert_eq!(of("loud"), Some((false, false)));
        assert_eq!(of("other"), None);
        assert!(FilterDrivers::of(&[]).is_empty());
    }
}
