//! The branch sections of the repository's own configuration: read, and changed as git would, under `config.lock`.
//!
//! A checkpoint holds them in the syntax of a git configuration file, so that `git config --blob=… --list` can read them.
//! Only the file `config` of the common git directory is used, since `git branch -D` deletes sections only there.

use std::os::unix::ffi::OsStrExt;

use gix::bstr::ByteSlice;
use gix::config::File;

use axiom_base::error::{Code, Error, Result};
use axiom_base::{env, files};
use axiom_model::base::names::{RefName, spelled};
use axiom_model::base::ref_change::ChangeDirection;
use axiom_model::checkpoint::branch_config::{BranchConfigChange, BranchConfigs, ConfigValue};
use axiom_model::checkpoint::local_refs::is_held;

use crate::base::tries::{TRIES, wait_a_little};
use crate::repo::handles::GitSettings;
use crate::repo::locked_ref::{LockedRef, RefLockFiles, lock};

/// The largest configuration that is read.
const LIMIT: u64 = 64 * 1024 * 1024;
/// The name of the section.
const BRANCH: &str = "branch";

impl GitSettings<'_> {
    /// The branch sections now; `None` where the file is not a regular file, or cannot be parsed: then it is never changed.
    pub fn branch_configs(&self) -> Result<Option<BranchConfigs>> {
        Ok(self.plain_config()?.and_then(|text| of_text(&text)))
    }

    pub(super) fn plain_config(&self) -> Result<Option<Vec<u8>>> {
        let file = self.repo.common_dir().join("config");
        // If the file is a symbolic link, renaming would replace the link.
        match files::metadata(&file)? {
            Some(meta) if meta.is_file() => files::read_optional(&file, LIMIT),
            Some(_) | None => Ok(None),
        }
    }

    /// Checks that no other process is changing the configuration.
    pub fn config_is_free(&self) -> Result<()> {
        let lock = self.repo.common_dir().join("config.lock");
        if lock.symlink_metadata().is_ok() && !crate::repo::locked_ref::break_dead(&lock)? {
            Err(is_locked(&lock))
        } else {
            Ok(())
        }
    }

    /// Adds or removes branch sections, durably and all at once. Changes that are done already, and sections that were
    /// changed since, are skipped. The rest of the file does not change by a byte. A crash leaves the old or the new file,
    /// and perhaps a lock file that is recognized as dead.
    pub fn change_branch_configs(&self, changes: &[BranchConfigChange]) -> Result<()> {
        // Also if nothing is left to do: nothing else would remove a dead lock.
        crate::repo::locked_ref::break_dead(&self.repo.common_dir().join("config.lock"))?;
        for _ in 0..TRIES {
            let Some(old) = self.plain_config()? else { return Ok(()) };
            let Some(new) = changed(&old, changes) else {
                tracing::warn!("the configuration of branches is left as it is: the file is not understood");
                return Ok(());
            };
            if new == old || self.replace_config(&old, &new)? {
                return Ok(());
            }
            wait_a_little();
        }
        Err(is_locked(&self.repo.common_dir().join("config.lock")))
    }

    /// Returns `false` where another process holds the lock, or has changed the file.
    pub(super) fn replace_config(&self, old: &[u8], new: &[u8]) -> Result<bool> {
        let file = self.repo.common_dir().join("config");
        let folder = self.repo.scratch_folders().make()?;
        let name = RefName::new("config");
        let Some(one) = LockedRef::ready(&folder, 0, name, file.clone(), new)? else { return Ok(false) };
        let mut locks = RefLockFiles::default();
        // Where hard links are not supported, a lock file that a crash left looks like one of git's.
        if !lock(&one)? && !files::create_if_free(one.lock_file(), new)? {
            return Ok(false);
        }
        locks.add(&one);
        if self.plain_config()?.as_deref() != Some(old) {
            return Ok(false);
        }
        files::look_like(one.lock_file(), &file)?;
        files::sync_file(one.lock_file())?;
        env::fault_point("git.config-locked");
        files::replace_unsynced(one.lock_file(), &file)?;
        locks.has_moved(&one);
        env::fault_point("git.config-moved");
        files::sync_dir(self.repo.common_dir()).map(|()| true)
    }
}

pub(super) fn is_locked(lock: &std::path::Path) -> Error {
    Error::new(Code::GitLocked, format!("'{}' exists: another process is changing the configuration", lock.display()))
        .hint("try again when it has ended; git axiom recover    says whether its owner is dead")
}

fn parsed(text: &[u8]) -> Option<File> {
    let meta = gix::config::file::Metadata::from(gix::config::Source::Local);
    File::from_bytes_no_includes(text, meta, Default::default()).ok()
}

