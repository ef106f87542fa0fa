//! Workspaces are made aside, in a thread that holds the workspace's lock and no other: git runs filters and the post-checkout hook
//! meanwhile, which may install for minutes. Only the task itself waits.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread::JoinHandle;

use jiff::Timestamp;

use super::desk::SessionDesk;
use crate::supervise::shown::notice::SessionNotice;
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_git::AddWorkspaceOutcome;
use axiom_model::base::ids::TaskId;
use axiom_model::work::agent::Workspace;
use axiom_model::work::sessions::supervisor_activity::{SupervisorActivity, SupervisorActivityKind};
use axiom_process::os::bell::{WakeListener, WakeSender};
use axiom_safety::context::handle::Context;
use axiom_safety::folders::workspaces;
use axiom_safety::folders::workspaces::WorkspaceToMake;

/// A workspace that git makes.
#[derive(Debug)]
struct WorkspaceCreation {
    since: Timestamp,
    given_up: Arc<AtomicBool>,
    is_over: Arc<AtomicBool>,
    came_to: Receiver<(WorkspaceToMake, Result<AddWorkspaceOutcome>)>,
    aside: Option<String>,
    thread: JoinHandle<()>,
}

/// The workspaces that are being made, by task.
#[derive(Debug, Default)]
pub(crate) struct WorkspaceCreations {
    by_task: BTreeMap<TaskId, WorkspaceCreation>,
}

impl WorkspaceCreations {
    /// Whether git still makes the workspace of this task.
    pub(crate) fn is_at_work_for(&self, task: &TaskId) -> bool {
        self.by_task.get(task).is_some_and(|making| !making.is_over.load(Ordering::SeqCst))
    }

    /// Whether the workspace of this task is being made, or what came of it was not taken yet.
    pub(crate) fn is_of(&self, task: &TaskId) -> bool {
        self.by_task.contains_key(task)
    }

    /// Whether git makes any.
    pub(crate) fn are_at_work(&self) -> bool {
        self.by_task.keys().any(|task| self.is_at_work_for(task))
    }

    /// The tasks whose workspaces are being made.
    pub(crate) fn tasks(&self) -> Vec<TaskId> {
        self.by_task.keys().cloned().collect()
    }

    /// Ends git; what it has made by then is half-made. The returned thread ends with it.
    pub(crate) fn give_up(&mut self, task: &TaskId) -> Option<JoinHandle<()>> {
        let making = self.by_task.remove(task)?;
        making.given_up.store(true, Ordering::SeqCst);
        Some(making.thread)
    }

    /// What is being made, for people who look.
    pub(crate) fn doing(&self) -> impl Iterator<Item = SupervisorActivity> {
        self.by_task
            .iter()
            .map(|(task, making)| SupervisorActivity::of_task(SupervisorActivityKind::MakesWorkspace, task, making.since))
    }
}

impl WorkspaceCreations {
    /// Makes or repairs the workspace of a task, where that is needed; returns whether it is there: git may still make it.
    pub(crate) fn is_made(
        &mut self,
        desk: &mut SessionDesk<'_>,
        bell: &WakeListener,
        task: &TaskId,
        workspace: &Workspace,
    ) -> Result<bool> {
        let aside = match self.by_task.get(task) {
            None => {
                let (to_make, aside) = workspaces::prepare(desk.ctx, task, workspace)?;
                if let Some(to_make) = to_make {
                    env::fault_point("claim.workspace-begins");
                    let making = begin_making(desk.ctx, bell, to_make, aside)?;
                    self.by_task.insert(task.clone(), making);
                    return Ok(false);
                }
                aside
            }
            Some(making) => {
                let came_to = match making.came_to.try_recv() {
                    Ok(came_to) => Some(came_to),
                    Err(TryRecvError::Empty) => return Ok(false),
                    Err(TryRecvError::Disconnected) => None,
                };
                let aside = self.by_task.remove(task).and_then(|making| making.aside);
                match came_to {
                    Some((to_make, added)) => workspaces::settled(desk.ctx, &to_make, added?)?,
                    None => return Err(Error::new(Code::Internal, "nobody says what became of a workspace")),
                }
                aside
            }
        };
        aside.into_iter().for_each(|what| desk.tell(SessionNotice::Recovered { what }));
        Ok(true)
    }
}

fn begin_making(
    ctx: &Context,
    bell: &WakeListener,
    to_make: WorkspaceToMake,
    aside: Option<String>,
) -> Result<WorkspaceCreation> {
    let reopening = ctx.repo.reopening()?;
    let (given_up, is_over) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let (to, came_to) = channel();
    let (until, over, rope) = (Arc::clone(&given_up), Arc::clone(&is_over), bell.rope().ok());
    let work = move || {
        let added = reopening.open().and_then(|repo| to_make.add(&repo, until));
        drop(to.send((to_make, added)));
        over.store(true, Ordering::SeqCst);
        rope.iter().for_each(WakeSender::ring);
    };
    let begun = std::thread::Builder::new().name("workspace".into()).spawn(work);
    let thread = begun.map_err(|e| Error::cannot_start("a thread that makes a workspace", e))?;
    Ok(WorkspaceCreation { since: env::now(), given_up, is_over, came_to, aside, thread })
}
