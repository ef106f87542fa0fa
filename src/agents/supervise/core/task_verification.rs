//! A verification of a task, as it runs.

use std::collections::VecDeque;
use std::thread::JoinHandle;

use super::desk::SessionDesk;
use axiom_base::error::Result;
use axiom_model::base::names::Oid;
use axiom_model::state::event::Event;
use axiom_model::work::agent::AgentWork;
use axiom_model::work::verifying::checks::named_step::NamedVerifyStep;
use axiom_safety::running::steps::untouched::UntouchedWorkspace;
use axiom_safety::running::steps::{EndedStepReport, RunningStep, RunningStepJob, StepFailure, StepJobOutcome, untouched};

/// A running verification of a task: of some of its steps.
#[derive(Debug)]
pub(crate) struct TaskVerificationRun {
    /// The commit of the branch that it looks at.
    of: Oid,
    /// How many steps of the task have passed before, and how many it has.
    counts: (usize, usize),
    running: RunningStepJob,
    /// Results that are not in the log yet.
    to_record: VecDeque<EndedStepReport>,
    /// What the persona that runs has found in the workspace.
    found: Option<UntouchedWorkspace>,
    /// Why it has not passed although its program said so.
    touched: Option<StepFailure>,
}

impl TaskVerificationRun {
    /// These steps run, which look at this commit.
    pub(crate) fn of((of, counts): (Oid, (usize, usize)), running: RunningStepJob, found: Option<UntouchedWorkspace>) -> Self {
        Self { of, counts, running, to_record: VecDeque::new(), found, touched: None }
    }

    /// What came of its steps; `None` while they run.
    pub(crate) fn verdict(&self) -> Option<StepJobOutcome> {
        self.running.verdict()
    }

    /// Why it has not passed although its program said so.
    pub(crate) fn touched(self) -> Option<StepFailure> {
        self.touched
    }

    /// Records the results of the steps that have ended. One that cannot be recorded stays, with those after it.
    pub(crate) fn record_ended(&mut self, desk: &mut SessionDesk<'_>, work: &AgentWork) -> Result<()> {
        for mut ran in self.running.ended() {
            if let Some(found) = self.found.take() {
                self.touched = untouched::judge(desk.ctx, desk.by.clone(), &work.task, &found, &mut ran);
            }
            self.to_record.push_back(ran);
        }
        while let Some(ran) = self.to_record.front() {
            let (id, of, result) = (work.task.clone(), self.of.clone(), Box::new(ran.result.clone()));
            desk.step(Event::StepVerified { id, of, result })?;
            self.to_record.pop_front();
        }
        Ok(())
    }

    /// Ends it, and waits for nothing.
    pub(crate) fn give_up(self) -> Option<JoinHandle<()>> {
        self.running.give_up()
    }

    /// Whether a persona looks.
    pub(crate) fn is_look(&self) -> bool {
        self.running.is_look()
    }

    /// The step that runs now, by its name and counted among all of the task.
    pub(crate) fn now(&self) -> Option<RunningStep> {
        let now = self.running.now()?;
        let (passed, of) = self.counts;
        Some(RunningStep { name: NamedVerifyStep::of(&now.name).label().to_owned(), place: now.place + passed, of, ..now })
    }
}
