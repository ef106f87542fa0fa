//! Telling hooks what a verb has done, at its end.

use super::hook_runs;
use crate::context::approved_hooks::EventHooks;
use crate::context::handle::Context;
use crate::context::kept_hooks;
use crate::running::steps;
use crate::running::steps::{AfterStepFailure, StepJob, StepRunner};
use crate::running::telling::Telling;
use crate::running::wait_observer::{ForegroundWait, WaitObserver};
use axiom_base::error::Result;
use axiom_model::hook::facts::HookFacts;
use axiom_model::work::hooks::hook_run::HookRun;

/// Runs the hooks of everything that is due, one event after the other, and records it; returns all runs. What they do or fail
/// to do never fails the verb. Where the user ends them, the rest is dropped.
pub fn report(ctx: &mut Context, watch: &mut dyn WaitObserver) -> Vec<HookRun> {
    let mut all = Vec::new();
    while let Some(facts) = ctx.hooks.next_due() {
        kept_hooks::keep(ctx.store.layout(), &mut ctx.hooks);
        match run(ctx, &facts, watch) {
            Ok(Some(runs)) => all.extend(runs),
            Ok(None) => {
                ctx.hooks.forget_due();
            }
            Err(error) => tracing::warn!(%error, event = %facts.event, "hooks were not run"),
        }
        ctx.hooks.told();
        kept_hooks::keep(ctx.store.layout(), &mut ctx.hooks);
    }
    all
}

/// Runs the hooks of one event and records it; `None` where the user ended them.
pub fn run(ctx: &mut Context, facts: &HookFacts, watch: &mut dyn WaitObserver) -> Result<Option<Vec<HookRun>>> {
    let EventHooks::Run(hooks, tree) = ctx.hooks.at(facts.event) else { return Ok(Some(Vec::new())) };
    let steps = hook_runs::of(ctx, (&hooks, &tree), facts)?;
    watch.begun(ForegroundWait::Hooks(facts.event));
    let running = steps::start(StepJob::new(ctx, StepRunner::Verb, AfterStepFailure::GoOn, steps), None);
    let mut telling = Telling::begin(ctx);
    let verdict = running.verdict_unless_ended(watch, || telling.tell(hook_runs::doing(facts, &running)));
    drop((running, telling));
    watch.ended();
    let Some(verdict) = verdict else { return Ok(None) };
    let runs = hook_runs::records(facts, &verdict.ran);
    if let Err(error) = hook_runs::record(ctx, &runs) {
        tracing::warn!(%error, "what hooks did is not recorded");
    }
    Ok(Some(runs))
}
