//! What a session is begun with: the options of `run`.

use std::collections::{BTreeMap, BTreeSet};

use super::last_options::RepeatableSession;
use axiom_model::base::ids::TaskId;
use axiom_model::base::names::RefName;
use axiom_model::recovery::decide::CrashAction;
use axiom_model::work::money::budget::BudgetLimits;
use axiom_model::work::sessions::session::SessionMode;
use axiom_safety::running::programs::SessionPrograms;

/// The options of `run`.
#[derive(Debug, Clone)]
pub struct SupervisorOptions {
    /// How many agents may work at the same time.
    pub slots: u32,
    /// The most iterations for a task.
    pub max_iterations: u32,
    /// Whether the session ends when nothing more can be done.
    pub until_idle: bool,
    /// The mode to change to; with `None` it does not change.
    pub mode: Option<SessionMode>,
    /// The branch that work is merged into, where the user named it.
    pub target: Option<RefName>,
    /// Whether tasks that a human stopped or rolled back are claimed again.
    pub retry: bool,
    /// What the session may use.
    pub limits: BudgetLimits,
    /// The agent programs.
    pub programs: SessionPrograms,
    /// What a human wants of tasks that a crash cut off.
    pub after_crash: CrashTaskDecisions,
    /// How the session is made again after a crash of the machine; none where it is no session.
    pub again: Option<RepeatableSession>,
}

/// What a human wants of tasks that a crash cut off.
#[derive(Debug, Clone, Default)]
pub struct CrashTaskDecisions {
    /// What becomes of these.
    pub decided: BTreeMap<TaskId, CrashAction>,
    /// The least progress, in percent, with which a task goes on.
    pub threshold: Option<u8>,
    /// Whether these leave the plan afterwards.
    pub abandons: bool,
    /// The tasks that are looked after; all, where there is none.
    pub only: Option<BTreeSet<TaskId>>,
}

impl SupervisorOptions {
    /// Options for looking after agents without a session: no agent is started.
    pub fn attending() -> Self {
        let programs = SessionPrograms::none();
        Self {
            slots: 1,
            max_iterations: u32::MAX,
            until_idle: false,
            mode: None,
            retry: false,
            limits: BudgetLimits::default(),
            programs,
            after_crash: CrashTaskDecisions::default(),
            again: None,
            target: None,
        }
    }
}
