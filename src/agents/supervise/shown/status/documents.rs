//! The documents of `git axiom status`; their JSON keys are a contract.

use std::collections::HashSet;

use jiff::Timestamp;
use serde::Serialize;

use axiom_model::base::ids::TaskId;
use axiom_model::base::names::RefName;
use axiom_model::queries::gate_line::OpenGateJson;
use axiom_model::queries::project::{LiveSessionStatus, ProjectStatus};
use axiom_model::queries::task_standing::TaskPartCounts;
use axiom_model::queries::view::{TaskProgress, TaskStatusCounts};
use axiom_model::work::endings::delay::DelayedSessionStep;
use axiom_model::work::money::budget::{BudgetLimits, BudgetUsageJson};
use axiom_model::work::sessions::supervisor_activity::SupervisorActivity;
use axiom_model::work::tasks::task::TaskStatus;
use axiom_safety::attach::attach_status::AttachStatus;
use axiom_safety::context::conflict_notes::RevertConflictWorktree;

/// How all stands. With `--watch`, a document for each change.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusDocument {
    /// The session.
    pub session: SessionStatusJson,
    /// The same in short: one task, one agent, one word.
    pub project: ProjectStatusJson,
    /// The supervisor.
    pub supervisor: SupervisorStatusJson,
    /// Whether a process looks after agents: the supervisor, or a verb in its place.
    #[serde(skip)]
    pub attended: bool,
    /// All agents that have ever worked, by id.
    pub agents: Vec<AgentStatusJson>,
    /// The number of tasks by stored status; groups are not counted.
    pub tasks: TaskStatusCounts,
    /// Derived counts, in addition to the stored status.
    pub progress: TaskProgress,
    /// Gates that nobody has decided at.
    pub gates: Vec<OpenGateJson>,
    /// Gates that a human has decided, until that is carried out.
    pub decided: Vec<OpenGateJson>,
    /// The command that carries that out where no session runs.
    #[serde(skip)]
    pub decided_by: String,
    /// Tasks that are done and wait to be merged, where no gate says why they wait.
    pub to_merge: Vec<MergeQueueJson>,
    /// Tasks that were merged, and whose target no longer has that (of the newest 50 merges), by id: a human took it back by git alone.
    pub lost_merges: Vec<TaskId>,
    /// Tasks that do not go on unless a human does something, by id.
    pub stuck: Vec<StuckTaskJson>,
    /// What is being done now besides the programs of agents.
    pub doing: Vec<SupervisorActivity>,
    /// What the running session tries again by itself.
    pub delays: Vec<DelayedTaskJson>,
    /// Why the configuration does not count as it is written; `None` where it does, or where nobody has looked.
    pub configuration: Option<String>,
    /// Conflicts of rollbacks that are being settled by hand.
    pub settling: Vec<RevertConflictWorktree>,
    /// Whether a recovery is needed.
    pub recovery: RecoveryNeedJson,
    /// Agents that a human runs, and watches.
    pub attached: AttachStatus,
}

impl StatusDocument {
    /// The active tasks that a crash cut off and that nothing has recovered yet: nobody works on them, while the log still has them active.
    pub fn cut_off(&self) -> HashSet<TaskId> {
        let dead = self.agents.iter().filter(|agent| [DEAD, ORPHANED].contains(&agent.state) && !self.attended);
        dead.filter_map(|agent| TaskId::new(agent.task_id.as_deref()?).ok()).collect()
    }
}

