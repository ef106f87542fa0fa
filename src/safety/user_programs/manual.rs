//! The page that `git axiom --help` opens: whether `man` finds it, and where it has to be.

use std::path::PathBuf;
use std::process::Stdio;

use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_process::os::command::command;

/// The name of the main page.
const PAGE: &str = "git-axiom";

/// Whether `git axiom --help` opens a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ManPageStanding {
    /// It does.
    Found,
    /// `man` has no page of ours.
    Missing,
    /// There is no `man`.
    NoProgram,
}

/// Whether `man` finds our page.
pub fn standing() -> ManPageStanding {
    let mut man = command("man");
    man.args(["-w", PAGE]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    match man.status() {
        Ok(ended) if ended.success() => ManPageStanding::Found,
        Ok(_) => ManPageStanding::Missing,
        Err(_) => ManPageStanding::NoProgram,
    }
}

/// The user's own folder for pages: the first in which `man` looks, else `~/.local/share/man`; below it `man1`.
pub fn folder() -> Result<PathBuf> {
    let home = env::home_dir().ok_or_else(|| {
        Error::new(Code::InvalidInput, "it is not known where your home folder is: HOME is not set")
            .hint("git axiom man --out FOLDER    writes the pages into another folder")
    })?;
    let mut man = command("man");
    man.arg("-w").stdin(Stdio::null()).stderr(Stdio::null());
    let path = man.output().map(|said| said.stdout).unwrap_or_default();
    let own = std::env::split_paths(String::from_utf8_lossy(&path).trim()).find(|folder| folder.starts_with(&home));
    Ok(own.unwrap_or_else(|| home.join(".local/share/man")).join("man1"))
}
