//! The repository's own configuration, the file `config` of the common git directory: single keys changed by the git program,
//! and the whole file replaced. Both durably, all at once, and under `config.lock`; git itself does not sync the file, and
//! changes one value at a time.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use axiom_base::error::{Code, Error, Result};
use axiom_base::files;

use super::branch_config::is_locked;
use super::program::run_captured;
use crate::base::tries::{TRIES, wait_a_little};
use crate::repo::handles::GitSettings;
use axiom_process::os::command::command_with_callers_repository;

/// `git config --unset-all` ends with this where there is no such key.
const NO_SUCH_KEY: i32 = 5;

impl GitSettings<'_> {
    /// The file of this repository's own configuration.
    pub fn own_config_file(&self) -> PathBuf {
        self.repo.common_dir().join("config")
    }

    /// The content of that file.
    pub fn own_config(&self) -> Result<Vec<u8>> {
        self.plain_config()?.ok_or_else(|| {
            let path = self.own_config_file();
            Error::new(Code::InTheWay, format!("'{}' is no regular file, so it is left alone", path.display()))
                .hint("git config axiom.SECTION.KEY VALUE    changes it as git does")
        })
    }

    /// Replaces the file if it is still `before`. Returns whether it was replaced.
    pub fn replace_own_config(&self, before: &[u8], after: &[u8]) -> Result<bool> {
        crate::repo::locked_ref::break_dead(&self.repo.common_dir().join("config.lock"))?;
        for _ in 0..TRIES {
            if self.replace_config(before, after)? {
                return Ok(true);
            }
            if self.own_config()? != before {
                return Ok(false);
            }
            wait_a_little();
        }
        Err(is_locked(&self.repo.common_dir().join("config.lock")))
    }

    /// Gives a key exactly these values in the file, in this order; none removes it. Values that included files give it are left
    /// alone. Returns those that it had there, where that changes anything.
    pub fn change_own_setting(&self, key: &str, values: &[String]) -> Result<Vec<String>> {
        for _ in 0..TRIES {
            let before = self.own_config()?;
            let folder = self.repo.scratch_folders().make()?;
            let copy = folder.path().join("config");
            files::write_scratch(&copy, &before)?;
            let had = self.values_in(&copy, key)?;
            if had != values {
                self.write_values(&copy, key, values)?;
            }
            if had == values || self.replace_own_config(&before, &files::read(&copy, u64::MAX - 1)?)? {
                return Ok(had);
            }
        }
        Err(is_locked(&self.repo.common_dir().join("config.lock")))
    }

    /// The values that a key has in the file itself, in their order; none where it is no regular file.
    pub fn own_values(&self, key: &str) -> Result<Vec<String>> {
        match self.plain_config()? {
            Some(_) => self.values_in(&self.own_config_file(), key),
            None => Ok(Vec::new()),
        }
    }

    fn write_values(&self, file: &Path, key: &str, values: &[String]) -> Result<()> {
        let call = || self.repo.git().args(["config", "--file"]).arg(file);
        let Some((first, rest)) = values.split_first() else {
            let output = call().args(["--unset-all", key]).run()?;
            return if output.ok() || output.code == Some(NO_SUCH_KEY) { Ok(()) } else { Err(output.error()) };
        };
        call().args(["--replace-all", key, first]).run_ok()?;
        rest.iter().try_for_each(|value| call().args(["--add", key, value]).run_ok().map(drop))
    }

    /// The values of a key in a file.
    fn values_in(&self, file: &Path, key: &str) -> Result<Vec<String>> {
        let output = self.repo.git().args(["config", "--null", "--file"]).arg(file).args(["--get-all", key]).run()?;
        if !output.ok() && output.code != Some(1) {
            return Err(output.error());
        }
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(text.split_terminator('\0').map(str::to_owned).collect())
    }

    /// All keys below `axiom.` in the text of such a file, as git prints them, with their values.
    pub fn settings_in(&self, text: &[u8]) -> Result<Vec<(String, Option<String>)>> {
        self.keys_in(text, r"^axiom\.")
    }

    /// What the text of such a file says of the repository's format: without it, git does not open the repository, or opens it as
    /// another one.
    pub fn format_in(&self, text: &[u8]) -> Result<Vec<(String, Option<String>)>> {
        self.keys_in(text, r"^(core\.(repositoryformatversion|bare|worktree)|extensions\..*)$")
    }

    fn keys_in(&self, text: &[u8], pattern: &str) -> Result<Vec<(String, Option<String>)>> {
        let folder = self.repo.scratch_folders().make()?;
        let file = folder.path().join("config");
        files::write_scratch(&file, text)?;
        let output = self.repo.git().args(["config", "--null", "--file"]).arg(&file).args(["--get-regexp", pattern]).run()?;
        if !output.ok() && output.code != Some(1) {
            return Err(output.error());
        }
        let entry = |entry: &str| match entry.split_once('\n') {
            Some((key, value)) => (key.to_owned(), Some(value.to_owned())),
            None => (entry.to_owned(), None),
        };
        Ok(String::from_utf8_lossy(&output.stdout).split_terminator('\0').map(entry).collect())
    }
}

/// The editor that git would start in a folder, in the words of a shell: `git var GIT_EDITOR`.
pub fn users_editor(folder: &Path) -> Result<String> {
    let mut command = command_with_callers_repository("git");
    command.current_dir(folder).args(["var", "GIT_EDITOR"]).stdin(Stdio::null());
    let output = run_captured(&mut command, None, "'git var GIT_EDITOR'".to_owned())?;
    if output.ok() { output.text().map(str::to_owned) } else { Err(output.error().hint("set GIT_EDITOR to your editor")) }
}
