//! What a human does to a plan, one function for each verb.

use std::collections::BTreeSet;

use super::{at_rest, event, open, take};
use crate::tasks::edit;
use crate::tasks::edit::NewTaskRequest;
use crate::tasks::limits;
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::ids::TaskId;
use axiom_model::base::text::TextOrBlob;
use axiom_model::planning::plan::{GoalPlan, PlanGoal, PlannerProgram, PlanningPhase};
use axiom_model::planning::step::{PlanStep, check_text};
use axiom_model::queries::plan_check;
use axiom_model::state::event_envelope::EventAuthor;
use axiom_model::state::graph;
use axiom_model::work::tasks::task::{Task, TaskKind};
use axiom_safety::context::handle::Context;
use axiom_safety::history::task_texts;

/// What is to be planned.
#[derive(Debug, Clone)]
pub struct PlanStartRequest {
    /// In one line.
    pub title: String,
    /// More about it.
    pub body: Option<String>,
    /// The id of the task that it becomes; generated where `None`.
    pub id: Option<TaskId>,
    /// The program that plans, with its script.
    pub planner: Option<(String, Option<String>)>,
}

/// Begins a plan.
pub fn start(ctx: &mut Context, goal: PlanStartRequest) -> Result<()> {
    edit::check_title(&goal.title)?;
    let body = stored(ctx, goal.body.as_deref())?;
    let planner = match goal.planner {
        Some((agent, script)) => Some(PlannerProgram { agent, script: stored(ctx, script.as_deref())? }),
        None => None,
    };
    let now = env::now();
    ctx.append_with(|state| {
        let id = match goal.id {
            Some(id) if state.is_taken(id.as_str()) => return Err(graph::taken(&id)),
            Some(id) => id,
            None => edit::next_ids(state, TaskKind::Goal, 1, &BTreeSet::new())?.remove(0),
        };
        let plan = GoalPlan::begin(PlanGoal { id, jtbd: goal.title, body }, planner, now);
        Ok(event(PlanStep::Started { plan: Box::new(plan) }))
    })?;
    Ok(())
}

fn stored(ctx: &Context, text: Option<&str>) -> Result<Option<TextOrBlob>> {
    Ok(match text {
        Some(text) => task_texts::store(&ctx.repo, &[text])?.pop(),
        None => None,
    })
}

/// Adds a task to the plan, or makes one that was outlined.
pub fn add_task(ctx: &mut Context, new: NewTaskRequest) -> Result<Task> {
    edit::check(&new)?;
    limits::personas_exist(&ctx.config, &new.verify)?;
    let plan = at_rest(ctx)?;
    if plan.planner.is_some() && plan.phase < PlanningPhase::Decompose {
        return Err(Error::new(Code::InvalidTransition, "the planner has not proposed a plan that was approved yet")
            .hint("git axiom plan show    shows what is next"));
    }
    let body = stored(ctx, new.body.as_deref())?;
    let by = ctx.by().clone();
    let mut added = None;
    ctx.append_with(|state| {
        edit::agents_may_add(state, &by)?;
        let plan = open(state)?;
        let id = match &new.id {
            Some(id) if plan.pending.contains(id) => id.clone(),
            Some(id) if state.is_taken(id.as_str()) => return Err(graph::taken(id)),
            Some(id) => id.clone(),
            None => edit::next_ids(state, new.kind, 1, &BTreeSet::new())?.remove(0),
        };
        let task = added.insert(edit::build(new, id, body));
        Ok(event(PlanStep::TasksMade { tasks: vec![task.clone()], approved: by == EventAuthor::User }))
    })?;
    added.ok_or_else(|| Error::new(Code::Internal, "the task was not added"))
}

/// Answers a question: the one with this number, or the only one that is open.
pub fn answer(ctx: &mut Context, number: Option<u32>, text: &str) -> Result<()> {
    let plan = at_rest(ctx)?;
    let number = match number {
        Some(number) => number,
        None => {
            let open: Vec<u32> = plan.unanswered().map(|one| one.number).collect();
            match open.as_slice() {
                [one] => *one,
                [] => return Err(Error::new(Code::InvalidInput, "no question is open")),
                _ => {
                    return Err(Error::new(Code::InvalidInput, "several questions are open")
                        .hint("say which: git axiom plan answer TEXT --question NUMBER"));
                }
            }
        }
    };
    take(ctx, PlanStep::Answered { number, text: text.to_owned() })
}

/// Makes a human's text the next version of the proposal.
pub fn propose(ctx: &mut Context, text: &str) -> Result<()> {
    check_text("the proposal", text)?;
    at_rest(ctx)?;
    take(ctx, PlanStep::Proposed { text: text.to_owned(), outline: Vec::new() })
}

/// Asks for another version.
pub fn revise(ctx: &mut Context, feedback: &str) -> Result<()> {
    at_rest(ctx)?;
    take(ctx, PlanStep::Revised { feedback: feedback.to_owned() })
}

/// Approves the last version, or the tasks as they are. Returns the version, and whether it was approved by this call.
pub fn approve(ctx: &mut Context, version: Option<u32>) -> Result<(u32, bool)> {
    let plan = at_rest(ctx)?;
    let last = plan.proposal().map(|last| last.version);
    if plan.is_approved()
        && let Some(last) = last
        && version.is_none_or(|version| version == last)
    {
        return Ok((last, false));
    }
    if plan.tasks.is_empty() && plan.waiting_proposal().is_none() {
        return Err(Error::new(Code::InvalidTransition, "there is nothing to approve: no task, and no proposal that waits")
            .hint("git axiom plan add TITLE, or git axiom plan propose TEXT"));
    }
    let fits = plan.waiting_proposal().map_or_else(|| plan.next_version(), |waits| waits.version);
    let version = version.unwrap_or(fits);
    take(ctx, PlanStep::Approved { version })?;
    Ok((version, true))
}

/// Checks the tasks and records what is wrong with them.
pub fn validate(ctx: &mut Context) -> Result<Vec<String>> {
    at_rest(ctx)?;
    let mut found = Vec::new();
    ctx.append_with(|state| {
        found = plan_check::problems(state, open(state)?);
        Ok(event(PlanStep::Checked { problems: found.clone() }))
    })?;
    Ok(found)
}

/// Gives the plan up. A planner that runs is ended first. What the plan had come to is archived in it.
pub fn abandon(ctx: &mut Context, why: &str) -> Result<()> {
    open(ctx.state())?;
    super::end_planner(ctx)?;
    take(ctx, PlanStep::Abandoned { why: why.to_owned() })
}
