//! What lines of previews are made of: refs, and the reasons for which something is not restored.

pub(in crate::rollback) mod ref_lines;
pub(crate) mod unrestored_reasons;
