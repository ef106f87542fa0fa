//! What hooks a process that was killed had still to be told is recorded by whoever recovers.

use crate::domain::work::hook_run::HookRun;
use crate::error::Result;
use crate::ops::context::handle::Context;
use crate::ops::context::kept_hooks::KIND;
use crate::process::os::foreground;
use crate::process::os::process_id::ProcessId;
use crate::store::of_process::{self, Said};

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
