//! Reading signals from JSON. Most events of a long log are signals. Serde's own code for an object with an inner tag
//! (`{"kind":"progress","percent":40}`) always copies the whole object first; this code only does so where the tag does not
//! come first.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserialize, Deserializer, MapAccess};

use crate::agent::stream::stream_event::{ModelExchange, StreamEvent};
use crate::work::permissions::permission_question::{PermissionEnd, PermissionQuestion};
use crate::work::signals::signal::{AgentSignal, FileReport, ToolReport};

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
enum AgentSignalKind {
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
    PermissionAsked,
    PermissionEnded,
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
    PermissionEnded { number: u64, end: PermissionEnd }
}

/// Reads the signal of this kind from the rest of the object.
fn read<'de, D: Deserializer<'de>>(kind: &AgentSignalKind, rest: D) -> Result<AgentSignal, D::Error> {
    Ok(match kind {
        AgentSignalKind::Complete => Nothing::deserialize(rest).map(|Nothing {}| AgentSignal::Complete {})?,
        AgentSignalKind::RequestSent => AgentSignal::RequestSent(ModelExchange::deserialize(rest)?),
        AgentSignalKind::ResponseReceived => AgentSignal::ResponseReceived(ModelExchange::deserialize(rest)?),
        AgentSignalKind::Blocked => Blocked::deserialize(rest).map(|Blocked { reason }| AgentSignal::Blocked { reason })?,
        AgentSignalKind::Waiting => Waiting::deserialize(rest).map(|Waiting { question }| AgentSignal::Waiting { question })?,
        AgentSignalKind::Progress => Progress::deserialize(rest).map(|Progress { percent }| AgentSignal::Progress { percent })?,
        AgentSignalKind::Learning => {
            Learning::deserialize(rest).map(|Learning { text, scope }| AgentSignal::Learning { text, scope })?
        }
        AgentSignalKind::Phase => {
            Phase::deserialize(rest).map(|Phase { name, confidence }| AgentSignal::Phase { name, confidence })?
        }
        AgentSignalKind::Subtask => {
            Subtask::deserialize(rest).map(|Subtask { name, done, planned }| AgentSignal::Subtask { name, done, planned })?
        }
        AgentSignalKind::Ready => Ready::deserialize(rest).map(|Ready { name, text }| AgentSignal::Ready { name, text })?,
        AgentSignalKind::File => AgentSignal::File(Box::new(FileReport::deserialize(rest)?)),
        AgentSignalKind::ToolStarted => AgentSignal::ToolStarted(ToolReport::deserialize(rest)?),
        AgentSignalKind::ToolCompleted => AgentSignal::ToolCompleted(ToolReport::deserialize(rest)?),
        AgentSignalKind::Estimate => Estimate::deserialize(rest).map(|Estimate { seconds }| AgentSignal::Estimate { seconds })?,
        AgentSignalKind::Session => Session::deserialize(rest).map(|Session { id }| AgentSignal::Session { id })?,
        AgentSignalKind::PermissionAsked => AgentSignal::PermissionAsked(Box::new(PermissionQuestion::deserialize(rest)?)),
        AgentSignalKind::PermissionEnded => PermissionEnded::deserialize(rest)
            .map(|PermissionEnded { number, end }| AgentSignal::PermissionEnded { number, end })?,
        AgentSignalKind::Seen => AgentSignal::Seen(Box::new(StreamEvent::deserialize(rest)?)),
        AgentSignalKind::Depends => Depends::deserialize(rest).map(|Depends { names }| AgentSignal::Depends { names })?,
    })
}

impl<'de> Deserialize<'de> for AgentSignal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(AgentSignalVisitor)
    }
}

struct AgentSignalVisitor;

