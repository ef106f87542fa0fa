//! What a session tries again later, for people, and how long that is true. Pure.

use serde::{Deserialize, Serialize};

use super::agent::Stage;
use super::case::Status;
use super::failures::{MOST_TRIES, Step};
use super::gate::{Gate, GateKind};
use crate::domain::base::defaults::is_default;
use crate::domain::base::ids::CaseId;
use crate::domain::state::whole::State;

/// A step of a task that failed and will be tried again: for people. The session's own counts are in its memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Delay {
    /// The step.
    pub step: Step,
    /// The code of its error.
    pub code: String,
    /// The error in words.
    pub why: String,
    /// How often it was tried in vain, as far as that counts; 0 where it only waits.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tried: u32,
    /// When it failed first.
    pub failed_at: jiff::Timestamp,
    /// When it is tried again, where a service has told it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<jiff::Timestamp>,
}

impl Delay {
    /// What is waited for, in words.
    pub fn in_words(&self) -> String {
        format!("{}: {}", self.in_short(), self.why)
    }

    /// The same without the error's own words, which may be many lines.
    pub fn in_short(&self) -> String {
        let Self { step, code, why: _, tried, failed_at: _, until: _ } = self;
        match tried {
            0 => format!("waits while {}: {code}", step.words()),
            tried => format!("is tried again while {} (failed {tried} of {MOST_TRIES} times): {code}", step.words()),
        }
    }

    /// Whether it is the same wait, so that it need not be recorded again.
    pub fn is_same_wait(&self, other: &Self) -> bool {
        (self.step, &self.code, self.tried) == (other.step, &other.code, other.tried)
    }
}

/// Whether a step for a task is still going to be tried: a delay exists only so long.
pub fn is_still_tried(state: &State, task: &CaseId, step: Step) -> bool {
    let Some(case) = state.restorable.cases.get(task) else { return false };
    let stage = || Some(&state.agent_on(task)?.work.as_ref()?.stage);
    match step {
        Step::Claim => case.status == Status::Pending && !is_held(state, task),
        Step::Start => matches!(stage(), Some(Stage::Between { .. } | Stage::Intended { .. })),
        Step::Watch | Step::Finish => matches!(stage(), Some(Stage::Intended { .. } | Stage::Running { .. })),
        Step::Settle => matches!(stage(), Some(Stage::Between { .. })),
        Step::Merge | Step::VerifyMerge => case.status == Status::Done && case.merged.is_none(),
        // These are steps of no task, or no wait for one.
        Step::PutAside | Step::Begin | Step::Request | Step::Checkpoint | Step::Copies | Step::Log => false,
    }
}

/// Whether a human has to decide before the task is claimed, whatever the mode.
fn is_held(state: &State, task: &CaseId) -> bool {
    let id = Gate::id_for(GateKind::Claim, task).ok();
    id.and_then(|id| state.restorable.gates.get(&id)).is_some_and(Gate::holds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::base::ids::{AgentId, Token};
    use crate::domain::work::agent::{Agent, Work};
    use crate::domain::work::case::{Case, Kind};
    use crate::domain::work::gate::Held;

    fn state_with(status: Status, stage: Option<Stage>) -> State {
        let (mut state, task) = (State::default(), CaseId::new("t").unwrap());
        let case = Case {
            id: task.clone(),
            kind: Kind::Task,
            title: String::new(),
            body: None,
            parent: None,
            after: Vec::new(),
            needs: vec![],
            start_early: false,
            persona: None,
            verify: Vec::new(),
            limits: crate::domain::work::budget::Limits::default(),
            status,
            merged: None,
            reason: None,
            created_at: jiff::Timestamp::UNIX_EPOCH,
        };
        state.restorable.cases.insert(task.clone(), case);
        if let Some(stage) = stage {
            let id = AgentId::new("a-001").unwrap();
            let work = Some(Work { stage, ..Work::claimed(task, None, jiff::Timestamp::UNIX_EPOCH) });
            state.restorable.agents.insert(id.clone(), Agent { id, work });
        }
        state
    }

    /// At each point of a task's way, exactly the steps that come there are still tried.
    #[test]
    fn a_step_is_still_tried_only_where_its_task_is_at_it() {
        let token = || Token::new("1".repeat(32)).unwrap();
        let between = || Some(Stage::Between { last: None });
        let cases: [(State, &[Step]); 8] = [
            (state_with(Status::Pending, None), &[Step::Claim]),
            (state_with(Status::Active, between()), &[Step::Start, Step::Settle]),
            (state_with(Status::Active, Some(Stage::Intended { token: token() })), &[Step::Start, Step::Watch, Step::Finish]),
            (state_with(Status::Active, Some(Stage::Running { token: token(), pid: 1 })), &[Step::Watch, Step::Finish]),
            (state_with(Status::Done, None), &[Step::Merge, Step::VerifyMerge]),
            (state_with(Status::Blocked, None), &[]),
            (state_with(Status::Failed, None), &[]),
            (state_with(Status::Archived, None), &[]),
        ];
        let task = CaseId::new("t").unwrap();
        for (state, expected) in cases {
            let tried: Vec<Step> = Step::ALL.into_iter().filter(|step| is_still_tried(&state, &task, *step)).collect();
            assert_eq!(tried, expected, "{:?}", state.restorable.cases[&task].status);
        }
        let mut held = state_with(Status::Pending, None);
        let gate = Gate::holding(&task, Held::Failed, jiff::Timestamp::UNIX_EPOCH).unwrap();
        held.restorable.gates.insert(gate.id.clone(), gate);
        assert!(!is_still_tried(&held, &task, Step::Claim) && !is_still_tried(&held, &CaseId::new("u").unwrap(), Step::Claim));
    }
}
