//! A plan as JSON: the document `planning-state.json`, and what `plan show --json` prints.

use jiff::Timestamp;
use serde::Serialize;

use super::plan::{Archived, Clarification, Directive, Phase, Plan, PlanStatus, Proposal};
use crate::domain::base::ids::CaseId;
use crate::domain::base::text::Text;
use crate::domain::work::case::{Case, Kind};

/// A plan.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanningState<'a> {
    status: PlanStatus,
    phase: Phase,
    directive_case: DirectiveLine<'a>,
    clarifications: &'a [Clarification],
    proposals: Vec<ProposalLine<'a>>,
    partial_cases: PartialCases<'a>,
    last_checkpoint: Timestamp,
    planner: Option<&'a str>,
    attempt: u32,
    analysis: Option<&'a str>,
    cases: Vec<PlannedLine<'a>>,
    problems: Option<&'a [String]>,
    running: Option<Timestamp>,
    archived: Vec<ArchivedLine<'a>>,
    became: &'a [CaseId],
}

#[derive(Debug, Serialize)]
struct DirectiveLine<'a> {
    id: &'a CaseId,
    jtbd: &'a str,
}

#[derive(Debug, Serialize)]
struct ProposalLine<'a> {
    version: u32,
    approved: bool,
    text: &'a str,
    feedback: Option<&'a str>,
    at: Timestamp,
}

#[derive(Debug, Serialize)]
struct PartialCases<'a> {
    created: Vec<&'a CaseId>,
    pending: Vec<&'a CaseId>,
}

/// A case of a plan, with the keys of `task list --json`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedLine<'a> {
    id: &'a CaseId,
    title: &'a str,
    kind: Kind,
    parent: Option<&'a CaseId>,
    after: &'a [CaseId],
    persona: Option<&'a str>,
    verify: &'a [String],
    body_size: u64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ArchivedLine<'a> {
    attempt: u32,
    at: Timestamp,
    why: &'a str,
    phase: Phase,
    created: Vec<&'a CaseId>,
    pending: Vec<&'a CaseId>,
}

impl<'a> PlanningState<'a> {
    /// The lines of its cases.
    pub fn cases_of(plan: &'a Plan) -> Vec<PlannedLine<'a>> {
        plan.cases.iter().map(PlannedLine::of).collect()
    }

    /// The document of a plan.
    pub fn of(plan: &'a Plan) -> Self {
        let Directive { id, jtbd, body: _ } = &plan.directive_case;
        Self {
            status: plan.status,
            phase: plan.phase,
            directive_case: DirectiveLine { id, jtbd },
            clarifications: &plan.clarifications,
            proposals: plan.proposals.iter().map(proposal).collect(),
            partial_cases: PartialCases {
                created: plan.created().map(|case| &case.id).collect(),
                pending: plan.outlined().map(|case| &case.id).collect(),
            },
            last_checkpoint: plan.last_checkpoint,
            planner: plan.planner.as_ref().map(|planner| planner.agent.as_str()),
            attempt: plan.attempt,
            analysis: plan.analysis.as_deref(),
            cases: Self::cases_of(plan),
            problems: plan.problems.as_deref(),
            running: plan.running,
            archived: plan.archived.iter().map(archived).collect(),
            became: &plan.became,
        }
    }
}

fn proposal(of: &Proposal) -> ProposalLine<'_> {
    let Proposal { version, approved, text, feedback, at, covers: _ } = of;
    ProposalLine { version: *version, approved: *approved, text, feedback: feedback.as_deref(), at: *at }
}

fn archived(of: &Archived) -> ArchivedLine<'_> {
    ArchivedLine {
        attempt: of.attempt,
        at: of.at,
        why: &of.why,
        phase: of.phase,
        created: of.created.iter().map(|case| &case.id).collect(),
        pending: of.pending.iter().map(|case| &case.id).collect(),
    }
}

impl<'a> PlannedLine<'a> {
    /// The line of a case.
    pub fn of(case: &'a Case) -> Self {
        let body_size = match &case.body {
            None => 0,
            Some(Text::Inline(text)) => text.len() as u64,
            Some(Text::Stored { size, .. }) => *size,
        };
        Self {
            id: &case.id,
            title: &case.title,
            kind: case.kind,
            parent: case.parent.as_ref(),
            after: &case.after,
            persona: case.persona.as_deref(),
            verify: &case.verify,
            body_size,
        }
    }
}
