//! Rollback and undo where a worktree is more than files: sparse checkouts, submodules, repositories within, what was in
//! the way, permissions. Through the binary, on real repositories.

mod aside;
mod branch_config;
mod circumstances;
mod elsewhere;
mod failing;
mod file_systems;
mod included;
mod kept;
mod many_refs;
mod meanwhile;
mod modes;
mod obstacles;
mod parts;
mod permissions;
mod refs;
mod repositories;
mod sparse;
mod worktrees;
