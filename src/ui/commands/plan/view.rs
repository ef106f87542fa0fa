//! A plan as it is printed: the document of `--json`, and words.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::cli::{visible, words};
use crate::commands::task::view::joined;
use axiom_agents::plan::planner_runs;
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::ids::TaskId;
use axiom_model::planning::document::PlanningStateJson;
use axiom_model::planning::next::{NextPlanStep, next};
use axiom_model::planning::plan::{GoalClarification, GoalPlan, PlanProposal, PlanStatus, PlanningPhase};
use axiom_model::planning::tree;
use axiom_model::queries::plan_check;
use axiom_model::work::tasks::task::Task;
use axiom_safety::context::handle::Context;

/// The plan as it is now. `plan validate` prints it with `error` where something is wrong.
#[derive(Debug, Serialize)]
pub struct PlanJson<'a> {
    #[serde(flatten)]
    state: PlanningStateJson<'a>,
    /// What follows; null: the plan has ended.
    next: Option<PlanNextJson>,
    #[serde(skip)]
    plan: &'a GoalPlan,
}

/// What follows in a plan.
#[derive(Debug, Clone, Serialize)]
pub struct PlanNextJson {
    /// What the command does.
    what: &'static str,
    command: String,
}

impl<'a> PlanJson<'a> {
    /// The plan of a repository, also one that has ended.
    pub fn of(ctx: &'a Context) -> Result<Self> {
        let plan = ctx
            .state()
            .record
            .plan
            .as_deref()
            .ok_or_else(|| Error::new(Code::NoPlan, "there is no plan").hint("git axiom plan start GOAL    begins one"))?;
        Ok(Self { state: PlanningStateJson::of(plan), next: next_line(plan, planner_runs(ctx)?), plan })
    }

    /// What is next, as a line.
    pub fn next_line(&self) -> String {
        self.next.as_ref().map_or_else(String::new, |next| format!("Next: {}    {}\n", next.command, next.what))
    }
}

fn next_line(plan: &GoalPlan, runs: bool) -> Option<PlanNextJson> {
    let line = |what, command: &str| Some(PlanNextJson { what, command: command.to_owned() });
    match (plan.running, next(plan)) {
        (Some(_), _) if runs => line("shows how far the planner is", "git axiom plan show"),
        (Some(_), _) => line("the planner was cut off: the choices", "git axiom plan recover"),
        (None, NextPlanStep::Answer) => line("answers a question", "git axiom plan answer TEXT"),
        (None, NextPlanStep::Plan(_)) if plan.planner.is_some() => line("lets the planner go on", "git axiom plan propose"),
        (None, NextPlanStep::Plan(PlanningPhase::Decompose | PlanningPhase::Validate)) => {
            line("adds a task", "git axiom plan add TITLE")
        }
        (None, NextPlanStep::Plan(_)) => line("makes the next version", "git axiom plan propose TEXT"),
        (None, NextPlanStep::Approve) if plan.tasks.is_empty() && plan.waiting_proposal().is_none() => {
            line("adds a task", "git axiom plan add TITLE")
        }
        (None, NextPlanStep::Approve) => line("approves it", "git axiom plan approve"),
        (None, NextPlanStep::Check | NextPlanStep::Finish) => line("makes the tasks", "git axiom plan finish"),
        (None, NextPlanStep::Nothing) => None,
    }
}

/// All of a plan, in words.
pub fn in_words(answer: &PlanJson<'_>) -> String {
    let plan = answer.plan;
    let by = plan.planner.as_ref().map_or("by hand", |planner| planner.agent.as_str());
    let how = match plan.status {
        PlanStatus::Planning => format!("phase {}", plan.phase.as_str()),
        PlanStatus::Done => "finished".to_owned(),
        PlanStatus::Abandoned => "abandoned".to_owned(),
    };
    let attempt = if plan.attempt > 1 { format!(", attempt {}", plan.attempt) } else { String::new() };
    let mut text = format!("{}\n{how}, {by}{attempt}\n", visible::line(&plan.goal.jtbd));
    text.extend(plan.clarifications.iter().map(question));
    text.extend(plan.analysis.iter().map(|said| format!("\nAnalysis:\n  {}\n", visible::set_in(said, "  "))));
    text.extend(plan.proposals.last().map(proposal));
    if !plan.tasks.is_empty() {
        let count = words::count(plan.tasks.len(), "task");
        let pending = if plan.pending.is_empty() { String::new() } else { format!(", {} only outlined", plan.pending.len()) };
        text.push_str(&format!("\n{count}{pending}:\n{}", tree(&plan_check::outcome(plan), &plan.pending)));
    }
    if !plan.became.is_empty() {
        text.push_str(&format!("\nBecame {}: {}\n", words::count(plan.became.len(), "task"), joined(&plan.became, "")));
    }
    text.extend(plan.problems.iter().filter(|found| !found.is_empty()).map(|found| format!("\n{}", problems(found))));
    text.push_str(&format!("\n{}", answer.next_line()));
    text.trim_end().to_owned() + "\n"
}

fn question(one: &GoalClarification) -> String {
    let answer = one.answer.as_deref().map_or("(no answer yet)".into(), |answer| visible::set_in(answer, "     "));
    format!("\n  {}. {}\n     {answer}\n", one.number, visible::set_in(&one.question, "     "))
}

fn proposal(last: &PlanProposal) -> String {
    let how = match (&last.feedback, last.approved) {
        (Some(_), _) => "another version is asked for",
        (None, true) => "approved",
        (None, false) => "waits for your approval",
    };
    let mut text = format!("\nVersion {} ({how}):\n  {}\n", last.version, visible::set_in(&last.text, "  "));
    text.extend(last.feedback.iter().map(|said| format!("To be different:\n  {}\n", visible::set_in(said, "  "))));
    text
}

/// The tasks as a tree; those in `pending` are marked.
pub fn tree(tasks: &[Task], pending: &BTreeSet<TaskId>) -> String {
    let lines = tree::tree(tasks).into_iter().map(|branch| {
        let task = branch.task;
        let after = if task.after.is_empty() { String::new() } else { format!("  after {}", joined(&task.after, "")) };
        let outlined = if pending.contains(&task.id) { "  (outlined)" } else { "" };
        format!("{}{}  {}{after}{outlined}\n", branch.drawn, task.id, visible::line(&task.title))
    });
    lines.collect()
}

/// What is wrong with a plan, a line each.
pub fn problems(found: &[String]) -> String {
    found.iter().map(|problem| format!("problem: {}\n", visible::line(problem))).collect()
}
