//! The lines of a preview on refs: those that moved since the checkpoint, and those that do not come back.

use serde::Serialize;

use axiom_model::base::names::{Oid, RefName};

/// A ref that moved since the checkpoint.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MovedRefLine {
    /// Its full name.
    pub name: RefName,
    /// The object that it points to now.
    pub old: Oid,
    /// The object that it pointed to at the checkpoint.
    pub new: Oid,
    /// Whether it moves back: `--refs`.
    pub moves: bool,
}

/// A ref that the checkpoint holds and that does not come back.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UnrestoredRefLine {
    /// Its full name.
    pub name: RefName,
    /// Why it does not come back.
    #[serde(rename = "reason")]
    pub why: String,
}
