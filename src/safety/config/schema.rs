//! All keys and their defaults, as in the user's `config.toml`. What each kind of key accepts is in `keys`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use axiom_model::checkpoint::marks::CheckpointTagPolicy;
use axiom_model::work::guarded;
use axiom_model::work::money::budget::BudgetLimits;
use axiom_model::work::permissions::permission_rule::{PermissionMode, PermissionRule};
use axiom_model::work::sessions::disk::DiskSpaceThresholds;
use axiom_model::work::usd::Usd;

macro_rules! section {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty = $default:expr,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase", default, deny_unknown_fields)]
        pub struct $name { $($(#[$field_doc])* pub $field: $type,)* }

        impl Default for $name {
            fn default() -> Self { Self { $($field: $default,)* } }
        }
    };
}

section! {
    /// The whole configuration.
    Config {
        /// Checkpoints.
        checkpoints: Checkpoints = Checkpoints::default(),
        /// The event log.
        state: State = State::default(),
        /// The machine: its disks.
        system: System = System::default(),
        /// Recovery.
        recovery: Recovery = Recovery::default(),
        /// Agents.
        agents: Agents = Agents::default(),
        /// Agents that a human runs.
        attach: Attach = Attach::default(),
        /// The panel.
        panel: Panel = Panel::default(),
        /// Merging.
        merge: Merge = Merge::default(),
        /// Verify steps, of tasks and of merges.
        verify: Verify = Verify::default(),
        /// Hooks.
        hooks: Hooks = Hooks::default(),
        /// What tasks and sessions may use.
        budget: Budget = Budget::default(),
        /// Personas by name.
        personas: BTreeMap<String, Persona> = BTreeMap::new(),
    }
}

section! {
    /// Hooks.
    Hooks {
        /// The longest that a hook may take, in seconds.
        timeout: u64 = 60,
        /// A program, with arguments, through which hooks are run.
        wrapper: Vec<String> = Vec::new(),
    }
}

section! {
    /// What tasks and sessions may use; `None` for no limit.
    Budget {
        /// US dollars for each task.
        max_cost: Option<Usd> = None,
        /// Tokens for each task.
        max_tokens: Option<u64> = None,
        /// How long agents may run for each task, in seconds.
        max_time: Option<u64> = None,
        /// US dollars for a session.
        session_max_cost: Option<Usd> = None,
        /// Tokens for a session.
        session_max_tokens: Option<u64> = None,
        /// How long agents may run in a session, in seconds.
        session_max_time: Option<u64> = None,
    }
}

impl Budget {
    /// The limits of each task that has none of its own.
    pub fn of_a_task(&self) -> BudgetLimits {
        BudgetLimits { max_cost: self.max_cost, max_tokens: self.max_tokens, max_time: self.max_time }
    }

    /// The limits of a session.
    pub fn of_a_session(&self) -> BudgetLimits {
        BudgetLimits { max_cost: self.session_max_cost, max_tokens: self.session_max_tokens, max_time: self.session_max_time }
    }
}

section! {
    /// When checkpoints are made, and how long they are kept.
    Checkpoints {
        /// A checkpoint after every this many completed tasks; 0 for none.
        periodic: u32 = 5,
        /// A checkpoint before autopilot begins.
        before_autopilot: bool = true,
        /// A checkpoint before each merge.
        before_merge: bool = true,
        /// How many are kept.
        max_count: u32 = 50,
        /// How many days they are kept.
        max_age_days: u32 = 30,
        /// Whether named ones are always kept.
        protect_named: bool = true,
        /// Untracked files larger than this are not captured, in MB.
        max_file_size: u64 = 50,
        /// How much they may hold that nothing else does, in MB; if it is not set, any.
        max_total: Option<u64> = None,
        /// How many days deleted things can be restored.
        keep_deleted_days: u32 = 7,
        /// Ignored files that are captured and restored nevertheless.
        include: Vec<String> = Vec::new(),
        /// Untracked and ignored files that are not captured, and left alone by a rollback.
        exclude: Vec<String> = Vec::new(),
        /// Which of them get a tag.
        tags: CheckpointTagPolicy = CheckpointTagPolicy::All,
    }
}

section! {
    /// The event log.
    State {
        /// Seconds between backups.
        event_log_backup_interval: u64 = 300,
        /// How many backups are kept.
        event_log_backup_count: u32 = 3,
    }
}

section! {
    /// How much space has to be free on each file system that git axiom writes to, in MB; 0 for any.
    System {
        /// Below this it is said.
        disk_warning_threshold: u64 = 1000,
        /// Below this no further program is started.
        disk_critical_threshold: u64 = 500,
        /// Below this programs are stopped, and nothing is saved or merged.
        disk_emergency_threshold: u64 = 100,
        /// Whether what has expired is cleaned up where space is short.
        auto_cleanup_enabled: bool = true,
        /// After how many days the logs of agents are compressed.
        log_compress_days: u32 = 7,
    }
}

impl System {
    /// The thresholds.
    pub fn thresholds(&self) -> DiskSpaceThresholds {
        DiskSpaceThresholds {
            warning: self.disk_warning_threshold,
            critical: self.disk_critical_threshold,
            emergency: self.disk_emergency_threshold,
        }
    }
}

section! {
    /// What happens after a crash.
    Recovery {
        /// Whether `run` goes on after a crash without asking.
        auto: bool = true,
        /// Whether tasks whose agents died become pending again without asking.
        auto_reset_orphaned: bool = true,
        /// Whether the next prompt contains what happened before.
        inject_audit_log: bool = true,
        /// How often a task is begun again after crashes; the next crash fails it.
        max_retries: u32 = 3,
        /// How many hours after its last sign of life a task still goes on where it was; 0 for any.
        max_age_hours: u32 = 24,
        /// With less progress than this, in percent, a task begins anew.
        resume_threshold: u8 = 10,
        /// A command that decides where the rules are not certain.
        evaluator: Option<String> = None,
        /// The longest that it may take, in seconds.
        evaluator_timeout: u64 = 60,
    }
}

section! {
    /// Agents.
    Agents {
        /// The adapter that is used if the command line names no program.
        default: String = "shell".into(),
        /// How many work at once.
        count: u32 = 2,
        /// How many iterations a task may take.
        max_iterations: u32 = 50,
        /// How long a stop waits before it kills the program, in seconds.
        grace_seconds: u64 = 5,
        /// Seconds between captures of a running agent's workspace.
        capture_interval: u64 = 30,
        /// The longest an iteration may take, in seconds.
        time_limit: Option<u64> = None,
        /// The longest time without output in an iteration, in seconds.
        silence_limit: Option<u64> = None,
        /// Whether workspaces and branches of merged tasks are kept.
        keep_merged: bool = false,
        /// How large the logs of all agents may be together, in MB.
        log_limit: u64 = 2000,
        /// Where workspaces are made, relative to the main worktree.
        workspace_root: String = ".worktrees".into(),
        /// The template of the prompts, if it is not the one that is built in.
        prompt_template: Option<String> = None,
        /// What agents that speak the Agent Client Protocol may do without a question.
        permissions: PermissionMode = PermissionMode::Workspace,
        /// Rules before that; the first that fits counts.
        permission_rules: Vec<PermissionRule> = Vec::new(),
        /// After how long a question that nobody answers is answered with no, in seconds.
        permission_timeout: u64 = 600,
        /// What is set for agent programs, by their names: it is laid over a preset's keys, or it is a program of the user's own.
        adapters: BTreeMap<String, BTreeMap<String, Value>> = BTreeMap::new(),
    }
}

section! {
    /// A persona: what tasks are given to that name it.
    Persona {
        /// The agent program, if it is not the default.
        agent: Option<String> = None,
        /// What is said at the beginning of its prompts.
        prompt: Option<String> = None,
    }
}

section! {
    /// Agents that a human runs.
    Attach {
        /// How many checkpoints of prompts are kept.
        keep_prompts: u32 = 200,
        /// The longest until what an agent did is saved, in seconds.
        min_interval: u64 = 2,
        /// How long a prompt or a risky command waits for its checkpoint, in seconds.
        deadline: u32 = 10,
        /// What is done where the checkpoint before a risky command fails: `ask` or `continue`.
        on_failure: String = "ask".into(),
        /// Whether the first line of each prompt is kept on this machine: `local` or `none`.
        prompt_text: String = "local".into(),
    }
}

section! {
    /// The panel.
    Panel {
        /// Keys in place of those of the table: `COMMAND=KEY KEY …`.
        keys: Vec<String> = Vec::new(),
    }
}

section! {
    /// Merging.
    Merge {
        /// The branch that work is merged into; if it is not set, the one that is checked out when `run` starts.
        target: Option<String> = None,
        /// Commands that must pass on the result of a merge before it is made.
        verify: Vec<String> = Vec::new(),
        /// Files and folders, in any folder, that no work is merged into before a human has seen which it changes.
        guarded: Vec<String> = guarded::DEFAULT.map(str::to_owned).to_vec(),
    }
}

section! {
    /// Verify steps, of tasks and of merges.
    Verify {
        /// A program with arguments that runs each step, such as a sandbox; `sh -c STEP` is added.
        wrapper: Vec<String> = Vec::new(),
        /// The longest a step may take, in seconds.
        time_limit: u64 = 1800,
    }
}
