//! The common parts of all documents of `--json`: their version, the verb, errors, and the format of times.
//!
//! The contents of each verb's document are in `docs/JSON.md`; a test compares every document with it.

use std::borrow::Cow;

use memchr::memmem;
use serde::Serialize;

use super::visible;
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::document_schema::SCHEMA;

#[derive(Serialize)]
struct JsonDocument<'a, T> {
    schema: u32,
    verb: Option<&'a str>,
    #[serde(flatten)]
    content: &'a T,
}

/// An answer, and the error with which the verb ends.
#[derive(Serialize)]
pub struct AnswerWithErrorJson<'a, T> {
    /// The answer.
    #[serde(flatten)]
    pub content: &'a T,
    /// The error.
    pub error: ErrorJson<'a>,
}

/// An error alone.
#[derive(Serialize)]
pub struct ErrorDocument<'a> {
    /// The error.
    pub error: ErrorJson<'a>,
}

/// An error in a document.
#[derive(Serialize)]
pub struct ErrorJson<'a> {
    code: &'static str,
    verb: Option<&'a str>,
    message: String,
    hints: &'a [String],
}

impl<'a> ErrorJson<'a> {
    /// An error of a verb.
    pub fn of(verb: Option<&'a str>, error: &'a Error) -> Self {
        Self { code: error.code().as_str(), verb, message: error.to_string(), hints: error.hints() }
    }
}

/// A document as one line.
pub fn of<T: Serialize>(verb: Option<&str>, content: &T) -> Result<String> {
    Ok(format!("{}\n", part(&JsonDocument { schema: SCHEMA, verb, content })?))
}

/// A part of a document, for one that is written as it is made.
pub fn part<T: Serialize>(content: &T) -> Result<String> {
    let text = serde_json::to_string(content)
        .map_err(|e| Error::new(Code::Internal, "the answer cannot be written as JSON").because(e))?;
    Ok(visible::json(&fixed_width(&text)).into_owned())
}

/// What comes before and after the elements of a document with nothing but a list, which is `empty` here.
pub fn around<T: Serialize>(verb: Option<&str>, empty: &T) -> Result<(String, &'static str)> {
    const END: &str = "]}\n";
    let empty = of(verb, empty)?;
    Ok((empty.strip_suffix(END).map(str::to_owned).unwrap_or(empty), END))
}

/// A document for a file that people read: as [`of`], over several lines.
pub fn for_a_file<T: Serialize>(verb: Option<&str>, content: &T) -> Result<String> {
    let no_json = |e| Error::new(Code::Internal, "the document cannot be written as JSON").because(e);
    let whole: serde_json::Value = serde_json::from_str(&of(verb, content)?).map_err(no_json)?;
    Ok(format!("{}\n", serde_json::to_string_pretty(&whole).map_err(no_json)?))
}

/// The lengths of a time up to its seconds, and of a whole time.
const SECONDS: usize = "2026-01-13T12:00:00".len();
const WHOLE: usize = "2026-01-13T12:00:00.000Z".len();

/// Writes all times in a document with the same width: in UTC, to the millisecond. (Stored times have no trailing zeros.)
/// Only a value that looks like a time, of a key with the name of a time, is changed, never a part of a text.
fn fixed_width(document: &str) -> Cow<'_, str> {
    let mut written = String::new();
    let mut from = 0;
    for end in memmem::find_iter(document.as_bytes(), b"Z\"") {
        let Some(begin) = document[..end].rfind('"').map(|quote| quote + 1).filter(|begin| *begin > from) else { continue };
        let time = &document[begin..=end];
        if time.len() == WHOLE || !is_time(time) || !is_of_a_time(&document[..begin - 1]) {
            continue;
        }
        let fraction = time[SECONDS..].trim_matches(['.', 'Z']);
        written.push_str(&document[from..begin + SECONDS]);
        written.push_str(&format!(".{fraction:0<3.3}Z"));
        from = end + 1;
    }
    if from == 0 {
        return Cow::Borrowed(document);
    }
    written.push_str(&document[from..]);
    Cow::Owned(written)
}

/// Whether the text is a time in the stored format.
fn is_time(text: &str) -> bool {
    let digit = |place: usize, byte: u8| match place {
        4 | 7 => byte == b'-',
        10 => byte == b'T',
        13 | 16 => byte == b':',
        _ => byte.is_ascii_digit(),
    };
    let Some((seconds, rest)) = text.as_bytes().split_at_checked(SECONDS) else { return false };
    seconds.iter().enumerate().all(|(place, byte)| digit(place, *byte))
        && match rest {
            b"Z" => true,
            [b'.', digits @ .., b'Z'] => !digits.is_empty() && digits.iter().all(u8::is_ascii_digit),
            _ => false,
        }
}

