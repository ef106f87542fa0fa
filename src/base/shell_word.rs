//! Words of commands that a shell reads.

/// A text as one word of a shell, quoted only where it has to be.
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@".contains(c);
    let is_plain = !word.is_empty() && word.chars().all(plain);
    if is_plain { word.to_owned() } else { quoted_word(word) }
}

/// A text as one word of a shell, in single quotes whatever it is.
pub fn quoted_word(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_would_read_otherwise_is_quoted() {
        assert_eq!(shell_word("/a/b-c.d"), "/a/b-c.d");
        assert_eq!(shell_word("/a b/it's $x"), r"'/a b/it'\''s $x'");
        assert_eq!(shell_word(""), "''");
        assert_eq!(quoted_word("plain"), "'plain'");
    }
}
