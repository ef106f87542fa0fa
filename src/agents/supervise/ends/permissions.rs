//! Permissions that an agent waits for: each has a gate until a human has decided; the answer is a file in the folder of its run.

use std::path::Path;

use crate::supervise::core::SessionCore;
use axiom_base::env;
use axiom_base::error::Result;
use axiom_model::base::ids::{AgentId, GateId};
use axiom_model::checkpoint::trigger::CheckpointTrigger;
use axiom_model::state::event::Event;
use axiom_model::work::agent::AgentWork;
use axiom_model::work::gates::gate::{Gate, GateKind};
use axiom_model::work::permissions::permission_question::{PermissionAnswer, PermissionQuestion};
use axiom_process::keeper::record_files::write_answer;
use axiom_process::keeper::spec::permission_file;

impl SessionCore<'_> {
    /// Opens the gates of what an agent asks for, passes on what was decided there, and closes those that nobody waits at; returns whether
    /// anything was done. It can be repeated: an answer that is there stays.
    pub(crate) fn settle_permissions(
        &mut self,
        (agent, work): (&AgentId, &AgentWork),
        dir: &Path,
        is_alive: bool,
    ) -> Result<bool> {
        let asked = self.runs.watch(agent).filter(|_| is_alive).map(|watch| watch.signals.asked.clone()).unwrap_or_default();
        let mut did = false;
        let mut open = Vec::new();
        for question in &asked {
            let id = Gate::permission_id(&work.task, work.iteration, question.number)?;
            if !permission_file(dir, question.number).exists() {
                did |= self.settle_permission((agent, work), dir, question, &id)?;
                open.push(id);
            }
        }
        did |= self.close_permissions(work, &open)?;
        Ok(did)
    }

    fn settle_permission(
        &mut self,
        (agent, work): (&AgentId, &AgentWork),
        dir: &Path,
        question: &PermissionQuestion,
        id: &GateId,
    ) -> Result<bool> {
        let gate = self.desk.ctx.state().restorable.gates.get(id).cloned();
        let decided = gate.as_ref().and_then(|gate| gate.permission(question.number));
        let allowed = question.allowed.then_some(PermissionAnswer { number: question.number, allowed: true, rule: None });
        let Some(answer) = decided.or(allowed) else {
            if gate.is_some() {
                return Ok(false);
            }
            return self.desk.open(Gate::for_permission(id.clone(), agent, &work.task, question, env::now())).map(|()| true);
        };
        if answer.allowed
            && question.risk.is_some()
            && let Err(error) = self.desk.make_checkpoint(CheckpointTrigger::BeforeShell)
        {
            // It waits: with the next look it is tried again, until its keeper refuses it.
            tracing::warn!(task = %work.task, %error, "no checkpoint before what the agent may do");
            return Ok(false);
        }
        write_answer(&permission_file(dir, question.number), &answer)?;
        Ok(true)
    }

    /// Closes the gates of the task but these.
    fn close_permissions(&mut self, work: &AgentWork, open: &[GateId]) -> Result<bool> {
        let gates = self.desk.ctx.state().restorable.gates.values();
        let over = gates.filter(|gate| gate.kind == GateKind::Permission && gate.task_id.as_ref() == Some(&work.task));
        let over: Vec<Gate> = over.filter(|gate| !open.contains(&gate.id)).cloned().collect();
        for gate in &over {
            let reason = if gate.decision.is_some() { "carried out" } else { "the agent does not wait for it any more" };
            self.desk.step(Event::GateClosed { id: gate.id.clone(), reason: reason.to_owned() })?;
        }
        Ok(!over.is_empty())
    }
}
