//! Times and paths for people. In JSON, times are RFC 3339 in UTC and paths are absolute.

use std::path::Path;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::visible::width;
use axiom_base::env;
use axiom_model::base::forms::times;

pub use axiom_model::base::forms::plural::{count, count_of, verb};

/// A time in the user's time zone, with what does not go without saying: see [`times::said`].
pub fn time(at: Timestamp) -> String {
    time_in(&env::time_zone(), at)
}

/// As [`time`], for many times in one zone.
pub fn time_in(zone: &TimeZone, at: Timestamp) -> String {
    times::said(zone, env::now(), at)
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

/// Where a line is folded so that its parts have so many columns, each part after the first behind this many spaces: the places of the
/// spaces that become line feeds. Words that are longer stay whole.
pub fn fold_points(line: &str, columns: usize, indent: usize) -> Vec<usize> {
    let begin = line.len() - line.trim_start().len();
    let (mut points, mut at, mut place) = (Vec::new(), begin, begin);
    for word in line.trim_start().split(' ') {
        let wide = width(word);
        if place > begin && at + 1 + wide > columns {
            points.push(place);
            at = indent;
        } else if place > begin {
            at += 1;
        }
        at += wide;
        place += word.len() + usize::from(place > begin);
    }
    points
}

/// A line that is folded, see [`fold_points`]; as it is where `columns` is not known.
pub fn folded(line: &str, columns: Option<usize>, indent: usize) -> String {
    let Some(columns) = columns else { return line.to_owned() };
    let (mut text, mut from) = (String::new(), 0);
    for point in fold_points(line, columns, indent) {
        text.push_str(&line[from..point]);
        text.push('\n');
        text.extend(std::iter::repeat_n(' ', indent));
        from = point + 1;
    }
    text + &line[from..]
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
