//! The state: the result of replaying all events.
//!
//! A rollback restores the **restorable** part. The **record** is never rolled back.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::folded::FoldedIds;
use super::place::PlacedAt;
use crate::domain::base::defaults::is_default;
use crate::domain::base::ids::{AgentId, CaseId, CheckpointName, GateId, RequestId, TxnId};
use crate::domain::base::names::{Oid, RefName};
use crate::domain::base::nearest;
use crate::domain::checkpoint::document::DeletedCheckpoint;
use crate::domain::checkpoint::existing::Checkpoints;
use crate::domain::checkpoint::local_refs::StashEntry;
use crate::domain::checkpoint::purge::LeftByPurge;
use crate::domain::operation::journaled::Operation;
use crate::domain::planning::plan::Plan;
use crate::domain::recovery::decide::Decided;
use crate::domain::work::agent::{Agent, IterationReport, Workspace};
use crate::domain::work::answer::Answer;
use crate::domain::work::case::{Case, Kind, Status};
use crate::domain::work::checks::kept::KeptResult;
use crate::domain::work::conflict::Conflict;
use crate::domain::work::delay::Delay;
use crate::domain::work::gate::Gate;
use crate::domain::work::last_run::LastRun;
use crate::domain::work::learnings::{Learning, LearningId};
use crate::domain::work::ledger::Ledger;
use crate::domain::work::reports::Reports;
use crate::domain::work::session::{Mode, Request, Session};
use crate::domain::work::session_time::SessionTime;
use crate::domain::work::spending::{Doubt, Most, Results, Tally, Usd};
use crate::domain::work::verification::{ProgramUse, Verification};
use crate::error::{Code, Error, Result};

/// The whole state after event number `seq`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct State {
    /// The number of the last event; 0 before the first.
    pub seq: u64,
    /// When the last event was appended.
    pub updated_at: Option<Timestamp>,
    /// The part that a rollback restores.
    pub restorable: Restorable,
    /// The part that is never rolled back.
    pub record: Record,
    /// The ids of the cases in lower case; whoever adds or replaces cases tells it.
    #[serde(skip)]
    pub folded: FoldedIds,
}

/// The part of the state that a rollback restores.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Restorable {
    /// All cases.
    pub cases: BTreeMap<CaseId, Case>,
    /// All agents that ever worked.
    pub agents: BTreeMap<AgentId, Agent>,
    /// The workspaces that exist, by task.
    pub workspaces: BTreeMap<CaseId, Workspace>,
    /// The mode.
    pub mode: Mode,
    /// The gates that wait for a human.
    pub gates: BTreeMap<GateId, Gate>,
    /// What was reported of the work in each workspace, by task. Use [`State::reports`]: what is here may be of a workspace that
    /// is gone.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub reports: BTreeMap<CaseId, Reports>,
}

impl Restorable {
    /// The group that a case is directly in.
    pub fn group_of(&self, case: &Case) -> Option<&Case> {
        self.cases.get(case.parent.as_ref()?)
    }

    /// The groups that a case is in, the innermost first and its goal last. There is an end also where a damaged state has a circle.
    pub fn groups_around(&self, case: &Case) -> impl Iterator<Item = &Case> + use<'_> {
        std::iter::successors(self.group_of(case), |group| self.group_of(group)).take(self.cases.len())
    }

    /// Stops all work: active cases become pending, without a retry counted.
    pub fn put_to_rest(&mut self) {
        for case in self.cases.values_mut().filter(|case| case.status == Status::Active) {
            case.status = Status::Pending;
        }
        self.agents.values_mut().for_each(|agent| agent.work = None);
    }
}

