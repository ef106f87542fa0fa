//! The verb `recover`: finding out what a crash left, and repairing it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde::Serialize;

use super::earlier_tasks::{EarlierRecoveredTask, tasks_of};
use super::interrupted_groups::{self, InterruptedGroup};
use super::wedged;
use crate::crashed_tasks::orphans;
pub use crate::crashed_tasks::orphans::OrphanTask;
use crate::crashed_tasks::orphans::RecoveryRequest;
use crate::repair;
use crate::repair::crash_leftovers;
use crate::repair::lost_files;
use crate::repair::lost_files::LostFiles;
use crate::supervise;
use crate::supervise::notice::SessionWatcher;
use crate::supervise::{AttendRequest, SupervisorOptions};
use crate::tasks::seen_state;
use axiom_base::error::{Code, Error, Result};
use axiom_base::own_process::threads;
use axiom_base::{env, files};
use axiom_model::base::ids::TaskId;
use axiom_model::base::own_names::LIVE;
use axiom_model::recovery::estimate::{self, CrashEstimate};
use axiom_model::recovery::human_choice::{CrashedTaskFate, RecoverySelection};
use axiom_model::state::blocking_condition::{BlockingCondition, BlockingConditionView};
use axiom_model::state::current_state::State;
use axiom_model::work::agent::Agent;
use axiom_safety::checkpoint;
use axiom_safety::context::handle::Context;

/// How long to wait for an operation that is just ending, or whose git children are.
const MOMENT: Duration = Duration::from_secs(2);
const LOOK_AGAIN: Duration = Duration::from_millis(50);
/// How many tasks are looked at in one thread.
const FEW_TASKS: usize = 16;

/// What there is to recover. Finding it out changes nothing.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RecoverySurvey {
    /// Whether there is anything to recover.
    pub needed: bool,
    /// Whether `recover --yes` repairs some of it.
    #[serde(skip)]
    pub repairs: bool,
    /// Where a crash cut tasks off that were not taken up yet.
    pub crash: Option<CrashEstimate>,
    /// The goals of tasks that a crash cut off, with all groups in them, each before its parts.
    pub groups: Vec<InterruptedGroup>,
    /// Tasks that go on: they still run, their results can be used, or what is there is a beginning.
    pub resumable: Vec<OrphanTask>,
    /// Tasks that begin anew.
    pub reset: Vec<OrphanTask>,
    /// Tasks that have crashed too often.
    pub failed: Vec<OrphanTask>,
    /// Tasks that stay as the crash left them, since a human wants something of others only.
    pub left: Vec<OrphanTask>,
    /// Tasks that a crash had cut off and that were taken up before, where something becomes of them or they failed.
    pub earlier: Vec<EarlierRecoveredTask>,
    /// Files of workspaces that are lost and that their newest captures hold.
    pub lost_files: Vec<LostFiles>,
    /// The operation that was interrupted, in words.
    pub open_operation: Option<String>,
    /// The checkpoint that was being made.
    #[serde(rename = "unfinishedCheckpoint")]
    pub checkpoint: Option<String>,
    /// Checkpoints that exist and that the state does not know: they are recorded again.
    pub forgotten_checkpoints: Vec<String>,
    /// What a crash left to tidy up, in words.
    pub leftovers: Vec<String>,
    /// Lock files of git that nobody seems to own.
    pub locks: Vec<String>,
    /// Ids of loose objects that are not what their names say.
    pub damaged_objects: Vec<String>,
    /// What is lost of them, in words.
    pub lost_objects: Vec<String>,
    /// Other reasons for which verbs refuse, with what to do about each.
    pub wedges: Vec<BlockingConditionView>,
}

impl RecoverySurvey {
    /// The tasks of which something becomes.
    pub fn concerned(&self) -> impl Iterator<Item = &OrphanTask> {
        self.resumable.iter().chain(&self.reset).chain(&self.failed)
    }

    /// Those of them that a crash cut off.
    pub fn cut_off(&self) -> impl Iterator<Item = &OrphanTask> {
        self.concerned().filter(|orphan| orphan.decision.is_some())
    }

    /// Whether a recovery does any of what is shown.
    pub fn can_be_done(&self) -> bool {
        self.repairs || !self.locks.is_empty() || self.changes_earlier()
    }

    /// Whether something becomes of tasks that were taken up before.
    pub fn changes_earlier(&self) -> bool {
        self.earlier.iter().any(|earlier| earlier.decision.is_some())
    }

    /// Leaves out lost files and groups of other tasks than these.
    pub fn keep_only(&mut self, state: &State, tasks: &BTreeSet<TaskId>) {
        self.lost_files.retain(|lost| tasks.contains(&lost.task_id));
        let cut_off = self.all_cut_off();
        let meant: Vec<&TaskId> = cut_off.iter().copied().filter(|task| tasks.contains(*task)).collect();
        self.groups = interrupted_groups::groups_around(state, &meant, &cut_off);
    }

    /// All tasks that were cut off, those that are left alone too.
    pub fn all_cut_off(&self) -> Vec<&TaskId> {
        let left = self.left.iter().filter(|orphan| orphan.decision.is_some());
        self.cut_off().chain(left).map(|orphan| &orphan.task_id).collect()
    }
}

