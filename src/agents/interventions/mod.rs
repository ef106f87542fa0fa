//! Interventions: what a human does to a session from another terminal, one function for each. A running supervisor gets a request
//! event, and carries it out in `agents::supervise`; where none runs, the same is done here, by the supervisor's own code without a
//! session. The verbs and the panel call these, and nothing else. Not here: changes of tasks that no agent has to follow (`agents::tasks`).
//!
//! Begin reading with `safety::beside_log::supervisor_requests`, then `ending`.

pub mod blocking;
pub mod debugging;
pub mod ending;
pub mod gates;
pub mod mode;
pub mod pausing;
pub mod quitting;
pub mod redirect;
pub mod task_rollback;

pub use ending::{AgentEndRequest, EndedAgent, TaskWaitGates, end_agents, merges_stopped_since};
pub use gates::decide;
pub use mode::change_mode;
