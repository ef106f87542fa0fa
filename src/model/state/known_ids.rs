//! What an unknown id is where it is one of another kind, and which known one may be meant: the same for tasks, agents, checkpoints and
//! gates.

use super::current_state::State;
use crate::base::forms::nearest;
use crate::base::ids::TaskId;
use crate::work::tasks::task::Task;
use axiom_base::error::{Code, Error, Result};

/// What an id names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdKind {
    /// A task.
    Task,
    /// An agent of a session.
    Agent,
    /// A checkpoint.
    Checkpoint,
    /// An open gate.
    Gate,
}

impl State {
    /// The task with this id.
    pub fn task(&self, id: &TaskId) -> Result<&Task> {
        self.restorable.tasks.get(id).ok_or_else(|| {
            let error = Error::new(Code::UnknownTask, format!("there is no task '{id}'"));
            hinted(self, error, id.as_str(), &[IdKind::Task], "see 'git axiom task list'")
        })
    }
}

/// Adds a hint to the error about `text`, which names nothing of the kinds that were `wanted`: the id that may be meant, what it is else, or
/// `otherwise`, which says where they are listed.
#[must_use]
pub fn hinted(state: &State, error: Error, text: &str, wanted: &[IdKind], otherwise: &str) -> Error {
    let known = wanted.iter().flat_map(|kind| names(state, *kind)).collect::<Vec<_>>();
    if let Some(name) = nearest::to(text, known.iter().map(String::as_str)) {
        return error.hint(format!("did you mean '{name}'?"));
    }
    let others =
        [IdKind::Task, IdKind::Agent, IdKind::Checkpoint, IdKind::Gate].into_iter().filter(|kind| !wanted.contains(kind));
    match others.filter_map(|kind| elsewhere(state, text, kind)).next() {
        Some(hint) => error.hint(hint),
        None => error.hint(otherwise),
    }
}

fn names(state: &State, kind: IdKind) -> Vec<String> {
    match kind {
        IdKind::Task => state.restorable.tasks.keys().map(ToString::to_string).collect(),
        IdKind::Agent => state.restorable.agents.keys().map(ToString::to_string).collect(),
        IdKind::Checkpoint => {
            state.record.checkpoints.all().unwrap_or_default().iter().map(|record| record.name.to_string()).collect()
        }
        IdKind::Gate => state.restorable.gates.keys().map(ToString::to_string).collect(),
    }
}

/// The tasks on which no agent has worked since this one.
fn worked_on<'s>(state: &'s State, agent: &str) -> Vec<&'s TaskId> {
    let is_last = |id: &&TaskId| {
        let record = state.record.tasks.get(*id);
        record.and_then(|record| record.last_agent.as_ref()).is_some_and(|last| last.as_str() == agent)
    };
    state.restorable.tasks.keys().filter(is_last).collect()
}

/// The command for it, where it is of this kind.
fn elsewhere(state: &State, text: &str, kind: IdKind) -> Option<String> {
    let found = names(state, kind).into_iter().find(|name| name.eq_ignore_ascii_case(text))?;
    Some(match kind {
        IdKind::Task => match state
            .restorable
            .agents
            .values()
            .find(|agent| agent.work.as_ref().is_some_and(|work| work.task.as_str() == found))
        {
            Some(agent) => format!("git axiom task show {found}    it is a task, and {} works on it", agent.id),
            None => format!("git axiom task show {found}    it is a task"),
        },
        IdKind::Agent => {
            let agent = state.restorable.agents.values().find(|agent| agent.id.as_str() == found);
            match agent.and_then(|agent| agent.work.as_ref()) {
                Some(work) => format!("git axiom task show {}    it is an agent, and works on that task", work.task),
                None => match worked_on(state, &found).as_slice() {
                    [task] => format!("git axiom task show {task}    it is an agent, and worked on that task"),
                    [] => "git axiom status    shows it: it is an agent".to_owned(),
                    [_, ..] => format!("git axiom diff {found}    shows what it changed last: it is an agent"),
                },
            }
        }
        IdKind::Checkpoint => format!("git axiom checkpoint show {found}    it is a checkpoint"),
        IdKind::Gate => format!("git axiom gate show {found}    it is a gate"),
    })
}
