//! Settings that are known without a call of git, where that is certain.

use super::repository::is_config;
use super::shortcuts::FastWay;
use crate::repo::handles::GitSettings;

impl GitSettings<'_> {
    /// Whether it is certain, without a call of git, that no configuration file has a section of this name; `false` if the
    /// caller gave values with `git -c`.
    pub fn config_lacks_section(&self, name: &str) -> bool {
        let sections = |gix: gix::Repository| gix.config_snapshot().plumbing().sections_by_name(name).is_none();
        self.repo.shortcuts().allow(FastWay::ReadConfiguration) && self.repo.gix().is_ok_and(sections)
    }

    /// What an alias of git stands for; `None` where there is none, or the configuration cannot be read without git.
    pub fn alias(&self, name: &str) -> Option<String> {
        let gix = self.repo.gix().ok()?;
        gix.config_snapshot().string(format!("alias.{name}").as_str()).map(|meaning| meaning.to_string())
    }

    /// The value of a setting that is on or off; `None` where it is not set, or the configuration cannot be read without git.
    pub fn switch(&self, name: &str) -> Option<bool> {
        let gix = self.repo.gix().ok()?;
        gix.config_snapshot().boolean(name)
    }

    /// Whether the caller gave configuration values in addition to the files: `git -c`.
    pub(crate) fn caller_configures(&self) -> bool {
        self.repo.given.callers.iter().any(|(name, _)| is_config(name))
    }
}
