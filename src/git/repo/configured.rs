//! What git's configuration says, section by section: one way of reading it, without a call of git where the table of shortcuts proves
//! that it is the same.

use std::collections::{BTreeMap, BTreeSet};

use super::repository::Repository;
use super::shortcuts::FastWay;
use super::worktrees::Worktree;
use crate::repo::handles::GitSettings;
use axiom_base::error::Result;
use axiom_model::base::git_config;

/// Keys with their values, as `git config --get-regexp` prints them: those of a key in the order in which git reads them. A key without a
/// value is true.
pub(crate) type ConfiguredValues = Vec<(String, String)>;

/// Everything that sections of this name say: in a worktree, or where there is none. As a rule there is no such section, and then git is
/// not asked, also where a condition includes other files.
pub(crate) fn configured(repo: &Repository, section: &str, worktree: Option<&Worktree>) -> Result<ConfiguredValues> {
    if repo.settings().config_lacks_section(section) {
        Ok(ConfiguredValues::new())
    } else {
        configured_anywhere(repo, section, worktree)
    }
}

/// As [`configured`], of a section that only a file may have which a condition includes for this worktree.
pub(crate) fn configured_anywhere(repo: &Repository, section: &str, worktree: Option<&Worktree>) -> Result<ConfiguredValues> {
    if repo.shortcuts().forbidden_by(FastWay::ReadWorktreeConfiguration, worktree).is_none() {
        return Ok(values_in(repo.gix()?.config_snapshot().plumbing(), section));
    }
    let pattern = format!(r"^{section}\.");
    let git = worktree.map_or_else(|| repo.git(), |worktree| repo.git_in(worktree));
    // Exit code 1 means that there is nothing.
    let listed = git.args(["config", "--null", "--get-regexp", &pattern]).run()?;
    let listed = String::from_utf8_lossy(&listed.stdout);
    Ok(git_config::entries(&listed).map(|(key, value)| (key.to_owned(), value.to_owned())).collect())
}

/// Of a configuration that is read already.
fn values_in(config: &gix::config::File, name: &str) -> ConfiguredValues {
    let mut all = Vec::new();
    for section in config.sections_by_name(name).into_iter().flatten() {
        let within = section.header().subsection_name().map(|within| format!("{within}.")).unwrap_or_default();
        let keys: BTreeSet<String> = section.value_names().map(|key| key.to_lowercase()).collect();
        for key in keys {
            let spelled = format!("{name}.{within}{key}");
            match section.value_implicit(&key) {
                Some(None) => all.push((spelled, "true".to_owned())),
                Some(Some(_)) => all.extend(section.values(&key).into_iter().map(|value| (spelled.clone(), value.to_string()))),
                None => {}
            }
        }
    }
    all
}

