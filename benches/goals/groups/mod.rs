//! The groups of rows, each with a table of its own in `benches/results.md`.

mod append;
mod attach;
mod beside;
mod big;
mod capture;
mod checkpoint;
mod claims;
mod idle;
mod list;
mod log;
mod million;
mod output;
mod panel;
mod recovery;
mod replay;
mod rollback;
mod search;
mod small;
mod startup;
mod tasks;
mod untracked;
mod work;

use super::bench::Bench;

/// Whether a group runs without being asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    Usual,
    /// It takes more than a minute, or much memory or disk.
    Large,
}

/// A group of rows.
pub struct Group {
    pub name: &'static str,
    pub about: &'static str,
    pub size: Size,
    pub rows: fn(&mut Bench),
}

const fn usual(name: &'static str, about: &'static str, rows: fn(&mut Bench)) -> Group {
    Group { name, about, size: Size::Usual, rows }
}

const fn large(name: &'static str, about: &'static str, rows: fn(&mut Bench)) -> Group {
    Group { name, about, size: Size::Large, rows }
}

/// All of them, in the order of the document.
pub const GROUPS: &[Group] = &[
    usual("startup", "the program starts", startup::rows),
    usual("checkpoint", "a checkpoint of a clean repository", checkpoint::rows),
    usual("beside", "a checkpoint beside other checkpoints and refs", beside::rows),
    usual("capture", "a checkpoint of 50,000 files", capture::usual),
    large("capture-large", "a checkpoint of 200,000 files, and of 16 worktrees", capture::large),
    usual("attach", "hooks of an agent that a human runs, in 50,000 files", attach::rows),
    usual("small", "a prompt in small repositories", small::rows),
    large("big", "a prompt beside 30 worktrees, Git LFS and 2 GB that nobody ignores", big::rows),
    large("untracked", "100,000 untracked files, and one large one", untracked::rows),
    usual("list", "lists of checkpoints", list::rows),
    large("cleanup", "many checkpoints are deleted", list::cleanup),
    usual("rollback", "rollbacks of 50,000 files", rollback::rows),
    usual("search", "a task's commits are searched", search::rows),
    usual("append", "one event", append::rows),
    usual("replay", "a million events, and many checkpoints, are replayed", replay::rows),
    large("recovery", "what a crash left is looked at and gone on with", recovery::rows),
    usual("log", "verbs that read a long log", log::rows),
    usual("panel", "the panel", panel::rows),
    usual("output", "verbs that read a long log of an agent", output::rows),
    large("million", "verbs that read a million events", million::rows),
    usual("tasks", "many tasks are listed", tasks::rows),
    usual("claims", "many tasks are claimed", claims::rows),
    usual("work", "what a task takes", work::rows),
    large("trivial", "200 trivial tasks", work::trivial),
    large("idle", "agents sleep", idle::rows),
];
