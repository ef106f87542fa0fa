//! Requests whose answers are waited for, by their ids. A side that never answers costs no memory without a bound.

use std::collections::VecDeque;

/// The most requests that are known: the oldest are forgotten.
const MOST: usize = 1000;

/// Requests of one side.
#[derive(Debug)]
pub(super) struct PendingAcpRequests<T>(VecDeque<(String, T)>);

impl<T> Default for PendingAcpRequests<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T> PendingAcpRequests<T> {
    /// A request was made.
    pub(super) fn add(&mut self, id: String, what: T) {
        if self.0.len() >= MOST {
            self.0.pop_front();
        }
        self.0.push_back((id, what));
    }

    /// The request that this answers.
    pub(super) fn answered(&mut self, id: &str) -> Option<T> {
        let at = self.0.iter().position(|(known, _)| known == id)?;
        self.0.remove(at).map(|(_, what)| what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_taken_once_and_the_oldest_are_forgotten() {
        let mut pending = PendingAcpRequests::default();
        for number in 0..MOST + 2 {
            pending.add(number.to_string(), number);
        }
        assert_eq!((pending.answered("1"), pending.answered("2"), pending.answered("2")), (None, Some(2), None));
    }
}
