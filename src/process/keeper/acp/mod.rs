//! A run of a program that speaks the Agent Client Protocol: the keeper is its client. What follows from a line is decided in
//! `axiom_model::acp::client`; here lines go to and fro (`connection`, `line_reader`), and permissions are asked for and answered (`permissions`,
//! `real_path`).

pub(super) mod connection;
mod line_reader;
mod permissions;
mod real_path;
