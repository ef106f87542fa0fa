//! `git axiom`, as its tests and benchmarks see it: the crates below `src`, under their short names. What each is for, and which knows
//! which, is in docs/ARCHITECTURE.md.

pub use axiom_agents as agents;
pub use axiom_base as base;
pub use axiom_git as git;
pub use axiom_model as model;
pub use axiom_process as process;
pub use axiom_safety as safety;
pub use axiom_store as store;
pub use axiom_ui as ui;
