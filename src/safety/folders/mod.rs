//! Folders of ours: workspaces of tasks, scratch worktrees, the trash; and whether there is space for them. Begin reading with `trash`.

pub mod disk_space;
pub mod scratch_worktrees;
pub mod trash;
pub mod workspace_folder;
pub mod workspace_submodules;
pub mod workspaces;
