//! Values made of what is known: lists, what is cut, what is cleaned. Pure.

use crate::base::forms::plural::count_of;

/// A text without control characters other than line breaks and tabs, at most `most` bytes of it. What is cut says so, with where the
/// rest is.
pub fn text(text: &str, most: usize, rest: &str) -> String {
    let clean: String = text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect();
    let clean = clean.trim_end();
    if clean.len() <= most {
        return clean.to_owned();
    }
    let end = (0..=most).rev().find(|at| clean.is_char_boundary(*at)).unwrap_or(0);
    format!("{}\n\n[Cut here: {} more{rest}]", &clean[..end], count_of(clean.len() - end, "byte", "bytes"))
}

/// The beginning of a text, in one line.
pub fn line(text: &str, most: usize) -> String {
    let mut chars = text.trim().chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut line: String = chars.by_ref().take(most).collect();
    if chars.next().is_some() {
        line.push('…');
    }
    line
}

/// A list in Markdown of at most `most` items and `bytes` bytes; of what is left out it says how much it is.
pub fn list<T: AsRef<str>>(items: &[T], most: usize, bytes: usize) -> String {
    let mut out = String::new();
    let mut shown = 0;
    for item in items.iter().take(most) {
        let item = text(item.as_ref(), bytes, "").replace('\n', "\n  ");
        if !out.is_empty() && out.len() + item.len() > bytes {
            break;
        }
        out.push_str("- ");
        out.push_str(&item);
        out.push('\n');
        shown += 1;
    }
    let left = items.len() - shown;
    if left > 0 {
        out.push_str(&format!("- and {left} more, left out here\n"));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_says_so() {
        assert_eq!(text("a\u{1b}[1mb\0\n\tc\n\n", 100, ""), "a[1mb\n\tc");
        assert_eq!(text("aéé", 2, ": see x"), "a\n\n[Cut here: 4 bytes more: see x]");
        assert_eq!(line(" a\nb\u{7}c ", 3), "a b…");
        assert_eq!(line("abc", 3), "abc");
    }

    #[test]
    fn lists_are_cut_by_number_and_size() {
        assert_eq!(list(&["a\nb", "c"], 5, 100), "- a\n  b\n- c\n");
        assert_eq!(list(&["a", "b", "c"], 2, 100), "- a\n- b\n- and 1 more, left out here\n");
        let long = "x".repeat(60);
        let cut = list(&[long.as_str(), long.as_str()], 5, 100);
        assert!(cut.ends_with("x\n- and 1 more, left out here\n"), "{cut}");
        assert_eq!(list::<&str>(&[], 5, 100), "");
    }
}
