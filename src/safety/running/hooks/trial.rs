//! What a hook is told when a human tries it: the facts as they are now.

use crate::context::handle::Context;
use crate::context::target::target_branch;
use crate::folders::workspaces::branch_of;
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_git::MergeResult;
use axiom_model::base::ids::TaskId;
use axiom_model::hook::due::{of_gate, of_task, running_tasks};
use axiom_model::hook::facts::{HookCompletion, HookFacts};
use axiom_model::work::endings::conflict::ConflictLevel;
use axiom_model::work::gates::gate::GateKind;
use axiom_model::work::hooks::hook_event::HookEvent;
use axiom_model::work::signals::learning_scope::LearningScope;
use axiom_model::work::tasks::task::TaskStatus;

/// The facts for a trial of an event; those of a task where one is named.
pub fn facts(ctx: &Context, event: HookEvent, task: Option<&TaskId>) -> Result<HookFacts> {
    let now = env::now();
    let about = match task {
        Some(task) => {
            ctx.state().task(task)?;
            of_task(ctx.state(), task, event, now)
        }
        None => HookFacts::new(event, now),
    };
    let about = HookFacts { trial: true, ..about };
    match event {
        HookEvent::PreTaskStart => named(task, event).map(|_| about),
        HookEvent::PostTaskComplete => completed(ctx, named(task, event)?, about),
        HookEvent::PreMerge | HookEvent::OnConflict => merge(ctx, named(task, event)?, about),
        HookEvent::PostMerge => {
            let merged = ctx.state().task(named(task, event)?)?.merged.clone();
            Ok(HookFacts { commit_hash: merged.as_ref().map(|merged| merged.commit.clone()), ..about })
        }
        HookEvent::OnLearning => Ok(HookFacts {
            learning_id: Some("learning-0".to_owned()),
            scope: Some(LearningScope::of_signal(None).as_str().to_owned()),
            content: Some("a trial".to_owned()),
            ..about
        }),
        HookEvent::OnPause => {
            Ok(HookFacts { reason: Some("a trial".to_owned()), running_tasks: running_tasks(ctx.state()), ..about })
        }
        HookEvent::OnError => Ok(about.with_error(Code::AgentFailed, "a trial".to_owned())),
        HookEvent::OnGate => Ok(match ctx.state().restorable.gates.values().next() {
            Some(gate) => HookFacts { trial: true, ..of_gate(ctx.state(), gate, now) },
            None => HookFacts { reason: Some("a trial".to_owned()), kind: Some(GateKind::Claim), ..about },
        }),
        HookEvent::OnIdle => {
            let (status, reason) = (Some(HookCompletion::Waiting), Some("a trial".to_owned()));
            Ok(HookFacts { status, reason, command: Some("git axiom gate list".to_owned()), ..about })
        }
        HookEvent::PostCheckpoint => {
            let newest = ctx.state().record.checkpoints.newest(1)?.into_iter().next();
            Ok(HookFacts {
                checkpoint: newest.map(|record| record.name.clone()),
                trigger: newest.map(|record| record.trigger),
                commit_hash: newest.and_then(|record| record.git_commit.clone()),
                ..about
            })
        }
    }
}

fn named(task: Option<&TaskId>, event: HookEvent) -> Result<&TaskId> {
    task.ok_or_else(|| {
        Error::new(Code::Usage, format!("{event} is about a task, and none is named"))
            .hint(format!("git axiom hooks run {event} --task ID"))
    })
}

fn completed(ctx: &Context, task: &TaskId, about: HookFacts) -> Result<HookFacts> {
    let case = ctx.state().task(task)?;
    let status = if matches!(case.status, TaskStatus::Blocked | TaskStatus::Failed) {
        HookCompletion::Failed
    } else {
        HookCompletion::Done
    };
    let duration = ctx.state().record.tasks.get(task).map(|record| record.duration_ms / 1000);
    Ok(HookFacts { status: Some(status), duration, ..about })
}

fn merge(ctx: &Context, task: &TaskId, about: HookFacts) -> Result<HookFacts> {
    let (target, branch) = (target_branch(ctx)?, branch_of(ctx, task));
    let tips = (ctx.repo.refs().read_ref(&target)?, ctx.repo.refs().read_ref(&branch)?);
    let about = HookFacts { branch: Some(branch), target: Some(target), ..about };
    let (Some(target), Some(branch)) = tips else { return Ok(about) };
    let (merge_tree, files) = match ctx.repo.merges().merge_in_memory(&target, &branch)? {
        MergeResult::Clean(tree) => (Some(tree), Vec::new()),
        MergeResult::Conflict(files) => (None, files.iter().map(ToString::to_string).collect()),
    };
    let about = HookFacts { merge_tree, ..about };
    Ok(if about.event == HookEvent::OnConflict {
        about.in_conflict(files, ConflictLevel::Human)
    } else {
        HookFacts { files, ..about }
    })
}
