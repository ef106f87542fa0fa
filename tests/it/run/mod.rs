//! `git axiom run` and what humans do while it runs, from outside: real repositories, real processes, scripts as agents.

mod acceptance;
mod agents_and_control;
mod another_boot;
mod as_it_is;
mod bad_input;
mod copies;
mod failing_steps;
mod folder_tricks;
mod gates;
mod gits_own_files;
mod going_back;
mod guarded;
mod held;
mod hopeless;
mod leftovers;
mod lifecycle_hooks;
mod limits;
mod merge_verify;
mod own_branches;
mod queue;
mod reports;
mod signed;
mod stop_means_stopped;
mod stopping;
mod users;
mod workspaces;
