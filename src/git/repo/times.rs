//! Times in the forms that git accepts: `10:30`, `yesterday`, `1 hour ago`, `2026-11-22T10:30`.

use jiff::Timestamp;

use axiom_base::env;
use axiom_base::error::{Code, Error, Result};

use super::repository::Repository;

/// The largest difference in seconds between git's clock and ours at the same moment.
const SAME_MOMENT: i64 = 2;

impl Repository {
    /// The time that a text means, parsed by git.
    pub fn time_of(&self, text: &str) -> Result<Timestamp> {
        let unclear = || {
            Error::new(Code::InvalidInput, format!("'{text}' is not a time that git understands"))
                .hint("for example: 10:30, '1 hour ago', yesterday, 2026-11-22T10:30")
        };
        let output = self.git().args(["rev-parse", &format!("--since={text}")]).run_ok()?;
        let said = String::from_utf8_lossy(&output.stdout);
        let seconds = said.trim().strip_prefix("--max-age=").and_then(|number| number.parse::<i64>().ok()).ok_or_else(unclear)?;
        let is_now = (seconds - gits_now()).abs() <= SAME_MOMENT;
        if is_now && !says_now(text) {
            return Err(unclear());
        }
        Timestamp::from_second(seconds).map_err(|_| unclear())
    }
}

/// The time that git takes as the current one: the machine's clock.
fn gits_now() -> i64 {
    Timestamp::try_from(env::file_clock()).map_or(0, |now| now.as_second())
}

/// Whether a text explicitly means the current time.
fn says_now(text: &str) -> bool {
    let word = text.trim().to_ascii_lowercase();
    ["now", "0 seconds ago", "0 minutes ago"].contains(&word.as_str())
        // A full date, or seconds since 1970: it may be the current time by chance.
        || word.starts_with('@')
        || (word.chars().filter(char::is_ascii_digit).count() >= 6 && word.chars().any(|c| c == ':'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::scratch::ScratchRepository;

    #[test]
    fn times_are_read_as_git_reads_them_and_nonsense_is_not_now() {
        let scratch = ScratchRepository::new(&[]);
        let repo = scratch.repo();
        let at = |text: &str| repo.time_of(text).map(|at| at.as_second());
        assert_eq!(at("2026-01-13T12:00:00Z").unwrap(), 1_768_305_600);
        assert_eq!(at("@1700000000").unwrap(), 1_700_000_000);
        let now = gits_now();
        assert!((now - 3600 - at("1 hour ago").unwrap()).abs() <= SAME_MOMENT);
        assert!((now - at("now").unwrap()).abs() <= SAME_MOMENT);
        for nonsense in ["nonsense", "", "safe", "bfore-merge", "--help", "-n"] {
            assert_eq!(at(nonsense).unwrap_err().code(), Code::InvalidInput, "{nonsense}");
        }
    }
}
