//! Times, numbers and paths as people are shown them. In JSON, times are RFC 3339 in UTC and paths absolute.

use std::path::Path;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::domain::branch_config::ConfigValue;
use crate::env;

/// Date and time to the second, in the user's own time zone.
pub fn time(at: Timestamp) -> String {
    time_in(&env::time_zone(), at)
}

/// As [`time`], where the zone was looked up already.
pub fn time_in(zone: &TimeZone, at: Timestamp) -> String {
    let local = zone.to_datetime(at);
    let mut text = String::with_capacity("2026-01-13 10:00:00".len());
    let mut push = |sign: &str, number: u32| {
        text.push_str(sign);
        text.extend([number / 10 % 10, number % 10].into_iter().filter_map(|digit| char::from_digit(digit, 10)));
    };
    // A list has thousands of times: `strftime` reads its format for each.
    let Ok(year) = u32::try_from(local.year()) else { return local.strftime("%Y-%m-%d %H:%M:%S").to_string() };
    push("", year / 100);
    push("", year);
    let parts = [("-", local.month()), ("-", local.day()), (" ", local.hour()), (":", local.minute()), (":", local.second())];
    for (sign, part) in parts {
        push(sign, u32::from(part.unsigned_abs()));
    }
    text
}

/// Values of a configuration, one after the other, branches by their short names.
pub fn said(values: &[ConfigValue]) -> String {
    let one = |one: &ConfigValue| match &one.value {
        Some(value) => format!("{} {}", one.key, value.strip_prefix("refs/heads/").unwrap_or(value)),
        None => one.key.clone(),
    };
    values.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// The time of day to the second, in the user's own time zone.
pub fn clock(at: Timestamp) -> String {
    at.to_zoned(env::time_zone()).strftime("%H:%M:%S").to_string()
}

/// A number with its word: `1 task`, `2 tasks`. Verbs behind it agree by [`verb`].
pub fn count(number: impl TryInto<u64>, one: &str) -> String {
    let number: u64 = number.try_into().unwrap_or(u64::MAX);
    if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") }
}

/// As [`count`], where more than one is another word.
pub fn count_of(number: u64, one: &str, many: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {many}") }
}

/// The form of a verb that fits the number.
pub fn verb<'a>(number: usize, one: &'a str, many: &'a str) -> &'a str {
    if number == 1 { one } else { many }
}

/// A path as seen from `base` where it is below it, and whole elsewhere.
pub fn below(base: Option<&Path>, path: &str) -> String {
    let relative = base.and_then(|base| Path::new(path).strip_prefix(base).ok());
    match relative {
        Some(relative) if !relative.as_os_str().is_empty() => relative.display().to_string(),
        Some(_) | None => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_no_plural() {
        assert_eq!([count(0_u32, "task"), count(1_usize, "task"), count(2_u64, "task")], ["0 tasks", "1 task", "2 tasks"]);
        assert_eq!([verb(1, "is", "are"), verb(0, "is", "are")], ["is", "are"]);
    }

    #[test]
    fn times_are_written_as_jiff_writes_them() {
        let east = TimeZone::fixed(jiff::tz::offset(3));
        for seconds in (-70_000_000_000_i64..200_000_000_000).step_by(987_654_321) {
            for zone in [&TimeZone::UTC, &east] {
                let at = Timestamp::new(seconds, 999_000_000).unwrap();
                assert_eq!(time_in(zone, at), at.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S").to_string());
            }
        }
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
