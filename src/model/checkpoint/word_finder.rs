//! Whether a text has one of many words: one pass over the text, however many words there are. Pure.

use std::collections::HashMap;

/// How many bytes of each word are looked up first. Shorter words are not looked for.
pub const PREFIX: usize = 8;

/// How many bits say whether a prefix may be one, and how a prefix becomes the number of its bit.
const BITS: usize = 1 << 16;
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Words that are looked for.
#[derive(Debug, Clone, Default)]
pub struct WordFinder {
    words: HashMap<[u8; PREFIX], Vec<Vec<u8>>>,
    may_be: Vec<u64>,
}

impl WordFinder {
    /// A finder of these words.
    pub fn of<'w>(words: impl IntoIterator<Item = &'w [u8]>) -> Self {
        let mut made = Self { words: HashMap::new(), may_be: vec![0; BITS / 64] };
        for word in words {
            let Some(prefix) = word.first_chunk::<PREFIX>() else { continue };
            let bit = bit(*prefix);
            made.may_be.iter_mut().skip(bit / 64).take(1).for_each(|some| *some |= 1 << (bit % 64));
            made.words.entry(*prefix).or_default().push(word.to_vec());
        }
        made
    }

    /// Whether there is nothing to look for.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether one of the words is in the text.
    pub fn is_in(&self, text: &[u8]) -> bool {
        let begins_at = |at: usize, prefix: [u8; PREFIX]| {
            let rest = text.get(at..).unwrap_or_default();
            self.words.get(&prefix).is_some_and(|words| words.iter().any(|word| rest.starts_with(word)))
        };
        !self.is_empty()
            && text.windows(PREFIX).enumerate().any(|(at, window)| {
                let Some(prefix) = window.first_chunk::<PREFIX>() else { return false };
                let bit = bit(*prefix);
                self.may_be.get(bit / 64).is_some_and(|some| some >> (bit % 64) & 1 == 1) && begins_at(at, *prefix)
            })
    }
}

fn bit(prefix: [u8; PREFIX]) -> usize {
    let spread = u64::from_le_bytes(prefix).wrapping_mul(SPREAD);
    usize::try_from(spread >> 48).unwrap_or_default() % BITS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_wherever_they_are_and_nothing_else_is() {
        let words: Vec<String> = (0..500).map(|number| format!("secret-word-{number}.")).collect();
        let finder = WordFinder::of(words.iter().map(String::as_bytes));
        for text in ["secret-word-7.", "x secret-word-499.", "secret-secret-word-12. y"] {
            assert!(finder.is_in(text.as_bytes()), "{text}");
        }
        for text in ["", "secret", "secret-word-500.", "secret-word-7", "secret-wore-7."] {
            assert!(!finder.is_in(text.as_bytes()), "{text}");
        }
        assert!(WordFinder::of([b"short".as_slice()]).is_empty());
    }
}
