//! Whether there is enough space on every file system that git axiom writes to. The levels are in `model::work::sessions::disk`.

use std::path::PathBuf;

use crate::context::handle::Context;
use crate::folders::workspace_folder;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_base::files::FreeSpace;
use axiom_model::work::sessions::disk::{DiskSpaceLevel, FreeDiskSpace};

/// A file system that git axiom writes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSystemSpace {
    /// A folder on it.
    pub place: PathBuf,
    /// What git axiom has there.
    pub holds: Vec<&'static str>,
    /// What is left.
    pub space: FreeDiskSpace,
    /// How little that is.
    pub level: DiskSpaceLevel,
}

/// The file systems that git axiom writes to, each once.
pub fn file_systems(ctx: &Context) -> Result<Vec<FileSystemSpace>> {
    let thresholds = ctx.config.system.thresholds();
    let mut found: Vec<(Option<u64>, FileSystemSpace)> = Vec::new();
    for (holds, place) in places(ctx)? {
        let device = files::mount_of(&place).map(|(device, _)| device);
        if let Some((_, known)) = found.iter_mut().find(|(other, _)| device.is_some() && *other == device) {
            known.holds.push(holds);
            continue;
        }
        let FreeSpace { free, total, free_files } = files::space_at(&place)?;
        let space = FreeDiskSpace { free, total, free_files };
        let level = thresholds.level(&space);
        found.push((device, FileSystemSpace { place, holds: vec![holds], space, level }));
    }
    Ok(found.into_iter().map(|(_, one)| one).collect())
}

fn places(ctx: &Context) -> Result<Vec<(&'static str, PathBuf)>> {
    Ok(vec![
        ("git directory", ctx.repo.common_dir().to_owned()),
        ("main worktree", ctx.repo.worktrees().main_worktree()?.path().to_owned()),
        ("workspaces", workspace_folder::root(ctx)?),
    ])
}

/// What is short where it is shortest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpaceShortage {
    /// How short it is.
    pub level: DiskSpaceLevel,
    /// What is short, in words.
    pub words: String,
    /// What has to be free so that work goes on, in words.
    pub to_go_on: String,
}

impl SpaceShortage {
    /// With its code.
    pub fn with_code(&self) -> String {
        self.level.code().map_or_else(|| self.words.clone(), |code| format!("{code}: {}", self.words))
    }
}

/// The file system with the least space, if one has too little. One that cannot be asked has enough: what is written there fails or
/// not.
pub fn shortage(ctx: &Context) -> Option<SpaceShortage> {
    let all = file_systems(ctx).unwrap_or_else(|error| {
        tracing::warn!(%error, "the free space is unknown");
        Vec::new()
    });
    let worst = all.into_iter().max_by_key(|one| one.level)?;
    let words = ctx.config.system.thresholds().words(&worst.space, &worst.place.to_string_lossy())?;
    let to_go_on = ctx.config.system.thresholds().to_go_on(&worst.space);
    Some(SpaceShortage { level: worst.level, words, to_go_on })
}

/// Checks before something is saved or merged that there is enough space to end it.
///
/// # Errors
/// `DISK_EMERGENCY`.
pub fn has_room_to_save(ctx: &Context, what: &str) -> Result<()> {
    has_room(ctx, what, DiskSpaceLevel::Emergency)
}

/// Checks before something new is begun that there is enough space for it.
///
/// # Errors
/// `DISK_CRITICAL`, `DISK_EMERGENCY`.
pub fn has_room_to_begin(ctx: &Context, what: &str) -> Result<()> {
    has_room(ctx, what, DiskSpaceLevel::Critical)
}

fn has_room(ctx: &Context, what: &str, too_little: DiskSpaceLevel) -> Result<()> {
    let Some(short) = shortage(ctx).filter(|short| short.level >= too_little) else { return Ok(()) };
    let code = short.level.code().unwrap_or(Code::DiskCritical);
    Err(Error::new(code, format!("there is too little space to {what}"))
        .why(short.words)
        .hint("git axiom disk    shows who uses the space, and what could go"))
}
