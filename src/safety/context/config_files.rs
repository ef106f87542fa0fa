//! The files of the configuration: where they are, and what text is in them.

use std::path::{Path, PathBuf};

use crate::config::byte_order_mark;
use crate::project_hooks::project_files::{CONFIG, SHARED};
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_base::files::SmallFile;
use axiom_git::Repository;

/// The largest configuration file that is read.
pub const MAX_FILE: u64 = 16 * 1024 * 1024;

/// The user's configuration file: `$XDG_CONFIG_HOME/git-axiom/config.toml`, or the same below `~/.config`.
pub fn user_file() -> Option<PathBuf> {
    env::user_config_dir().map(|folder| folder.join("git-axiom").join("config.toml"))
}

/// The text of the user's file. Whatever is in its place (a named pipe), nothing is waited for.
pub(super) fn users_text(path: PathBuf) -> Result<Option<(PathBuf, String)>> {
    match files::read_small_of_user(&path, MAX_FILE)? {
        SmallFile::Nothing if path.is_symlink() => {
            Err(Error::new(Code::ConfigInvalid, format!("'{}' is a symbolic link that leads nowhere", path.display())))
        }
        SmallFile::Nothing => Ok(None),
        SmallFile::Content(bytes) => as_text(path, &bytes).map(Some),
        SmallFile::Odd(what) => Err(Error::new(Code::ConfigInvalid, format!("'{}' is {what}", path.display()))),
    }
}

/// The text of a configuration file, without a byte order mark.
pub fn as_text(path: PathBuf, bytes: &[u8]) -> Result<(PathBuf, String)> {
    match std::str::from_utf8(byte_order_mark::without(bytes)) {
        Ok(text) => Ok((path, text.to_owned())),
        Err(e) => Err(not_utf8(&path, bytes, e)),
    }
}

fn not_utf8(path: &Path, bytes: &[u8], e: std::str::Utf8Error) -> Error {
    let error = Error::new(Code::ConfigInvalid, format!("'{}' is not UTF-8", path.display()));
    match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => error.why("it is UTF-16").hint("save it as UTF-8 in your editor"),
        _ => error.because(e),
    }
}

/// The path of the project's configuration.
pub fn project_file(repo: &Repository) -> Result<PathBuf> {
    Ok(repo.worktrees().main_worktree()?.path().join(SHARED).join(CONFIG))
}
