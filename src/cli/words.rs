//! Times and paths for people. In JSON, times are RFC 3339 in UTC and paths are absolute.

use std::path::Path;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::domain::base::times;
use crate::env;

pub use crate::domain::base::plural::{count, count_of, verb};

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_below_are_shortened() {
        let base = Some(Path::new("/a/repo"));
        assert_eq!(below(base, "/a/repo/.worktrees/x"), ".worktrees/x");
        assert_eq!(below(base, "/a/repository/x"), "/a/repository/x");
        assert_eq!(below(base, "/a/repo"), "/a/repo");
        assert_eq!(below(None, "/a/repo/x"), "/a/repo/x");
    }
}
