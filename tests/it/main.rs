//! All tests that call the built program from outside, in one binary: it is linked once, and what waits lets others run.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods
)]

#[path = "../common/mod.rs"]
mod common;
#[path = "../support/conversions.rs"]
mod conversion_rules;
#[path = "../../benches/goals/document.rs"]
mod document;
#[path = "../support/person.rs"]
mod person;
#[path = "../session_support/mod.rs"]
mod session_support;
#[path = "../support/skipped.rs"]
mod skipped;
#[path = "../support/mod.rs"]
mod support;
#[path = "../support/terminal.rs"]
mod terminal;
#[path = "../support/traced_calls.rs"]
mod traced_calls;

mod acp;
mod acp_fuzz;
mod after_damage;
mod agents;
mod agents_check;
mod arrows;
mod arrows_inside;
mod attach;
mod attach_back;
mod attach_deadline;
mod attach_disasters;
mod attach_hook;
mod attach_own;
mod attach_rest;
mod attach_session;
mod attach_where;
mod attach_worktrees;
mod bare;
mod chaos;
mod checkpoint_crash;
mod checkpoint_input;
mod checkpoint_kept;
mod checkpoint_known;
mod checkpoint_manage;
mod checkpoint_property;
mod checkpoint_size;
mod checkpoint_tags;
mod checkpoint_total;
mod cli_detach;
mod cli_errors;
mod cli_help;
mod cli_init;
mod cli_output;
mod cli_plan;
mod cli_planner;
mod cli_recipes;
mod cli_recover;
mod cli_status;
mod cli_task;
mod closed_since;
mod codes;
mod completion;
mod config_edit;
mod config_restore;
mod conversions;
mod conversions_hidden;
mod conversions_line_ends;
mod crash_ops;
mod crash_points;
mod damaged_worktrees;
mod deinit;
mod demo;
mod docs;
mod durability;
mod filters;
mod floors;
mod gaps;
mod histories;
mod hooks;
mod hostile_clone;
mod init_shared;
mod json;
mod launchers;
mod leaving;
mod lfs;
mod line_ends;
mod lock;
mod log_newest;
mod long_life;
mod long_paths;
mod many_files;
mod merge_random;
mod mistakes;
mod no_identity;
mod nothing_raw;
mod odd_branch;
mod ops_meanwhile;
mod ops_merge;
mod ops_rollback;
mod ops_undo;
mod packaging;
mod pages;
mod panel;
mod performance;
mod pictures;
mod platforms;
mod plugins;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod power_loss;
mod private_files;
mod prompt_costs;
mod prompts;
mod purge;
mod purge_keeps;
mod readme;
mod recover_damaged;
mod restore_special;
mod rollback_disasters;
mod rollback_model;
mod rollback_paths;
mod rollback_prompts;
mod rollback_resolve;
mod rollback_task;
mod run;
mod sample_hooks;
mod screens;
mod short_ways;
mod source_paths;
mod statusline;
mod struct_sizes;
mod submodules;
mod submodules_elsewhere;
mod submodules_merged;
mod taken_back;
mod trash;
mod trust;
mod type_names;
mod watch;
mod wedged;
mod what_is_held;
mod wording;
