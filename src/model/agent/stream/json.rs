//! A line of JSON as a value, and texts and numbers out of values.

use serde_json::{Map, Value};

use super::rules::{StreamFieldPointers, StreamRuleConditions};

/// The object that a line holds. `None` for anything else: broken, nested too deeply, not UTF-8.
pub(super) fn object(line: &[u8]) -> Option<Value> {
    if line.trim_ascii_start().first() != Some(&b'{') {
        return None;
    }
    // A text that was cut in the middle of a character outside the first plane has half of it, which is no Unicode.
    let value = serde_json::from_slice(line).ok().or_else(|| serde_json::from_slice(&without_halves(line)?).ok());
    value.filter(Value::is_object)
}

/// The line with each lone half of a surrogate pair replaced. `None` where there is none.
fn without_halves(line: &[u8]) -> Option<Vec<u8>> {
    let half = |at: usize| {
        let digits = line.get(at..at.checked_add(6)?)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok().filter(|unit| (0xD800..0xE000).contains(unit))
    };
    let (mut out, mut at, mut changed) = (Vec::new(), 0, false);
    while let Some(byte) = line.get(at) {
        let (length, lone) = match (byte, half(at), half(at.saturating_add(6))) {
            (b'\\', Some(first), Some(second)) if first < 0xDC00 && second >= 0xDC00 => (12, false),
            (b'\\', Some(_), _) => (6, true),
            (b'\\', None, _) => (2, false),
            (_, _, _) => (1, false),
        };
        let end = at.saturating_add(length).min(line.len());
        out.extend_from_slice(if lone { b"\\ufffd" } else { line.get(at..end)? });
        changed |= lone;
        at = end;
    }
    changed.then_some(out)
}

/// Whether all places hold one of their values.
pub(super) fn holds(conditions: &StreamRuleConditions, value: &Value) -> bool {
    conditions.iter().all(|(place, wanted)| value.pointer(place).is_some_and(|found| wanted.as_slice().contains(found)))
}

/// The first of the places that is there and not null.
pub(super) fn first<'a>(places: Option<&StreamFieldPointers>, value: &'a Value) -> Option<&'a Value> {
    places?.as_slice().iter().find_map(|place| value.pointer(place).filter(|found| !found.is_null()))
}

/// A value as text: a text is itself, a list of parts with `text` is these, anything else is JSON.
pub(super) fn text_of(value: &Value) -> String {
    let part = |part: &Value| part.get("text").and_then(Value::as_str).map(str::to_owned);
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) if !parts.is_empty() => match parts.iter().map(part).collect::<Option<Vec<_>>>() {
            Some(texts) => texts.join("\n"),
            None => value.to_string(),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

/// The sum of the numbers at the places; `None` where there is none.
pub(super) fn sum(places: Option<&StreamFieldPointers>, value: &Value) -> Option<f64> {
    let numbers = places?.as_slice().iter().filter_map(|place| value.pointer(place).and_then(Value::as_f64));
    numbers.filter(|number| number.is_finite() && *number >= 0.0).reduce(|one, other| one + other).filter(|sum| sum.is_finite())
}

/// The same for whole numbers, saturating.
pub(super) fn whole_sum(places: Option<&StreamFieldPointers>, value: &Value) -> Option<u64> {
    let numbers = places?.as_slice().iter().filter_map(|place| value.pointer(place).and_then(whole));
    numbers.reduce(u64::saturating_add)
}

/// A number that is not negative, or digits. A fraction is cut off.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub(super) fn whole(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => {
            let cut = || number.as_f64().filter(|number| *number >= 0.0).map(|number| number as u64);
            number.as_u64().or_else(cut)
        }
        Value::String(text) => text.parse().ok(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// An empty object, for what has no input.
pub(super) fn nothing() -> Value {
    Value::Object(Map::new())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn half_a_character_does_not_cost_the_line() {
        let text = |line: &[u8]| object(line).map(|value| text_of(&value["t"]));
        assert_eq!(text(br#"{"t":"a\ud83d"}"#).unwrap(), "a\u{fffd}");
        assert_eq!(text(br#"{"t":"\ude00\ud83d\ude00\\ud83d\ud83dx"}"#).unwrap(), "\u{fffd}😀\\ud83d\u{fffd}x");
        assert_eq!(text(b"{\"t\":\"\\ud83d"), None);
        assert_eq!(text(b"{\"t\":\"\\"), None);
        assert_eq!(text(b"{\"t\":\"\xff\"}"), None);
    }

    #[test]
    fn only_objects_that_are_not_too_deep_count() {
        assert!(object(b" {\"a\":1} \r").is_some());
        for line in [&b""[..], b"[]", b"1", b"{} {}", b"{", b"\x1b[31m{}"] {
            assert!(object(line).is_none(), "{line:?}");
        }
        let deep = ["{\"a\":".repeat(200_000), "1".into(), "}".repeat(200_000)].concat();
        assert!(object(deep.as_bytes()).is_none());
    }

    #[test]
    fn numbers_are_added_and_never_overflow() {
        let line = json!({"a": u64::MAX, "b": 2, "c": -1, "d": 1e300, "e": "7", "f": null});
        let places = |names: &[&str]| Some(StreamFieldPointers::More(names.iter().map(|name| (*name).to_owned()).collect()));
        assert_eq!(whole_sum(places(&["/a", "/b"]).as_ref(), &line), Some(u64::MAX));
        assert_eq!(whole_sum(places(&["/b", "/e", "/x", "/c"]).as_ref(), &line), Some(9));
        assert_eq!(whole_sum(places(&["/d"]).as_ref(), &line), Some(u64::MAX));
        assert_eq!(whole_sum(places(&["/c", "/f", "/x"]).as_ref(), &line), None);
        assert_eq!(sum(places(&["/c", "/f", "/x"]).as_ref(), &line), None);
        assert_eq!(sum(places(&["/b"]).as_ref(), &line), Some(2.0));
    }
}
