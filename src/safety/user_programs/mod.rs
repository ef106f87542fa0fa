//! Programs that the user has configured: editor, pager, the one that signs.

pub mod editor;
pub mod pager;
pub mod signing;
