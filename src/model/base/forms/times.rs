//! Times for people, in their time zone. What goes without saying is left out: today's date, and the present offset from UTC.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Date and time to the second.
fn local(zone: &TimeZone, at: Timestamp) -> String {
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

/// A time to the second with its date and its offset from UTC, for what may be of another day and is copied elsewhere.
pub fn whole(zone: &TimeZone, at: Timestamp) -> String {
    format!("{} {}", local(zone, at), at.to_zoned(zone.clone()).strftime("%z"))
}

/// A time to the second: with its date where that is not today's, and with its offset from UTC where that is not the present one.
pub fn said(zone: &TimeZone, now: Timestamp, at: Timestamp) -> String {
    let text = local(zone, at);
    let today = local(zone, now);
    let day = "2026-01-13".len();
    let shown = match (text.split_at_checked(day), today.split_at_checked(day)) {
        (Some((date, clock)), Some((present, _))) if date == present => clock.trim_start(),
        (_, _) => text.as_str(),
    };
    let offset = zone.to_offset(at);
    if offset == zone.to_offset(now) {
        return shown.to_owned();
    }
    format!("{shown} {}", at.to_zoned(zone.clone()).strftime("%z"))
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
            }
        }
    }

    #[test]
    fn a_span_has_two_units_at_most() {
        let spans = [0, 45, 1200, 7500, 3600, 273_661].map(span);
        assert_eq!(spans, ["0s", "45s", "20min", "2h 5min", "1h", "3d 4h"]);
    }

    #[test]
    fn what_goes_without_saying_is_left_out() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let now = at("2026-07-13T22:30:00Z");
        let east = TimeZone::fixed(jiff::tz::offset(2));
        assert_eq!(said(&TimeZone::UTC, now, at("2026-07-13T10:00:00Z")), "10:00:00");
        assert_eq!(said(&TimeZone::UTC, now, at("2026-07-12T10:00:00Z")), "2026-07-12 10:00:00");
        assert_eq!(said(&east, now, at("2026-07-13T22:00:00Z")), "00:00:00", "the day is that of the user");
        assert_eq!(said(&east, now, at("2026-07-13T21:59:59Z")), "2026-07-13 23:59:59");
        if let Ok(berlin) = TimeZone::get("Europe/Berlin") {
            assert_eq!(said(&berlin, now, at("2026-01-13T10:00:00Z")), "2026-01-13 11:00:00 +0100");
            assert_eq!(said(&berlin, now, at("2026-07-13T10:00:00Z")), "2026-07-13 12:00:00");
        }
    }
}
