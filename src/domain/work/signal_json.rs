//! Reading signals from JSON. Most events of a long log are signals. Serde's own code for an object with an inner tag
//! (`{"kind":"progress","percent":40}`) always copies the whole object first; this code only does so where the tag does not
//! come first.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserialize, Deserializer, MapAccess};

use super::signal::{FileReport, Signal, ToolReport};
use crate::domain::agent::stream::seen::{Exchange, Seen};

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
enum Kind {
    Complete,
    Blocked,
    Waiting,
    Progress,
    Learning,
    Phase,
    Subtask,
    File,
    Ready,
    ToolStarted,
    ToolCompleted,
    RequestSent,
    ResponseReceived,
    Estimate,
    Depends,
    Session,
    Seen,
}

macro_rules! contents {
    ($($name:ident { $($(#[$meta:meta])* $field:ident: $type:ty),* })+) => {
        $(#[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        struct $name { $($(#[$meta])* $field: $type),* })+
    };
}

contents! {
    Nothing {}
    Blocked { reason: String }
    Waiting { question: String }
    Progress { percent: u8 }
    Learning { text: String, #[serde(default)] scope: Option<String> }
    Phase { name: String, #[serde(default)] confidence: Option<f64> }
    Subtask { name: String, #[serde(default)] done: bool, #[serde(default)] planned: bool }
    Ready { name: String, text: String }
    Estimate { seconds: u64 }
    Depends { names: Vec<String> }
    Session { id: String }
}

/// Reads the signal of this kind from the rest of the object.
fn read<'de, D: Deserializer<'de>>(kind: &Kind, rest: D) -> Result<Signal, D::Error> {
    Ok(match kind {
        Kind::Complete => Nothing::deserialize(rest).map(|Nothing {}| Signal::Complete {})?,
        Kind::RequestSent => Signal::RequestSent(Exchange::deserialize(rest)?),
        Kind::ResponseReceived => Signal::ResponseReceived(Exchange::deserialize(rest)?),
        Kind::Blocked => Blocked::deserialize(rest).map(|Blocked { reason }| Signal::Blocked { reason })?,
        Kind::Waiting => Waiting::deserialize(rest).map(|Waiting { question }| Signal::Waiting { question })?,
        Kind::Progress => Progress::deserialize(rest).map(|Progress { percent }| Signal::Progress { percent })?,
        Kind::Learning => Learning::deserialize(rest).map(|Learning { text, scope }| Signal::Learning { text, scope })?,
        Kind::Phase => Phase::deserialize(rest).map(|Phase { name, confidence }| Signal::Phase { name, confidence })?,
        Kind::Subtask => {
            Subtask::deserialize(rest).map(|Subtask { name, done, planned }| Signal::Subtask { name, done, planned })?
        }
        Kind::Ready => Ready::deserialize(rest).map(|Ready { name, text }| Signal::Ready { name, text })?,
        Kind::File => Signal::File(Box::new(FileReport::deserialize(rest)?)),
        Kind::ToolStarted => Signal::ToolStarted(ToolReport::deserialize(rest)?),
        Kind::ToolCompleted => Signal::ToolCompleted(ToolReport::deserialize(rest)?),
        Kind::Estimate => Estimate::deserialize(rest).map(|Estimate { seconds }| Signal::Estimate { seconds })?,
        Kind::Session => Session::deserialize(rest).map(|Session { id }| Signal::Session { id })?,
        Kind::Seen => Signal::Seen(Box::new(Seen::deserialize(rest)?)),
        Kind::Depends => Depends::deserialize(rest).map(|Depends { names }| Signal::Depends { names })?,
    })
}

impl<'de> Deserialize<'de> for Signal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(SignalVisitor)
    }
}

struct SignalVisitor;

impl<'de> de::Visitor<'de> for SignalVisitor {
    type Value = Signal;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with the kind of a signal")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Signal, A::Error> {
        match map.next_key()? {
            None => Err(de::Error::missing_field("kind")),
            Some(Key::Kind) => read(&map.next_value()?, MapAccessDeserializer::new(map)),
            Some(Key::Other(first)) => {
                let mut rest = serde_json::Map::new();
                let value = map.next_value()?;
                rest.insert(first, value);
                while let Some((key, value)) = map.next_entry::<String, serde_json::Value>()? {
                    if rest.insert(key, value).is_some() {
                        return Err(de::Error::custom("a key stands twice"));
                    }
                }
                let kind = rest.remove("kind").ok_or_else(|| de::Error::missing_field("kind"))?;
                let kind = Kind::deserialize(kind).map_err(de::Error::custom)?;
                read(&kind, serde_json::Value::Object(rest)).map_err(de::Error::custom)
            }
        }
    }
}

enum Key {
    Kind,
    Other(String),
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeyVisitor;
        impl de::Visitor<'_> for KeyVisitor {
            type Value = Key;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }
            fn visit_str<E: de::Error>(self, key: &str) -> Result<Key, E> {
                Ok(if key == "kind" { Key::Kind } else { Key::Other(key.to_owned()) })
            }
        }
        deserializer.deserialize_identifier(KeyVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::work::signal::FileRole;

    fn all() -> Vec<Signal> {
        let text = || "a \"b\"\n\u{1F600}".to_owned();
        vec![
            Signal::Complete {},
            Signal::Blocked { reason: text() },
            Signal::Waiting { question: text() },
            Signal::Progress { percent: 40 },
            Signal::Learning { text: text(), scope: Some(text()) },
            Signal::Learning { text: text(), scope: None },
            Signal::Phase { name: text(), confidence: None },
            Signal::Phase { name: text(), confidence: Some(0.75) },
            Signal::Subtask { name: text(), done: true, planned: false },
            Signal::Subtask { name: text(), done: false, planned: true },
            Signal::File(Box::new(FileReport { path: text(), line: Some(3), confidence: Some(0.1), ..FileReport::default() })),
            Signal::File(Box::new(FileReport { path: text(), role: Some(FileRole::Test), ..FileReport::default() })),
            Signal::Ready { name: text(), text: text() },
            Signal::ToolStarted(ToolReport { name: text(), id: Some(text()), ..ToolReport::default() }),
            Signal::ToolCompleted(ToolReport { name: text(), ..ToolReport::default() }),
            Signal::RequestSent(Exchange::default()),
            Signal::RequestSent(Exchange { id: None, hash: Some(text()) }),
            Signal::ResponseReceived(Exchange { id: Some(text()), hash: Some(text()) }),
            Signal::Estimate { seconds: 1200 },
            Signal::Depends { names: vec![text()] },
        ]
    }

    #[test]
    fn every_signal_reads_back_wherever_its_kind_stands() {
        for signal in all() {
            let json = serde_json::to_string(&signal).unwrap();
            assert_eq!(serde_json::from_str::<Signal>(&json).unwrap(), signal, "{json}");
            // Another order of keys: the kind last.
            let mut object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&json).unwrap();
            let kind = object.remove("kind").unwrap();
            let rest = serde_json::to_string(&object).unwrap();
            let comma = if object.is_empty() { "" } else { "," };
            let turned = format!("{}{comma}\"kind\":{kind}}}", rest.strip_suffix('}').unwrap());
            assert_eq!(serde_json::from_str::<Signal>(&turned).unwrap(), signal, "{turned}");
        }
    }

    #[test]
    fn what_is_no_signal_is_refused() {
        let bad = [
            "{}",
            r#"{"kind":"nope"}"#,
            r#"{"kind":"progress"}"#,
            r#"{"kind":"progress","percent":1,"more":2}"#,
            r#"{"more":2,"kind":"progress","percent":1}"#,
            r#"{"kind":"progress","percent":300}"#,
            r#"{"kind":"complete","percent":1}"#,
            r#"{"percent":1}"#,
            r#"{"percent":1,"percent":2,"kind":"progress"}"#,
            r#"[]"#,
            r#""complete""#,
        ];
        for text in bad {
            assert!(serde_json::from_str::<Signal>(text).is_err(), "{text}");
        }
    }
}
