//! What settings and variables forbid, as it is remembered. The table of it is in `shortcuts`.

/// The conditions that settings and variables cause, as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ShortcutConditions(pub u64);
