//! What is known by the ids that a side of the conversation gives. Whatever it begins and never ends, it costs no memory without a bound.

use std::collections::VecDeque;

/// The newest things, each by its id: of more than `MOST` the oldest are forgotten.
#[derive(Debug)]
pub(super) struct NewestById<T, const MOST: usize>(VecDeque<(String, T)>);

impl<T, const MOST: usize> Default for NewestById<T, MOST> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T, const MOST: usize> NewestById<T, MOST> {
    /// Adds one, whatever is known by that id.
    pub(super) fn add(&mut self, id: String, what: T) {
        if self.0.len() >= MOST {
            self.0.pop_front();
        }
        self.0.push_back((id, what));
    }

    /// The one with this id; a new one where none is known.
    pub(super) fn of(&mut self, id: &str) -> &mut T
    where
        T: Default,
    {
        let at = self.at(id).unwrap_or_else(|| {
            self.add(id.to_owned(), T::default());
            self.0.len() - 1
        });
        &mut self.0[at].1
    }

    /// Takes the one with this id out.
    pub(super) fn take(&mut self, id: &str) -> Option<T> {
        let at = self.at(id)?;
        self.0.remove(at).map(|(_, what)| what)
    }

    /// All, the oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &(String, T)> {
        self.0.iter()
    }

    /// Takes all out.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    fn at(&self, id: &str) -> Option<usize> {
        self.0.iter().position(|(known, _)| known == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_taken_once_and_the_oldest_are_forgotten() {
        const MOST: usize = 1000;
        let mut pending = NewestById::<usize, MOST>::default();
        for number in 0..MOST + 2 {
            pending.add(number.to_string(), number);
        }
        assert_eq!((pending.take("1"), pending.take("2"), pending.take("2")), (None, Some(2), None));
    }

    #[test]
    fn one_is_made_where_none_is_known() {
        let mut known = NewestById::<usize, 2>::default();
        for id in ["a", "b", "a", "c"] {
            *known.of(id) += 1;
        }
        assert_eq!(known.iter().map(|(id, count)| (id.as_str(), *count)).collect::<Vec<_>>(), [("b", 1), ("c", 1)]);
        assert_eq!((known.take("a"), *known.of("b")), (None, 1));
    }
}
