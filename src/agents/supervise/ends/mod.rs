//! An iteration is watched; what it left is committed; and what follows from how it ended.

pub(crate) mod after_pause;
pub(crate) mod crash;
pub(crate) mod evaluating;
pub(crate) mod finish;
pub(crate) mod keeping;
pub(crate) mod last_signs;
pub(crate) mod listening;
pub(crate) mod model;
pub(crate) mod not_committed;
pub(crate) mod permissions;
pub(crate) mod set_aside;
pub(crate) mod settle;
pub(crate) mod silent_end;
pub(crate) mod verifying;
pub(crate) mod watching;
