//! Paths and arguments in JSON without loss: strings where they are UTF-8, `{"hex": "…"}` where they are not.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use axiom_model::base::forms::hex::{from_hex, to_hex};

/// The JSON form of one value.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum OsStringJson {
    Text(String),
    Bytes { hex: String },
}

fn encode(value: &OsStr) -> OsStringJson {
    match value.to_str() {
        Some(text) => OsStringJson::Text(text.to_owned()),
        None => OsStringJson::Bytes { hex: to_hex(value.as_bytes()) },
    }
}

fn decode<E: serde::de::Error>(wire: OsStringJson) -> Result<OsString, E> {
    match wire {
        OsStringJson::Text(text) => Ok(text.into()),
        OsStringJson::Bytes { hex } => from_hex(&hex).map(OsString::from_vec).ok_or_else(|| E::custom("not hexadecimal")),
    }
}

/// For a path or any other single value.
pub(crate) mod os {
    use super::*;

    pub(crate) fn serialize<T: AsRef<OsStr>, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
        encode(value.as_ref()).serialize(to)
    }

    pub(crate) fn deserialize<'de, T: From<OsString>, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
        decode(OsStringJson::deserialize(from)?).map(T::from)
    }
}

/// For a list of values.
pub(crate) mod list {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(values: &[OsString], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(values.iter().map(|value| encode(value)))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<OsString>, D::Error> {
        Vec::<OsStringJson>::deserialize(from)?.into_iter().map(decode).collect()
    }
}

/// For environment variables: the names are chosen by git axiom, the values may be paths.
pub(crate) mod vars {
    use std::collections::BTreeMap;

    use super::*;

    pub(crate) fn serialize<S: Serializer>(values: &BTreeMap<String, OsString>, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(values.iter().map(|(name, value)| (name, encode(value))))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<String, OsString>, D::Error> {
        BTreeMap::<String, OsStringJson>::deserialize(from)?.into_iter().map(|(name, wire)| Ok((name, decode(wire)?))).collect()
    }
}
