//! What everything of git axiom stands on. Each thing of the system that has one reader or writer has it here.
//!
//! | room | what lives there |
//! | --- | --- |
//! | `files` | the only writer of files: durable, never through a link that somebody else made; locks |
//! | `own_process` | this process: signals, limits, threads |
//! | `env` | the only reader of clock, environment and fresh ids; the points at which tests let a process die |
//! | `platform` | all that differs between systems, a module for each |
//! | `shell_word` | words of the commands that are printed |
//! | `error` | codes that are stable, exit statuses, messages with a hint |
//!
//! Nothing here knows git, or what an agent is. Begin reading with `error`, then `files`.

pub mod env;
pub mod error;
pub mod files;
pub mod own_process;
pub mod platform;
pub mod shell_word;
