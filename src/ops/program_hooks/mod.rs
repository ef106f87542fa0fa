//! Attaching agent programs that a human runs: their configuration files, with our hooks put in and cut out. What was there
//! before is kept first (`kept`, `put`). What agents are told of us is written in the same way (`skill`). Begin reading with `attach`.

pub mod attach;
pub mod kept;
pub mod place;
pub mod protection;
pub mod put;
mod settings;
pub mod skill;
pub mod status;
