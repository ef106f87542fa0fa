//! The safety net: checkpoints of all worktrees, and every way back to one: rollback, undo, restore. It needs no session: agents that a
//! human runs save each prompt by `attach`. Nothing that it replaces is lost, a crash at any point is finished or taken back, and what
//! cannot be saved is named and costs the rest nothing.
//!
//! The rooms are floors, held by the test `floors`: each uses only those below it. From above:
//!
//! | room | what lives there |
//! | --- | --- |
//! | `acp` | between an editor and its agent |
//! | `program_hooks` | our hooks in the files of agent programs |
//! | `attach` | agents that a human runs: what a hook saves, prompts, watching |
//! | `undo` | taking back what was done, and that |
//! | `rollback` | going back to a checkpoint |
//! | `running` | what is run for a project: verify steps, personas, hooks |
//! | `opening` | a repository, opened |
//! | `checkpoint` | everything is saved |
//! | `operation` | anything is changed: journal, steps, the way back |
//! | `settings`, `upkeep` | changing the configuration; mending, expiring |
//! | `folders`, `beside_log` | workspaces, the trash; files beside the log |
//! | `history`, `user_programs` | histories, differences, texts; the editor, the pager, what signs |
//! | `context` | the context of everything: the repository, its place, configuration, trust |
//! | `config`, `project_hooks` | what a project and its user configure, and approve |
//! | `lock`, `own_verb` | `git axiom lock`; a verb typed in the panel |
//!
//! Events are appended here and in `agents`, nowhere else. Begin reading with `context`, then `checkpoint`, then `operation`.

pub mod acp;
pub mod attach;
pub mod beside_log;
pub mod checkpoint;
pub mod config;
pub mod context;
pub mod folders;
pub mod history;
pub mod lock;
pub mod opening;
pub mod operation;
pub mod own_verb;
pub mod program_hooks;
pub mod project_hooks;
pub mod rollback;
pub mod running;
pub mod settings;
pub mod undo;
pub mod upkeep;
pub mod user_programs;

#[cfg(test)]
#[path = "../../tests/support/scratch.rs"]
mod scratch;
