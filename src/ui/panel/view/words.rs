//! Short words for columns.

use jiff::Timestamp;

use axiom_model::work::money::amounts::thousands;

/// A time in a few columns: `45s`, `12m`, `3h05`, `4d`.
pub fn age(since: Timestamp, now: Timestamp) -> String {
    let seconds = now.duration_since(since).as_secs().max(0);
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..86_400 => format!("{}h{:02}", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// A number of tokens in a few columns.
pub fn tokens(tokens: u64) -> String {
    match tokens {
        0..10_000 => thousands(tokens),
        10_000..1_000_000 => format!("{}k", tokens / 1000),
        _ => format!("{}.{}M", tokens / 1_000_000, tokens % 1_000_000 / 100_000),
    }
}

/// An amount of money.
pub fn cost(dollars: f64) -> String {
    format!("${dollars:.2}")
}

/// A bar of so many columns.
pub fn bar(percent: u8, columns: usize) -> String {
    let full = usize::from(percent.min(100)) * columns / 100;
    format!("{}{}", "█".repeat(full), "░".repeat(columns - full))
}

/// A text, or a dash.
pub fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "-".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_short() {
        let now = Timestamp::UNIX_EPOCH;
        let after = |seconds: i64| age(now, now + jiff::SignedDuration::from_secs(seconds));
        assert_eq!([0, 59, 60, 3599, 3900, 90_000].map(after), ["0s", "59s", "1m", "59m", "1h05", "1d"]);
        assert_eq!(age(now + jiff::SignedDuration::from_secs(5), now), "0s", "a clock that went back");
        assert_eq!([0, 9_999, 12_345, 3_250_000].map(tokens), ["0", "9,999", "12k", "3.2M"]);
        assert_eq!(["0", "50", "100", "200"].map(|percent| bar(percent.parse().unwrap(), 4)), ["░░░░", "██░░", "████", "████"]);
    }
}