/// Finds what a crash left, and other reasons for which verbs refuse.
pub fn look(ctx: &mut Context) -> Result<RecoverySurvey> {
    look_with(ctx, &RecoverySelection::default())
}

/// As [`look`], with what a human wants of the tasks: what is shown is what [`super::resume::run_and_look`] does.
pub fn look_with(ctx: &mut Context, wanted: &RecoverySelection) -> Result<RecoverySurvey> {
    let mut view = RecoverySurvey::default();
    if ctx.supervisor_alive()? {
        return Ok(view);
    }
    nothing_is_under_way(ctx)?;
    let torn = ctx.store.torn()?;
    let ctx = &*ctx;
    let state = ctx.state();
    view.open_operation = state.record.open.as_ref().map(|open| open.operation.title.clone());
    view.wedges = wedged::find(ctx)?.iter().map(BlockingCondition::view).collect();
    view.checkpoint = state.record.checkpoint_intent.as_ref().map(ToString::to_string);
    view.locks = ctx.repo.lock_files().git_locks()?.iter().map(|lock| lock.path.display().to_string()).collect();
    let lost = checkpoint::look_for_lost(ctx, checkpoint::HealDepth::Notes)?;
    view.forgotten_checkpoints = lost.unknown.iter().map(ToString::to_string).collect();
    if !ctx.repo.power_losses().objects_are_proved() {
        view.damaged_objects = ctx.repo.power_losses().doubtful_objects()?.iter().map(ToString::to_string).collect();
    }
    if !view.damaged_objects.is_empty() {
        // Most of them are written again: what is left to do by hand is known only then.
        view.wedges.retain(|wedge| wedge.recovers || !["noCheckpoint", "gitDamage"].contains(&wedge.reason));
    }
    view.lost_objects = repair::lost_objects(ctx)?;
    let stopped = look_for_tasks(ctx, wanted, &mut view)?;
    view.lost_files = lost_files::all(ctx, stopped)?;
    view.leftovers = crash_leftovers::find(ctx, &view.left.iter().map(|orphan| &orphan.task_id).collect())?;
    if torn > 0 {
        view.leftovers.push(format!("an incomplete line of {torn} bytes at the end of the event log: it is kept, and cut off"));
    }
    let open_session = state.record.session.as_ref().is_some_and(|session| session.state.is_open());
    view.repairs = open_session
        || view.open_operation.is_some()
        || view.checkpoint.is_some()
        || !view.forgotten_checkpoints.is_empty()
        || !view.damaged_objects.is_empty()
        || view.wedges.iter().any(|wedge| wedge.recovers)
        || view.concerned().any(|orphan| !orphan.rests);
    view.needed = view.repairs || view.left.iter().any(|orphan| !orphan.rests) || view.wedges.iter().any(|wedge| wedge.stops);
    view.repairs |= !view.leftovers.is_empty();
    Ok(view)
}

/// The tasks that are active while no supervisor runs, and nothing else.
pub fn tasks(ctx: &Context) -> Result<RecoverySurvey> {
    let mut view = RecoverySurvey::default();
    if !ctx.supervisor_alive()? {
        look_for_tasks(ctx, &RecoverySelection::default(), &mut view)?;
    }
    Ok(view)
}

/// Returns the tasks whose iterations the machine ended, with the last sign of life of each.
fn look_for_tasks(ctx: &Context, wanted: &RecoverySelection, view: &mut RecoverySurvey) -> Result<BTreeMap<TaskId, Timestamp>> {
    let chosen = wanted.only.as_ref().map(|ids| tasks_of(ctx.state(), ids)).transpose()?;
    let captures = ctx.repo.refs().refs_below(LIVE)?.into_iter().map(|one| (one.name, one.oid)).collect();
    let asked = RecoveryRequest { wanted, chosen: chosen.as_ref(), captures: &captures };
    let (mut pieces, mut stopped) = (Vec::new(), BTreeMap::new());
    let busy: Vec<&Agent> = ctx.state().busy_agents().collect();
    for found in threads::for_each(&busy, FEW_TASKS, |agent| orphans::look(ctx, agent, asked))?.into_iter().flatten() {
        pieces.extend(found.piece);
        stopped.extend(found.stopped.map(|at| (found.orphan.task_id.clone(), at)));
        match found.becomes {
            CrashedTaskFate::Resumed => view.resumable.push(found.orphan),
            CrashedTaskFate::Reset => view.reset.push(found.orphan),
            CrashedTaskFate::Failed => view.failed.push(found.orphan),
            CrashedTaskFate::Left => view.left.push(found.orphan),
        }
    }
    view.crash = estimate::crash(&pieces, env::now());
    view.groups = interrupted_groups::groups_of(seen_state::with_what_was_said(ctx)?.as_ref(), &view.all_cut_off());
    Ok(stopped)
}

/// Waits a moment for a running operation: what it has not finished yet is not damage.
fn nothing_is_under_way(ctx: &mut Context) -> Result<()> {
    let lock = ctx.layout().locks().change();
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
pub fn recover(ctx: &mut Context, options: SupervisorOptions, watcher: &mut dyn SessionWatcher) -> Result<()> {
    supervise::attend(ctx, &AttendRequest::TakeUp, options, watcher)
}
