//! A plan as JSON: the document `planning-state.json`, and what `plan show --json` prints.

use jiff::Timestamp;
use serde::Serialize;

use super::plan::{ArchivedPlanAttempt, GoalClarification, GoalPlan, PlanGoal, PlanProposal, PlanStatus, PlanningPhase};
use crate::base::ids::TaskId;
use crate::base::text::TextOrBlob;
use crate::work::tasks::task::{Task, TaskKind};

/// A plan.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanningStateJson<'a> {
    status: PlanStatus,
    phase: PlanningPhase,
    #[serde(rename = "directiveCase")]
    goal: PlanGoalJson<'a>,
    clarifications: &'a [GoalClarification],
    proposals: Vec<PlanProposalJson<'a>>,
    #[serde(rename = "partialCases")]
    partial_tasks: PartialTasksJson<'a>,
    last_checkpoint: Timestamp,
    planner: Option<&'a str>,
    attempt: u32,
    analysis: Option<&'a str>,
    #[serde(rename = "cases")]
    tasks: Vec<PlannedTaskJson<'a>>,
    problems: Option<&'a [String]>,
    running: Option<Timestamp>,
    archived: Vec<ArchivedPlanJson<'a>>,
    became: &'a [TaskId],
}

#[derive(Debug, Serialize)]
struct PlanGoalJson<'a> {
    id: &'a TaskId,
    jtbd: &'a str,
}

#[derive(Debug, Serialize)]
struct PlanProposalJson<'a> {
    version: u32,
    approved: bool,
    text: &'a str,
    feedback: Option<&'a str>,
    at: Timestamp,
}

#[derive(Debug, Serialize)]
struct PartialTasksJson<'a> {
    created: Vec<&'a TaskId>,
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

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ArchivedPlanJson<'a> {
    attempt: u32,
    at: Timestamp,
    why: &'a str,
    phase: PlanningPhase,
    created: Vec<&'a TaskId>,
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
