//! The protocols: what a verb does, step by step, with store, git and processes. Each verb has a file, and mostly a folder
//! next to it.
//!
//! Only this layer combines those modules, and only it appends events. Not here: arguments and output (`commands`), rules
//! that need no effects (`domain`).
//!
//! The rooms are floors: each uses only those below it, which the test `floors` checks. From above:
//!
//! | floor | rooms |
//! | --- | --- |
//! | what a human does to a session | `interventions` |
//! | beside it, small verbs | `keeper`, `learnings`, `lock`, `open_panels`, `own_verb`, `pager`, `work_at_risk` |
//! | verbs above sessions | `agents`, `purge`, `recover` |
//! | the session | `supervise`; `deinit` |
//! | what there was before it | `crashed_tasks`, `hide_refs`, `program_hooks`, `trust` |
//! | other programs' sessions, repairs | `attach`, `repair` |
//! | work of a task | `revert_task`, `task_diff`; `disk`, `settings` |
//! | into the target, and back | `merge`, `undo` |
//! | what is run for tasks | `hooks`, `plan` |
//! | going back, opening a repository, steps | `rollback`, `opening`, `steps` |
//! | everything is saved | `checkpoint` |
//! | anything is changed | `operation` |
//! | folders and their upkeep | `mend`, `scratch_worktrees`, `tidy`, `workspaces` |
//! | places | `disk_space`, `trash` |
//! | parts with one purpose | `tasks`, `history`, `journals`, `log_recovery`, `output`, `signing`, `supervisor_requests` |
//! | beside them, of workspaces | `workspace_folder`, `workspace_submodules` |
//! | the context of everything | `context` |
//! | what needs no context | `conflict_notes`, `editor`, `programs`, `run_end`, `session_lock`, `step_files`, `wait_observer` |
//!
//! Begin reading with `context`, then `operation`, then one verb, such as `merge`.

pub mod agents;
pub mod attach;
pub mod checkpoint;
pub mod conflict_notes;
pub mod context;
pub mod crashed_tasks;
pub mod deinit;
pub mod disk;
pub mod disk_space;
pub mod editor;
pub mod hide_refs;
pub mod history;
pub mod hooks;
pub mod interventions;
pub mod journals;
pub mod keeper;
pub mod learnings;
pub mod lock;
pub mod log_recovery;
pub mod mend;
pub mod merge;
pub mod open_panels;
pub mod opening;
pub mod operation;
pub mod output;
pub mod own_verb;
pub mod pager;
pub mod plan;
pub mod program_hooks;
pub mod programs;
pub mod purge;
pub mod recover;
pub mod repair;
pub mod revert_task;
pub mod rollback;
pub mod run_end;
pub mod scratch_worktrees;
pub mod session_lock;
pub mod settings;
pub mod signing;
pub mod step_files;
pub mod steps;
pub mod supervise;
pub mod supervisor_requests;
pub mod task_diff;
pub mod task_texts;
pub mod tasks;
pub mod telling;
pub mod tidy;
pub mod trash;
pub mod trust;
pub mod undo;
pub mod wait_observer;
pub mod work_at_risk;
pub mod work_diff;
pub mod workspace_folder;
pub mod workspace_submodules;
pub mod workspaces;
