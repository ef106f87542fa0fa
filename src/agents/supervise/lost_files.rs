//! Files of workspaces that are lost after the machine has stopped, or with the folder of a workspace: before the next capture takes the
//! place of the newest one. What is lost, and putting it back, is in `agents::repair::lost_files`.

use jiff::Timestamp;

use super::Supervisor;
use super::notice::SessionNotice;
use crate::crashed_tasks::orphans::back_from;
use crate::repair::lost_files;
use crate::repair::lost_files::LostFile;
use crate::repair::missing_workspaces;
use crate::repair::missing_workspaces::RemadeFolder;
use axiom_base::env;
use axiom_base::error::{Result, some_of};
use axiom_model::base::forms::plural::count_of;
use axiom_model::base::ids::{AgentId, TaskId};
use axiom_model::recovery::decide::{GONE, MayBeginAnew, WorkPlace};
use axiom_model::state::event::{Event, EventAuthor};
use axiom_model::work::agent::Workspace;
use axiom_model::work::gates::gate::{Gate, GateKind};
use axiom_model::work::iteration::ReviewCause;
use axiom_safety::context::handle::Context;

/// How many files a message names.
const MOST_NAMES: usize = 5;

impl Supervisor<'_> {
    /// After the machine has stopped: files that it emptied come back from the newest capture. Where more is lost, that capture is
    /// kept for a human's choice.
    pub(super) fn files_of_capture(&mut self, agent: &AgentId, task: &TaskId) {
        let heard = self.watches.get(agent).and_then(|watch| watch.heard_at);
        let Some(active) = self.work_of(agent).map(|work| work.last_activity) else { return };
        if let Err(error) = self.bring_back(task, heard.unwrap_or(active).max(active)) {
            let kept = lost_files::keep_capture(self.ctx, task);
            kept.unwrap_or_else(|error| self.warn(format!("the newest capture of {task} could not be kept: {error}")));
            self.warn(format!("{task}: its files could not be compared with its newest capture: {error}"));
        }
    }

    fn bring_back(&mut self, task: &TaskId, stopped: Timestamp) -> Result<()> {
        let by_itself = |file: &LostFile| file.comes_back;
        let back = self.ctx.patiently(|ctx| {
            let back = |ctx: &mut Context| lost_files::put_back(ctx, task, Some(stopped), by_itself);
            ctx.in_its_own_transaction(EventAuthor::Recovery, back)
        })?;
        env::fault_point("crash.files-back");
        if let Some(back) = back {
            let names: Vec<String> = back.paths.iter().map(ToString::to_string).collect();
            let what = format!("{} that the machine emptied came back from the newest capture", some_of(&names, MOST_NAMES));
            self.tell(SessionNotice::Recovered { what: format!("{task}: {what}; what was there: git axiom undo {}", back.txn) });
        }
        let left = self.ctx.patiently(|ctx| {
            ctx.with_change_lock(|ctx| {
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

    /// Makes the folder of a task again that is gone, with what was saved of the work, and tells its next agent. Where nothing was
    /// saved, nothing is done.
    pub(super) fn bring_back_folder(&mut self, task: &TaskId) -> Result<()> {
        let Some(RemadeFolder { from, operation, aside }) =
            self.ctx.patiently(|ctx| missing_workspaces::bring_back(ctx, task))?
        else {
            return Ok(());
        };
        env::fault_point("crash.folder-back");
        aside.into_iter().for_each(|what| self.tell(SessionNotice::Recovered { what }));
        let Some(made) = back_from(from) else { return Ok(()) };
        let undo = operation.map_or_else(String::new, |operation| format!("; to undo: git axiom undo {operation}"));
        self.warn(format!("{task}: the folder of its workspace was gone; it is made again {made}{undo}"));
        let text = format!("the folder of its workspace was gone; it is made again {made}");
        self.step(Event::Audited { id: task.clone(), text })?;
        let note = format!(
            "## The workspace was lost\n\nThe folder in which an earlier attempt worked was gone. It was made again {made}: what was \
             changed after that is lost, whatever was reported of it. Look at what is there before you go on."
        );
        self.notes.entry(task.clone()).or_default().others = vec![note];
        Ok(())
    }

    /// Whether the folder of a task is gone and nothing of its work was saved, and whether it may begin anew then without a human.
    pub(super) fn is_gone_for_good(&self, task: &TaskId) -> Option<MayBeginAnew> {
        match missing_workspaces::place(self.ctx, task) {
            Ok(WorkPlace::Gone(may)) => Some(may),
            Ok(WorkPlace::There | WorkPlace::Captured(_) | WorkPlace::Committed) | Err(_) => None,
        }
    }

    /// A task begins anew in its workspace, of which nothing is left: what was known of the work does not count any more.
    pub(super) fn open_anew(&mut self, task: &TaskId, workspace: &Workspace) -> Result<()> {
        self.warn(format!("{task} begins anew: {GONE}"));
        self.steps(vec![
            Event::Audited { id: task.clone(), text: format!("it begins anew: {GONE}") },
            Event::WorkspaceOpened { task: task.clone(), workspace: workspace.clone() },
        ])
    }

    /// Before a task is claimed: whether a human has to agree first that it begins anew, since nothing of its work is left.
    pub(super) fn asks_to_begin_anew(&mut self, task: &TaskId) -> Result<bool> {
        let case = self.ctx.state().task(task)?;
        let asks = self.is_gone_for_good(task) == Some(MayBeginAnew::Asks) && self.was_used(case);
        let gate = self.gate(GateKind::HumanReview, task).filter(|gate| gate.cause == Some(ReviewCause::Recovery));
        let (is_open, agreed) = (gate.is_some_and(|gate| gate.decision.is_none()), gate.is_some_and(Gate::is_approved));
        if !asks || agreed {
            return Ok(false);
        }
        if !is_open {
            let reason = format!("{task}: {GONE}; approve to begin it anew");
            self.open_gate_about(GateKind::HumanReview, task, (reason, Some(ReviewCause::Recovery)), Vec::new())?;
        }
        Ok(true)
    }
}
