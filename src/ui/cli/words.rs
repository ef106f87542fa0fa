//! Times and paths for people. In JSON, times are RFC 3339 in UTC and paths are absolute.

use std::ops::Range;
use std::path::Path;

use jiff::Timestamp;

use super::visible::width;
use axiom_base::env;
use axiom_model::base::forms::times;

pub use axiom_model::base::forms::plural::{count, count_of, verb};

/// A time in the user's time zone, with what does not go without saying: see [`times::said`].
pub fn time(at: Timestamp) -> String {
    times::said(&env::time_zone(), env::now(), at)
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

/// Programs whose calls are shown to people who copy them.
const SHOWN_PROGRAMS: [&str; 3] = ["git ", "mv ", "rm "];

/// Where a command stands in a line: at its beginning, or behind `: `, a quotation mark or a bracket.
fn commands(line: &str) -> Vec<Range<usize>> {
    let indented = line.len() - line.trim_start().len();
    let mut found: Vec<Range<usize>> = Vec::new();
    for (at, _) in line.char_indices() {
        let (before, rest) = line.split_at(at);
        let is_inside = found.last().is_some_and(|one| one.end > at);
        if is_inside || !SHOWN_PROGRAMS.iter().any(|program| rest.starts_with(program)) {
            continue;
        }
        let ends: &[&str] = match before.chars().next_back() {
            Some('\'') => &["'"],
            Some('(') => &[")"],
            _ if at == indented || before.ends_with(": ") => &["   ", "; ", ", "],
            _ => continue,
        };
        let long = ends.iter().filter_map(|end| rest.find(end)).min().unwrap_or(rest.len());
        found.push(at..at + long);
    }
    found
}

/// Where a line is folded so that its parts have so many columns, each part after the first behind this many spaces: the places of the
/// spaces that become line feeds. Words that are longer stay whole, and commands: a terminal breaks them so that they can be copied.
pub fn fold_points(line: &str, columns: usize, indent: usize) -> Vec<usize> {
    let begin = line.len() - line.trim_start().len();
    let commands = if width(line) > columns { commands(line) } else { Vec::new() };
    let is_whole = |place: usize| commands.iter().any(|command| command.contains(&place));
    let breaks = line.match_indices(' ').map(|(place, _)| place).filter(|place| *place >= begin && !is_whole(*place));
    let mut ends: Vec<usize> = breaks.collect();
    ends.push(line.len());
    let (mut points, mut at, mut place) = (Vec::new(), begin, begin);
    for end in ends {
        let wide = width(&line[place + usize::from(place > begin)..end]);
        if place > begin && at + 1 + wide > columns {
            points.push(place);
            at = indent;
        } else if place > begin {
            at += 1;
        }
        at += wide;
        place = end;
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
    fn a_command_stays_whole_so_that_it_can_be_copied() {
        let long = "  git fetch --no-tags /a/long/path/of/a/bundle 'refs/axiom/*:refs/axiom/*'";
        assert_eq!(folded(long, Some(30), 4), long);
        let told = "Edit, git add. Then: git axiom rollback task t3 --cascade --resolve";
        assert_eq!(folded(told, Some(40), 2), "Edit, git add. Then:\n  git axiom rollback task t3 --cascade --resolve");
        let quoted = "it goes on with 'git axiom run --until-idle' as before";
        assert_eq!(folded(quoted, Some(31), 0), "it goes on with\n'git axiom run --until-idle' as\nbefore");
        let explained = "hint: git axiom run --retry    starts those again that were stopped";
        assert_eq!(folded(explained, Some(37), 2), "hint: git axiom run --retry    starts\n  those again that were stopped");
        let many = "It waits: git axiom gate list, git axiom task list";
        assert_eq!(folded(many, Some(32), 0), "It waits: git axiom gate list,\ngit axiom task list");
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
