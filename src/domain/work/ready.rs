//! Which task is next, and which agent takes it. Pure.

use std::collections::{BTreeMap, BTreeSet};

use super::case::{Case, Kind, Status};
use crate::domain::base::ids::{AgentId, CaseId};
use crate::domain::state::whole::State;
use crate::error::Result;

/// The persona of tasks that do not name one.
pub const DEFAULT_PERSONA: &str = "agent";

/// The pending tasks whose dependencies are merged: highest unblocking power first, then oldest, then by id.
pub fn ready_tasks(state: &State) -> Vec<&Case> {
    let mut ready: Vec<&Case> = state
        .restorable
        .cases
        .values()
        .filter(|case| case.kind == Kind::Task && case.status == Status::Pending && state.dependencies_met(case))
        .collect();
    if ready.len() > 1 {
        let power = unblocking_power(state);
        let of = |case: &Case| power.get(&case.id).copied().unwrap_or(0);
        ready.sort_by(|a, b| of(b).cmp(&of(a)).then(a.created_at.cmp(&b.created_at)).then(a.id.cmp(&b.id)));
    }
    ready
}

/// How many open cases wait for each case, directly or indirectly.
pub fn unblocking_power(state: &State) -> BTreeMap<&CaseId, usize> {
    let mut waiting_for: BTreeMap<&CaseId, Vec<&CaseId>> = BTreeMap::new();
    for case in state.restorable.cases.values().filter(|case| !case.is_settled()) {
        for before in &case.after {
            waiting_for.entry(before).or_default().push(&case.id);
        }
    }
    let mut power = BTreeMap::new();
    for id in waiting_for.keys() {
        let mut seen: BTreeSet<&CaseId> = BTreeSet::new();
        let mut todo = vec![*id];
        while let Some(here) = todo.pop() {
            for next in waiting_for.get(here).into_iter().flatten() {
                if seen.insert(next) {
                    todo.push(next);
                }
            }
        }
        power.insert(*id, seen.len());
    }
    power
}

/// The agent that takes a task: the one that worked on it last if it is free and has the task's persona, otherwise the free
/// one of its persona with the lowest number.
///
/// # Errors
/// `INVALID_ID` where the persona has characters that an id cannot have.
pub fn agent_for(state: &State, case: &Case) -> Result<AgentId> {
    let persona = case.persona.as_deref().unwrap_or(DEFAULT_PERSONA);
    let free = |id: &AgentId| state.restorable.agents.get(id).is_none_or(|agent| agent.work.is_none());
    if let Some(known) = state.record.cases.get(&case.id).and_then(|record| record.last_agent.as_ref())
        && free(known)
        && known.as_str().rsplit_once('-').is_some_and(|(name, _)| name == persona)
    {
        return Ok(known.clone());
    }
    let mut number = 1;
    loop {
        let id = AgentId::new(format!("{persona}-{number:03}"))?;
        if free(&id) {
            return Ok(id);
        }
        number += 1;
    }
}

/// Why no more work is possible: one line for each task that is not merged, for `run --until-idle`.
pub fn reasons_for_rest(state: &State) -> Vec<String> {
    let open = state.restorable.cases.values().filter(|case| case.kind == Kind::Task && !case.is_settled());
    open.map(|case| {
        let gate = state.restorable.gates.values().find(|gate| gate.task_id.as_ref() == Some(&case.id));
        let why = match (gate, case.status) {
            (Some(gate), _) => format!("waits at gate {}: {}", gate.id, gate.reason),
            (None, Status::Pending) => match state.waits_for(case).next() {
                Some(other) => format!("waits for {other}"),
                None => "is still pending".to_owned(),
            },
            (None, Status::Done) => "is done but not merged".to_owned(),
            (None, status) => match &case.reason {
                Some(reason) => format!("is {status}: {reason}"),
                None => format!("is {status}"),
            },
        };
        format!("{} {why}", case.id)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::state::whole::CaseRecord;

    fn state(cases: &[(&str, &[&str], Status)]) -> State {
        let mut state = State::default();
        for (id, after, status) in cases {
            let id = CaseId::new(*id).unwrap();
            let case = Case {
                id: id.clone(),
                kind: Kind::Task,
                title: id.to_string(),
                body: None,
                parent: None,
                after: after.iter().map(|a| CaseId::new(*a).unwrap()).collect(),
                persona: None,
                verify: vec![],
                status: *status,
                merged: None,
                reason: None,
                created_at: jiff::Timestamp::UNIX_EPOCH,
            };
            state.restorable.cases.insert(id, case);
        }
        state
    }

    #[test]
    fn the_task_that_unblocks_most_is_first_and_unmerged_dependencies_wait() {
        use Status::{Done, Pending};
        let state = state(&[
            ("a", &[], Pending),
            ("b", &[], Pending),
            ("c", &["b"], Pending),
            ("d", &["c"], Pending),
            ("e", &["done"], Pending),
            ("done", &[], Done),
        ]);
        let ids: Vec<&str> = ready_tasks(&state).iter().map(|case| case.id.as_str()).collect();
        assert_eq!(ids, ["b", "a"], "'done' is not merged yet, so 'e' waits");
        assert_eq!(reasons_for_rest(&state).len(), 6);
    }

    #[test]
    fn the_agent_that_knew_the_task_takes_it() {
        let mut state = state(&[("a", &[], Status::Pending)]);
        let case = state.restorable.cases.values().next().unwrap().clone();
        assert_eq!(agent_for(&state, &case).unwrap().as_str(), "agent-001");
        let record = CaseRecord { last_agent: Some(AgentId::new("agent-007").unwrap()), ..CaseRecord::default() };
        state.record.cases.insert(case.id.clone(), record);
        assert_eq!(agent_for(&state, &case).unwrap().as_str(), "agent-007");
    }
}
