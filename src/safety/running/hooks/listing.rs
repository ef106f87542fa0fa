//! The hooks that there are, and the runs that the log has.

use std::collections::BTreeMap;

use jiff::Timestamp;

use crate::context::handle::Context;
use crate::context::stand_in;
use crate::context::trust::ProjectTrust;
use crate::history;
use crate::project_hooks::project_files::ProjectFiles;
use crate::project_hooks::selection::{ProjectHook, hooks_of};
use axiom_base::error::Result;
use axiom_model::state::event::Event;
use axiom_model::work::hooks::hook_event::HookEvent;
use axiom_model::work::hooks::hook_run::HookRun;

/// A run, and when it was.
#[derive(Debug, Clone)]
pub struct EndedHookRun {
    /// When it ended; of one that was cut off when it began.
    pub at: Timestamp,
    /// The run.
    pub run: HookRun,
}

/// A hook.
#[derive(Debug)]
pub struct HookListing {
    /// Its event, place and known problem.
    pub hook: ProjectHook,
    /// Whether it is approved as it is.
    pub approved: bool,
    /// Its last run.
    pub last: Option<EndedHookRun>,
}

/// All runs that the log has, oldest first.
pub fn runs(ctx: &Context) -> Result<Vec<EndedHookRun>> {
    let mut all = Vec::new();
    history::each_event(ctx.layout(), |envelope| {
        let at = envelope.happened_at();
        if let Event::HookRan { run } = envelope.event {
            all.push(EndedHookRun { at, run: *run });
        }
        Ok(())
    })?;
    Ok(all)
}

/// All hooks, by event, each with its last run.
pub fn hooks(ctx: &Context) -> Result<Vec<HookListing>> {
    let (files, approved) = match stand_in::of_project(&ctx.repo).0 {
        ProjectTrust::Nothing => (ProjectFiles::default(), true),
        ProjectTrust::Approved(files) => (files, true),
        ProjectTrust::Waiting { now, .. } => (now, false),
        ProjectTrust::Unusable { why, .. } => return Err(why),
    };
    let mut last: BTreeMap<(HookEvent, String), EndedHookRun> = BTreeMap::new();
    for ended in runs(ctx)? {
        last.insert((ended.run.event, ended.run.hook.clone()), ended);
    }
    let all = HookEvent::ALL.into_iter().flat_map(|event| hooks_of(&files, event));
    let listed = all.map(|hook| {
        let last = last.remove(&(hook.event, hook.place.to_string()));
        HookListing { hook, approved, last }
    });
    Ok(listed.collect())
}
