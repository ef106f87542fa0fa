//! Programs that the user has configured: editor, pager, the one that signs; and `man`, which opens our page.

pub mod editor;
pub mod manual;
pub mod pager;
pub mod signing;
