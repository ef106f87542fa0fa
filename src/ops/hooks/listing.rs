//! The hooks that there are, and the runs that the log has.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::domain::hook::event::HookEvent;
use crate::domain::hook::run::HookRun;
use crate::domain::state::event::Event;
use crate::error::Result;
use crate::hook::project_files::ProjectFiles;
use crate::hook::selection::{Hook, hooks_of};
use crate::ops::context::handle::Context;
use crate::ops::context::stand_in;
use crate::ops::context::trust::Trust;
use crate::ops::history;

/// A run, and when it ended.
#[derive(Debug, Clone)]
pub struct Ended {
    /// When.
    pub at: Timestamp,
    /// The run.
    pub run: HookRun,
}

/// A hook.
#[derive(Debug)]
pub struct Listed {
    /// Its event, place and known problem.
    pub hook: Hook,
    /// Whether it is approved as it is.
    pub approved: bool,
    /// Its last run.
    pub last: Option<Ended>,
}

/// All runs that the log has, oldest first.
///
/// # Errors
/// As [`history::each_event`].
pub fn runs(ctx: &Context) -> Result<Vec<Ended>> {
    let mut all = Vec::new();
    history::each_event(ctx.layout(), |envelope| {
        if let Event::HookRan { run } = envelope.event {
            all.push(Ended { at: envelope.at, run: *run });
        }
        Ok(())
    })?;
    Ok(all)
}

/// All hooks, by event, each with its last run.
///
/// # Errors
/// `NOT_TRUSTED` where the project's files cannot be read; as [`runs`].
pub fn hooks(ctx: &Context) -> Result<Vec<Listed>> {
    let (files, approved) = match stand_in::of_project(&ctx.repo).0 {
        Trust::Nothing => (ProjectFiles::default(), true),
        Trust::Approved(files) => (files, true),
        Trust::Waiting { now, .. } => (now, false),
        Trust::Unusable { why, .. } => return Err(why),
    };
    let mut last: BTreeMap<(HookEvent, String), Ended> = BTreeMap::new();
    for ended in runs(ctx)? {
        last.insert((ended.run.event, ended.run.hook.clone()), ended);
    }
    let all = HookEvent::ALL.into_iter().flat_map(|event| hooks_of(&files, event));
    let listed = all.map(|hook| {
        let last = last.remove(&(hook.event, hook.place.to_string()));
        Listed { hook, approved, last }
    });
    Ok(listed.collect())
}
