//! Some fields of an object of JSON, without building the rest: of any depth and size, with keys that come twice (the last counts, as in
//! the programs that read them), and with texts that are no Unicode.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// The values of the named keys, where `text` is one object. `None` where it is anything else, and nothing where a key is not there.
pub(super) fn fields<'t, const N: usize>(text: &'t str, names: [&str; N]) -> Option<[Option<&'t str>; N]> {
    struct NamedFields<'n, const N: usize>(&'n [&'n str; N]);

    impl<'de, const N: usize> Visitor<'de> for NamedFields<'_, N> {
        type Value = [Option<&'de str>; N];

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut found = [None; N];
            while let Some(key) = map.next_key::<JsonText<'de>>()? {
                match self.0.iter().position(|name| *name == key.0).and_then(|at| found.get_mut(at)) {
                    Some(place) => *place = Some(map.next_value::<&'de RawValue>()?.get()),
                    None => drop(map.next_value::<IgnoredAny>()?),
                }
            }
            Ok(found)
        }
    }

    let mut from = serde_json::Deserializer::from_str(text);
    let found = from.deserialize_map(NamedFields(&names)).ok()?;
    from.end().ok().map(|()| found)
}

/// The first `most` items of a list; none where it is no list.
pub(super) fn items(text: &str, most: usize) -> Vec<&str> {
    struct FirstItems(usize);

    impl<'de> Visitor<'de> for FirstItems {
        type Value = Vec<&'de str>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
            let mut found = Vec::new();
            while found.len() < self.0 {
                match list.next_element::<&'de RawValue>()? {
                    Some(item) => found.push(item.get()),
                    None => return Ok(found),
                }
            }
            while list.next_element::<IgnoredAny>()?.is_some() {}
            Ok(found)
        }
    }

    serde_json::Deserializer::from_str(text).deserialize_seq(FirstItems(most)).unwrap_or_default()
}

/// A value that is a text; half a character in it becomes a sign that says so.
pub(super) fn text(raw: &str) -> Option<Cow<'_, str>> {
    serde_json::from_str::<JsonText<'_>>(raw).ok().map(|text| text.0)
}

/// A text of JSON that may hold half a character, which is no Unicode.
struct JsonText<'t>(Cow<'t, str>);

impl<'de> Deserialize<'de> for JsonText<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct LossyText;

        impl<'de> Visitor<'de> for LossyText {
            type Value = JsonText<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }

            fn visit_borrowed_bytes<E>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
                Ok(JsonText(String::from_utf8_lossy(bytes)))
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Self::Value, E> {
                Ok(JsonText(Cow::Owned(String::from_utf8_lossy(bytes).into_owned())))
            }

            // What a key of an object is handed on as.
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(JsonText(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(JsonText(Cow::Owned(text.to_owned())))
            }
        }

        from.deserialize_bytes(LossyText)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_asked_for_is_read_and_the_last_of_a_key_counts() {
        let found = fields(r#" {"a":1,"b":{"c":[1,2]},"a": "x" ,"\u0064":null} "#, ["a", "b", "c", "d"]);
        assert_eq!(found, Some([Some("\"x\""), Some("{\"c\":[1,2]}"), None, Some("null")]));
        for other in ["", "[]", "1", "{", "{} {}", "{\"a\"}", "{\"a\":1,}", "\u{feff}{}"] {
            assert_eq!(fields(other, ["a"]), None, "{other:?}");
        }
    }

    #[test]
    fn depth_and_length_do_no_harm() {
        let deep = format!(
            "{{\"x\":{}{},\"a\":1,\"b\":{}1{}}}",
            "[".repeat(200_000),
            "]".repeat(200_000),
            "{\"b\":".repeat(200_000),
            "}".repeat(200_000)
        );
        let [a, b] = fields(&deep, ["a", "b"]).unwrap();
        assert_eq!((a, b.map(str::len)), (Some("1"), Some(200_000 * 6 + 1)));
        assert_eq!(fields(b.unwrap(), ["b"]).unwrap()[0].map(str::len), Some(199_999 * 6 + 1));
        let many = format!("[{}1]", "1,".repeat(1_000_000));
        assert_eq!(items(&many, 3), ["1", "1", "1"]);
        assert_eq!(items("{}", 3), Vec::<&str>::new());
        assert_eq!(items("[1,[2],{\"a\":3}]", 9), ["1", "[2]", "{\"a\":3}"]);
    }

    #[test]
    fn a_text_is_one_even_with_half_a_character() {
        assert_eq!(text("\"a\"").unwrap(), "a");
        assert_eq!(text("\"a\\n\\u00e9\\ud83d\\ude00\"").unwrap(), "a\né😀");
        assert!(text("\"a\\ud83dz\"").unwrap().starts_with("a\u{fffd}"));
        assert!(text("1").is_none() && text("null").is_none() && text("[\"a\"]").is_none());
        let [x] = fields("{\"\\ud83d\":1,\"x\":2}", ["x"]).unwrap();
        assert_eq!(x, Some("2"));
    }
}
