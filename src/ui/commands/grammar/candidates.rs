//! The candidates for completion in a shell: ids and names in this repository.
//!
//! No lock is taken, and if reading takes too long, there are no candidates from the repository: verbs and options are
//! completed anyway.

use std::sync::mpsc;
use std::time::Duration;

use clap_complete::CompletionCandidate;

use super::man_pages;
use axiom_base::env;
use axiom_model::agent::presets;
use axiom_model::base::forms::natural;
use axiom_model::operation::operation_record::OperationRecord;
use axiom_model::queries::view::undecided_gates;
use axiom_model::state::current_state::State;
use axiom_model::work::tasks::task::TaskKind;
use axiom_safety::config::keys::KEYS;
use axiom_safety::context::handle::Context;
use axiom_safety::context::placement::VerbPurpose;
use axiom_safety::{history, lock, opening};

/// How long a user who presses Tab has to wait at most.
const PATIENCE: Duration = Duration::from_millis(50);
/// How many operations are offered, the newest ones.
const NEWEST: usize = 50;

/// What an argument accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShellCandidateKind {
    /// Tasks of every kind.
    TasksAndGroups,
    /// Tasks only.
    Tasks,
    /// Agents.
    Agents,
    /// Agents, and the tasks that they work on or have worked on.
    AgentsAndTasks,
    /// Open gates.
    Gates,
    /// Checkpoints.
    Checkpoints,
    /// Operations that can be undone.
    Operations,
    /// What agents learnt.
    Learnings,
    /// Agent programs: presets and those of the configuration.
    Programs,
    /// Locks that were taken once.
    Locks,
    /// Verbs of git axiom.
    Verbs,
    /// Keys of the configuration.
    Keys,
    /// One of these words.
    Words(&'static [&'static str]),
}

/// An id and its description.
type ShellCandidate = (String, String);

/// All candidates of one kind; empty where they cannot be read in time.
pub fn all(of: ShellCandidateKind) -> Vec<CompletionCandidate> {
    let offers = match of {
        ShellCandidateKind::Verbs => verbs(),
        ShellCandidateKind::Keys => keys(),
        ShellCandidateKind::Programs => programs(),
        ShellCandidateKind::Locks => {
            at_once(|| Some(lock::list::names().ok()?.into_iter().map(|name| (name, String::new())).collect()))
        }
        ShellCandidateKind::Words(words) => words.iter().map(|word| ((*word).to_owned(), String::new())).collect(),
        ShellCandidateKind::TasksAndGroups
        | ShellCandidateKind::Tasks
        | ShellCandidateKind::Agents
        | ShellCandidateKind::AgentsAndTasks
        | ShellCandidateKind::Gates
        | ShellCandidateKind::Checkpoints
        | ShellCandidateKind::Learnings
        | ShellCandidateKind::Operations => at_once(move || of_repository(of)),
    };
    let candidate = |(place, (id, what)): (usize, ShellCandidate)| {
        let what = Some(what).filter(|what| !what.is_empty()).map(Into::into);
        CompletionCandidate::new(id).help(what).display_order(Some(place))
    };
    offers.into_iter().enumerate().map(candidate).collect()
}

/// The result of `look`, if it arrives in time.
fn at_once(look: impl FnOnce() -> Option<Vec<ShellCandidate>> + Send + 'static) -> Vec<ShellCandidate> {
    let (tell, told) = mpsc::channel();
    let look = move || drop(tell.send(look()));
    match std::thread::Builder::new().name("candidates".into()).spawn(look) {
        Ok(_) => told.recv_timeout(PATIENCE).ok().flatten().unwrap_or_default(),
        Err(_) => Vec::new(),
    }
}

fn of_repository(of: ShellCandidateKind) -> Option<Vec<ShellCandidate>> {
    let ctx = opening::open(&env::current_dir().ok()?, VerbPurpose::Look).ok()?;
    let state = ctx.state();
    let mut offers = match of {
        ShellCandidateKind::TasksAndGroups => tasks(state, |_| true),
        ShellCandidateKind::Tasks => tasks(state, |kind| kind == TaskKind::Task),
        ShellCandidateKind::Agents => agents(state),
        ShellCandidateKind::AgentsAndTasks => [agents(state), tasks(state, |kind| kind == TaskKind::Task)].concat(),
        ShellCandidateKind::Gates => {
            undecided_gates(state).into_iter().map(|gate| (gate.id.to_string(), gate.reason.clone())).collect()
        }
        ShellCandidateKind::Checkpoints => {
            state.record.checkpoints.all().ok()?.into_iter().map(|one| (one.name.to_string(), String::new())).collect()
        }
        ShellCandidateKind::Learnings => {
            state.record.learnings.iter().map(|one| (one.id.to_string(), one.text.clone())).collect()
        }
        ShellCandidateKind::Operations => return transactions(&ctx),
        ShellCandidateKind::Locks
        | ShellCandidateKind::Verbs
        | ShellCandidateKind::Keys
        | ShellCandidateKind::Programs
        | ShellCandidateKind::Words(_) => Vec::new(),
    };
    offers.sort_by(|(one, _), (other, _)| natural::compare(one, other));
    Some(offers)
}

fn tasks(state: &State, wanted: impl Fn(TaskKind) -> bool) -> Vec<ShellCandidate> {
    let tasks = state.restorable.tasks.values().filter(|task| wanted(task.kind));
    tasks.map(|task| (task.id.to_string(), task.title.clone())).collect()
}

fn agents(state: &State) -> Vec<ShellCandidate> {
    let work =
        |agent: &axiom_model::work::agent::Agent| agent.work.as_ref().map_or_else(String::new, |work| work.task.to_string());
    state.restorable.agents.values().map(|agent| (agent.id.to_string(), work(agent))).collect()
}

/// The operations that can be undone, newest first.
fn transactions(ctx: &Context) -> Option<Vec<ShellCandidate>> {
    let is_offered = |one: &&OperationRecord| one.matters() && one.undoable();
    let all = history::newest_transactions(ctx, |known| known.iter().filter(is_offered).count() >= NEWEST).ok()?;
    let undoable = all.iter().rev().filter(is_offered);
    Some(undoable.take(NEWEST).map(|one| (one.id.to_string(), one.what.clone())).collect())
}

/// Presets are known without a repository.
fn programs() -> Vec<ShellCandidate> {
    let own = at_once(|| {
        let mut ctx = opening::open(&env::current_dir().ok()?, VerbPurpose::Look).ok()?;
        ctx.load_usable_config().ok()?;
        Some(ctx.config.agents.adapters.keys().map(|name| (name.clone(), String::new())).collect())
    });
    let presets = presets::names().map(|name| (name.to_owned(), String::new()));
    let mut all: Vec<ShellCandidate> = presets.chain(own).collect();
    all.sort_by(|(one, _), (other, _)| natural::compare(one, other));
    all.dedup();
    all
}

fn keys() -> Vec<ShellCandidate> {
    KEYS.iter().map(|key| (format!("{}.{}", key.section, key.name), key.kind.expects())).collect()
}

fn verbs() -> Vec<ShellCandidate> {
    // Only verbs of one word: a verb's own verbs would be two words.
    let verbs = man_pages::verbs().into_iter().filter(|verb| !verb.contains(' '));
    verbs.map(|verb| (verb, String::new())).collect()
}