/// The session.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionStatusJson {
    /// Its id; `None` where there has been no session.
    pub id: Option<String>,
    /// Its present state.
    pub state: LiveSessionStatus,
    /// `semi-auto`, `review` or `autopilot`.
    pub mode: &'static str,
    /// How many tasks a session cut short that ended while it was paused: they go on with the next one.
    pub set_aside: usize,
    /// The last action, in words.
    pub last_action: Option<String>,
    /// When that was.
    pub last_action_at: Option<Timestamp>,
    /// The time of the last event.
    pub updated_at: Option<Timestamp>,
    /// More about the session.
    pub metadata: SessionMetadataJson,
    /// What the session may use.
    pub limits: Option<BudgetLimits>,
    /// What its iterations used, also those that run where it has limits; `None` before the first session.
    pub tokens_used: Option<u64>,
    /// The same in US dollars.
    pub cost_usd: Option<f64>,
    /// How many milliseconds agents' programs ran in it, those of personas too: time in which several run counts once.
    pub time_used_ms: u64,
    /// Whether it may have been more: the end of a program was not recorded.
    pub time_used_is_least: bool,
}

/// A summary of the project for scripts: one task, one agent, one word.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProjectStatusJson {
    /// The task with the most recent activity, among those that agents work on.
    pub current_task_id: Option<String>,
    /// The agent that works on it.
    pub current_agent_id: Option<String>,
    /// In words: a claim, the end of an iteration, a failed verification, an error after which something is tried again, a gate,
    /// a capture of changed files and so on.
    pub last_action: Option<String>,
    /// `active`: a session runs, or what it left when it crashed waits to be recovered; `paused`: a session is, or was when it
    /// ended; `completed`: every task is merged; `failed`: without a session, nothing is ready and something is blocked or has
    /// failed.
    pub status: ProjectStatus,
    /// The time of the last event.
    pub updated_at: Option<Timestamp>,
    /// As in the session, and more.
    pub metadata: ProjectMetadataJson,
}

/// More about the project.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProjectMetadataJson {
    /// The same as in the session.
    #[serde(flatten)]
    pub session: SessionMetadataJson,
    /// How many files the iterations of the current task changed, or its newest capture has changed; without a current task,
    /// those of the one of which something was recorded last.
    pub files_modified: u64,
    /// Whether its verification passed when it was last run.
    pub tests_passing: Option<bool>,
}

/// More about the session.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionMetadataJson {
    /// When it started.
    pub started_at: Option<Timestamp>,
    /// The branch that work is merged into.
    pub target: Option<RefName>,
    /// How many agents may work at the same time.
    pub slots: Option<u32>,
    /// The name of the checkpoint for a rollback of the session.
    pub start_checkpoint: Option<String>,
    /// How many checkpoints there are.
    pub checkpoints: usize,
    /// The number of the last event.
    pub events: u64,
}

/// The process of the session.
#[derive(Debug, Serialize)]
pub struct SupervisorStatusJson {
    /// Whether it runs, which its lock shows for certain.
    pub alive: bool,
    /// Its process id, while it runs.
    pub pid: Option<u32>,
}

/// An agent of sessions.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentStatusJson {
    /// Its id.
    pub id: String,
    /// `idle`, `running`, `verifying` (its program has ended, and a verify step of its task runs), `waiting`, `paused`, `held` (a human has its workspace open, and its processes stand still), `stopping`, `ended` (its program has ended, and no supervisor is there to take up what it did, or the session is at its end), `orphaned` (its keeper is gone, and its program still runs) or `dead` (its keeper is gone, and nobody works on the task until a session takes it up).
    pub state: &'static str,
    /// The task it works on.
    pub task_id: Option<String>,
    /// The task's title.
    pub title: Option<String>,
    /// Iterations of this attempt so far.
    pub iteration: u32,
    /// The most iterations that the session allows.
    pub max_iterations: Option<u32>,
    /// The workspace's path.
    pub workspace: Option<String>,
    /// The task's branch.
    pub branch: Option<RefName>,
    /// Progress in percent, as the agent reports it.
    pub progress: Option<u8>,
    /// The phase that the agent reports.
    pub phase: Option<String>,
    /// The parts of the task that its agents named; `None` where it works on none.
    pub parts: Option<TaskPartCounts>,
    /// How sure the agent is of its work, 0 to 1.
    pub confidence: Option<f64>,
    /// When it expects to be done.
    pub estimated_completion: Option<Timestamp>,
    /// Since when the task waits for a human.
    pub waiting_since: Option<Timestamp>,
    /// Seconds since its task was claimed, until it began to wait for a human; where neither its program nor a supervisor runs, until
    /// it ended; of a dead one, the least that it worked.
    pub duration: Option<u64>,
    /// When it was claimed.
    #[serde(skip)]
    pub claimed_at: Option<Timestamp>,
    /// Until when it worked, where it waits for a human, or does not work any more and no supervisor goes on with it; of a dead one the
    /// least.
    #[serde(skip)]
    pub worked_until: Option<Timestamp>,
    /// Tokens used on the task, where the program reports them.
    pub tokens_used: Option<u64>,
    /// Cost of the task in US dollars, where the program reports it.
    pub cost_usd: Option<f64>,
    /// How the limits of its task stand, with what runs.
    pub limits: Vec<BudgetUsageJson>,
    /// The same in words, where there are some.
    #[serde(skip)]
    pub budget: Option<String>,
    /// What was recorded of it last, or when it printed something, or changed a file that its session captured.
    pub last_activity: Option<Timestamp>,
    /// What is being done for it while its program does not run, in words.
    pub doing: Option<String>,
    /// The last line that it printed.
    pub last_line: Option<String>,
    /// Lines that its workspace added to where the branch left the target, when its session captured it last.
    pub insertions: Option<u64>,
    /// Lines that it removes.
    pub deletions: Option<u64>,
}

