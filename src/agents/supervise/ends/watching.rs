//! An iteration is watched until its keeper has reported its end.

use std::path::Path;

use super::permissions::settle_permissions;
use crate::supervise::core::SessionCore;
use crate::supervise::core::agent_runs::AgentRuns;
use crate::supervise::core::desk::SessionDesk;
use crate::supervise::core::iteration_watch::IterationWatch;
use crate::supervise::core::task_memory::TaskMemory;
use crate::supervise::iterations::iteration_care::IterationCare;
use axiom_base::error::Result;
use axiom_base::files::{FileLock, LockAttempt};
use axiom_model::base::ids::{AgentId, TaskId, Token};
use axiom_model::state::event::Event;
use axiom_model::work::agent::{AgentWork, IterationStage};
use axiom_model::work::endings::outcome::AgentProgramEnd;
use axiom_process::client::leftovers;
use axiom_process::client::proof_of_life::note_alive;
use axiom_process::run_folder::records::KeeperState;
use axiom_process::run_folder::spec::{KEEPER, KEEPER_LOCK};
use axiom_process::{IterationState, iteration_state, keeper_state};
use axiom_safety::running::run_end;

/// The part of the next prompt after the machine stopped.
const UNPROVED: &str = "## The machine stopped\n\nIt stopped while an earlier attempt worked here. Files that were written \
    last may be empty or incomplete, committed ones too: look at each before you rely on it.";

impl IterationCare {
    /// Looks after one busy agent; returns whether anything was done.
    pub(crate) fn look_after(&mut self, core: &mut SessionCore<'_>, agent: &AgentId) -> Result<bool> {
        let Some(work) = core.desk.ctx.state().restorable.agents.get(agent).and_then(|agent| agent.work.clone()) else {
            return Ok(false);
        };
        match &work.stage {
            IterationStage::Between { last } => self.between(core, agent, &work, last.as_ref()),
            IterationStage::Intended { token } | IterationStage::Running { token, .. } => self.watch(core, agent, &work, token),
        }
    }

    /// Watches the running iteration; returns whether anything was done.
    pub(crate) fn watch(&mut self, core: &mut SessionCore<'_>, agent: &AgentId, work: &AgentWork, token: &Token) -> Result<bool> {
        let dir = core.desk.ctx.layout().agents().run(agent, token);
        if core.runs.watch(agent).and_then(|watch| watch.token.as_ref()) != Some(token) {
            core.runs.at(agent).watch = Some(IterationWatch { token: Some(token.clone()), ..IterationWatch::default() });
        }
        let state = iteration_state(&dir, &work.stage)?;
        let heard = core.runs.listen(&mut core.desk, agent, token, &dir)?;
        let is_alive = matches!(state, IterationState::Known(KeeperState::Alive(_)));
        let settled = settle_permissions(core, (agent, work), &dir, is_alive)?;
        let heard = heard || settled;
        let is_cut_off =
            matches!(state, IterationState::Lost(_) | IterationState::Known(KeeperState::Dead(_) | KeeperState::Unproved(_)));
        if is_cut_off {
            core.look_at_crash(agent, work);
        }
        let state = match state {
            IterationState::Lost(why) => return self.record_lost(core, agent, token, &why),
            IterationState::Known(state) => state,
        };
        match state {
            KeeperState::Starting => Ok(heard),
            KeeperState::Alive(record) => {
                note_alive(&dir);
                core.runs.ask_to_end(&mut core.desk, agent, &record);
                if let IterationStage::Intended { .. } = work.stage {
                    let pid = record.keeper.pid.unsigned_abs();
                    core.desk.step(Event::IterationStarted { agent: agent.clone(), token: token.clone(), pid })?;
                    core.failures.passed(&mut core.desk, &work.task)?;
                    return Ok(true);
                }
                self.watch_budget(core, agent, work, &record)?;
                core.runs.capture_live(&mut core.desk, agent, &work.task);
                Ok(heard)
            }
            KeeperState::NotStarted => self.never_started(core, agent, &dir),
            KeeperState::Ended(_) if core.a_human_may_have_ended(agent, token)? => Ok(true),
            KeeperState::Ended(exit) => self.finish(core, agent, &run_end::of(&exit), Some(&exit)),
            KeeperState::Dead(record) => {
                let left = leftovers::end_leftovers(&record)?.in_words();
                if core.runs.tells_end(agent) {
                    core.desk.warn(format!("the keeper of {agent} died; {left}"));
                }
                self.finish(core, agent, &AgentProgramEnd::KeeperDied, None)
            }
            KeeperState::Unproved(_) => {
                if core.runs.tells_end(agent) {
                    machine_stopped(&mut core.desk, &mut core.runs, &mut core.tasks, agent, &work.task)?;
                }
                self.finish(core, agent, &AgentProgramEnd::Unproved, None)
            }
        }
    }

    /// Handles an iteration that was begun, and whose keeper is dead or has lost its folder: what is left of it is found by its
    /// token.
    fn record_lost(&mut self, core: &mut SessionCore<'_>, agent: &AgentId, token: &Token, why: &str) -> Result<bool> {
        let left = leftovers::end_marked(format!("AXIOM_TOKEN={token}").as_bytes())?.in_words();
        if core.runs.tells_end(agent) {
            core.desk.warn(format!("the iteration of {agent} is lost: {why}; {left}"));
        }
        self.finish(core, agent, &AgentProgramEnd::KeeperDied, None)
    }

    /// Handles an iteration whose supervisor died before the keeper started (a failed start by this supervisor is handled at
    /// once). The intent is withdrawn while this process holds the keeper's lock: a keeper that starts late takes the lock
    /// first, and then finds its intent withdrawn.
    fn never_started(&mut self, core: &mut SessionCore<'_>, agent: &AgentId, dir: &Path) -> Result<bool> {
        let lock = if dir.is_dir() {
            match FileLock::try_take(&dir.join(KEEPER_LOCK))? {
                LockAttempt::Taken(lock) => Some(lock),
                LockAttempt::Held => return Ok(false),
            }
        } else {
            None
        };
        if keeper_state(dir)? == KeeperState::NotStarted || lock.is_some() && !dir.join(KEEPER).exists() {
            return self.finish(core, agent, &AgentProgramEnd::Stopped, None);
        }
        drop(lock);
        Ok(true)
    }
}

fn machine_stopped(
    desk: &mut SessionDesk<'_>,
    runs: &mut AgentRuns,
    tasks: &mut TaskMemory,
    agent: &AgentId,
    task: &TaskId,
) -> Result<()> {
    runs.files_of_capture(desk, agent, task);
    desk.capture_first(task);
    desk.warn(format!("the machine stopped before the work of {agent} on {task} was on disk: the task is tried again"));
    let text = "the machine stopped before the work was on disk: files may be empty or incomplete".to_owned();
    desk.step(Event::Audited { id: task.clone(), text })?;
    let others = &mut tasks.notes.entry(task.clone()).or_default().others;
    if !others.iter().any(|note| note == UNPROVED) {
        others.push(UNPROVED.to_owned());
    }
    Ok(())
}
