//! What hooks a process that was killed had still to be told is recorded by whoever recovers.

use crate::context::handle::Context;
use crate::context::kept_hooks::KIND;
use axiom_base::error::Result;
use axiom_model::work::hooks::hook_run::HookRun;
use axiom_process::os::foreground;
use axiom_process::os::process_id::ProcessId;
use axiom_store::beside::of_process;
use axiom_store::beside::of_process::Said;

use super::hook_runs;

/// Records what processes that have ended were still to tell hooks, and returns it. A crash in between records it twice.
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