/// The part of the state that is never rolled back.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Record {
    /// Counters of cases.
    pub cases: BTreeMap<CaseId, CaseRecord>,
    /// The running or last session.
    pub session: Option<Session>,
    /// Requests that the supervisor has not handled yet.
    pub requests: BTreeMap<RequestId, Request>,
    /// The checkpoints that exist.
    pub checkpoints: Checkpoints,
    /// Checkpoints that were deleted and can still be brought back, by capture.
    pub deleted_checkpoints: BTreeMap<Oid, DeletedCheckpoint>,
    /// What purges could not delete: the next one of the path looks again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_by_purges: Vec<LeftByPurge>,
    /// The checkpoint that is being made.
    pub checkpoint_intent: Option<CheckpointName>,
    /// The operation that has begun and not ended.
    pub open: Option<OpenOperation>,
    /// Where the repository was: records older than each of these events have paths of the place before it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub placings: Vec<PlacedAt>,
    /// The branches below `axiom/` that git axiom made; `None` where nothing is known of any: what recovery began anew takes
    /// those of its tasks for ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_branches: Option<BTreeSet<RefName>>,
    /// What the running session tries again later, by task.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub delays: BTreeMap<CaseId, Delay>,
    /// What agents learnt, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub learnings: Vec<Learning>,
    /// How many cases agents have added since the newest session began.
    #[serde(skip_serializing_if = "is_default")]
    pub added_by_agents: u32,
    /// Running sums of what was used, by whom and when.
    #[serde(skip_serializing_if = "Ledger::is_empty")]
    pub ledger: Ledger,
    /// What the iterations of the newest session used.
    #[serde(skip_serializing_if = "Tally::is_empty")]
    pub session_spent: Tally,
    /// How long programs ran in the newest session.
    #[serde(skip_serializing_if = "SessionTime::is_empty")]
    pub session_time: SessionTime,
    /// The same when a human allowed the session as much again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_counted_from: Option<Tally>,
    /// The plan that is worked on, or the last one. A rollback takes back the cases that it became, not what was planned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<Box<Plan>>,
    /// What attached sessions have led to.
    #[serde(skip_serializing_if = "AttachedCounts::is_empty")]
    pub attached: AttachedCounts,
    /// How many tasks were ever completed. Every N-th triggers a checkpoint.
    pub tasks_completed: u32,
    /// The last action, in words.
    pub last_action: Option<String>,
    /// When that was: other events may have come since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_action_at: Option<Timestamp>,
    /// What stands in for a configuration file that cannot be read, as it was last recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config_restored: Option<String>,
}

/// What attached sessions have led to: numbers that are never used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AttachedCounts {
    /// The number of the newest prompt.
    pub prompts: u32,
    /// How many checkpoints they ever led to.
    pub checkpoints: u64,
}

impl AttachedCounts {
    #[allow(clippy::trivially_copy_pass_by_ref)] // serde wants it
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Counters and last results of one case.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CaseRecord {
    /// Attempts that a crash ended.
    pub retry_count: u32,
    /// Iterations run, over all attempts.
    pub iterations: u32,
    /// Tokens used, as far as the programs report them.
    pub tokens_used: Option<u64>,
    /// Cost in US dollars, as far as the programs report it.
    pub cost_usd: Option<f64>,
    /// Wall time of all iterations, in milliseconds.
    pub duration_ms: u64,
    /// The agent that worked on it last.
    pub last_agent: Option<AgentId>,
    /// Whether the last attempt was ended by a crash.
    pub interrupted: bool,
    /// The result of verifying its merge, and the merge for which it is valid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merge_verified: Option<Box<Verification>>,
    /// The results of its verify steps, and the commits on which they were run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub verified: Vec<KeptResult>,
    /// The last conflict of its merge that was given to an agent, in this workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conflict: Option<Box<Conflict>>,
    /// How many verifications in a row have failed since it was claimed.
    #[serde(skip_serializing_if = "is_default")]
    pub failed_rounds: u32,
    /// The branch's commit at which the last attempt was complete, where it was stopped before verification.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub complete: Option<Oid>,
    /// A human's answer that no agent program has been started with yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
    /// The answers that programs were started with, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub answered: Vec<Answer>,
    /// How its last iteration in this workspace ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_run: Option<Box<LastRun>>,
    /// What was decided of it after its last crash, or when its paused session was taken up again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery: Option<Box<Decided>>,
    /// When its session was paused, where that has ended and it was not decided yet how the work goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub set_aside: Option<Timestamp>,
    /// What a human changed of it since an agent program was started the last time: names of fields.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub edited: BTreeSet<String>,
    /// Iterations whose tokens are not known.
    #[serde(skip_serializing_if = "Doubt::is_empty")]
    pub tokens_doubt: Doubt,
    /// Iterations whose cost is not known.
    #[serde(skip_serializing_if = "Doubt::is_empty")]
    pub cost_doubt: Doubt,
    /// What became of the work.
    #[serde(skip_serializing_if = "Results::is_empty")]
    pub results: Results,
    /// What was used when a human allowed as much again: its limits count from there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted_from: Option<Tally>,
    /// The agent program that worked on it last.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub last_program: String,
    /// Entries of the user's stash that went while agents worked on it, since it was merged last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stash_taken: Vec<StashTaken>,
}

/// An entry of the user's stash that went while an agent worked on a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StashTaken {
    /// The entry.
    pub entry: StashEntry,
    /// The operation that recorded it: its undo brings the entry back.
    pub operation: TxnId,
}

/// How many answers are kept.
const MOST_ANSWERS: usize = 20;

impl CaseRecord {
    /// What was used for it, and what became of it.
    pub fn tally(&self) -> Tally {
        Tally {
            iterations: u64::from(self.iterations),
            tokens: self.tokens_used,
            cost: self.cost_usd.and_then(Usd::of),
            duration_ms: self.duration_ms,
            tokens_doubt: self.tokens_doubt,
            cost_doubt: self.cost_doubt,
            results: self.results,
        }
    }