impl GitSettings<'_> {
    /// What sections of this name say: where it is said (as `git config --show-origin` names a file), key, and value, `None` of a key without
    /// one. `None` where only git can tell.
    pub fn values_with_origins(&self, section: &str) -> Option<Vec<(String, String, Option<String>)>> {
        if self.repo.shortcuts().forbidden_by(FastWay::ReadWorktreeConfiguration, None).is_some() {
            return None;
        }
        let gix = self.repo.gix().ok()?;
        let (config, mut all) = (gix.config_snapshot().plumbing().clone(), Vec::new());
        for section in config.sections_by_name(section).into_iter().flatten() {
            let meta = section.meta();
            let origin = match (meta.level, meta.source) {
                (0, gix::config::Source::Local) => self.own_config_file(),
                (0, _) => meta.path.clone()?,
                // How git spells the path of an included file is its own matter.
                _ => return None,
            };
            let within = section.header().subsection_name().map(|within| format!("{within}.")).unwrap_or_default();
            let name = section.header().name().to_string().to_lowercase();
            let mut taken: BTreeMap<String, usize> = BTreeMap::new();
            for key in section.value_names().map(|key| key.to_lowercase()) {
                *taken.entry(key).or_default() += 1;
            }
            for (key, count) in taken {
                let values: Vec<Option<String>> = match section.value_implicit(&key)? {
                    None if count == 1 => vec![None],
                    _ => section.values(&key).into_iter().map(|value| Some(value.to_string())).collect(),
                };
                // In case they are not all told.
                if values.len() != count {
                    return None;
                }
                let spelled = format!("{name}.{within}{key}");
                all.extend(values.into_iter().map(|value| (origin.display().to_string(), spelled.clone(), value)));
            }
        }
        Some(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::scratch::ScratchRepository;

    #[test]
    fn what_is_read_without_git_is_what_git_prints() {
        let scratch = ScratchRepository::new(&[]);
        let config = "[core]\n\trepositoryformatversion = 0\n[filter \"lfs\"]\n\tClean = git-lfs clean -- %f\n\trequired\n\
            [Filter \"a.b \\\"c\\\"\"]\n\tprocess = one \\\n two # not this\n\tclean = \"  kept; \"\n\tclean =\n\
            [filter]\n\tnone = of no name\n[filter \"LFS\"]\n\trequired = false\n[filter \"lfs\"]\n\tclean = again\n";
        scratch.write(".git/config", config.as_bytes());
        let repo = scratch.repo();
        let mut read = configured(&repo, "filter", Some(&scratch.main())).unwrap();
        let says = scratch.git(&["config", "--null", "--get-regexp", r"^filter\."]);
        let mut printed: ConfiguredValues =
            git_config::entries(&says).map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
        assert_eq!(printed.len(), 8, "{printed:?}");
        assert!(repo.shortcuts().allow_in(FastWay::ReadWorktreeConfiguration, &scratch.main()));
        // The order counts within a key only.
        read.sort_by(|(one, _), (other, _)| one.cmp(other));
        printed.sort_by(|(one, _), (other, _)| one.cmp(other));
        assert_eq!(read, printed);
    }

    #[test]
    fn values_are_told_with_the_file_that_git_names() {
        let scratch = ScratchRepository::new(&[]);
        let config = std::fs::read_to_string(scratch.path().join(".git/config")).unwrap();
        let ours = "[axiom \"checkpoints\"]\n\tmaxCount = 3\n[Axiom \"a.B\"]\n\tlist = one\n\tList = \" two \"\n\tlist =\n[axiom]\n\tattach\n";
        scratch.write(".git/config", format!("{config}{ours}").as_bytes());
        let told = |repo: &Repository| repo.settings().values_with_origins("axiom");
        let mut read = told(&scratch.repo()).unwrap();
        let printed =
            scratch.repo().git().args(["config", "--null", "--show-origin", "--get-regexp", r"^axiom\."]).run().unwrap();
        let printed = String::from_utf8(printed.stdout).unwrap();
        let mut parts = printed.split_terminator('\0');
        let mut says = Vec::new();
        while let (Some(origin), Some(entry)) = (parts.next(), parts.next()) {
            let (key, value) = entry.split_once('\n').map_or((entry, None), |(key, value)| (key, Some(value.to_owned())));
            says.push((origin.strip_prefix("file:").unwrap().to_owned(), key.to_owned(), value));
        }
        // The order counts within a key only.
        read.sort_by(|(_, one, _), (_, other, _)| one.cmp(other));
        says.sort_by(|(_, one, _), (_, other, _)| one.cmp(other));
        assert_eq!(says.len(), 5, "{printed:?}");
        assert_eq!(read, says);
        // How git spells the path of an included file, it tells. (Of tests' own repositories, gix reads none.)
        scratch.write(".git/more", b"[axiom \"agents\"]\n\tcount = 1\n");
        scratch.write(".git/config", format!("{config}[include]\n\tpath = more\n").as_bytes());
        assert_eq!(told(&Repository::discover(&scratch.path()).unwrap()), None);
    }

    #[test]
    fn git_is_not_asked_for_filters_where_only_a_condition_includes_something() {
        let scratch = ScratchRepository::new(&[]);
        scratch.git(&["config", "includeIf.onbranch:other.path", "elsewhere"]);
        let trace = scratch.path().with_file_name("trace");
        let mut repo = scratch.repo();
        repo.given.callers.push(("GIT_TRACE2_EVENT".into(), trace.clone().into_os_string()));
        assert!(!repo.shortcuts().allow_in(FastWay::ReadWorktreeConfiguration, &scratch.main()));
        assert!(repo.conversions().filters(&scratch.main()).unwrap().is_empty());
        assert!(repo.conversions().filter_names().is_empty() && !repo.conversions().lfs_has_extensions(&scratch.main()).unwrap());
        assert!(!trace.exists(), "{}", std::fs::read_to_string(trace).unwrap());
    }
}
