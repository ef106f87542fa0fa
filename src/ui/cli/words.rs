//! Times and paths for people. In JSON, times are RFC 3339 in UTC and paths are absolute.

use std::path::Path;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::screen::width;
use axiom_base::env;
use axiom_model::base::forms::times;

pub use axiom_model::base::forms::plural::{count, count_of, verb};

/// Date and time to the second, in the user's time zone, with its offset.
pub fn time(at: Timestamp) -> String {
    times::with_zone(&env::time_zone(), at)
}

/// As [`time`], without the zone, for a column whose heading has it: see [`time_heading`].
pub fn time_in(zone: &TimeZone, at: Timestamp) -> String {
    times::local(zone, at)
}

/// The heading of a column of times: `word` and the zone.
pub fn time_heading(word: &str) -> String {
    format!("{word} ({})", times::zone_name(&env::time_zone(), env::file_clock().try_into().unwrap_or(Timestamp::UNIX_EPOCH)))
}

/// The time of day to the second, in the user's time zone.
pub fn clock(at: Timestamp) -> String {
    at.to_zoned(env::time_zone()).strftime("%H:%M:%S").to_string()
}

/// A path relative to `base` if it is below it; otherwise the whole path.
pub fn below(base: Option<&Path>, path: &str) -> String {
    let relative = base.and_then(|base| Path::new(path).strip_prefix(base).ok());
    match relative {
        Some(relative) if !relative.as_os_str().is_empty() => relative.display().to_string(),
        Some(_) | None => path.to_owned(),
    }
}

/// A line, cut at spaces so that its parts have so many columns, each part after the first behind this many spaces. Words that are longer
/// stay whole, and so does the line where `columns` is not known.
pub fn folded(line: &str, columns: Option<usize>, indent: usize) -> String {
    let Some(columns) = columns else { return line.to_owned() };
    let begin = line.len() - line.trim_start().len();
    let (mut text, mut at) = (line.get(..begin).unwrap_or_default().to_owned(), begin);
    for (place, word) in line.trim_start().split(' ').enumerate() {
        let wide = width(word);
        if place > 0 && at + 1 + wide > columns {
            text.push('\n');
            text.extend(std::iter::repeat_n(' ', indent));
            at = indent;
        } else if place > 0 {
            text.push(' ');
            at += 1;
        }
        text.push_str(word);
        at += wide;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_cut_at_spaces() {
        assert_eq!(folded("  ab cd  ef", Some(7), 3), "  ab cd\n    ef");
        assert_eq!(folded("  ab cd ef", Some(80), 3), "  ab cd ef");
        assert_eq!(folded("ab abcdefghij k", Some(5), 1), "ab\n abcdefghij\n k");
        assert_eq!(folded("中文 中文", Some(8), 0), "中文\n中文");
        assert_eq!(folded("ab cd", None, 3), "ab cd");
        assert_eq!(folded("   ", Some(2), 0), "   ");
    }

    #[test]
    fn only_paths_below_are_shortened() {
        let base = Some(Path::new("/a/repo"));
        assert_eq!(below(base, "/a/repo/.worktrees/x"), ".worktrees/x");
        assert_eq!(below(base, "/a/repository/x"), "/a/repository/x");
        assert_eq!(below(base, "/a/repo"), "/a/repo");
        assert_eq!(below(None, "/a/repo/x"), "/a/repo/x");
    }
}