    /// Counts an iteration. `most` is what one of the same program used at most.
    pub fn ran(&mut self, report: &IterationReport, most: Most) {
        let mut tally = self.tally();
        tally.add(report, most);
        self.count(&tally);
        self.last_program.clone_from(&report.ran);
    }

    /// Counts a look at the work by the program of a persona.
    pub fn looked(&mut self, used: &ProgramUse, duration_ms: u64, most: Most) {
        let mut tally = self.tally();
        tally.looked(used, duration_ms, most);
        self.count(&tally);
    }

    fn count(&mut self, tally: &Tally) {
        self.iterations = u32::try_from(tally.iterations).unwrap_or(u32::MAX);
        (self.tokens_used, self.cost_usd) = (tally.tokens, tally.cost.map(Usd::dollars));
        (self.tokens_doubt, self.cost_doubt) = (tally.tokens_doubt, tally.cost_doubt);
        self.duration_ms = tally.duration_ms;
    }

    /// A program has been started that has the answer and the changes in its prompt.
    pub fn told(&mut self) {
        self.edited.clear();
        self.answered.extend(self.answer.take());
        let over = self.answered.len().saturating_sub(MOST_ANSWERS);
        self.answered.drain(..over);
    }
}

/// An operation that has begun and not ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenOperation {
    /// Its transaction.
    pub txn: TxnId,
    /// Its plan.
    pub operation: Operation,
    /// Whether it is being reversed.
    #[serde(default)]
    pub reversing: bool,
}

impl State {
    /// Whether the last attempt at a task was cut off, and its work is to go on.
    pub fn is_interrupted(&self, task: &CaseId) -> bool {
        self.record.cases.get(task).is_some_and(|record| record.interrupted)
    }

    /// The case with this id.
    ///
    /// # Errors
    /// `UNKNOWN_TASK`, with the nearest id as a hint.
    pub fn case(&self, id: &CaseId) -> Result<&Case> {
        self.restorable.cases.get(id).ok_or_else(|| {
            let error = Error::new(Code::UnknownTask, format!("there is no case '{id}'"));
            let known = self.restorable.cases.keys().map(CaseId::as_str);
            nearest::hinted(error, id.as_str(), known, "see 'git axiom task list'")
        })
    }

    /// The learning with this id.
    ///
    /// # Errors
    /// `UNKNOWN_LEARNING`.
    pub fn learning(&self, id: LearningId) -> Result<&Learning> {
        self.record.learnings.iter().find(|learning| learning.id == id).ok_or_else(|| {
            Error::new(Code::UnknownLearning, format!("there is no '{id}'")).hint("git axiom learnings    lists them")
        })
    }

    /// The plan that is worked on.
    pub fn open_plan(&self) -> Option<&Plan> {
        self.record.plan.as_deref().filter(|plan| plan.is_open())
    }

    /// Whether a case, a planned case or a checkpoint has this name, in upper or lower case: they share one namespace.
    pub fn is_taken(&self, name: &str) -> bool {
        let folded = name.to_ascii_lowercase();
        self.restorable.cases.contains_key(name)
            || self.record.checkpoints.is_taken(&folded)
            || self.folded.has(&self.restorable.cases, &folded)
            || self.open_plan().is_some_and(|plan| plan.reserves(&folded))
    }

    /// The agent that works on a task.
    pub fn agent_on(&self, task: &CaseId) -> Option<&Agent> {
        self.restorable.agents.values().find(|agent| agent.work.as_ref().is_some_and(|work| &work.task == task))
    }

    /// The agents that work on a task.
    pub fn busy_agents(&self) -> impl Iterator<Item = &Agent> {
        self.restorable.agents.values().filter(|agent| agent.work.is_some())
    }

    /// What was reported of the work on a task, as long as that work is there: in its workspace, or done.
    pub fn reports(&self, task: &CaseId) -> Option<&Reports> {
        let is_done = || self.restorable.cases.get(task).is_some_and(|case| case.status == Status::Done);
        let is_there = self.restorable.workspaces.contains_key(task) || is_done();
        self.restorable.reports.get(task).filter(|_| is_there)
    }