impl AgentStatusJson {
    /// Whether it is at work on a task, as far as is seen.
    pub fn works(&self) -> bool {
        ["running", VERIFYING, "stopping", ORPHANED].contains(&self.state)
    }

    /// Whether it has work, and was not left with it: its program has not ended, or somebody goes on with what it did.
    pub fn is_there(&self) -> bool {
        self.task_id.is_some() && ![ENDED, DEAD].contains(&self.state)
    }

    /// Whether a crash ended it, and nobody has seen to that yet.
    pub fn is_dead(&self) -> bool {
        self.state == DEAD
    }
}

/// The state of an agent whose program has ended and whose end nobody has seen yet, as there is no session.
pub(super) const ENDED: &str = "ended";

/// The state of an agent whose work is verified.
pub(super) const VERIFYING: &str = "verifying";

/// The state of an agent whose keeper has died, and whose program still runs.
pub const ORPHANED: &str = "orphaned";
/// The state of an agent whose keeper has died, and of which nothing runs.
pub(super) const DEAD: &str = "dead";

/// A task that is done and waits to be merged.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MergeQueueJson {
    /// The task.
    pub task_id: TaskId,
    /// The tasks that are merged before it.
    pub after: Vec<TaskId>,
}

/// A task that failed or is blocked, or a group that is blocked.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StuckTaskJson {
    /// The task.
    pub task_id: TaskId,
    /// Failed or blocked.
    pub status: TaskStatus,
    /// Why.
    pub reason: Option<String>,
    /// What can be done.
    #[serde(skip)]
    pub commands: Vec<String>,
}

/// A task for which a step failed; see ERRORS.md.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DelayedTaskJson {
    /// The task.
    pub task_id: String,
    /// What failed, and why.
    #[serde(flatten)]
    pub delay: DelayedSessionStep,
}

/// Whether a recovery is needed.
#[derive(Debug, Serialize)]
pub struct RecoveryNeedJson {
    /// Whether `git axiom recover` has something to do.
    pub needed: bool,
    /// Why, in words.
    pub reasons: Vec<String>,
    /// Whether the next session does it, as part of its beginning.
    #[serde(skip)]
    pub(super) next_run_does: bool,
}

impl RecoveryNeedJson {
    /// What is to be recovered, and how; empty where nothing is.
    pub fn in_words(&self) -> String {
        if !self.needed {
            return String::new();
        }
        let how = match self.next_run_does {
            true => "'git axiom run' goes on from there, 'git axiom recover' shows what was cut off",
            false => "see 'git axiom recover'",
        };
        format!("To be recovered: {}; {how}.\n", self.reasons.join("; "))
    }
}
