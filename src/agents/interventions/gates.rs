//! Decisions at gates, and what helps to decide.

use crate::merge::conflict_sides::MergeConflictSides;
use crate::recover::resume;
use crate::task_diff;
use crate::{merge, plan};
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::ids::{GateId, TaskId};
use axiom_model::base::names::RepoPath;
use axiom_model::base::text::ValueChange;
use axiom_model::planning;
use axiom_model::queries::view::open_gates;
use axiom_model::state::event::Event;
use axiom_model::state::known_ids::{self, IdKind};
use axiom_model::work::gates::crash_answer::CrashGateAnswer;
use axiom_model::work::gates::gate::permission_gate::takes_words;
use axiom_model::work::gates::gate::{Gate, GateDecision, GateKind, is_of_conflict};
use axiom_model::work::money::budget;
use axiom_model::work::money::budget::NewBudgetLimits;
use axiom_model::work::tasks::task::{TaskChangeSet, TaskFieldChange, TaskStatus};
use axiom_model::work::verifying::verification::{VerifyChecker, VerifyStepResult};
use axiom_safety::context::handle::Context;
use axiom_safety::history::task_texts;
use axiom_safety::history::work_diff::TaskDiff;

/// Makes the same decision at several gates, at all or none. A gate is named by a unique prefix of its id, or by its task's
/// id. Returns the gates as they were when that was recorded.
pub fn decide(ctx: &mut Context, names: &[String], decision: &GateDecision) -> Result<Vec<Gate>> {
    let mut ids: Vec<GateId> = Vec::new();
    for name in names {
        let id = find_gate(ctx, name)?;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    if matches!(decision, GateDecision::Approved) {
        ids.iter().try_for_each(|id| shows_guarded(ctx, id))?;
    }
    let raised = raised(ctx, &ids, decision)?;
    if let Some(gates) = answered_after_crash(ctx, &ids, decision)? {
        return Ok(gates);
    }
    if let GateDecision::Answered { text } = decision {
        let gates = ids.iter().filter_map(|id| ctx.state().restorable.gates.get(id));
        gates.filter(|gate| gate.kind == GateKind::Permission).try_for_each(|gate| takes_words(gate, text))?;
    }
    let of_plan = |id: &&GateId| GateKind::of_gate(id.as_str()) == Some(GateKind::Planning);
    if ids.iter().any(|id| of_plan(&id)) {
        plan::at_rest(ctx)?;
    }
    // What a decision on a plan comes to needs no session: it is carried out here.
    let decided = |id: &GateId| match of_plan(&id) {
        true => Ok(Event::Planned { step: Box::new(planning::gates::decided(id, decision)?) }),
        false => Ok(Event::GateDecided { id: id.clone(), decision: decision.clone(), complete: None }),
    };
    let mut gates = Vec::new();
    ctx.append_with(|state| {
        gates = ids.iter().filter_map(|id| state.restorable.gates.get(id).cloned()).collect();
        let edits = raised.iter().filter_map(|(task, new)| {
            let case = state.restorable.tasks.get(task).filter(|case| new.on(case.limits) != case.limits)?;
            let limits = TaskFieldChange::Limits(ValueChange::new(case.limits, new.on(case.limits)));
            Some(TaskChangeSet { id: task.clone(), changes: vec![limits] })
        });
        let edits: Vec<TaskChangeSet> = edits.collect();
        let edited = (!edits.is_empty()).then_some(Event::TasksChanged { edits });
        edited.into_iter().map(Ok).chain(ids.iter().map(decided)).collect()
    })?;
    Ok(gates)
}

/// Refuses to approve the gate of an undone merge that did not show the guarded files which the merge changes, and has it show them. A
/// session does that as soon as it is opened.
fn shows_guarded(ctx: &mut Context, id: &GateId) -> Result<()> {
    let gate = ctx.state().restorable.gates.get(id);
    // What fails here fails when it is merged too, and is told then.
    let Some(shows) = gate.and_then(|gate| merge::undone_showing(ctx, gate).unwrap_or_default()) else { return Ok(()) };
    let files = shows.details.join(", ");
    ctx.append(Event::GateOpened { gate: Box::new(shows) })?;
    Err(Error::new(Code::ChangedMeanwhile, format!("gate '{id}' did not show the guarded files of the merge, and does now"))
        .why(files)
        .hint(format!("git axiom gate show {id}    shows what the merge changes"))
        .hint(format!("git axiom gate approve {id}    then merges it again")))
}

/// Carries out an answer at the gates at which a human decides what becomes of work that a crash cut off; `None` at other gates that
/// take words.
fn answered_after_crash(ctx: &mut Context, ids: &[GateId], decision: &GateDecision) -> Result<Option<Vec<Gate>>> {
    let GateDecision::Answered { text } = decision else { return Ok(None) };
    let gates: Vec<Gate> = ids.iter().filter_map(|id| ctx.state().restorable.gates.get(id).cloned()).collect();
    let Some(answer) = CrashGateAnswer::of(&gates, text)? else { return Ok(None) };
    for gate in &gates {
        let Some(task) = gate.task_id.as_ref() else { continue };
        match answer {
            CrashGateAnswer::Anew => drop(resume::begin_anew(ctx, task)?),
            CrashGateAnswer::Complete => {
                let workspace = ctx.state().restorable.workspaces.get(task);
                let branch = workspace.map(|workspace| workspace.branch.clone());
                let tip = branch.map(|branch| ctx.repo.refs().read_ref(&branch)).transpose()?.flatten();
                let tip = tip.ok_or_else(|| {
                    let what = format!("nothing is there of task {task} that could be complete");
                    Error::new(Code::InvalidInput, what).hint(format!("git axiom gate answer {} anew    begins it anew", gate.id))
                })?;
                ctx.append(Event::GateDecided { id: gate.id.clone(), decision: decision.clone(), complete: Some(tip) })?;
            }
        }
    }
    Ok(Some(gates))
}

/// The new limits that an answer gives at gates of budgets, by task.
fn raised(ctx: &Context, ids: &[GateId], decision: &GateDecision) -> Result<Vec<(TaskId, NewBudgetLimits)>> {
    let GateDecision::Answered { text } = decision else { return Ok(Vec::new()) };
    let gates = ids.iter().filter_map(|id| ctx.state().restorable.gates.get(id)).filter(|gate| gate.kind == GateKind::Budget);
    let mut all = Vec::new();
    for gate in gates {
        // Of the session too: what cannot be understood is refused before it is recorded.
        let new = budget::raised(text, &gate.used)?;
        all.extend(gate.task_id.clone().map(|task| (task, new)));
    }
    Ok(all)
}

fn find_gate(ctx: &Context, name: &str) -> Result<GateId> {
    let gates = open_gates(ctx.state());
    if let Some(gate) = gates.iter().find(|gate| gate.id.as_str() == name) {
        return Ok(gate.id.clone());
    }
    if let Some(gate) = ctx.state().restorable.gates.get(name) {
        let error = Error::new(Code::UnknownGate, format!("gate '{name}' has nothing to decide any more"));
        return Err(match &gate.task_id {
            Some(task) => error.hint(format!("git axiom task show {task}    says how it is with the task")),
            None => error.why("its session has ended"),
        });
    }
    // The beginning of a gate's id that is a task's id means that task, never the gate of another.
    let is_task = ctx.state().restorable.tasks.contains_key(name);
    let fits = |gate: &&Gate| {
        gate.task_id.as_ref().is_some_and(|task| task.as_str() == name) || !is_task && gate.id.as_str().starts_with(name)
    };
    let found: Vec<_> = gates.into_iter().filter(fits).collect();
    match found.as_slice() {
        [one] => Ok(one.id.clone()),
        [] if is_task => Err(Error::new(Code::UnknownGate, format!("task '{name}' waits at no gate of its own"))
            .hint("git axiom gate list    lists what waits for you")
            .hint(format!("git axiom task show {name}    says how it is with the task"))),
        [] => {
            let error = Error::new(Code::UnknownGate, format!("there is no open gate '{name}'"));
            if name == "all" {
                return Err(error.hint("git axiom gate approve --all    approves all but questions, budgets and permissions"));
            }
            Err(known_ids::hinted(ctx.state(), error, name, &[IdKind::Gate], "see 'git axiom gate list'"))
        }
        many => {
            let names: Vec<&str> = many.iter().map(|gate| gate.id.as_str()).collect();
            let what =
                if is_task { format!("task '{name}' waits at several gates") } else { format!("'{name}' matches several gates") };
            let error = Error::new(Code::AmbiguousName, what).why(names.join(", "));
            Err(names.iter().take(3).fold(error, |error, id| error.hint(format!("git axiom gate show {id}    shows this one"))))
        }
    }
}

/// What helps a human to decide at a gate.
#[derive(Debug)]
pub struct GateInspection {
    /// The gate.
    pub gate: Gate,
    /// What the agent is to do, where approving starts it.
    pub body: Option<String>,
    /// What its task changed; `None` where nobody has worked on it.
    pub diff: Option<TaskDiff>,
    /// The guarded files that the merge would change.
    pub guarded: Vec<RepoPath>,
    /// Both sides of its merge, where that conflicts now.
    pub conflict: Option<MergeConflictSides>,
    /// Whether what was in the way of its merge is not there any more.
    pub is_clear: bool,
    /// Whether its verify steps have passed, where there were some.
    pub verified: Option<bool>,
    /// The hooks and commands that were run on the result of its merge.
    pub steps: Vec<GateStepResult>,
}

/// The result of one hook or command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateStepResult {
    /// Whether it is a hook.
    pub by: VerifyChecker,
    /// The command, or the hook's file.
    pub command: String,
    /// Why it did not pass.
    pub failure: Option<String>,
}

