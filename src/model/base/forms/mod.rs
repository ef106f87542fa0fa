//! Forms in which texts, numbers and times are written.

pub mod beginning;
pub mod hex;
pub mod line_ends;
pub mod natural;
pub mod nearest;
pub mod plural;
pub mod times;
pub mod with_unit;
