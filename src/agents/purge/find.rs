//! What is to be taken out.

use std::ffi::OsStr;
use std::path::Path;

use axiom_base::error::Result;
use axiom_model::base::names::{Oid, RepoPath};
use axiom_safety::checkpoint::submodules::repositories;
use axiom_safety::context::handle::Context;

/// What is to be taken out.
#[derive(Debug, Clone)]
pub struct PurgeSubject {
    /// A file or folder.
    pub path: Option<RepoPath>,
    /// The content of a file.
    pub blob: Option<Oid>,
    /// As it was given.
    pub given: String,
}

impl PurgeSubject {
    /// What a word means: the id of a blob, or else a path below `here`.
    pub fn of(ctx: &Context, given: &OsStr, here: &Path) -> Result<Self> {
        let word = given.to_string_lossy();
        let is_hex = word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_hex && here.join(given).symlink_metadata().is_err() {
            let named = format!("{word}^{{blob}}");
            let submodules = repositories(ctx)?;
            for repo in std::iter::once(&ctx.repo).chain(&submodules) {
                let output = repo.git().args(["rev-parse", "--verify", "--quiet", "--end-of-options", &named]).run()?;
                if output.ok() {
                    return Ok(Self { path: None, blob: Some(Oid::new(output.text()?)?), given: word.into_owned() });
                }
            }
        }
        let mut place = std::path::PathBuf::new();
        for part in here.join(given).components() {
            match part {
                std::path::Component::ParentDir => drop(place.pop()),
                std::path::Component::CurDir => {}
                std::path::Component::Prefix(_) | std::path::Component::RootDir | std::path::Component::Normal(_) => {
                    place.push(part);
                }
            }
        }
        Ok(Self { path: Some(super::path_in_worktree(ctx, &place)?), blob: None, given: word.into_owned() })
    }
}