/// Parses the branch sections that a checkpoint holds; `None` if they cannot be parsed. Sections that are not UTF-8 are left
/// out.
pub(crate) fn of_text(text: &[u8]) -> Option<BranchConfigs> {
    let mut configs = BranchConfigs::new();
    for section in parsed(text)?.sections() {
        let Some(branch) = branch_of(&section) else { continue };
        let body = section.body();
        let read = |(key, value): (String, gix::bstr::BString)| {
            // A key without a value and a key with an empty value both have an empty value in the iterator.
            let is_bare = value.is_empty() && body.value_implicit(&key) == Some(None);
            let value = value.to_str().ok()?.to_owned();
            Some(ConfigValue { key: key.to_ascii_lowercase(), value: (!is_bare).then_some(value) })
        };
        let values: Option<Vec<ConfigValue>> = body.into_iter().map(read).collect();
        configs.entry(branch).or_default().extend(values.unwrap_or_default());
    }
    configs.retain(|_, values| !values.is_empty());
    Some(configs)
}

fn branch_of(section: &gix::config::file::SectionRef<'_>) -> Option<RefName> {
    let header = section.header();
    let branch = RefName::branch(&spelled(header.subsection_name()?));
    (header.name().eq_ignore_ascii_case(BRANCH.as_bytes()) && is_held(branch.as_str())).then_some(branch)
}

/// The sections in the syntax of a configuration file.
pub(crate) fn to_text(configs: &BranchConfigs) -> Vec<u8> {
    configs.iter().flat_map(|(branch, values)| section(branch, values)).collect()
}

fn section(branch: &RefName, values: &[ConfigValue]) -> Vec<u8> {
    let name = branch.short_in_git().as_bytes().replace(b"\\", b"\\\\").replace(b"\"", b"\\\"");
    let line = |one: &ConfigValue| match &one.value {
        Some(value) => format!("\t{} = {}\n", one.key, quoted(value)),
        None => format!("\t{}\n", one.key),
    };
    let lines: String = values.iter().map(line).collect();
    [b"[", BRANCH.as_bytes(), b" \"", &name, b"\"]\n", lines.as_bytes()].concat()
}

/// A value as git writes it: quoted unless it has only plain characters.
fn quoted(value: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-:+@=~^,".contains(c);
    if !value.is_empty() && value.chars().all(is_plain) {
        return value.to_owned();
    }
    let escaped = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\t', "\\t");
    format!("\"{}\"", escaped.replace('\u{8}', "\\b"))
}

/// The configuration after the changes; `None` if the result would not parse to exactly these changes with everything else
/// as before.
fn changed(old: &[u8], changes: &[BranchConfigChange]) -> Option<Vec<u8>> {
    let now = of_text(old)?;
    let to_do: Vec<&BranchConfigChange> = changes.iter().filter(|change| change.is_to_do(&now)).collect();
    if to_do.is_empty() {
        return Some(old.to_vec());
    }
    let mut wanted = now;
    let mut going = std::collections::BTreeSet::new();
    let mut coming = Vec::new();
    for change in to_do {
        match change.way {
            ChangeDirection::PutAside => {
                wanted.remove(&change.branch);
                going.insert(&change.branch);
            }
            ChangeDirection::BringBack => {
                wanted.insert(change.branch.clone(), change.values.clone());
                coming.extend(section(&change.branch, &change.values));
            }
        }
    }
    let mut new = old.to_vec();
    if !going.is_empty() {
        new.clear();
        let stays =
            |section: &gix::config::file::SectionRef<'_>| branch_of(section).is_none_or(|branch| !going.contains(&branch));
        parsed(old)?.write_to_filter(&mut new, stays).ok()?;
    }
    if !new.is_empty() && !new.ends_with(b"\n") {
        new.push(b'\n');
    }
    new.extend(coming);
    (of_text(&new)? == wanted && others(&new)? == others(old)?).then_some(new)
}

