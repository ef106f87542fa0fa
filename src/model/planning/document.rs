//! A plan as JSON: the document `planning-state.json`, and what `plan show --json` prints.

use jiff::Timestamp;
use serde::Serialize;

use super::plan::{ArchivedPlanAttempt, GoalClarification, GoalPlan, PlanGoal, PlanProposal, PlanStatus, PlanningPhase};
use crate::base::ids::TaskId;
use crate::base::text::TextOrBlob;
use crate::work::tasks::task::{Task, TaskKind};

/// A plan, as in `axiom/state/planning-state.json` in the git directory, which is written anew at every step.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanningStateJson<'a> {
    status: PlanStatus,
    phase: PlanningPhase,
    #[serde(rename = "directiveCase")]
    goal: PlanGoalJson<'a>,
    clarifications: &'a [GoalClarification],
    /// Oldest first.
    proposals: Vec<PlanProposalJson<'a>>,
    #[serde(rename = "partialCases")]
    partial_tasks: PartialTasksJson<'a>,
    /// Its last step.
    last_checkpoint: Timestamp,
    /// The agent program that plans; null: by hand.
    planner: Option<&'a str>,
    /// 1, and one more each time that it was started over.
    attempt: u32,
    analysis: Option<&'a str>,
    /// Made or outlined; none once it has ended.
    #[serde(rename = "cases")]
    tasks: Vec<PlannedTaskJson<'a>>,
    /// What the last check found; null: it changed since.
    problems: Option<&'a [String]>,
    /// Since when the planner runs, or ran when it was cut off.
    running: Option<Timestamp>,
    /// What earlier attempts had come to, at most 20, newest last.
    archived: Vec<ArchivedPlanJson<'a>>,
    /// Ids of the tasks that were made.
    became: &'a [TaskId],
}

/// The goal of a plan.
#[derive(Debug, Serialize)]
struct PlanGoalJson<'a> {
    /// Of the task that it becomes.
    id: &'a TaskId,
    /// The goal, the job to be done.
    jtbd: &'a str,
}

/// A version of what is proposed.
#[derive(Debug, Serialize)]
struct PlanProposalJson<'a> {
    /// From 1.
    version: u32,
    approved: bool,
    text: &'a str,
    /// What is to be different in the next one.
    feedback: Option<&'a str>,
    at: Timestamp,
}

/// Which tasks of a plan are made already.
#[derive(Debug, Serialize)]
struct PartialTasksJson<'a> {
    /// Ids of tasks that are made.
    created: Vec<&'a TaskId>,
    /// Ids of tasks that are only outlined.
    pending: Vec<&'a TaskId>,
}

/// A task of a plan, with the keys of `task list --json`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedTaskJson<'a> {
    id: &'a TaskId,
    title: &'a str,
    kind: TaskKind,
    parent: Option<&'a TaskId>,
    after: &'a [TaskId],
    persona: Option<&'a str>,
    verify: &'a [String],
    body_size: u64,
}

/// What an earlier attempt at a plan had come to.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ArchivedPlanJson<'a> {
    attempt: u32,
    at: Timestamp,
    why: &'a str,
    /// The phase in which it was.
    phase: PlanningPhase,
    /// Ids of tasks that were made.
    created: Vec<&'a TaskId>,
    /// Ids of tasks that were only outlined.
    pending: Vec<&'a TaskId>,
}

impl<'a> PlanningStateJson<'a> {
    /// The lines of its tasks.
    pub fn tasks_of(plan: &'a GoalPlan) -> Vec<PlannedTaskJson<'a>> {
        plan.tasks.iter().map(PlannedTaskJson::of).collect()
    }

    /// The document of a plan.
    pub fn of(plan: &'a GoalPlan) -> Self {
        let PlanGoal { id, jtbd, body: _ } = &plan.goal;
        Self {
            status: plan.status,
            phase: plan.phase,
            goal: PlanGoalJson { id, jtbd },
            clarifications: &plan.clarifications,
            proposals: plan.proposals.iter().map(proposal).collect(),
            partial_tasks: PartialTasksJson {
                created: plan.created().map(|task| &task.id).collect(),
                pending: plan.outlined().map(|task| &task.id).collect(),
            },
            last_checkpoint: plan.last_checkpoint,
            planner: plan.planner.as_ref().map(|planner| planner.agent.as_str()),
            attempt: plan.attempt,
            analysis: plan.analysis.as_deref(),
            tasks: Self::tasks_of(plan),
            problems: plan.problems.as_deref(),
            running: plan.running,
            archived: plan.archived.iter().map(archived).collect(),
            became: &plan.became,
        }
    }
}

fn proposal(of: &PlanProposal) -> PlanProposalJson<'_> {
    let PlanProposal { version, approved, text, feedback, at, covers: _ } = of;
    PlanProposalJson { version: *version, approved: *approved, text, feedback: feedback.as_deref(), at: *at }
}

fn archived(of: &ArchivedPlanAttempt) -> ArchivedPlanJson<'_> {
    ArchivedPlanJson {
        attempt: of.attempt,
        at: of.at,
        why: &of.why,
        phase: of.phase,
        created: of.created.iter().map(|task| &task.id).collect(),
        pending: of.pending.iter().map(|task| &task.id).collect(),
    }
}

impl<'a> PlannedTaskJson<'a> {
    /// The line of a task.
    pub fn of(task: &'a Task) -> Self {
        let body_size = match &task.body {
            None => 0,
            Some(TextOrBlob::Inline(text)) => text.len() as u64,
            Some(TextOrBlob::Stored { size, .. }) => *size,
        };
        Self {
            id: &task.id,
            title: &task.title,
            kind: task.kind,
            parent: task.parent.as_ref(),
            after: &task.after,
            persona: task.persona.as_deref(),
            verify: &task.verify,
            body_size,
        }
    }
}
