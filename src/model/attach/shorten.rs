//! JSON of any size as a stream: what comes out is JSON of a few megabytes with everything in it that a hook acts on. Long strings keep their
//! beginning, long lists too, and what was not sent to its end is closed. Pure: whoever reads hands over bytes.

/// How many bytes of a string are kept.
pub const KEPT: usize = 64 * 1024;
/// What a string ends with that was cut: no text has this character.
pub const CUT: char = '\u{ffff}';
/// From so many bytes on, the rest of a list or object that is deep inside is left out; from twice as many, what is in the input of a tool;
/// from three times as many, the rest.
const MUCH: usize = 4 * 1024 * 1024;
/// What is deeper is left out.
const DEEPEST: usize = 100;
/// The longest number or word.
const LONGEST_WORD: usize = 64;

/// Where a stream is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum JsonShortenerState {
    /// Between values.
    Between,
    /// In a string.
    Text,
    /// After a backslash in a string.
    Escape,
    /// In the digits of `\u`.
    Digits,
    /// In a number, `true`, `false` or `null`.
    Word,
    /// After the end of the outermost value.
    Over,
}

/// Takes JSON in pieces, and gives it back shortened.
#[derive(Debug)]
pub struct JsonShortener {
    out: Vec<u8>,
    at: JsonShortenerState,
    /// The brackets that are open.
    open: Vec<u8>,
    /// Everything is left out until only so many brackets are open.
    without: Option<usize>,
    /// How many bytes of the string are kept so far; `None`: it was cut.
    kept: Option<usize>,
    digits: Vec<u8>,
    word: Vec<u8>,
    /// The first half of a character beyond the basic ones.
    half: Option<u16>,
}

impl Default for JsonShortener {
    fn default() -> Self {
        let (out, open, digits, word) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { out, at: JsonShortenerState::Between, open, without: None, kept: Some(0), digits, word, half: None }
    }
}

impl JsonShortener {
    /// Takes the next piece.
    pub fn add(&mut self, piece: &[u8]) {
        let mut rest = piece;
        while let Some((&byte, more)) = rest.split_first() {
            if self.at == JsonShortenerState::Over {
                return;
            }
            if self.at == JsonShortenerState::Text && (self.kept.is_none() || self.without.is_some()) {
                // Nothing of it stays up to its end.
                let end = memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
                if end > 0 {
                    rest = &rest[end..];
                    continue;
                }
            }
            self.byte(byte);
            rest = more;
        }
    }

    /// Whether the outermost value has ended: the rest says nothing.
    pub fn is_over(&self) -> bool {
        self.at == JsonShortenerState::Over
    }

    /// Whether nothing was sent.
    pub fn is_empty(&self) -> bool {
        self.out.is_empty() && self.word.is_empty()
    }

    /// The whole, with an end where it had none.
    pub fn end(mut self) -> Vec<u8> {
        match self.at {
            JsonShortenerState::Text | JsonShortenerState::Escape | JsonShortenerState::Digits => self.end_text(),
            JsonShortenerState::Word => self.end_word(),
            JsonShortenerState::Between | JsonShortenerState::Over => {}
        }
        if let Some(depth) = self.without.take() {
            self.open.truncate(depth);
        }
        while let Some(open) = self.open.pop() {
            self.close(open);
        }
        self.out
    }

    fn is_left_out(&self) -> bool {
        self.without.is_some()
    }

    fn put(&mut self, bytes: &[u8]) {
        if !self.is_left_out() {
            self.out.extend_from_slice(bytes);
        }
    }