/// All sections except those of branches that checkpoints hold, in order.
fn others(text: &[u8]) -> Option<Vec<String>> {
    let file = parsed(text)?;
    let sections = file.sections().filter(|section| branch_of(section).is_none());
    Some(sections.map(|section| section.to_bstring().trim_end().to_str_lossy().into_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::scratch::ScratchRepository;

    fn all(scratch: &ScratchRepository) -> String {
        scratch.git(&["config", "--local", "--list", "-z"])
    }

    fn changes(configs: &BranchConfigs, way: ChangeDirection) -> Vec<BranchConfigChange> {
        configs
            .iter()
            .map(|(branch, values)| BranchConfigChange { branch: branch.clone(), values: values.clone(), way })
            .collect()
    }

    #[test]
    fn what_git_says_of_branches_is_read_taken_out_and_brought_back_and_all_else_stays() {
        let scratch = ScratchRepository::new(&[]);
        let mut text = scratch.read(".git/config");
        text.push_str("# a comment\n[branch \"bare\"]\n\trebase\n[Branch \"x\"] remote = one ; said\n\tMerge = refs/heads/x\n");
        text.push_str("[other \"x\"]\n\tremote = stays \\\n more\n[branch]\n\tautoSetupMerge = always");
        scratch.write(".git/config", text.as_bytes());
        for (name, value) in [("x", "two"), ("a \"b\\", " sp;#\"\\\n\te "), ("empty", ""), ("umlaut-ä", "ö")] {
            scratch.git(&["config", "--add", &format!("branch.{name}.description"), value]);
        }
        scratch.git(&["config", "branch.axiom/t.remote", "ours"]);
        let (repo, before) = (scratch.repo(), all(&scratch));
        let held = repo.settings().branch_configs().unwrap().unwrap();
        let said = |name: &str| axiom_model::checkpoint::branch_config::said(&held[&RefName::branch(name)]);
        assert_eq!(said("x"), "remote one, merge x, description two");
        assert_eq!((said("bare").as_str(), said("empty").as_str()), ("rebase", "description "));
        assert_eq!(held[&RefName::branch("a \"b\\134")][0].value.as_deref(), Some(" sp;#\"\\\n\te "));
        assert_eq!(held.len(), 5, "{held:?}");
        assert_eq!(of_text(&to_text(&held)).as_ref(), Some(&held), "what is held says the same");
        let mode = || std::fs::metadata(scratch.path().join(".git/config")).unwrap().permissions();
        let shown = mode();
        repo.settings().change_branch_configs(&changes(&held, ChangeDirection::PutAside)).unwrap();
        assert_eq!(repo.settings().branch_configs().unwrap().unwrap().len(), 0);
        let rest = all(&scratch);
        assert!(rest.contains("other.x.remote\nstays  more\0") && rest.contains("branch.axiom/t.remote\nours\0"), "{rest}");
        assert!(scratch.read(".git/config").contains("# a comment\n") && rest.contains("branch.autosetupmerge\nalways"));
        repo.settings().change_branch_configs(&changes(&held, ChangeDirection::BringBack)).unwrap();
        repo.settings().change_branch_configs(&changes(&held, ChangeDirection::BringBack)).unwrap();
        assert_eq!(repo.settings().branch_configs().unwrap().unwrap(), held);
        let sorted = |text: &str| {
            let mut lines: Vec<String> = text.split('\0').map(str::to_owned).collect();
            lines.sort();
            lines
        };
        assert_eq!(sorted(&all(&scratch)), sorted(&before), "git reads the same");
        assert_eq!(mode(), shown);
        assert!(repo.lock_files().git_locks().unwrap().is_empty());
    }

    #[test]
    fn what_is_said_now_is_left_alone_and_so_is_a_file_that_is_none() {
        let scratch = ScratchRepository::new(&[]);
        let repo = scratch.repo();
        let value = |text: &str| vec![ConfigValue { key: "remote".into(), value: Some(text.into()) }];
        let held = BranchConfigs::from([(RefName::branch("x"), value("origin"))]);
        scratch.git(&["config", "branch.x.remote", "mine"]);
        let before = scratch.read(".git/config");
        for way in [ChangeDirection::BringBack, ChangeDirection::PutAside] {
            repo.settings().change_branch_configs(&changes(&held, way)).unwrap();
            assert_eq!(scratch.read(".git/config"), before, "{way:?}");
        }
        scratch.git(&["config", "--unset", "branch.x.remote"]);
        scratch.write(".git/config.lock", b"");
        let taken = repo.settings().change_branch_configs(&changes(&held, ChangeDirection::BringBack)).unwrap_err();
        assert_eq!((taken.code(), repo.settings().config_is_free().unwrap_err().code()), (Code::GitLocked, Code::GitLocked));
        axiom_base::files::remove_file(&scratch.path().join(".git/config.lock")).unwrap();
        let elsewhere = scratch.path().join("elsewhere");
        axiom_base::files::replace_unsynced(&scratch.path().join(".git/config"), &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, scratch.path().join(".git/config")).unwrap();
        assert_eq!(repo.settings().branch_configs().unwrap(), None);
        repo.settings().change_branch_configs(&changes(&held, ChangeDirection::BringBack)).unwrap();
        assert!(scratch.path().join(".git/config").is_symlink());
    }
}
