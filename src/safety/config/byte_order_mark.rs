//! The byte order mark with which some editors begin a file: it is no part of the text.

const MARK: &str = "\u{feff}";

/// The mark, which is empty where there is none, and the text after it.
pub fn split(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with(MARK) { MARK.len() } else { 0 })
}

/// The bytes after the mark.
pub fn without(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(MARK.as_bytes()).unwrap_or(bytes)
}
