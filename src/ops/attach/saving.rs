//! The checkpoint that a program waits for, within a time that is far below the program's own.

use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use crate::domain::attach::stamp::Stamp;
use crate::domain::checkpoint::document::{CheckpointRecord, Trigger};
use crate::domain::state::event::By;
use crate::error::{Code, Error, Result};
use crate::files;
use crate::git::NamedPaths;
use crate::ops::checkpoint::{self, CheckpointRequest, Kept};
use crate::ops::context::handle::Context;
use crate::ops::context::placement::{self, Purpose};
use crate::store::attach::AttachFiles;

/// How long a program waits at most: programs give their hooks 20 s or more where `attach` has written them.
const LONGEST: Duration = Duration::from_secs(12);
/// How long it is waited for another operation.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is to be saved.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    pub trigger: Trigger,
    /// The paths that are looked at; `None` for everything.
    pub only: Option<Vec<PathBuf>>,
    /// Files as they were before an edit.
    pub kept: Vec<Kept>,
    /// The session; a watch has none.
    pub stamp: Option<Stamp>,
    /// What a command is about to change.
    pub named: NamedPaths,
    /// The worktree that the program waits for.
    pub own: Option<PathBuf>,
}

impl Wanted {
    /// Everything, by nobody's session.
    pub(super) fn all(trigger: Trigger) -> Self {
        Self { trigger, only: None, kept: Vec::new(), stamp: None, named: NamedPaths::default(), own: None }
    }
}

/// What came of it.
#[derive(Debug)]
pub(super) struct Saved {
    /// The checkpoint; `None` where nothing had changed.
    pub record: Option<CheckpointRecord>,
    pub ctx: Context,
}

/// Saves within the time that a program may wait. What takes longer goes on in a thread that ends with this process: a checkpoint
/// that is cut off has not been made, or is completed by the next one.
///
/// # Errors
/// Those of a checkpoint; `BUSY` where it takes too long.
pub(super) fn in_time(folder: &Path, wanted: Wanted) -> Result<Saved> {
    let (to, from) = mpsc::channel();
    let folder = folder.to_owned();
    let work = move || drop(to.send(now(&folder, &wanted)));
    std::thread::Builder::new()
        .name("save".into())
        .spawn(work)
        .map_err(|e| Error::new(Code::IoFailed, "no thread can be started").because(e))?;
    from.recv_timeout(LONGEST)
        .unwrap_or_else(|_| Err(Error::new(Code::Busy, format!("nothing was saved within {} s", LONGEST.as_secs()))))
}

/// The same without a limit but that of the operation lock.
///
/// # Errors
/// Those of a checkpoint.
pub(super) fn now(folder: &Path, wanted: &Wanted) -> Result<Saved> {
    let mut ctx = open(folder)?;
    let request = CheckpointRequest {
        only: wanted.only.clone(),
        kept: wanted.kept.clone(),
        attached: wanted.stamp.clone(),
        named: wanted.named.clone(),
        own: wanted.own.clone(),
        ..CheckpointRequest::by(wanted.trigger)
    };
    if !wanted.kept.is_empty() && !checkpoint::can_build_on_newest(&ctx)? {
        let all = CheckpointRequest { attached: wanted.stamp.clone(), ..CheckpointRequest::by(wanted.trigger) };
        checkpoint::create(&mut ctx, &all)?;
    }
    // Before the look: what changes during it counts as not saved.
    let mark = AttachFiles::of(ctx.layout()).looked_at();
    let marked = if wanted.only.is_none() && wanted.kept.is_empty() { files::write_scratch(&mark, b"") } else { Ok(()) };
    // Each prompt has a number to come back to.
    let record = if wanted.trigger == Trigger::Prompt {
        Some(checkpoint::create(&mut ctx, &request)?)
    } else {
        checkpoint::create_if_changed(&mut ctx, &request)?
    };
    marked?;
    Ok(Saved { record, ctx })
}

/// Opens the repository for an attached session: by nobody's order.
///
/// # Errors
/// As [`Context::open`].
pub(super) fn open(folder: &Path) -> Result<Context> {
    let mut ctx = Context::open(folder, Purpose::Write)?;
    placement::main_is_chosen(&ctx)?;
    ctx.load_usable_config()?;
    ctx.act_as(By::Supervisor)?;
    ctx.set_patience(PATIENCE);
    Ok(ctx)
}
