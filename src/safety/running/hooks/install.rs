//! Copying samples to where hooks are run from.

use std::path::PathBuf;

use crate::context::handle::Context;
use crate::context::trust;
use crate::context::trust::ProjectTrust;
use crate::project_hooks::project_files::{HOOKS, LARGEST, ProjectFileOrigin, SHARED};
use crate::project_hooks::samples::HookSample;
use axiom_base::error::Result;
use axiom_base::files;
use axiom_model::work::hooks::hook_event::HookEvent;

/// What became of a sample for one event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookSampleOutcome {
    /// It was copied.
    New,
    /// It is there already, as it is.
    Same,
    /// Another file of its name is there, and was left alone.
    Taken,
}

/// A file that was to be made.
#[derive(Debug)]
pub struct CopiedHookSample {
    /// Its event.
    pub event: HookEvent,
    /// Its path.
    pub path: PathBuf,
    /// What became of it.
    pub how: HookSampleOutcome,
}

/// Copies samples to the folders of their events. Never overwrites anything; a crash leaves some of the files, each whole or, as
/// the next call says, of other content.
pub fn install(ctx: &Context, samples: &[&HookSample], to: ProjectFileOrigin) -> Result<Vec<CopiedHookSample>> {
    if samples.is_empty() {
        return Ok(Vec::new());
    }
    if let ProjectTrust::Unusable { why, .. } = trust::trust(&ctx.repo) {
        return Err(why);
    }
    let folder = match to {
        ProjectFileOrigin::Shared => ctx.repo.worktrees().main_worktree()?.path().join(SHARED).join(HOOKS),
        ProjectFileOrigin::Own => {
            ctx.layout().ensure()?;
            ctx.layout().root().join(HOOKS)
        }
    };
    let each = samples.iter().flat_map(|sample| sample.events.iter().map(move |event| (*sample, *event)));
    each.map(|(sample, event)| copy(sample, event, folder.join(format!("{event}.d")))).collect()
}

fn copy(sample: &HookSample, event: HookEvent, folder: PathBuf) -> Result<CopiedHookSample> {
    for above in folder.ancestors().take(3).collect::<Vec<_>>().into_iter().rev() {
        files::create_users_dir(above)?;
    }
    let path = folder.join(sample.name);
    let how = match files::metadata(&path)? {
        Some(_) if files::read_optional(&path, LARGEST)?.as_deref() == Some(sample.text.as_bytes()) => HookSampleOutcome::Same,
        Some(_) => HookSampleOutcome::Taken,
        None => {
            files::write_users_file(&path, sample.text.as_bytes(), true)?;
            HookSampleOutcome::New
        }
    };
    Ok(CopiedHookSample { event, path, how })
}
