//! The beginning of a text that is too long to be shown.

/// At most so many characters of a text; where it is longer, with `…` after them.
pub fn beginning(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_longer_is_cut() {
        assert_eq!((beginning("ééé", 3).as_str(), beginning("éééé", 3).as_str()), ("ééé", "ééé…"));
        assert_eq!((beginning("", 0).as_str(), beginning("a", 0).as_str()), ("", "…"));
    }
}
