//! The demo behind `git axiom demo`: a client of the built program. It runs the commands that a user would type and looks up
//! the outcome in git, in files and in the process table; it calls nothing of `safety`, `agents`, `git` or `store`. Begin reading at
//! `story`.

pub(crate) mod checks;
pub(crate) mod evidence;
pub(crate) mod stage;
pub(crate) mod story;
pub(crate) mod tasks;
