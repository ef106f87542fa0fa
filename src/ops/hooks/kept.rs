//! What hooks are still to be told is in memory alone, as is that they are being told. Here it is kept on disk, too, for the case that this
//! process is killed: then whoever recovers records what became of it.

use crate::domain::work::hook_run::HookRun;
use crate::error::Result;
use crate::ops::context::handle::Context;
use crate::process::keeper::spec::ProcessId;
use crate::process::os::foreground;
use crate::store::of_process::{self, Said};

use super::hook_runs;

const KIND: &str = "hooks";

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

/// Records what processes that have ended were still to tell hooks, and returns it. A crash in between records it twice.
///
/// # Errors
/// Those of the log.
pub fn settle(ctx: &mut Context) -> Result<Vec<HookRun>> {
    let mut settled = Vec::new();
    for (path, said) in of_process::read::<ProcessId, HookRun>(ctx.layout(), KIND) {
        // Half a file is of a process that was killed while it wrote it.
        let Said { process, said } = match said {
            Some(said) if foreground::is_alive(said.process) => continue,
            Some(said) => said,
            None => Said { process: ProcessId { pid: 0, start: 0 }, said: Vec::new() },
        };
        tracing::info!(pid = process.pid, hooks = said.len(), "hooks were not told");
        hook_runs::record(ctx, &said)?;
        of_process::forget(&path);
        settled.extend(said);
    }
    Ok(settled)
}
