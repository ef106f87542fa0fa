//! The configuration: keys with their defaults, layers, and the source of each value.
//!
//! What a value is used for is not defined here. Nothing here looks for files or calls git: the caller passes the layers in.
//! Begin reading with `schema`, then `layers`.

pub mod byte_order_mark;
pub mod effective;
mod file;
pub mod key_lookup;
pub mod keys;
pub mod layers;
pub mod sample;
pub mod schema;
pub mod value_kind;

pub use effective::{ConfigLayers, ConfigSetting, ConfigSource, EffectiveConfig, GitConfigValue, UsableConfig};
pub use file::entries as file_entries;
pub use key_lookup::nothing_called;
pub use layers::{check, load_usable, only_adds};
pub use schema::Config;
