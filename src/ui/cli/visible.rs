//! Making names and texts of others safe to print: they contain nothing that a terminal would interpret, and nothing that
//! looks like a line of git axiom's.
//!
//! Agents choose file names, commit subjects, questions and output. All text for people passes through [`text`] (see
//! [`super::screen`]), and parts of a line also through [`line`]. JSON has its own escapes.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Text of several lines: line feeds and tabs are kept; all other control and invisible characters are escaped.
pub fn text(text: &str) -> Cow<'_, str> {
    escaped(text, |c| matches!(c, '\n' | '\t'))
}

/// A part of a line: line feeds are shown as `⏎` too.
pub fn line(text: &str) -> Cow<'_, str> {
    escaped(text, |_| false)
}

/// Text of others that is printed after git axiom's own text: all lines but the first are indented, so that they cannot look
/// like git axiom's own.
pub fn set_in<'a>(text: &'a str, by: &str) -> Cow<'a, str> {
    match self::text(text) {
        shown if shown.contains('\n') => Cow::Owned(shown.trim_end().replace('\n', &format!("\n{by}"))),
        shown => shown,
    }
}

/// Bytes of others for a terminal, with their line feeds; bytes that are not UTF-8 are shown as `\xNN`.
pub fn bytes(bytes: &[u8]) -> String {
    let mut shown = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        shown.push_str(&text(chunk.valid()));
        for byte in chunk.invalid() {
            let _ = write!(shown, "\\x{byte:02x}");
        }
    }
    shown
}

/// A JSON document without anything that a terminal would interpret: characters that `serde_json` does not escape are
/// escaped by their number, which is the same text for every parser.
pub fn json(document: &str) -> Cow<'_, str> {
    if !document.chars().any(|c| is_hidden(c) && c != '\n') {
        return Cow::Borrowed(document);
    }
    let mut shown = String::with_capacity(document.len() + 16);
    for c in document.chars() {
        if is_hidden(c) && c != '\n' {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(shown, "\\u{unit:04x}");
            }
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// How many bytes at the end of a chunk are the beginning of an incomplete character.
pub fn unfinished(bytes: &[u8]) -> usize {
    let last = bytes.utf8_chunks().last();
    last.map_or(0, |chunk| match std::str::from_utf8(chunk.invalid()) {
        Err(e) if e.error_len().is_none() => chunk.invalid().len(),
        Ok(_) | Err(_) => 0,
    })
}

/// A path as git prints it: unchanged, or in double quotes with C escapes if it contains characters that cannot be shown.
pub fn quoted(path: &[u8]) -> String {
    let plain = std::str::from_utf8(path).ok().filter(|text| !text.chars().any(|c| is_hidden(c) || matches!(c, '"' | '\\')));
    if let Some(plain) = plain {
        return plain.to_owned();
    }
    let mut shown = String::from("\"");
    for chunk in path.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '"' | '\\' => shown.extend(['\\', c]),
                c if is_hidden(c) => octal(c.encode_utf8(&mut [0; 4]).as_bytes(), &mut shown),
                c => shown.push(c),
            }
        }
        octal(chunk.invalid(), &mut shown);
    }
    shown.push('"');
    shown
}

/// Bytes with the escapes that git uses in quotes.
fn octal(bytes: &[u8], shown: &mut String) {
    for byte in bytes {
        let _ = match byte {
            b'\x07' => write!(shown, "\\a"),
            b'\x08' => write!(shown, "\\b"),
            b'\t' => write!(shown, "\\t"),
            b'\n' => write!(shown, "\\n"),
            b'\x0b' => write!(shown, "\\v"),
            b'\x0c' => write!(shown, "\\f"),
            b'\r' => write!(shown, "\\r"),
            other => write!(shown, "\\{other:03o}"),
        };
    }
}

fn escaped(text: &str, stays: impl Fn(char) -> bool) -> Cow<'_, str> {
    // Nearly all texts are plain ASCII, for which looking at the bytes is enough.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) || !text.chars().any(|c| is_hidden(c) && !stays(c)) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            c if stays(c) || !is_hidden(c) => shown.push(c),
            '\n' => shown.push('⏎'),
            '\t' => shown.push_str("\\t"),
            '\r' => shown.push_str("\\r"),
            '\u{1b}' => shown.push_str("\\e"),
            c if c.is_ascii() => drop(write!(shown, "\\x{:02x}", u32::from(c))),
            c => drop(write!(shown, "\\u{{{:x}}}", u32::from(c))),
        }
    }
    Cow::Owned(shown)
}

/// Characters that a terminal interprets, or that invisibly change how the rest is read: control characters, direction
/// marks, zero-width characters, line separators, and tags.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// How many columns of a terminal a text takes.
pub fn width(text: &str) -> usize {
    if text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) { text.len() } else { console::measure_text_width(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_shown() {
        assert_eq!(
            line("\u{1b}[2Jgone\u{7}\r\n\u{9b}31m\u{202e}cod.exe\u{200b}"),
            "\\e[2Jgone\\x07\\r⏎\\u{9b}31m\\u{202e}cod.exe\\u{200b}"
        );
        assert_eq!(text("a\n\tb\u{1b}c\r\n"), "a\n\tb\\ec\\r\n");
        for plain in ["", "grün, 中文, e\u{301}, 👍\u{fe0f}", "C:\\x \"y\" ~"] {
            assert!(matches!(line(plain), Cow::Borrowed(same) if same == plain));
        }
    }

    #[test]
    fn no_control_character_and_no_mark_gets_through() {
        for code in 0..=0x0010_ffff_u32 {
            let Some(c) = char::from_u32(code) else { continue };
            let shown = line(c.encode_utf8(&mut [0; 4])).into_owned();
            assert!(!shown.chars().any(|c| c.is_control()), "{code:x}");
            assert_eq!(shown.chars().count() > 1 || shown == "⏎" && c != '⏎', is_hidden(c), "{code:x}");
        }
    }

    #[test]
    fn lines_of_others_are_set_in() {
        assert_eq!(set_in("a\nerror[X]: b\n", "  "), "a\n  error[X]: b");
        assert_eq!(set_in("a", "  "), "a");
    }

    #[test]
    fn a_json_document_says_the_same() {
        for text in ["a\u{1b}\u{7f}\u{9b}\u{202e}\n\u{e0041}\"\\", "plain ü"] {
            let document = serde_json::to_string(&[text]).unwrap();
            let shown = json(&document);
            assert!(!shown.chars().any(is_hidden));
            assert_eq!(serde_json::from_str::<[String; 1]>(&shown).unwrap()[0], text);
        }
    }

    #[test]
    fn bytes_of_others_keep_their_lines() {
        assert_eq!(bytes(b"a\xff\x1b[0m\n\tb"), "a\\xff\\e[0m\n\tb");
        assert_eq!(["é".as_bytes(), b"a\xc3", b"a\xe2\x82", b"a\xff", b""].map(unfinished), [0, 1, 2, 0, 0]);
    }

    /// Held against `git ls-files` with `core.quotePath=false`.
    #[test]
    fn paths_are_quoted_as_git_does() {
        assert_eq!(quoted("a b/ü.txt".as_bytes()), "a b/ü.txt");
        assert_eq!(quoted(b"a\nb\t\"c\\\x1b\x7f"), "\"a\\nb\\t\\\"c\\\\\\033\\177\"");
        assert_eq!(quoted(b"\xff"), "\"\\377\"");
        // git shows marks of direction raw; here they are seen.
        assert_eq!(quoted("\u{202e}".as_bytes()), "\"\\342\\200\\256\"");
    }
}
