//! Configuration: its keys with their defaults, its layers, and where each value comes from.
//!
//! What a value means is for the part that uses it.

pub mod schema;

pub use schema::Config;
