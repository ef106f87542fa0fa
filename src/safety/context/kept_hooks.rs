//! What hooks are still to be told is in memory alone, as is that they are being told. Here it is kept on disk, too, for the case that
//! this process is killed: then whoever recovers records what became of it.

use crate::context::approved_hooks::RepositoryHooks;
use axiom_model::work::hooks::hook_run::HookRun;
use axiom_process::os::foreground;
use axiom_process::os::process_id::ProcessId;
use axiom_store::beside::of_process;
use axiom_store::beside::of_process::Said;
use axiom_store::layout::StoreLayout;

pub(crate) const KIND: &str = "hooks";

/// Keeps what is to be recorded if this process ends now, where that has changed. Where it cannot be kept, nobody is told of it.
pub fn keep(layout: &StoreLayout, hooks: &mut RepositoryHooks) {
    let runs = hooks.if_we_ended();
    if !hooks.is_kept(&runs) {
        return;
    }
    let Some(own) = foreground::own_id() else { return };
    if let Err(error) = of_process::write(layout, KIND, own, runs) {
        tracing::info!(%error, "what hooks are to be told is not kept");
    }
}

/// What processes that have ended were still to tell hooks.
pub fn left(layout: &StoreLayout) -> Vec<HookRun> {
    let all = of_process::read::<ProcessId, HookRun>(layout, KIND).into_iter().filter_map(|(_, said)| said);
    all.filter(|Said { process, .. }| !foreground::is_alive(*process)).flat_map(|Said { said, .. }| said).collect()
}
