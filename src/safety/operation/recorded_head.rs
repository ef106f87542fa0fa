//! HEAD of a worktree, as an operation records it.

use axiom_git::Head;
use axiom_model::journal::journaled_changes::HeadState;

/// The state of HEAD, as an operation records it.
pub fn head_state(head: &Head) -> HeadState {
    match head {
        Head::Branch { name, .. } => HeadState::Branch(name.clone()),
        Head::Detached { commit } => HeadState::Detached(commit.clone()),
    }
}

/// Whether HEAD is in the given state.
pub(super) fn is_at(head: &Head, state: &HeadState) -> bool {
    match (state, head) {
        (HeadState::Branch(wanted), Head::Branch { name, .. }) => wanted == name,
        (HeadState::Detached(wanted), Head::Detached { commit }) => wanted == commit,
        (HeadState::Branch(_), Head::Detached { .. }) | (HeadState::Detached(_), Head::Branch { .. }) => false,
    }
}