    fn byte(&mut self, byte: u8) {
        match self.at {
            JsonShortenerState::Over => {}
            JsonShortenerState::Between => self.between(byte),
            JsonShortenerState::Text => self.text(byte),
            JsonShortenerState::Escape => self.escape(byte),
            JsonShortenerState::Digits => {
                self.digits.push(byte);
                if self.digits.len() == 4 {
                    self.at = JsonShortenerState::Text;
                    self.end_digits();
                }
            }
            JsonShortenerState::Word if byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'+' | b'-') => {
                if self.word.len() <= LONGEST_WORD {
                    self.word.push(byte);
                }
            }
            JsonShortenerState::Word => {
                self.end_word();
                self.at = JsonShortenerState::Between;
                self.between(byte);
            }
        }
    }

    fn between(&mut self, byte: u8) {
        match byte {
            b'"' => {
                (self.at, self.kept) = (JsonShortenerState::Text, Some(0));
                self.put(b"\"");
            }
            b'{' | b'[' => {
                self.put(&[byte]);
                self.open.push(byte);
                if self.open.len() > DEEPEST && !self.is_left_out() {
                    self.without = Some(self.open.len());
                }
            }
            b'}' | b']' => self.closed(byte),
            b',' => {
                let depth = self.open.len();
                let much = MUCH * 4_usize.saturating_sub(depth.clamp(1, 3));
                if self.out.len() > much && !self.is_left_out() {
                    self.without = Some(depth);
                }
                self.put(b",");
            }
            b':' => self.put(b":"),
            // The mark that some programs write first, and spaces.
            0xef | 0xbb | 0xbf | b' ' | b'\t' | b'\r' | b'\n' => {}
            _ => {
                self.at = JsonShortenerState::Word;
                self.word = vec![byte];
            }
        }
    }

    fn closed(&mut self, byte: u8) {
        if self.without.is_some_and(|depth| depth >= self.open.len()) {
            self.without = None;
        }
        if self.open.pop().is_none() {
            self.at = JsonShortenerState::Over;
            return;
        }
        self.put(&[byte]);
        if self.open.is_empty() {
            self.at = JsonShortenerState::Over;
        }
    }

    fn text(&mut self, byte: u8) {
        match byte {
            b'"' => {
                self.end_text();
                self.at = JsonShortenerState::Between;
            }
            b'\\' => self.at = JsonShortenerState::Escape,
            0..0x20 => self.keep(format!("\\u{byte:04x}").as_bytes()),
            _ => self.keep(&[byte]),
        }
    }

    fn escape(&mut self, byte: u8) {
        self.at = JsonShortenerState::Text;
        match byte {
            b'u' => {
                self.at = JsonShortenerState::Digits;
                self.digits.clear();
            }
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.keep(&[b'\\', byte]),
            _ => self.keep(&[b'\\', b'\\', byte]),
        }
    }

    fn end_digits(&mut self) {
        let digits = std::str::from_utf8(&self.digits).ok().and_then(|digits| u16::from_str_radix(digits, 16).ok());
        match (digits, self.half.take()) {
            (Some(first @ 0xd800..0xdc00), before) => {
                if before.is_some() {
                    self.keep("\u{fffd}".as_bytes());
                }
                self.half = Some(first);
            }
            (Some(second @ 0xdc00..0xe000), Some(first)) => self.keep(format!("\\u{first:04x}\\u{second:04x}").as_bytes()),
            (Some(0xdc00..0xe000) | None, _) => self.keep("\u{fffd}".as_bytes()),
            (Some(code), before) => {
                if before.is_some() {
                    self.keep("\u{fffd}".as_bytes());
                }
                self.keep(format!("\\u{code:04x}").as_bytes());
            }
        }
    }

    /// Adds to the string, unless it has enough.
    fn keep(&mut self, bytes: &[u8]) {
        if self.half.take().is_some() {
            self.keep("\u{fffd}".as_bytes());
        }
        match self.kept {
            Some(kept) if kept + bytes.len() <= KEPT => {
                self.put(bytes);
                self.kept = Some(kept + bytes.len());
            }
            Some(_) | None => self.kept = None,
        }
    }

    fn end_text(&mut self) {
        if self.half.take().is_some() {
            self.keep("\u{fffd}".as_bytes());
        }
        if self.kept.is_none() {
            // A character of several bytes may be cut: whoever reads it finds a sign in its place.
            self.put(CUT.encode_utf8(&mut [0; 4]).as_bytes());
        }
        self.put(b"\"");
    }

    fn end_word(&mut self) {
        let word = std::mem::take(&mut self.word);
        let text = String::from_utf8_lossy(&word);
        let is_number = text.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit())
            && serde_json::from_str::<serde_json::Number>(&text).is_ok();
        let is_word = matches!(text.as_ref(), "true" | "false" | "null") || is_number;
        self.put(if is_word { &word } else { b"null" });
    }

    /// Closes a bracket that nobody closed.
    fn close(&mut self, open: u8) {
        if self.out.last() == Some(&b',') {
            self.out.pop();
        }
        let is_object = open == b'{';
        if is_object {
            match self.out.last() {
                Some(b':') => self.out.extend_from_slice(b"null"),
                Some(b'"') if self.is_key_at_end() => self.out.extend_from_slice(b":null"),
                Some(_) | None => {}
            }
        }
        self.out.push(if is_object { b'}' } else { b']' });
    }

    /// Whether the string at the end is a key: what is before it says so.
    fn is_key_at_end(&self) -> bool {
        let mut at = self.out.len().saturating_sub(1);
        while at > 0 {
            at -= 1;
            let slashes = self.out[..at].iter().rev().take_while(|byte| **byte == b'\\').count();
            if self.out[at] == b'"' && slashes % 2 == 0 {
                break;
            }
        }
        at == 0 || matches!(self.out[at - 1], b'{' | b',')
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn shortened(text: &[u8], piece: usize) -> Vec<u8> {
        let mut shortener = JsonShortener::default();
        text.chunks(piece).for_each(|piece| shortener.add(piece));
        shortener.end()
    }

    fn read(text: &[u8], piece: usize) -> Value {
        let out = shortened(text, piece);
        serde_json::from_str(&String::from_utf8_lossy(&out)).unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&out)))
    }

    #[test]
    fn what_is_short_stays_whatever_the_pieces_are() {
        let value = json!({"a": "q\"\\/\n\u{1}é😀", "b": [1, -2.5e3, true, null, {"c": []}], "": {"d": "x"}, "e": "\\"});
        for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
            for piece in [1, 2, 3, 7, 1000] {
                assert_eq!(read(text.as_bytes(), piece), value);
            }
        }
        assert_eq!(read(b"\xef\xbb\xbf {\"a\":1} {\"b\":2}", 3), json!({"a": 1}), "only the first");
    }

    #[test]
    fn a_long_string_keeps_its_beginning_and_says_so_and_what_follows_is_there() {
        for unit in ["a", "é", "\\n", "\\u00e9", "\\ud83d\\ude00", "\\\\"] {
            let long = unit.repeat(3 * KEPT);
            let text = format!("{{\"x\":\"{long}\",\"y\":[\"{long}\"],\"z\":1}}");
            let value = read(text.as_bytes(), 4096);
            let kept = value["x"].as_str().unwrap();
            assert!(kept.ends_with(CUT) && kept.len() <= KEPT + 6 && kept.len() > 1000, "{unit}: {}", kept.len());
            assert_eq!((value["y"][0].as_str().unwrap().len(), &value["z"]), (kept.len(), &json!(1)));
        }
    }

    #[test]
    fn long_lists_are_cut_and_the_keys_after_them_are_there() {
        let list = vec![json!({"k": "v".repeat(100)}); 200_000];
        let text = json!({"a": {"edits": list, "path": "p"}, "b": 1}).to_string();
        let out = shortened(text.as_bytes(), 65_536);
        assert!(out.len() < MUCH + 10_000, "{}", out.len());
        let value: Value = serde_json::from_slice(&out).unwrap();
        assert_eq!((&value["a"]["path"], &value["b"]), (&json!("p"), &json!(1)));
        let many: serde_json::Map<String, Value> = (0..400_000).map(|n| (format!("key {n} of many keys"), json!(n))).collect();
        let value = read(json!({"a": many, "b": 1}).to_string().as_bytes(), 65_536);
        assert_eq!(value["b"], 1);
        let deep = format!("{{\"a\":{}{},\"b\":1}}", "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(read(deep.as_bytes(), 1000)["b"], 1);
    }

    #[test]
    fn what_is_not_json_to_the_letter_is_read_all_the_same() {
        let value = read(
            b"{\"a\":\"x\ny\",\"b\":\"\\ud800\",\"c\":\"\\udc00\\q\",\"d\":NaN,\"e\":-Infinity,\"f\":\"\\ud800\\u0041\"}",
            2,
        );
        assert_eq!(value["a"], "x\ny");
        assert_eq!((&value["b"], &value["c"]), (&json!("\u{fffd}"), &json!("\u{fffd}\\q")));
        assert!(value["d"].is_null() && value["e"].is_null());
        assert_eq!(value["f"], "\u{fffd}A");
    }

    #[test]
    fn what_was_not_sent_to_its_end_is_closed() {
        let text = json!({"a": "x\\\"", "b": [1, {"c": "d"}], "key": {"e": true}}).to_string();
        for end in 1..text.len() {
            let value = read(&text.as_bytes()[..end], 5);
            assert!(value.is_object(), "{}", &text[..end]);
        }
        assert_eq!(read(&text.as_bytes()[..text.len() - 1], 5)["key"]["e"], true);
        assert!(JsonShortener::default().is_empty());
    }
}
