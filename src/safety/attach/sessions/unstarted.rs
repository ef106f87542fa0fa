//! Sessions whose plugin found no git axiom that it may call: nothing of them is saved, and all that is known is where they are.

use crate::attach::sessions::attached_session::AttachedSession;
use crate::context::handle::Context;
use axiom_model::checkpoint::stamp::session_key;
use axiom_store::beside::unstarted::{UnstartedCall, all};

const WHY: &str = "its plugin found no git-axiom in a folder that only you or root can write to and that is in no worktree; \
     'git axiom attach' or 'git axiom init' notes where it is";

/// Those in worktrees of this repository of which nothing was heard since.
pub(super) fn list(ctx: &Context, known: &[AttachedSession]) -> Vec<AttachedSession> {
    let main = ctx.repo.worktrees().main_worktree().ok();
    let worktrees: Vec<_> = main.into_iter().chain(ctx.repo.worktrees().list_linked().unwrap_or_default()).collect();
    if worktrees.is_empty() {
        return Vec::new();
    }
    let of = |call: UnstartedCall| {
        let folder = call.folder.canonicalize().ok()?;
        let around = worktrees.iter().filter(|worktree| folder.starts_with(worktree.path()));
        let worktree = around.max_by_key(|worktree| worktree.path().as_os_str().len())?.path().to_str()?.to_owned();
        let program = call.program.parse().ok()?;
        let is_heard = |one: &AttachedSession| one.program == program && one.worktree == worktree && one.last_activity > call.at;
        let none = AttachedSession::unstarted(program, session_key(program, ""), worktree.clone(), call.at, WHY);
        (!known.iter().any(is_heard)).then_some(none)
    };
    let mut found: Vec<AttachedSession> = all().into_iter().filter_map(of).collect();
    // The last one of each program in a worktree.
    found.sort_by_key(|one| std::cmp::Reverse(one.last_activity));
    let mut shown: Vec<AttachedSession> = Vec::new();
    for one in found {
        if !shown.iter().any(|other| other.program == one.program && other.worktree == one.worktree) {
            shown.push(one);
        }
    }
    shown
}
