//! How a text is broken into lines of the screen, and how many of them there are below the views. Pure.

use ratatui::text::Span;

use crate::cli::visible;

/// A text in lines of so many columns, broken between words; what follows a break is indented as the line is.
pub fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let text = visible::line(text);
    if columns == 0 || Span::raw(text.as_ref()).width() <= columns {
        return vec![text.into_owned()];
    }
    let indent = text.len() - text.trim_start_matches(' ').len();
    let indent = (indent + if text.trim_start().starts_with("• ") { 2 } else { 0 }).min(columns / 2);
    let mut lines = Vec::new();
    let (mut line, mut used) = (String::new(), 0);
    for word in text.split_inclusive(' ') {
        let wide = Span::raw(word.trim_end()).width();
        if used + wide > columns && used > indent {
            lines.push(line.trim_end().to_owned());
            (line, used) = (" ".repeat(indent), indent);
        }
        for letter in word.chars() {
            let wide = Span::raw(letter.to_string()).width();
            if used + wide > columns {
                if letter == ' ' {
                    break;
                }
                lines.push(std::mem::replace(&mut line, " ".repeat(indent)));
                used = indent;
            }
            line.push(letter);
            used += wide;
        }
    }
    if !line.trim().is_empty() {
        lines.push(line.trim_end().to_owned());
    }
    lines
}

/// What is told below the views, in its lines.
pub fn below(text: &str, columns: u16) -> Vec<String> {
    wrapped(text, usize::from(columns).saturating_sub(1))
}

/// How many lines there are for it: it takes little of the views.
pub fn most_below(height: u16) -> u16 {
    (height / 5).clamp(1, 3)
}

/// Whether all of a text has room there; else it needs a dialog.
pub fn fits_below(text: &str, (width, height): (u16, u16)) -> bool {
    below(text, width).len() <= usize::from(most_below(height))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_broken_between_words_and_nothing_is_lost() {
        assert_eq!(wrapped("• one two three", 8), ["• one", "  two", "  three"]);
        assert_eq!(wrapped("  /a/very/long/path", 10), ["  /a/very/", "  long/pat", "  h"]);
        assert_eq!(wrapped("中文字中文字", 5), ["中文", "字中", "文字"]);
        for columns in 1..20 {
            let all = wrapped("the quick  brown fox jumps over the lazy dog", columns);
            assert!(all.iter().all(|line| Span::raw(line.as_str()).width() <= columns), "{columns}: {all:?}");
            assert_eq!(all.concat().replace(' ', ""), "thequickbrownfoxjumpsoverthelazydog", "{columns}");
        }
    }
}
