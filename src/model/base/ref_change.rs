//! A ref that moves, and the direction of a change.

use crate::base::names::{Oid, RefName};
use crate::base::text::ValueChange;
use serde::{Deserialize, Serialize};

/// A ref that moves. The value `None` means that the ref does not exist.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RefChange {
    /// Its full name.
    pub name: RefName,
    /// Its value before and after.
    pub value: ValueChange<Option<Oid>>,
}

/// The direction of a change: away to the trash, or back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ChangeDirection {
    /// To the trash.
    PutAside,
    /// Back from the trash, or made again.
    BringBack,
}

impl ChangeDirection {
    /// The other way.
    #[must_use]
    pub fn opposite(self) -> Self {
        match self {
            Self::PutAside => Self::BringBack,
            Self::BringBack => Self::PutAside,
        }
    }
}