/// Whether a document, up to a value, ends with a key that has the name of a time.
fn is_of_a_time(before: &str) -> bool {
    let Some(key) = before.strip_suffix("\":").and_then(|before| Some(&before[before.rfind('"')? + 1..])) else { return false };
    let named = [
        "at",
        "until",
        "since",
        "running",
        "fired",
        "lastChange",
        "lastActivity",
        "lastCheckpoint",
        "waitingSince",
        "estimatedCompletion",
        "timestamp",
        "crashTime",
    ];
    named.contains(&key) || key.ends_with("At")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_that_is_documented_as_a_time_has_the_name_of_one() {
        let rows = include_str!("../../../docs/JSON.md").lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" | "));
        let of_times = rows.filter(|(_, rest)| rest.split([' ', ',']).next() == Some("time"));
        let keys: Vec<&str> = of_times.flat_map(|(keys, _)| keys.split(", ")).map(|key| key.trim_matches('`')).collect();
        assert!(keys.len() > 30, "{keys:?}");
        let wrong: Vec<&&str> = keys.iter().filter(|key| !is_of_a_time(&format!("\"{key}\":"))).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }

    #[test]
    fn a_file_has_the_same_times_as_an_answer() {
        let text = for_a_file(Some("recover export"), &serde_json::json!({"crashTime": "2026-01-13T12:00:00.5Z"})).unwrap();
        assert!(text.contains("\n  \"crashTime\": \"2026-01-13T12:00:00.500Z\",\n") && text.ends_with("}\n"), "{text}");
    }

    #[test]
    fn a_list_that_is_written_as_it_is_made_is_the_same_document() {
        for elements in [vec![], vec![1, 2]] {
            let (before, after) = around(Some("events"), &serde_json::json!({ "events": [] })).unwrap();
            let parts: Vec<String> = elements.iter().map(|element| part(element).unwrap()).collect();
            let whole = of(Some("events"), &serde_json::json!({ "events": elements })).unwrap();
            assert_eq!(format!("{before}{}{after}", parts.join(",")), whole);
        }
    }

    #[test]
    fn times_have_one_width_and_texts_stay_as_they_are() {
        for (stored, wanted) in [
            (r#"{"at":"2026-01-13T12:00:00Z"}"#, r#"{"at":"2026-01-13T12:00:00.000Z"}"#),
            (r#"{"createdAt":"2026-01-13T12:00:00.5Z","n":1}"#, r#"{"createdAt":"2026-01-13T12:00:00.500Z","n":1}"#),
            (r#"{"waitingSince":"2026-01-13T12:00:00Z"}"#, r#"{"waitingSince":"2026-01-13T12:00:00.000Z"}"#),
            (r#"{"until":"2026-01-13T12:00:00.123456Z"}"#, r#"{"until":"2026-01-13T12:00:00.123Z"}"#),
            (r#"{"at":"2026-01-13T12:00:00.120Z","id":"Z"}"#, r#"{"at":"2026-01-13T12:00:00.120Z","id":"Z"}"#),
            (
                r#"[{"at":"2026-01-13T12:00:00Z"},{"at":"2026-01-13T12:00:01Z"}]"#,
                r#"[{"at":"2026-01-13T12:00:00.000Z"},{"at":"2026-01-13T12:00:01.000Z"}]"#,
            ),
            (r#"{"title":"2026-01-13T12:00:00Z"}"#, r#"{"title":"2026-01-13T12:00:00Z"}"#),
            (r#"{"title":"\"at\":\"2026-01-13T12:00:00Z"}"#, r#"{"title":"\"at\":\"2026-01-13T12:00:00Z"}"#),
            (r#"{"at":"\u00e92026-01-13T12:00:00Z"}"#, r#"{"at":"\u00e92026-01-13T12:00:00Z"}"#),
            (r#"{"at":"é2026-01-13T12:0:00Z"}"#, r#"{"at":"é2026-01-13T12:0:00Z"}"#),
            (r#"{"at":"Z"}"#, r#"{"at":"Z"}"#),
        ] {
            assert_eq!(fixed_width(stored), wanted);
        }
    }
}
