//! The configuration: keys with their defaults, layers, and the source of each value.
//!
//! What a value is used for is not defined here. Nothing here looks for files or calls git: the caller passes the layers in.
//! Begin reading with `schema`, then `layers`.

pub mod byte_order_mark;
mod file;
pub mod keys;
pub mod layers;
pub mod named;
pub mod sample;
pub mod schema;

pub use file::entries as file_entries;
pub use layers::{
    ConfigLayers, ConfigSetting, ConfigSource, EffectiveConfig, GitConfigValue, UsableConfig, check, load_usable, only_adds,
};
pub use named::nothing_called;
pub use schema::Config;
