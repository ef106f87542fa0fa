//! The form of a case in JSON: the keys of `task list --json` and `task show --json`. Also common texts about cases.

use jiff::Timestamp;
use serde::Serialize;

use crate::domain::base::ids::{AgentId, CaseId};
use crate::domain::base::text::Text;
use crate::domain::work::budget::Limits;
use crate::domain::work::case::{Case, Kind, Merged, Status};
use crate::domain::work::groups::Groups;
use crate::domain::work::standing::Standing;
use crate::domain::work::view::Shown;

/// A case as JSON. `import` accepts the same keys.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CaseView<'a> {
    id: &'a CaseId,
    title: &'a str,
    kind: Kind,
    status: Status,
    shown: Shown,
    progress: u8,
    parent: Option<&'a CaseId>,
    after: &'a [CaseId],
    needs: Vec<String>,
    start_early: bool,
    waits_for: Vec<&'a CaseId>,
    persona: Option<&'a str>,
    verify: &'a [String],
    limits: &'a Limits,
    reason: Option<&'a str>,
    merged: Option<&'a Merged>,
    agent_id: Option<&'a AgentId>,
    retry_count: u32,
    iterations: u32,
    tokens_used: Option<u64>,
    cost_usd: Option<f64>,
    /// Seconds of wall time, over all iterations.
    duration: u64,
    created_at: Timestamp,
    body_size: u64,
    #[serde(flatten)]
    standing: Standing<'a>,
}

impl<'a> CaseView<'a> {
    /// The case as it is in `state`.
    pub fn of(groups: &Groups<'a>, case: &'a Case) -> Self {
        let state = groups.state();
        let record = state.record.cases.get(&case.id);
        let agent = state.agent_on(&case.id).map(|agent| &agent.id);
        Self {
            id: &case.id,
            title: &case.title,
            kind: case.kind,
            status: case.status,
            shown: Shown::of(groups, case),
            progress: groups.progress(case),
            parent: case.parent.as_ref(),
            after: &case.after,
            needs: case.needs.iter().map(ToString::to_string).collect(),
            start_early: case.start_early,
            waits_for: if case.status == Status::Pending { groups.waits_for(case).collect() } else { Vec::new() },
            persona: case.persona.as_deref(),
            verify: &case.verify,
            limits: &case.limits,
            reason: case.reason.as_deref(),
            merged: case.merged.as_ref(),
            agent_id: agent.or_else(|| record.and_then(|record| record.last_agent.as_ref())),
            retry_count: record.map_or(0, |record| record.retry_count),
            iterations: record.map_or(0, |record| record.iterations),
            tokens_used: record.and_then(|record| record.tokens_used),
            cost_usd: record.and_then(|record| record.cost_usd),
            duration: record.map_or(0, |record| record.duration_ms / 1000),
            created_at: case.created_at,
            body_size: match &case.body {
                None => 0,
                Some(Text::Inline(text)) => text.len() as u64,
                Some(Text::Stored { size, .. }) => *size,
            },
            standing: Standing::of(groups, case),
        }
    }
}

/// The status in words. For `done` it shows whether the work is merged.
pub fn status_words<'a>(groups: &Groups<'a>, case: &'a Case) -> String {
    let shown = Shown::of(groups, case).in_words();
    if case.merged.is_some() && case.status == Status::Done { format!("{shown}, merged") } else { shown.to_owned() }
}

/// Ids separated by commas; the text `none` where there are none.
pub fn joined(ids: &[CaseId], none: &str) -> String {
    if ids.is_empty() { none.to_owned() } else { ids.iter().map(CaseId::as_str).collect::<Vec<_>>().join(", ") }
}
