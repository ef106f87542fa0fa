//! Money and limits: what was spent, what may be, and what follows. Begin reading with `budget`.

pub mod amounts;
pub mod budget;
pub mod ledger;
pub mod spending;