/// Looks at a gate and at the work that it is about. Writes nothing.
pub fn look(ctx: &Context, name: &str) -> Result<GateInspection> {
    let id = find_gate(ctx, name)?;
    let state = ctx.state();
    let gate = state.restorable.gates.get(&id).cloned();
    let gate = gate.ok_or_else(|| Error::new(Code::UnknownGate, format!("there is no open gate '{name}'")))?;
    let Some(task) = gate.task_id.clone() else {
        return Ok(GateInspection {
            gate,
            body: None,
            diff: None,
            guarded: Vec::new(),
            conflict: None,
            is_clear: false,
            verified: None,
            steps: Vec::new(),
        });
    };
    let case = state.task(&task)?;
    let is_to_start = gate.kind == GateKind::Claim && gate.decision.is_none();
    let body = case.body.as_ref().filter(|_| is_to_start).map(|text| task_texts::load(&ctx.repo, text)).transpose()?;
    let diff = match task_diff::of(ctx, &task) {
        Ok(diff) => Some(diff),
        Err(error) if error.code() == Code::InvalidTransition => None,
        Err(error) => return Err(error),
    };
    // What fails here fails when it is merged too, and is told then.
    let is_done = case.status == TaskStatus::Done;
    let files = if is_done { merge::guarded_by(ctx, &task).unwrap_or_default() } else { None };
    let guarded = files.map(|files| files.paths()).unwrap_or_default();
    let conflicts = is_done && gate.kind == GateKind::Merge && is_of_conflict(&gate.reason);
    let conflict = if conflicts { merge::conflict_sides::sides(ctx, &task).unwrap_or_default() } else { None };
    let may_be_over = gate.says_what_is_in_the_way() && is_done || conflicts && conflict.is_none();
    let is_clear = may_be_over && merge::preview::is_clear(ctx, &task, &gate.allows());
    let verified = state.reports(&task).and_then(|reports| reports.verified);
    let of_merge = state.record.tasks.get(&task).and_then(|record| record.merge_verified.as_ref());
    let ran = of_merge.map(|verification| verification.results.iter()).into_iter().flatten();
    let step =
        |step: &VerifyStepResult| GateStepResult { by: step.by, command: step.command.clone(), failure: step.failure.clone() };
    let steps = ran.map(step).collect();
    Ok(GateInspection { gate, body, diff, guarded, conflict, is_clear, verified, steps })
}
