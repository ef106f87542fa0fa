//! The keys under which previews name what a rollback does not bring back.

/// Why a file is not brought back that its checkpoint did not wait for.
pub(in crate::rollback) const NOT_IN_TIME: &str = "notInTime";

/// The key under which an index is named that could not be read then: HEAD's comes in its place.
pub(in crate::rollback) const INDEX_UNREADABLE: &str = "indexUnreadable";

/// The key under which a file is named whose staged content was lost then: HEAD's comes in its place, or nothing.
pub(in crate::rollback) const STAGED_LOST: &str = "stagedNotHeld";

/// The key under which a submodule is named that the checkpoint held, and whose repository does not hold it any more.
pub(in crate::rollback) const NOT_HELD: &str = "submoduleNotHeld";

/// The key under which a submodule is named of which nothing is known now, so that nothing is changed in it.
pub(crate) const NOT_CAPTURED: &str = "submoduleNotCaptured";

/// The key under which a submodule is named whose repository is that of another folder now.
pub(in crate::rollback) const MOVED: &str = "submoduleMoved";

/// The key under which a submodule is named in whose place another repository is now, so that nothing is changed in it.
pub(in crate::rollback) const REPLACED: &str = "submoduleReplaced";
