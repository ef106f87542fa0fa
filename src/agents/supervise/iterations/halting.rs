//! Ending agents: their keepers are asked to end their programs.

use std::time::Instant;

use crate::supervise::core::SessionCore;
use crate::supervise::core::agent_runs::AgentRuns;
use crate::supervise::core::desk::SessionDesk;
use crate::supervise::core::work_ends::{HaltedTaskFate, IterationHalt};
use axiom_base::env;
use axiom_base::error::Result;
use axiom_model::base::forms::plural::count_of;
use axiom_model::base::ids::{AgentId, TaskId, Token};
use axiom_model::work::endings::after_iteration::TaskHalt;
use axiom_model::work::tasks::task::TaskStatus;
use axiom_process::client::control;
use axiom_process::keeper_state;
use axiom_process::run_folder::records::{KeeperRecord, KeeperState};

impl SessionCore<'_> {
    /// Stops running iterations; agents between two iterations keep their tasks. No human decided on these tasks, so none is
    /// held.
    pub(crate) fn stop_running(&mut self, then: &HaltedTaskFate) -> Result<()> {
        self.runs.stop_programs(&mut self.desk, then);
        for agent in self.runs.running_agents(self.desk.ctx) {
            if self.desk.work_of(&agent).is_some_and(|work| work.stage.token().is_none()) {
                self.halt(&agent, TaskHalt::Stop, then.clone(), None)?;
            }
        }
        Ok(())
    }

    pub(crate) fn end_agent(&mut self, agent: &AgentId, halt: TaskHalt, then: HaltedTaskFate) -> Result<()> {
        let Some(work) = self.desk.work_of(agent).cloned() else { return Ok(()) };
        if halt == TaskHalt::Kill {
            self.desk.capture_first(&work.task);
        }
        match work.stage.token() {
            Some(token) => self.runs.end_program(&mut self.desk, agent, token, halt, then),
            None => self.halt(agent, halt, then, None),
        }
    }

    /// Blocks tasks: agents that work on them are stopped, and their slots are free.
    pub(crate) fn block_worked_on(&mut self, tasks: &[TaskId], reason: &str) -> Result<(bool, String)> {
        for task in tasks {
            let agent = self.desk.ctx.state().agent_on(task).map(|agent| agent.id.clone());
            match agent {
                Some(agent) => self.end_agent(&agent, TaskHalt::Stop, HaltedTaskFate::Blocked(reason.to_owned()))?,
                // Its agent has let go of it by itself.
                None => self.desk.block(task, TaskStatus::Pending, reason)?,
            }
        }
        Ok((true, format!("blocking {}", count_of(tasks.len(), "task", "tasks"))))
    }
}

impl AgentRuns {
    /// Asks the keepers of running iterations, once, to end their programs. That needs no log.
    pub(crate) fn stop_programs(&mut self, desk: &mut SessionDesk<'_>, then: &HaltedTaskFate) {
        for agent in self.running_agents(desk.ctx) {
            let Some(token) = desk.work_of(&agent).and_then(|work| work.stage.token()).cloned() else { continue };
            if self.halt_of(&agent, &token).is_some_and(|halted| halted.asked) {
                continue;
            }
            if let Err(error) = self.end_program(desk, &agent, &token, TaskHalt::Stop, then.clone()) {
                desk.warn(format!("{agent} could not be asked to stop: {error}"));
            }
        }
    }

    /// Ends the program of an iteration, after which the agent begins no other one. A kill is not weakened to a stop by a
    /// later request.
    pub(crate) fn end_program(
        &mut self,
        desk: &mut SessionDesk<'_>,
        agent: &AgentId,
        token: &Token,
        halt: TaskHalt,
        then: HaltedTaskFate,
    ) -> Result<()> {
        // First: who gets an error as the answer has not asked for anything.
        let state = keeper_state(&desk.ctx.layout().agents().run(agent, token))?;
        let before = self.halt_of(agent, token);
        let (since, begun) = before.map_or_else(|| (env::now(), Instant::now()), |before| (before.since, before.begun));
        let how = if before.is_some_and(|before| before.how == TaskHalt::Kill) { TaskHalt::Kill } else { halt };
        let then = then.or(before.map(|before| before.then.clone()));
        self.at(agent).halt = Some((token.clone(), IterationHalt { how, then, asked: false, since, begun }));
        if let KeeperState::Alive(record) = state {
            self.ask_to_end(desk, agent, &record);
        }
        Ok(())
    }

    /// Asks a keeper, once, to end its program, if that is wanted: at once, or as soon as the keeper has started.
    pub(crate) fn ask_to_end(&mut self, desk: &mut SessionDesk<'_>, agent: &AgentId, record: &KeeperRecord) {
        let Some(halted) = self.halt_mut(agent, &record.token).filter(|halted| !halted.asked) else { return };
        halted.asked = true;
        let asked = match halted.how {
            TaskHalt::Stop => control::stop(record),
            TaskHalt::Kill => control::kill(record),
        };
        // A keeper that does not answer is just ending; its record will show that soon.
        if let Err(error) = asked {
            desk.warn(format!("{agent} could not be asked to stop: {error}"));
        }
    }
}
