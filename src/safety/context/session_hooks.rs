//! By which hooks the session goes that runs, for whoever looks from another terminal: those that were approved when it began, whatever
//! becomes of the files since, or, where it waits for an approval, those that a human approves.

use serde::{Deserialize, Serialize};

use crate::context::approved_hooks::RepositoryHooks;
use crate::context::handle::Context;
use axiom_git::Repository;
use axiom_process::os::foreground;
use axiom_process::os::process_id::ProcessId;
use axiom_store::beside::of_process;
use axiom_store::beside::of_process::Said;
use axiom_store::layout::StoreLayout;

const KIND: &str = "session-hooks";

/// By which hooks a session goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SessionHooks {
    /// There were none when it began.
    Nothing,
    /// By those that were approved.
    Approved,
    /// It waits for a human to approve them.
    Waiting,
}

impl SessionHooks {
    fn of(hooks: &RepositoryHooks) -> Self {
        match (hooks.wait_for_approval(), hooks.are_approved()) {
            (true, _) => Self::Waiting,
            (false, true) => Self::Approved,
            (false, false) => Self::Nothing,
        }
    }
}

/// By which hooks the session of this repository goes that runs; `None` where none runs.
pub fn of_session(repo: &Repository) -> Option<SessionHooks> {
    let all = of_process::read::<ProcessId, SessionHooks>(&StoreLayout::new(repo.common_dir()), KIND)
        .into_iter()
        .filter_map(|(_, said)| said);
    all.filter(|Said { process, .. }| foreground::is_alive(*process)).find_map(|Said { said, .. }| said.into_iter().next())
}

/// This process is a session, and goes by its hooks as they are now. Where that cannot be said, nobody is told of it.
pub fn say(ctx: &Context) {
    let layout = ctx.layout();
    for (path, said) in of_process::read::<ProcessId, SessionHooks>(layout, KIND) {
        if said.is_none_or(|Said { process, .. }| !foreground::is_alive(process)) {
            of_process::forget(&path);
        }
    }
    write(layout, vec![SessionHooks::of(&ctx.hooks)]);
}

/// This process is no session any more.
pub fn say_no_more(layout: &StoreLayout) {
    write(layout, Vec::new());
}

fn write(layout: &StoreLayout, said: Vec<SessionHooks>) {
    let Some(own) = foreground::own_id() else { return };
    if let Err(error) = of_process::write(layout, KIND, own, said) {
        tracing::info!(%error, "nobody sees by which hooks the session goes");
    }
}
