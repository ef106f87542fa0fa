//! When a transaction began, from its id alone: `t`, eight random digits, and nine with the number of the last event before it. So
//! whoever reads only the end of the log knows which transactions are complete there.
//!
//! All digits are hexadecimal, since what is named after a transaction in a trash is recognised by them. Older ids have sixteen
//! random digits, and prove nothing.

use super::ids::OperationId;
use axiom_base::error::Result;

/// How many of the random digits are in an id: enough for transactions that begin after the same event.
const RANDOM: usize = 8;

/// How many digits the number has.
const NUMBER: usize = 9;

impl OperationId {
    /// The id of a transaction that begins now: none of its events is in the log yet, whose last event has the number `seq`.
    pub fn begun_after(seq: u64, random: &str) -> Result<Self> {
        let random = random.get(random.len().saturating_sub(RANDOM)..).unwrap_or(random);
        Self::new(format!("t{random}{seq:0NUMBER$x}"))
    }

    /// Whether it is certain that all events of the transaction come after event `seq`, where `first` is the earliest known one.
    pub fn is_begun_within(&self, seq: u64, first: u64) -> bool {
        // An id of a log that was lost since may have a number that this log has not reached: that proves nothing.
        self.last_before().is_some_and(|before| seq <= before && before < first)
    }

    fn last_before(&self) -> Option<u64> {
        let digits = self.as_str().strip_prefix('t').filter(|digits| digits.len() == RANDOM + NUMBER)?;
        let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hex.then(|| u64::from_str_radix(&digits[RANDOM..], 16).ok()).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_proves_that_its_transaction_began_after_an_event() {
        let id = OperationId::begun_after(0x120, "0123456789abcdef").unwrap();
        assert_eq!(id.as_str(), "t89abcdef000000120");
        assert!(id.is_begun_within(0x120, 0x121) && id.is_begun_within(0, 0x500));
        assert!(!id.is_begun_within(0x121, 0x122), "it may have an event before that one");
        assert!(!id.is_begun_within(0x100, 0x120), "no event of it can have this number");
    }

    #[test]
    fn other_ids_prove_nothing() {
        let too_far = OperationId::begun_after(u64::MAX, "0123456789abcdef").unwrap();
        assert!(!too_far.is_begun_within(0, u64::MAX));
        for id in ["t0123456789abcdef", "t1", "t0", "x89abcdef000000120", "t89abcdeg000000120", "t89abcdef0000001200"] {
            assert!(!OperationId::new(id).unwrap().is_begun_within(0, u64::MAX), "{id}");
        }
    }
}
