//! Files beside the log. None of them is needed to read it.

pub mod agent_logs;
pub mod attach;
pub mod config_backup;
pub mod doing;
pub mod fired;
pub mod known_repositories;
pub mod learnings;
pub mod noted_program;
pub mod of_process;
pub mod planning;
pub mod tasks;
pub mod unsaved_prompts;
pub mod unstarted;
