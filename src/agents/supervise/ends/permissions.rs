//! Permissions that an agent waits for: each has a gate until a human has decided; the answer is a file in the folder of its run.

use std::path::Path;

use crate::supervise::core::SessionCore;
use axiom_base::env;
use axiom_base::error::Result;
use axiom_model::base::ids::{AgentId, GateId};
use axiom_model::checkpoint::trigger::CheckpointTrigger;
use axiom_model::state::event::Event;
use axiom_model::work::agent::AgentWork;
use axiom_model::work::gates::gate::{Gate, GateKind, permission_gate};
use axiom_model::work::permissions::permission_question::{PermissionAnswer, PermissionQuestion, PermissionStanding};
use axiom_process::run_folder::record_files::write_answer;
use axiom_process::run_folder::spec::permission_file;

/// Opens the gates of what an agent asks for, passes on what was decided there, and closes those that nobody waits at; returns whether
/// anything was done. It can be repeated: an answer that is there stays.
pub(crate) fn settle_permissions(
    core: &mut SessionCore<'_>,
    (agent, work): (&AgentId, &AgentWork),
    dir: &Path,
    is_alive: bool,
) -> Result<bool> {
    let asked = core.runs.watch(agent).filter(|_| is_alive).map(|watch| watch.signals.asked.clone()).unwrap_or_default();
    let mut did = false;
    let mut open = Vec::new();
    for question in &asked {
        let id = permission_gate::id_of(&work.task, work.iteration, question.number)?;
        if !permission_file(dir, question.number).exists() {
            did |= settle_permission(core, (agent, work), dir, question, &id)?;
            open.push(id);
        }
    }
    did |= close_permissions(core, work, &open)?;
    Ok(did)
}

fn settle_permission(
    core: &mut SessionCore<'_>,
    (agent, work): (&AgentId, &AgentWork),
    dir: &Path,
    question: &PermissionQuestion,
    id: &GateId,
) -> Result<bool> {
    // Ids are cut: one that another task has answers nothing of this one, which is refused in time.
    let gate = core.desk.ctx.state().restorable.gates.get(id).cloned();
    if gate.as_ref().is_some_and(|gate| gate.task_id.as_ref() != Some(&work.task)) {
        return Ok(false);
    }
    let decided = gate.as_ref().and_then(|gate| permission_gate::answer_at(gate, question.number));
    let is_allowed = question.standing == PermissionStanding::Allowed;
    let allowed = is_allowed.then_some(PermissionAnswer { number: question.number, allowed: true, rule: None });
    let Some(answer) = decided.or(allowed) else {
        if gate.is_some() {
            return Ok(false);
        }
        return core.desk.open(permission_gate::gate_of(id.clone(), agent, &work.task, question, env::now())).map(|()| true);
    };
    if answer.allowed
        && question.risk.is_some()
        && let Err(error) = core.desk.make_checkpoint(CheckpointTrigger::BeforeShell)
    {
        // It waits: with the next look it is tried again, until its keeper refuses it.
        tracing::warn!(task = %work.task, %error, "no checkpoint before what the agent may do");
        return Ok(false);
    }
    write_answer(&permission_file(dir, question.number), &answer)?;
    Ok(true)
}

/// Closes the gates of the task but these.
fn close_permissions(core: &mut SessionCore<'_>, work: &AgentWork, open: &[GateId]) -> Result<bool> {
    let gates = core.desk.ctx.state().restorable.gates.values();
    let over = gates.filter(|gate| gate.kind == GateKind::Permission && gate.task_id.as_ref() == Some(&work.task));
    let over: Vec<Gate> = over.filter(|gate| !open.contains(&gate.id)).cloned().collect();
    for gate in &over {
        let reason = if gate.decision.is_some() { "carried out" } else { "the agent does not wait for it any more" };
        core.desk.step(Event::GateClosed { id: gate.id.clone(), reason: reason.to_owned() })?;
    }
    Ok(!over.is_empty())
}
