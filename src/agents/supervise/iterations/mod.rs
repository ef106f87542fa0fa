//! Before an iteration and around it: budgets, space, the workspace, the prompt, its beginning; and how an agent lets go of its task.

pub(crate) mod agent_failing;
pub(crate) mod beginning;
pub(crate) mod budget;
pub(crate) mod budget_gates;
pub(crate) mod halting;
pub(crate) mod iteration_care;
pub(crate) mod lost_files;
pub(crate) mod program_clock;
pub(crate) mod prompting;
pub(crate) mod releasing;
pub(crate) mod resuming;
pub(crate) mod session_space;
pub(crate) mod start_keeper;
pub(crate) mod workplace;