    /// How many tasks are done.
    pub fn tasks_done(&self) -> u32 {
        self.restorable.cases.values().filter(|case| case.kind == Kind::Task && case.status == Status::Done).count() as u32
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::domain::base::ids::{SessionId, Token};
    use crate::domain::state::event::{By, Envelope, Event};
    use crate::domain::work::session::SessionState;
    use crate::domain::work::signal::Signal;

    pub fn id() -> CaseId {
        CaseId::new("t").unwrap()
    }

    pub fn applied(state: &mut State, event: Event) {
        applied_by(state, By::Supervisor, event);
    }

    pub fn applied_by(state: &mut State, by: By, event: Event) {
        let at = Timestamp::from_second(i64::try_from(state.seq).unwrap()).unwrap();
        let envelope = Envelope { seq: state.seq + 1, at, txn: TxnId::new("x").unwrap(), by, event };
        state.apply(&envelope).unwrap();
    }

    pub fn opened() -> Event {
        let branch = RefName::branch("axiom/t");
        let base = Oid::new("1".repeat(40)).unwrap();
        let workspace = Workspace { agent: AgentId::new("a-001").unwrap(), path: "/w".into(), branch, base };
        Event::WorkspaceOpened { task: id(), workspace }
    }

    pub fn with_progress() -> State {
        let mut state = State::default();
        let case = Case {
            id: id(),
            kind: Kind::Task,
            title: "T".into(),
            body: None,
            parent: None,
            after: vec![],
            needs: vec![],
            start_early: false,
            persona: None,
            verify: vec![],
            limits: crate::domain::work::budget::Limits::default(),
            status: Status::Pending,
            merged: None,
            reason: None,
            created_at: Timestamp::UNIX_EPOCH,
        };
        let (agent, token) = (AgentId::new("a-001").unwrap(), Token::new("k").unwrap());
        let from = Oid::new("1".repeat(40)).unwrap();
        for event in [
            Event::CasesAdded { cases: vec![case] },
            opened(),
            Event::TaskClaimed { agent: agent.clone(), task: id(), complete: false },
            Event::IterationIntended {
                agent: agent.clone(),
                iteration: 1,
                token: token.clone(),
                from,
                exit_completes: true,
                program: String::new(),
                resumes: None,
            },
            Event::Signalled { agent, token, signal: Signal::Progress { percent: 80 } },
        ] {
            applied(&mut state, event);
        }
        state
    }

    fn session(started_at: Timestamp) -> Event {
        let session = Session {
            id: SessionId::new("s1").unwrap(),
            started_at,
            pid: 1,
            target: RefName::branch("main"),
            slots: 1,
            max_iterations: 1,
            limits: crate::domain::work::budget::Limits::default(),
            task_limits: crate::domain::work::budget::Limits::default(),
            state: SessionState::Running,
            paused_at: None,
            start_checkpoint: None,
            in_linked_worktree: false,
        };
        Event::SessionStarted { session }
    }

    #[test]
    fn work_is_set_aside_where_its_session_ends_paused_until_it_goes_on() {
        use SessionState::{Crashed, Ended, Ending, Paused, Pausing, Running};
        for (states, is_set_aside) in [
            (&[Ending, Ended][..], false),
            (&[Crashed], false),
            (&[Pausing, Paused], false),
            (&[Pausing, Paused, Running, Ended], false),
            (&[Pausing, Crashed], true),
            (&[Pausing, Paused, Crashed], true),
            (&[Pausing, Running, Pausing, Paused, Ending, Ended], true),
        ] {
            let mut state = with_progress();
            applied(&mut state, session(Timestamp::UNIX_EPOCH));
            let changed = |state: &SessionState| Event::SessionChanged { state: *state, reason: "because".into() };
            states.iter().map(changed).for_each(|event| applied(&mut state, event));
            let set_aside = |state: &State| state.record.cases.get(&id()).is_some_and(|record| record.set_aside.is_some());
            assert_eq!(set_aside(&state), is_set_aside, "{states:?}");
            // The next session does not forget it.
            applied(&mut state, session(Timestamp::UNIX_EPOCH));
            assert_eq!(set_aside(&state), is_set_aside, "{states:?}");
            applied(&mut state, opened());
            assert!(!set_aside(&state), "{states:?}");
        }
    }

    #[test]
    fn what_was_reported_lasts_as_long_as_the_workspace() {
        let mut state = with_progress();
        let progress = |state: &State| state.reports(&id()).and_then(|reports| reports.progress);
        assert_eq!(progress(&state), Some(80));
        let started = state.reports(&id()).and_then(|reports| reports.started_at);
        assert_eq!(started, Some(Timestamp::from_second(2).unwrap()));
        let released = |status| Event::WorkReleased {
            agent: AgentId::new("a-001").unwrap(),
            status,
            reason: String::new(),
            retry: true,
            complete: None,
            gate: None,
            discarded: false,
        };
        applied(&mut state, released(Status::Pending));
        assert_eq!(progress(&state), Some(80), "it is interrupted, and its work is there");
        applied(&mut state, Event::WorkspaceClosed { task: id(), trash: None });
        assert_eq!(progress(&state), None);
        applied(&mut state, opened());
        assert_eq!(progress(&state), None, "a new workspace begins anew");
        let mut done = with_progress();
        applied(&mut done, released(Status::Done));
        applied(&mut done, Event::WorkspaceClosed { task: id(), trash: None });
        assert_eq!(progress(&done), Some(80));
    }
}
