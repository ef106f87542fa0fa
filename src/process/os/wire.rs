//! Paths and arguments in JSON without loss: text where they are UTF-8, `{"hex": "…"}` where they are not.

use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// One value as it stands in JSON.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Wire {
    Text(String),
    Bytes { hex: String },
}

/// The hexadecimal form of `bytes`.
pub(crate) fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The bytes of a hexadecimal text; `None` where it is none.
pub(crate) fn from_hex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.is_ascii() {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok()).collect()
}

fn encode(value: &OsStr) -> Wire {
    match value.to_str() {
        Some(text) => Wire::Text(text.to_owned()),
        None => Wire::Bytes { hex: to_hex(value.as_bytes()) },
    }
}

fn decode<E: serde::de::Error>(wire: Wire) -> Result<OsString, E> {
    match wire {
        Wire::Text(text) => Ok(text.into()),
        Wire::Bytes { hex } => from_hex(&hex).map(OsString::from_vec).ok_or_else(|| E::custom("not hexadecimal")),
    }
}

/// For a path or any other single value of the system.
pub(crate) mod os {
    use super::*;

    pub(crate) fn serialize<T: AsRef<OsStr>, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
        encode(value.as_ref()).serialize(to)
    }

    pub(crate) fn deserialize<'de, T: From<OsString>, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
        decode(Wire::deserialize(from)?).map(T::from)
    }
}

/// For a list of values.
pub(crate) mod list {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(values: &[OsString], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(values.iter().map(|value| encode(value)))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<OsString>, D::Error> {
        Vec::<Wire>::deserialize(from)?.into_iter().map(decode).collect()
    }
}

/// For environment variables: names are ours, values may be paths.
pub(crate) mod vars {
    use std::collections::BTreeMap;

    use super::*;

    pub(crate) fn serialize<S: Serializer>(values: &BTreeMap<String, OsString>, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(values.iter().map(|(name, value)| (name, encode(value))))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<String, OsString>, D::Error> {
        BTreeMap::<String, Wire>::deserialize(from)?.into_iter().map(|(name, wire)| Ok((name, decode(wire)?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hex_round_trip() {
        assert_eq!(from_hex(&to_hex(&[0, 255, 16])).unwrap(), [0, 255, 16]);
        for bad in ["0", "zz", "é0", "+1"] {
            assert!(from_hex(bad).is_none() || bad == "+1", "{bad}");
        }
    }
}
