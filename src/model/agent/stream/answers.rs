//! Tokens that a program tells of each answer of its model, added up. It may tell an answer on several lines, and those of several
//! answers (of agents that it runs itself) in turn.

use std::collections::VecDeque;

use super::stream_event::TokenUsage;

/// The most answers that may still be told again.
const MOST: usize = 100;

/// What the answers of a run used.
#[derive(Debug, Default)]
pub(super) struct ModelAnswerUsage {
    /// That of answers that are not told again.
    before: TokenUsage,
    /// The newest answers, each with what was told of it last.
    newest: VecDeque<(String, TokenUsage)>,
}

impl ModelAnswerUsage {
    /// Notes what is told of an answer; returns the sum, where it is another one than before.
    pub fn add(&mut self, answer: String, usage: TokenUsage) -> Option<TokenUsage> {
        match self.newest.iter_mut().find(|(known, _)| *known == answer) {
            Some((_, known)) if *known == usage => return None,
            Some((_, known)) => *known = usage,
            None => {
                if self.newest.len() >= MOST
                    && let Some((_, oldest)) = self.newest.pop_front()
                {
                    self.before = self.before.plus(&oldest);
                }
                self.newest.push_back((answer, usage));
            }
        }
        Some(self.newest.iter().fold(self.before, |sum, (_, usage)| sum.plus(usage)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_counts_once_with_what_was_told_last() {
        let usage = |input| TokenUsage { input: Some(input), output: Some(1), ..TokenUsage::default() };
        let mut answers = ModelAnswerUsage::default();
        let mut add = |id: &str, input| answers.add(id.into(), usage(input)).map(|sum| (sum.input, sum.output));
        assert_eq!(add("a", 10), Some((Some(10), Some(1))));
        assert_eq!(add("a", 10), None, "the same once more");
        assert_eq!(add("b", 5), Some((Some(15), Some(2))));
        assert_eq!(add("a", 11), Some((Some(16), Some(2))));
        for number in 0..MOST {
            add(&number.to_string(), 1);
        }
        assert_eq!(add("last", 1), Some((Some(16 + MOST as u64 + 1), Some(3 + MOST as u64))));
        assert_eq!(answers.newest.len(), MOST);
    }
}