impl<'de> de::Visitor<'de> for AgentSignalVisitor {
    type Value = AgentSignal;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with the kind of a signal")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<AgentSignal, A::Error> {
        match map.next_key()? {
            None => Err(de::Error::missing_field("kind")),
            Some(AgentSignalKey::Kind) => read(&map.next_value()?, MapAccessDeserializer::new(map)),
            Some(AgentSignalKey::Other(first)) => {
                let mut rest = serde_json::Map::new();
                let value = map.next_value()?;
                rest.insert(first, value);
                while let Some((key, value)) = map.next_entry::<String, serde_json::Value>()? {
                    if rest.insert(key, value).is_some() {
                        return Err(de::Error::custom("a key stands twice"));
                    }
                }
                let kind = rest.remove("kind").ok_or_else(|| de::Error::missing_field("kind"))?;
                let kind = AgentSignalKind::deserialize(kind).map_err(de::Error::custom)?;
                read(&kind, serde_json::Value::Object(rest)).map_err(de::Error::custom)
            }
        }
    }
}

enum AgentSignalKey {
    Kind,
    Other(String),
}

impl<'de> Deserialize<'de> for AgentSignalKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AgentSignalKeyVisitor;
        impl de::Visitor<'_> for AgentSignalKeyVisitor {
            type Value = AgentSignalKey;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }
            fn visit_str<E: de::Error>(self, key: &str) -> Result<AgentSignalKey, E> {
                Ok(if key == "kind" { AgentSignalKey::Kind } else { AgentSignalKey::Other(key.to_owned()) })
            }
        }
        deserializer.deserialize_identifier(AgentSignalKeyVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::signals::signal::ReportedFileRole;

    fn all() -> Vec<AgentSignal> {
        let text = || "a \"b\"\n\u{1F600}".to_owned();
        vec![
            AgentSignal::Complete {},
            AgentSignal::Blocked { reason: text() },
            AgentSignal::Waiting { question: text() },
            AgentSignal::Progress { percent: 40 },
            AgentSignal::Learning { text: text(), scope: Some(text()) },
            AgentSignal::Learning { text: text(), scope: None },
            AgentSignal::Phase { name: text(), confidence: None },
            AgentSignal::Phase { name: text(), confidence: Some(0.75) },
            AgentSignal::Subtask { name: text(), done: true, planned: false },
            AgentSignal::Subtask { name: text(), done: false, planned: true },
            AgentSignal::File(Box::new(FileReport {
                path: text(),
                line: Some(3),
                confidence: Some(0.1),
                ..FileReport::default()
            })),
            AgentSignal::File(Box::new(FileReport { path: text(), role: Some(ReportedFileRole::Test), ..FileReport::default() })),
            AgentSignal::Ready { name: text(), text: text() },
            AgentSignal::ToolStarted(ToolReport { name: text(), id: Some(text()), ..ToolReport::default() }),
            AgentSignal::ToolCompleted(ToolReport { name: text(), ..ToolReport::default() }),
            AgentSignal::RequestSent(ModelExchange::default()),
            AgentSignal::RequestSent(ModelExchange { id: None, hash: Some(text()) }),
            AgentSignal::ResponseReceived(ModelExchange { id: Some(text()), hash: Some(text()) }),
            AgentSignal::Estimate { seconds: 1200 },
            AgentSignal::Depends { names: vec![text()] },
        ]
    }

    #[test]
    fn every_signal_reads_back_wherever_its_kind_stands() {
        for signal in all() {
            let json = serde_json::to_string(&signal).unwrap();
            assert_eq!(serde_json::from_str::<AgentSignal>(&json).unwrap(), signal, "{json}");
            // Another order of keys: the kind last.
            let mut object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&json).unwrap();
            let kind = object.remove("kind").unwrap();
            let rest = serde_json::to_string(&object).unwrap();
            let comma = if object.is_empty() { "" } else { "," };
            let turned = format!("{}{comma}\"kind\":{kind}}}", rest.strip_suffix('}').unwrap());
            assert_eq!(serde_json::from_str::<AgentSignal>(&turned).unwrap(), signal, "{turned}");
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
            assert!(serde_json::from_str::<AgentSignal>(text).is_err(), "{text}");
        }
    }
}
