//! What HEAD of a worktree says.

use axiom_model::base::names::{Oid, RefName};

/// The state of HEAD in a worktree.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Head {
    /// On a branch; `commit` is `None` if the branch is unborn.
    Branch {
        /// The branch's full name.
        name: RefName,
        /// Its commit.
        commit: Option<Oid>,
    },
    /// Detached: on a commit, not on a branch.
    Detached {
        /// The commit.
        commit: Oid,
    },
}

impl Head {
    /// The commit that is checked out.
    pub fn commit(&self) -> Option<&Oid> {
        match self {
            Head::Branch { commit, .. } => commit.as_ref(),
            Head::Detached { commit } => Some(commit),
        }
    }

    /// The branch's full name, if HEAD is on one.
    pub fn branch(&self) -> Option<&RefName> {
        match self {
            Head::Branch { name, .. } => Some(name),
            Head::Detached { .. } => None,
        }
    }
}
