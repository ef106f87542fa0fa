//! A hash of texts, to recognise the same call, question or answer again.

use sha2::{Digest as _, Sha256};

use crate::base::forms::hex::to_hex;

/// The hash of texts, one after the other.
pub fn text_hash(parts: &[&str]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part.as_bytes());
        hasher.update([0]);
    }
    to_hex(&hasher.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_one_text_ends_counts() {
        assert_eq!(text_hash(&["a", "b"]), text_hash(&["a", "b"]));
        assert_ne!(text_hash(&["a", "b"]), text_hash(&["ab"]));
        assert_ne!(text_hash(&["a"]), text_hash(&["a", ""]));
        assert_eq!(text_hash(&[]).len(), 64);
    }
}
