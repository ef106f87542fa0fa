//! How a program ended whose agent has said nothing.

use std::path::Path;

use jiff::Timestamp;

use crate::supervise::core::agent_runs::AgentRuns;
use axiom_base::error::Result;
use axiom_model::agent::stream::summary::StreamSummary;
use axiom_model::base::ids::AgentId;
use axiom_model::base::names::Oid;
use axiom_model::work::endings::outcome::AgentProgramEnd;
use axiom_model::work::iteration::{IterationOutcome, SilentProgramEnd};
use axiom_model::work::tasks::task::Task;
use axiom_process::run_folder::records::ExitRecord;
use axiom_safety::context::handle::Context;
use axiom_safety::running::output::logs;

/// How many of the last lines of output are compared and shown, and how many characters of each.
const LAST_LINES: usize = 3;
const LONGEST_LINE: usize = 200;

impl AgentRuns {
    /// How a program ended whose agent has sent no signal and did not complete the task.
    pub(crate) fn silent_end(
        &self,
        ctx: &Context,
        (agent, task): (&AgentId, &Task),
        (end, exit): (&AgentProgramEnd, Option<&ExitRecord>),
        (outcome, told): (&IterationOutcome, &StreamSummary),
        to: &Oid,
    ) -> Result<Option<SilentProgramEnd>> {
        let (Some(status), IterationOutcome::Unfinished { .. }) = (end.status(), outcome) else { return Ok(None) };
        if !self.said_nothing(agent) {
            return Ok(None);
        }
        let told = told.failed.as_ref().map(|failed| &failed.message).or(told.last_text.as_ref());
        let lines = match told.filter(|text| !text.trim().is_empty()) {
            Some(text) => vec![text.chars().take(LONGEST_LINE).collect()],
            None => {
                let since = exit.map_or(Timestamp::UNIX_EPOCH, |exit| exit.started_at);
                last_lines(&ctx.layout().agents().log(agent, &task.id), since)
            }
        };
        Ok(Some(SilentProgramEnd { exit: status, tree: ctx.repo.trees().tree_of(to)?, lines }))
    }

    /// Whether the agent has sent no signal in the iteration that is ending.
    fn said_nothing(&self, agent: &AgentId) -> bool {
        self.watch(agent).is_none_or(|watch| watch.signals.reported == 0)
    }
}

/// The last lines of a program's output, as far as the log has them.
fn last_lines(log: &Path, since: Timestamp) -> Vec<String> {
    let lines = logs::last_lines(log, since, LAST_LINES).unwrap_or_default();
    lines.into_iter().map(|line| line.chars().take(LONGEST_LINE).collect()).collect()
}
