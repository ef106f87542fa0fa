//! The verb `recover`: finding out what a crash left, and repairing it.

use std::time::{Duration, Instant};

use serde::Serialize;

use super::{repair, wedged};
use crate::domain::base::ids::{AgentId, CaseId};
use crate::domain::state::wedge::{Wedge, WedgeView};
use crate::domain::work::agent::Stage;
use crate::error::{Code, Error, Result};
use crate::files;
use crate::ops::checkpoint;
use crate::ops::context::handle::Context;
use crate::ops::supervise::notice::Watcher;
use crate::ops::supervise::{self, Attend, Options};
use crate::process::keeper::spec::KeeperState;
use crate::process::keeper_state;

/// How long to wait for an operation that is just ending, or whose git children are.
const MOMENT: Duration = Duration::from_secs(2);
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// What there is to recover. Finding it out changes nothing.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct View {
    /// Whether there is anything to recover.
    pub needed: bool,
    /// Whether `recover --yes` repairs some of it.
    #[serde(skip)]
    pub repairs: bool,
    /// Iterations that still run, or whose results can be used.
    pub resumable: Vec<Orphan>,
    /// Tasks that become pending again; a retry is counted.
    pub reset: Vec<Orphan>,
    /// Tasks that have crashed too often.
    pub failed: Vec<Orphan>,
    /// The operation that was interrupted.
    pub operation: Option<String>,
    /// The checkpoint that was being made.
    #[serde(rename = "unfinishedCheckpoint")]
    pub checkpoint: Option<String>,
    /// Checkpoints that exist and that the state does not know: they are recorded again.
    pub forgotten_checkpoints: Vec<String>,
    /// Git's lock files.
    pub locks: Vec<String>,
    /// Loose objects whose contents do not match their ids, after a power loss.
    pub damaged_objects: Vec<String>,
    /// The lost ones of such objects, in words.
    pub lost_objects: Vec<String>,
    /// Other reasons for which verbs refuse, with what to do about each.
    pub wedges: Vec<WedgeView>,
}

/// A task that is active while no supervisor runs.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Orphan {
    /// The task.
    pub task_id: CaseId,
    /// Its agent.
    pub agent_id: AgentId,
    /// The iteration it was in.
    pub iteration: u32,
    /// What was found, and what follows from it.
    pub reason: String,
}

/// Finds what a crash left, and other reasons for which verbs refuse.
///
/// # Errors
/// `BUSY` while an operation is under way; `IO_FAILED`, `GIT_FAILED`.
pub fn look(ctx: &mut Context) -> Result<View> {
    let mut view = View::default();
    if ctx.supervisor_alive()? {
        return Ok(view);
    }
    nothing_is_under_way(ctx)?;
    let ctx = &*ctx;
    let state = ctx.state();
    view.operation = state.record.open.as_ref().map(|open| open.operation.title.clone());
    view.wedges = wedged::find(ctx)?.iter().map(Wedge::view).collect();
    view.checkpoint = state.record.checkpoint_intent.as_ref().map(ToString::to_string);
    view.locks = ctx.repo.git_locks()?.iter().map(|lock| lock.path.display().to_string()).collect();
    let lost = checkpoint::look_for_lost(ctx, checkpoint::Depth::Notes)?;
    view.forgotten_checkpoints = lost.unknown.iter().map(ToString::to_string).collect();
    if !ctx.repo.durability().objects_are_proved() {
        view.damaged_objects = ctx.repo.durability().doubtful_objects()?.iter().map(ToString::to_string).collect();
    }
    view.lost_objects = repair::lost_objects(ctx)?;
    for agent in state.busy_agents() {
        let Some(work) = &agent.work else { continue };
        let orphan = |reason: &str| Orphan {
            task_id: work.task.clone(),
            agent_id: agent.id.clone(),
            iteration: work.iteration,
            reason: reason.to_owned(),
        };
        let retries = state.record.cases.get(&work.task).map_or(0, |record| record.retry_count);
        let token = match &work.stage {
            Stage::Between { .. } => {
                view.resumable.push(orphan("it is between two iterations"));
                continue;
            }
            Stage::Intended { token } | Stage::Running { token, .. } => token,
        };
        match keeper_state(&ctx.layout().run_dir(&agent.id, token))? {
            KeeperState::Alive(_) | KeeperState::Starting => view.resumable.push(orphan("it still runs, and is taken over")),
            KeeperState::Ended(_) => view.resumable.push(orphan("it has ended, and its result is used")),
            KeeperState::NotStarted => view.resumable.push(orphan("its program was never started")),
            KeeperState::Dead(_) | KeeperState::Unproved(_) if retries >= ctx.config.recovery.max_retries => {
                view.failed.push(orphan("its keeper died, and it has crashed too often"));
            }
            KeeperState::Unproved(_) => view.reset.push(orphan(
                "the machine stopped before its work was on disk: what is left is captured and committed, and it starts again",
            )),
            KeeperState::Dead(_) => view.reset.push(orphan("its keeper died: what it left is committed, and it starts again")),
        }
    }
    let open_session = state.record.session.as_ref().is_some_and(|session| session.state.is_open());
    view.repairs = open_session
        || view.operation.is_some()
        || view.checkpoint.is_some()
        || !view.forgotten_checkpoints.is_empty()
        || !view.damaged_objects.is_empty()
        || view.wedges.iter().any(|wedge| wedge.recovers)
        || !(view.resumable.is_empty() && view.reset.is_empty() && view.failed.is_empty());
    view.needed = view.repairs || view.wedges.iter().any(|wedge| wedge.stops);
    Ok(view)
}

/// Waits a moment for a running operation: what it has not finished yet is not damage.
fn nothing_is_under_way(ctx: &mut Context) -> Result<()> {
    let lock = ctx.layout().operation_lock();
    let begun = Instant::now();
    while files::is_locked(&lock)? {
        if begun.elapsed() > MOMENT {
            ctx.store.refresh()?;
            ctx.no_open_operation()?;
            return Err(Error::new(Code::Busy, "an operation (checkpoint, merge or repair) is under way in another process")
                .hint("wait for it to end, then run the command again"));
        }
        std::thread::sleep(LOOK_AGAIN);
    }
    ctx.store.refresh().map(drop)
}

/// Makes every safe repair: finishes or reverses what was interrupted, uses the results of ended iterations, resets crashed
/// tasks. Agents that still run continue, and the next `run` takes them over.
///
/// # Errors
/// As [`supervise::attend`].
pub fn recover(ctx: &mut Context, options: Options, watcher: &mut dyn Watcher) -> Result<()> {
    supervise::attend(ctx, &Attend::TakeUp, options, watcher)
}
