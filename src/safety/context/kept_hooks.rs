//! What hooks are still to be told is in memory alone, as is that they are being told. Here it is kept on disk, too, for the case that
//! this process is killed: then whoever recovers records what became of it.

use crate::context::handle::Context;
use axiom_model::work::hooks::hook_run::HookRun;
use axiom_process::os::foreground;
use axiom_process::os::process_id::ProcessId;
use axiom_store::beside::of_process;
use axiom_store::beside::of_process::Said;

pub(crate) const KIND: &str = "hooks";

/// Keeps what is to be recorded if this process ends now, where that has changed. Where it cannot be kept, nobody is told of it.
pub fn keep(ctx: &mut Context) {
    let runs = ctx.hooks.if_we_ended();
    if !ctx.hooks.is_kept(&runs) {
        return;
    }
    let Some(own) = foreground::own_id() else { return };
    if let Err(error) = of_process::write(ctx.layout(), KIND, own, runs) {
        tracing::info!(%error, "what hooks are to be told is not kept");
    }
}

/// What processes that have ended were still to tell hooks.
pub fn left(ctx: &Context) -> Vec<HookRun> {
    let all = of_process::read::<ProcessId, HookRun>(ctx.layout(), KIND).into_iter().filter_map(|(_, said)| said);
    all.filter(|Said { process, .. }| !foreground::is_alive(*process)).flat_map(|Said { said, .. }| said).collect()
}
