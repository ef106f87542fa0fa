//! Whether a delayed step of a session is still going to be tried.

use crate::base::ids::TaskId;
use crate::state::current_state::State;
use crate::work::agent::IterationStage;
use crate::work::endings::failures::SessionStep;
use crate::work::tasks::task::TaskStatus;

/// Whether a step for a task is still going to be tried: a delay exists only so long.
pub fn is_still_tried(state: &State, task: &TaskId, step: SessionStep) -> bool {
    let Some(case) = state.restorable.tasks.get(task) else { return false };
    let stage = || Some(&state.agent_on(task)?.work.as_ref()?.stage);
    match step {
        SessionStep::Claim => case.status == TaskStatus::Pending && !state.is_held(task),
        SessionStep::Start => matches!(stage(), Some(IterationStage::Between { .. } | IterationStage::Intended { .. })),
        SessionStep::Watch | SessionStep::Finish => {
            matches!(stage(), Some(IterationStage::Intended { .. } | IterationStage::Running { .. }))
        }
        SessionStep::Settle => matches!(stage(), Some(IterationStage::Between { .. })),
        SessionStep::Merge | SessionStep::VerifyMerge => case.status == TaskStatus::Done && case.merged.is_none(),
        // These are steps of no task, or no wait for one.
        SessionStep::PutAside
        | SessionStep::Begin
        | SessionStep::Request
        | SessionStep::Checkpoint
        | SessionStep::Copies
        | SessionStep::Log => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::ids::{AgentId, Token};
    use crate::work::agent::{Agent, AgentWork};
    use crate::work::gates::gate::{Gate, TaskHoldReason};
    use crate::work::tasks::task::{Task, TaskKind};

    fn state_with(status: TaskStatus, stage: Option<IterationStage>) -> State {
        let (mut state, task) = (State::default(), TaskId::new("t").unwrap());
        let case = Task {
            id: task.clone(),
            kind: TaskKind::Task,
            title: String::new(),
            body: None,
            parent: None,
            after: Vec::new(),
            needs: vec![],
            start_early: false,
            persona: None,
            verify: Vec::new(),
            limits: crate::work::money::budget::BudgetLimits::default(),
            status,
            merged: None,
            reason: None,
            created_at: jiff::Timestamp::UNIX_EPOCH,
        };
        state.restorable.tasks.insert(task.clone(), case);
        if let Some(stage) = stage {
            let id = AgentId::new("a-001").unwrap();
            let work = Some(AgentWork { stage, ..AgentWork::claimed(task, None, jiff::Timestamp::UNIX_EPOCH) });
            state.restorable.agents.insert(id.clone(), Agent { id, work });
        }
        state
    }

    /// At each point of a task's way, exactly the steps that come there are still tried.
    #[test]
    fn a_step_is_still_tried_only_where_its_task_is_at_it() {
        let token = || Token::new("1".repeat(32)).unwrap();
        let between = || Some(IterationStage::Between { last: None });
        let tasks: [(State, &[SessionStep]); 8] = [
            (state_with(TaskStatus::Pending, None), &[SessionStep::Claim]),
            (state_with(TaskStatus::Active, between()), &[SessionStep::Start, SessionStep::Settle]),
            (
                state_with(TaskStatus::Active, Some(IterationStage::Intended { token: token() })),
                &[SessionStep::Start, SessionStep::Watch, SessionStep::Finish],
            ),
            (
                state_with(TaskStatus::Active, Some(IterationStage::Running { token: token(), pid: 1 })),
                &[SessionStep::Watch, SessionStep::Finish],
            ),
            (state_with(TaskStatus::Done, None), &[SessionStep::Merge, SessionStep::VerifyMerge]),
            (state_with(TaskStatus::Blocked, None), &[]),
            (state_with(TaskStatus::Failed, None), &[]),
            (state_with(TaskStatus::Archived, None), &[]),
        ];
        let task = TaskId::new("t").unwrap();
        for (state, expected) in tasks {
            let tried: Vec<SessionStep> =
                SessionStep::ALL.into_iter().filter(|step| is_still_tried(&state, &task, *step)).collect();
            assert_eq!(tried, expected, "{:?}", state.restorable.tasks[&task].status);
        }
        let mut held = state_with(TaskStatus::Pending, None);
        let gate = Gate::holding(&task, TaskHoldReason::Failed, jiff::Timestamp::UNIX_EPOCH).unwrap();
        held.restorable.gates.insert(gate.id.clone(), gate);
        assert!(
            !is_still_tried(&held, &task, SessionStep::Claim)
                && !is_still_tried(&held, &TaskId::new("u").unwrap(), SessionStep::Claim)
        );
    }
}
