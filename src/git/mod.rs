//! The repository: refs, objects, captures, worktrees, merges. gix where it is good, the `git` program where it is better.
