//! What every program of the Agent Client Protocol says in the same words.

use serde_json::Value;

use axiom_base::error::{Code, Error, Result};

/// What their lines mean.
const ACP: &str = include_str!("presets/acp-lines.toml");

/// The keys that every program of the protocol has, where its table has none of its own.
pub(super) fn acp_value() -> Result<Value> {
    toml::from_str(ACP).map_err(|error| Error::new(Code::Internal, "the lines of the protocol are wrong").because(error))
}
