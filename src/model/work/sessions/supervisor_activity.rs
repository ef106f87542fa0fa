//! What a session or a verb does besides watching the programs of agents: verifying, asking hooks, making workspaces, merging. One list,
//! for `status`, the panel, `pause`, and whoever waits for the session's end. Pure.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::base::forms::times;
use crate::base::ids::{AgentId, TaskId};

/// One thing that is being done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SupervisorActivity {
    /// What it is.
    pub what: SupervisorActivityKind,
    /// The task that waits for it.
    pub task_id: Option<TaskId>,
    /// The agent on whose behalf.
    pub agent_id: Option<AgentId>,
    /// What runs: the step or the hook, and of a planner its phase.
    pub name: Option<String>,
    /// Which of how many it is, from 1.
    pub place: Option<u32>,
    /// How many there are.
    pub of: Option<u32>,
    /// Since when.
    pub since: Timestamp,
    /// The longest that it may take, in seconds.
    pub limit_seconds: Option<u64>,
    /// The verb that does it, where that is not the session or its planner.
    #[serde(default)]
    pub verb: Option<String>,
    /// The process of that verb.
    #[serde(default)]
    pub pid: Option<u32>,
}

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SupervisorActivityKind {
    /// git makes a workspace, with the project's filters and its post-checkout hook.
    MakesWorkspace,
    /// A hook is asked whether a task may be started.
    AsksHook,
    /// A hook is told of an event.
    TellsHook,
    /// A verify step of a task runs.
    Verifies,
    /// A step or hook checks the result of a merge.
    VerifiesMerge,
    /// `recovery.evaluator` is asked.
    Evaluates,
    /// Filters store what an iteration has left.
    Filters,
    /// A task is merged.
    Merges,
    /// The program of an agent is being ended: it has its grace time.
    Ends,
    /// A planner runs.
    Plans,
    /// What a crash left is taken up.
    Recovers,
    /// A human has the workspace open, and its agent is held meanwhile.
    HoldsAgent,
}

impl SupervisorActivity {
    /// Something of the session.
    pub fn of_session(what: SupervisorActivityKind, since: Timestamp) -> Self {
        let (verb, pid) = (None, None);
        Self { what, task_id: None, agent_id: None, name: None, place: None, of: None, since, limit_seconds: None, verb, pid }
    }

    /// Something for a task.
    pub fn of_task(what: SupervisorActivityKind, task: &TaskId, since: Timestamp) -> Self {
        Self { task_id: Some(task.clone()), ..Self::of_session(what, since) }
    }

    /// The same for an agent.
    #[must_use]
    pub fn by(self, agent: &AgentId) -> Self {
        Self { agent_id: Some(agent.clone()), ..self }
    }

    /// The same of a step: its name, its place (from 0) among how many, and the longest that it may take.
    #[must_use]
    pub fn step(self, name: &str, (place, of): (usize, usize), limit: Duration) -> Self {
        let number = |number: usize| u32::try_from(number).ok();
        let (place, of) = (number(place.saturating_add(1)), number(of));
        Self { name: Some(name.to_owned()), place, of, limit_seconds: Some(limit.as_secs()), ..self }
    }

    /// Whether the outcome decides if a task is merged.
    pub fn is_verification(&self) -> bool {
        match self.what {
            SupervisorActivityKind::Verifies | SupervisorActivityKind::VerifiesMerge => true,
            SupervisorActivityKind::MakesWorkspace
            | SupervisorActivityKind::AsksHook
            | SupervisorActivityKind::TellsHook
            | SupervisorActivityKind::Evaluates
            | SupervisorActivityKind::Filters
            | SupervisorActivityKind::Merges
            | SupervisorActivityKind::Ends
            | SupervisorActivityKind::Plans
            | SupervisorActivityKind::Recovers
            | SupervisorActivityKind::HoldsAgent => false,
        }
    }

    /// What it is, without times: the same as long as it lasts.
    pub fn what_in_words(&self) -> String {
        let name = self.name.as_deref().unwrap_or_default();
        let about = self.task_id.as_ref().map_or_else(String::new, |task| format!("{task}: "));
        let place = match (self.place, self.of) {
            (Some(place), Some(of)) if of > 1 => format!(" ({place} of {of})"),
            (_, _) => String::new(),
        };
        let by = match (&self.verb, self.pid) {
            (Some(verb), Some(pid)) => format!(", by 'git axiom {verb}' (process {pid})"),
            (_, _) => String::new(),
        };
        let what = match self.what {
            SupervisorActivityKind::MakesWorkspace => {
                format!("{about}git makes its workspace, with the project's filters and hooks")
            }
            SupervisorActivityKind::AsksHook => format!("{about}the hook {name} is asked whether it may start{place}"),
            SupervisorActivityKind::TellsHook => format!("{about}the hook {name} runs{place}"),
            SupervisorActivityKind::Verifies => format!("{about}its verify step '{name}' runs{place}"),
            SupervisorActivityKind::VerifiesMerge => format!("{about}'{name}' checks the result of its merge{place}"),
            SupervisorActivityKind::Evaluates => format!("{about}recovery.evaluator is asked what becomes of it"),
            SupervisorActivityKind::Filters => format!("{about}filters store what its agent left"),
            SupervisorActivityKind::Merges => format!("{about}it is being merged"),
            SupervisorActivityKind::Ends => format!("{about}its agent is being ended"),
            SupervisorActivityKind::Plans => format!("{about}the planner works on the phase {name}"),
            SupervisorActivityKind::Recovers => format!("{about}what an earlier session left is looked through"),
            SupervisorActivityKind::HoldsAgent => format!("{about}a human has its workspace open, and its agent is held"),
        };
        what + &by
    }

    /// What it is, how long it has taken, and how long it may take.
    pub fn in_words(&self, now: Timestamp) -> String {
        let for_so_long = times::span(u64::try_from(now.duration_since(self.since).as_secs()).unwrap_or(0));
        let most = self.limit_seconds.map_or_else(String::new, |most| format!(", at most {}", times::span(most)));
        format!("{}, for {for_so_long}{most}", self.what_in_words())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_said_with_its_place_and_its_times() {
        let (task, since) = (TaskId::new("t").unwrap(), Timestamp::UNIX_EPOCH);
        let step = SupervisorActivity {
            name: Some("tests".into()),
            place: Some(2),
            of: Some(3),
            limit_seconds: Some(1800),
            ..SupervisorActivity::of_task(SupervisorActivityKind::Verifies, &task, since)
        };
        let said = step.in_words(Timestamp::from_second(12).unwrap());
        assert_eq!(said, "t: its verify step 'tests' runs (2 of 3), for 12s, at most 30min");
        assert!(step.is_verification());
        let alone = SupervisorActivity { place: Some(1), of: Some(1), ..step };
        assert_eq!(alone.what_in_words(), "t: its verify step 'tests' runs");
        let of_a_verb = SupervisorActivity { verb: Some("recover".into()), pid: Some(7), ..alone.clone() };
        assert_eq!(of_a_verb.what_in_words(), "t: its verify step 'tests' runs, by 'git axiom recover' (process 7)");
        let json = serde_json::to_string(&alone).unwrap();
        assert_eq!(serde_json::from_str::<SupervisorActivity>(&json).unwrap(), alone);
        // The clock may have been set back.
        assert!(alone.in_words(Timestamp::MIN).contains("for 0s"));
    }
}
