//! What a call of `git` may do.

use axiom_base::error::{Code, Error, Result};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::repo::stage_folder::StageFolder;

/// The effect of a git call on the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GitCallEffect {
    /// It changes nothing: it takes no optional locks, and sees the objects of the stage.
    Reads,
    /// It makes objects to which nothing refers yet.
    MakesObjects,
    /// It changes refs, an index, files or configuration.
    Writes,
}

/// Which object directories a git call uses.
pub(super) enum GitCallObjects<'r> {
    Repository,
    AndThoseOf(&'r StageFolder),
    In(&'r StageFolder),
}

/// Which filters run in a call for an index of ours.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ActiveFilters {
    None,
    One(String),
    All,
}

impl ActiveFilters {
    pub(super) fn includes(&self, name: &str) -> bool {
        match self {
            Self::None => false,
            Self::One(one) => one == name,
            Self::All => true,
        }
    }
}

/// When a call is ended, whatever it waits for.
#[derive(Debug)]
pub(super) struct GitCallLimit {
    pub(super) time: Duration,
    /// Nobody wants what it does any more.
    pub(super) given_up: Option<Arc<AtomicBool>>,
}

pub(super) fn started(command: &mut Command) -> Result<Child> {
    let folder = command.get_current_dir().map(Path::to_owned);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(|e| match folder {
        Some(folder) if !folder.is_dir() => Error::io("enter the folder", &folder, e),
        Some(_) | None if e.kind() == std::io::ErrorKind::NotFound => {
            Error::new(Code::GitMissing, "git cannot be started").because(e).hint("install git 2.34 or newer, better 2.40")
        }
        Some(_) | None => Error::cannot_start("git", e),
    })
}
