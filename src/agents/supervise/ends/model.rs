//! What a model's service means for an iteration: waiting where it refuses.

use std::time::Duration;

use crate::supervise::core::desk::SessionDesk;
use crate::supervise::core::failures::StepFailures;
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::ids::TaskId;
use axiom_model::work::endings::failures::SessionStep;
use axiom_model::work::iteration::IterationOutcome;

/// The pause after the first refusal of a model's service that names none; doubled each time, up to the longest.
const FIRST_LIMIT: Duration = Duration::from_secs(30);
const LONGEST_LIMIT: Duration = Duration::from_secs(15 * 60);
/// The longest pause that a program may ask for.
const LONGEST_TOLD: Duration = Duration::from_secs(24 * 60 * 60);

impl StepFailures {
    /// Where the model's service refuses for now, the next iteration begins after a pause: as long as it asked for, or longer each
    /// time.
    pub(crate) fn wait_for_model(&mut self, desk: &mut SessionDesk<'_>, task: &TaskId, outcome: &IterationOutcome) -> Result<()> {
        let IterationOutcome::Limited { why, seconds } = outcome else {
            self.limits_met.remove(task);
            return Ok(());
        };
        let times = self.limits_met.entry(task.clone()).or_default();
        let growing = FIRST_LIMIT.saturating_mul(2_u32.saturating_pow(*times)).min(LONGEST_LIMIT);
        *times = times.saturating_add(1);
        let after = seconds.map_or(growing, Duration::from_secs).min(LONGEST_TOLD);
        let what = format!("{why} (tried again in {} s)", after.as_secs());
        let error = Error::new(Code::ModelBusy, what);
        self.decide(desk, SessionStep::Start, task, &error);
        self.delay(desk, SessionStep::Start, task, &error, after)
    }
}
