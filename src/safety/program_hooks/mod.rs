//! Attaching agent programs that a human runs: their configuration files, with our hooks put in and cut out. What was there
//! before is kept first (`file_backup`, `file_edit`). What agents are told of us is written in the same way (`skill`). Begin reading with `attach`.

pub mod acp_clients;
pub mod attach;
pub mod file_backup;
pub mod file_edit;
pub mod program_files;
pub mod protection;
pub mod settings;
pub mod skill;
pub mod status;
