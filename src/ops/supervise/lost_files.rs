//! Files of workspaces that are lost after the machine has stopped, or with the folder of a workspace: before the next capture takes the
//! place of the newest one. What is lost, and putting it back, is in `ops::recover::lost_files`.

use jiff::Timestamp;

use super::Supervisor;
use super::notice::Notice;
use crate::domain::base::ids::{AgentId, CaseId};
use crate::domain::base::plural::count_of;
use crate::domain::state::event::By;
use crate::env;
use crate::error::{Result, some_of};
use crate::ops::context::handle::Context;
use crate::ops::recover::lost_files::{self, LostFile};

/// How many files a message names.
const MOST_NAMES: usize = 5;

impl Supervisor<'_> {
    /// After the machine has stopped: files that it emptied come back from the newest capture. Where more is lost, that capture is
    /// kept for a human's choice.
    pub(super) fn files_of_capture(&mut self, agent: &AgentId, task: &CaseId) {
        let heard = self.watches.get(agent).and_then(|watch| watch.heard_at);
        let Some(active) = self.work_of(agent).map(|work| work.last_activity) else { return };
        if let Err(error) = self.bring_back(task, heard.unwrap_or(active).max(active)) {
            let kept = lost_files::keep_capture(self.ctx, task);
            kept.unwrap_or_else(|error| self.warn(format!("the newest capture of {task} could not be kept: {error}")));
            self.warn(format!("{task}: its files could not be compared with its newest capture: {error}"));
        }
    }

    fn bring_back(&mut self, task: &CaseId, stopped: Timestamp) -> Result<()> {
        let by_itself = |file: &LostFile| file.comes_back;
        let back = self.ctx.patiently(|ctx| {
            let back = |ctx: &mut Context| lost_files::put_back(ctx, task, Some(stopped), by_itself);
            ctx.in_its_own_transaction(By::Recovery, back)
        })?;
        env::fault_point("crash.files-back");
        if let Some(back) = back {
            let names: Vec<String> = back.paths.iter().map(ToString::to_string).collect();
            let what = format!("{} that the machine emptied came back from the newest capture", some_of(&names, MOST_NAMES));
            self.tell(Notice::Recovered { what: format!("{task}: {what}; what was there: git axiom undo {}", back.txn) });
        }
        let left = self.ctx.patiently(|ctx| {
            ctx.with_operation_lock(|ctx| {
                let left = lost_files::look(ctx, task, Some(stopped))?.map(|lost| lost.files).unwrap_or_default();
                if left.is_empty() { Ok(left) } else { lost_files::keep_capture(ctx, task).map(|()| left) }
            })
        })?;
        let lost = left.iter().filter(|file| file.found.is_loss()).count();
        if lost > 0 {
            let lost =
                count_of(lost, "file is lost that its newest capture holds", "files are lost that its newest capture holds");
            self.warn(format!("{task}: {lost}: git axiom recover --files {task}"));
        }
        Ok(())
    }

    /// Before the folder of a workspace is made again that is gone: what its capture holds is kept for a human's choice.
    pub(super) fn lost_folder(&mut self, task: &CaseId) -> Result<()> {
        if lost_files::keep_of_lost_folder(self.ctx, task)? {
            self.warn(format!(
                "{task}: the folder of its workspace is gone; what was not committed: git axiom recover --files {task}"
            ));
        }
        Ok(())
    }
}
