//! How amounts of money, tokens and time are written by people and for them. Pure.

use crate::base::forms::with_unit::{SECONDS, with_unit};
use crate::work::usd::Usd;
use axiom_base::error::{Code, Error, Result};

/// Reads an amount of money: `5`, `$2.50`, `3 USD`.
pub fn cost(text: &str) -> Result<Usd> {
    let lower = text.trim().to_ascii_lowercase();
    let number = lower.strip_prefix('$').or_else(|| lower.strip_suffix("usd")).unwrap_or(&lower).trim();
    let usd = number.parse::<f64>().ok().and_then(Usd::of).filter(|usd| usd.0 > 0);
    usd.ok_or_else(|| refused(text, "an amount of money", "give US dollars above 0, such as 5 or 2.50"))
}

/// Reads a number of tokens: `200000`, `200k`, `1.5M`.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub fn tokens(text: &str) -> Result<u64> {
    let lower = text.trim().to_ascii_lowercase();
    let (number, factor) = match lower.strip_suffix(['k', 'm']) {
        Some(number) if lower.ends_with('k') => (number, 1e3),
        Some(number) => (number, 1e6),
        None => (lower.as_str(), 1.0),
    };
    let tokens = number.trim().replace(['_', ','], "").parse::<f64>().ok().map(|number| (number * factor).round());
    let tokens = tokens.filter(|tokens| (1.0..=1e15).contains(tokens)).map(|tokens| tokens as u64);
    tokens.ok_or_else(|| refused(text, "a number of tokens", "give a number above 0, such as 200000, 200k or 1.5M"))
}

/// Reads a time: `90s`, `5min`, `2h`; a number alone is seconds.
pub fn seconds(text: &str) -> Result<u64> {
    let seconds = with_unit(text, &[&[("", 1)], SECONDS].concat());
    let seconds = seconds.filter(|seconds| (1..=1_000_000_000).contains(seconds));
    seconds.ok_or_else(|| refused(text, "a time", "give a time above 0, such as 90s, 5min or 2h"))
}

/// A number with separators between thousands.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

fn refused(text: &str, what: &str, hint: &str) -> Error {
    Error::new(Code::InvalidInput, format!("'{text}' is not {what}")).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_with_their_units() {
        assert_eq!(
            (cost("5").unwrap(), cost("$2.50").unwrap(), cost("3 usd").unwrap()),
            (Usd(5_000_000), Usd(2_500_000), Usd(3_000_000))
        );
        assert_eq!((tokens("200k").unwrap(), tokens("1.5M").unwrap(), tokens("1,000").unwrap()), (200_000, 1_500_000, 1000));
        assert_eq!((seconds("90").unwrap(), seconds("5min").unwrap(), seconds("2h").unwrap()), (90, 300, 7200));
        for bad in ["", "0", "-1", "x", "nan", "1e99", "$"] {
            assert!(cost(bad).is_err() && tokens(bad).is_err() && seconds(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn thousands_are_told_apart() {
        assert_eq!([0, 999, 1000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
    }
}
