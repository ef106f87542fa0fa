//! Times for people, in their time zone. The zone is always shown.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Date and time to the second, without the zone, for places where a heading shows the zone.
pub fn local(zone: &TimeZone, at: Timestamp) -> String {
    let local = zone.to_datetime(at);
    let mut text = String::with_capacity("2026-01-13 10:00:00".len());
    let mut push = |sign: &str, number: u32| {
        text.push_str(sign);
        text.extend([number / 10 % 10, number % 10].into_iter().filter_map(|digit| char::from_digit(digit, 10)));
    };
    // Not `strftime`, which parses its format for each time: a list can have thousands of times.
    let Ok(year) = u32::try_from(local.year()) else { return local.strftime("%Y-%m-%d %H:%M:%S").to_string() };
    push("", year / 100);
    push("", year);
    let parts = [("-", local.month()), ("-", local.day()), (" ", local.hour()), (":", local.minute()), (":", local.second())];
    for (sign, part) in parts {
        push(sign, u32::from(part.unsigned_abs()));
    }
    text
}

/// Date and time to the second, with the offset from UTC in git's format.
pub fn with_zone(zone: &TimeZone, at: Timestamp) -> String {
    format!("{} {}", local(zone, at), at.to_zoned(zone.clone()).strftime("%z"))
}

/// The name of a zone; where it has none, its offset from UTC at that time.
pub fn zone_name(zone: &TimeZone, at: Timestamp) -> String {
    match zone.iana_name() {
        Some(name) => name.to_owned(),
        None if *zone == TimeZone::UTC => "UTC".to_owned(),
        None => at.to_zoned(zone.clone()).strftime("%z").to_string(),
    }
}

/// A length of time in at most two units: `45s`, `20min`, `2h 5min`, `3d 4h`.
pub fn span(seconds: u64) -> String {
    const UNITS: [(u64, &str); 4] = [(86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")];
    let mut rest = seconds;
    let mut parts = Vec::new();
    for (length, unit) in UNITS {
        let number = rest / length;
        rest %= length;
        if number > 0 {
            parts.push(format!("{number}{unit}"));
        }
    }
    parts.truncate(2);
    if parts.is_empty() { "0s".to_owned() } else { parts.join(" ") }
}

/// A length of time that may be short: `0.3s`, below a minute; else as [`span`].
pub fn short_span(milliseconds: u64) -> String {
    match milliseconds {
        0..60_000 => format!("{}.{}s", milliseconds / 1000, milliseconds % 1000 / 100),
        _ => span(milliseconds / 1000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_jiff_writes_them() {
        let east = TimeZone::fixed(jiff::tz::offset(3));
        for seconds in (-70_000_000_000_i64..200_000_000_000).step_by(987_654_321) {
            for zone in [&TimeZone::UTC, &east] {
                let at = Timestamp::new(seconds, 999_000_000).unwrap();
                let zoned = at.to_zoned(zone.clone());
                assert_eq!(local(zone, at), zoned.strftime("%Y-%m-%d %H:%M:%S").to_string());
                assert_eq!(with_zone(zone, at), zoned.strftime("%Y-%m-%d %H:%M:%S %z").to_string());
            }
        }
    }

    #[test]
    fn a_span_has_two_units_at_most() {
        let spans = [0, 45, 1200, 7500, 3600, 273_661].map(span);
        assert_eq!(spans, ["0s", "45s", "20min", "2h 5min", "1h", "3d 4h"]);
    }

    #[test]
    fn a_zone_has_a_name() {
        let at = Timestamp::UNIX_EPOCH;
        assert_eq!(zone_name(&TimeZone::UTC, at), "UTC");
        assert_eq!(zone_name(&TimeZone::fixed(jiff::tz::offset(-3)), at), "-0300");
        assert_eq!(with_zone(&TimeZone::fixed(jiff::tz::offset(3)), at), "1970-01-01 03:00:00 +0300");
    }
}
