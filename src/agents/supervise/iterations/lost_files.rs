//! Files of workspaces that are lost after the machine has stopped, or with the folder of a workspace: before the next capture takes the
//! place of the newest one. What is lost, and putting it back, is in `agents::repair::lost_files`.

use jiff::Timestamp;

use super::workplace::was_used;
use crate::crashed_tasks::orphans::back_from;
use crate::repair::lost_files::LostFile;
use crate::repair::missing_workspaces::RemadeFolder;
use crate::repair::work_places;
use crate::repair::{lost_files, missing_workspaces};
use crate::supervise::core::agent_runs::AgentRuns;
use crate::supervise::core::desk::SessionDesk;
use crate::supervise::core::task_memory::TaskMemory;
use crate::supervise::shown::notice::SessionNotice;
use axiom_base::env;
use axiom_base::error::{Result, some_of};
use axiom_model::base::forms::plural::count_of;
use axiom_model::base::ids::{AgentId, TaskId};
use axiom_model::recovery::decide::{GONE, MayBeginAnew, WorkPlace};
use axiom_model::state::event::Event;
use axiom_model::state::event_envelope::EventAuthor;
use axiom_model::work::agent::Workspace;
use axiom_model::work::gates::gate::{Gate, GateKind};
use axiom_model::work::iteration::ReviewCause;
use axiom_safety::context::handle::Context;

/// How many files a message names.
const MOST_NAMES: usize = 5;

impl AgentRuns {
    /// After the machine has stopped: files that it emptied come back from the newest capture. Where more is lost, that capture is
    /// kept for a human's choice.
    pub(crate) fn files_of_capture(&mut self, desk: &mut SessionDesk<'_>, agent: &AgentId, task: &TaskId) {
        let heard = self.watch(agent).and_then(|watch| watch.heard_at);
        let Some(active) = desk.work_of(agent).map(|work| work.last_activity) else { return };
        if let Err(error) = bring_back(desk, task, heard.unwrap_or(active).max(active)) {
            let kept = lost_files::keep_capture(desk.ctx, task);
            kept.unwrap_or_else(|error| desk.warn(format!("the newest capture of {task} could not be kept: {error}")));
            desk.warn(format!("{task}: its files could not be compared with its newest capture: {error}"));
        }
    }
}

impl TaskMemory {
    /// Makes the folder of a task again that is gone, with what was saved of the work, and tells its next agent. Where nothing was
    /// saved, nothing is done.
    pub(crate) fn bring_back_folder(&mut self, desk: &mut SessionDesk<'_>, task: &TaskId) -> Result<()> {
        let Some(RemadeFolder { from, operation, aside }) =
            desk.ctx.patiently(|ctx| missing_workspaces::bring_back(ctx, task))?
        else {
            return Ok(());
        };
        env::fault_point("crash.folder-back");
        aside.into_iter().for_each(|what| desk.tell(SessionNotice::Recovered { what }));
        let Some(made) = back_from(from) else { return Ok(()) };
        let undo = operation.map_or_else(String::new, |operation| format!("; to undo: git axiom undo {operation}"));
        desk.warn(format!("{task}: the folder of its workspace was gone; it is made again {made}{undo}"));
        let text = format!("the folder of its workspace was gone; it is made again {made}");
        desk.step(Event::Audited { id: task.clone(), text })?;
        let note = format!(
            "## The workspace was lost\n\nThe folder in which an earlier attempt worked was gone. It was made again {made}: what was \
             changed after that is lost, whatever was reported of it. Look at what is there before you go on."
        );
        self.notes.entry(task.clone()).or_default().others = vec![note];
        Ok(())
    }
}

fn bring_back(desk: &mut SessionDesk<'_>, task: &TaskId, stopped: Timestamp) -> Result<()> {
    let by_itself = |file: &LostFile| file.comes_back;
    let back = desk.ctx.patiently(|ctx| {
        let back = |ctx: &mut Context| lost_files::put_back(ctx, task, Some(stopped), by_itself);
        ctx.in_its_own_transaction(EventAuthor::Recovery, back)
    })?;
    env::fault_point("crash.files-back");
    if let Some(back) = back {
        let names: Vec<String> = back.paths.iter().map(ToString::to_string).collect();
        let what = format!("{} that the machine emptied came back from the newest capture", some_of(&names, MOST_NAMES));
        desk.tell(SessionNotice::Recovered { what: format!("{task}: {what}; what was there: git axiom undo {}", back.txn) });
    }
    let left = desk.ctx.patiently(|ctx| {
        ctx.with_change_lock(|ctx| {
            let left = lost_files::look(ctx, task, Some(stopped))?.map(|lost| lost.files).unwrap_or_default();
            if left.is_empty() { Ok(left) } else { lost_files::keep_capture(ctx, task).map(|()| left) }
        })
    })?;
    let lost = left.iter().filter(|file| file.found.is_loss()).count();
    if lost > 0 {
        let lost = count_of(lost, "file is lost that its newest capture holds", "files are lost that its newest capture holds");
        desk.warn(format!("{task}: {lost}: git axiom recover --files {task}"));
    }
    Ok(())
}

/// Whether the folder of a task is gone and nothing of its work was saved, and whether it may begin anew then without a human.
pub(crate) fn is_gone_for_good(ctx: &Context, task: &TaskId) -> Option<MayBeginAnew> {
    match work_places::place(ctx, task) {
        Ok(WorkPlace::Gone(may)) => Some(may),
        Ok(WorkPlace::There | WorkPlace::Captured(_) | WorkPlace::Committed) | Err(_) => None,
    }
}

/// A task begins anew in its workspace, of which nothing is left: what was known of the work does not count any more.
pub(crate) fn open_anew(desk: &mut SessionDesk<'_>, task: &TaskId, workspace: &Workspace) -> Result<()> {
    desk.warn(format!("{task} begins anew: {GONE}"));
    desk.steps(vec![
        Event::Audited { id: task.clone(), text: format!("it begins anew: {GONE}") },
        Event::WorkspaceOpened { task: task.clone(), workspace: workspace.clone(), goes_on: false },
    ])
}

/// Before a task is claimed: whether a human has to agree first that it begins anew, since nothing of its work is left.
pub(crate) fn asks_to_begin_anew(desk: &mut SessionDesk<'_>, task: &TaskId) -> Result<bool> {
    let case = desk.ctx.state().task(task)?;
    let asks = is_gone_for_good(desk.ctx, task) == Some(MayBeginAnew::Asks) && was_used(desk.ctx, case);
    let gate = desk.gate(GateKind::HumanReview, task).filter(|gate| gate.cause == Some(ReviewCause::Recovery));
    let (is_open, agreed) = (gate.is_some_and(|gate| gate.decision.is_none()), gate.is_some_and(Gate::is_approved));
    if !asks || agreed {
        return Ok(false);
    }
    if !is_open {
        let reason = format!("{task}: {GONE}; approve to begin it anew");
        desk.open_gate_about(GateKind::HumanReview, task, (reason, Some(ReviewCause::Recovery)), Vec::new())?;
    }
    Ok(true)
}
