//! What a history decides by a seed.

use crate::common::random::Random;

/// A row of numbers that follows from a seed.
pub struct Dice(Random);

impl Dice {
    /// The row of this seed.
    pub fn of(seed: u64) -> Self {
        Self(Random::of(seed))
    }

    /// A number below `sides`.
    pub fn roll(&mut self, sides: u64) -> u64 {
        self.0.below(sides.max(1))
    }

    /// Whether it is the one case in `cases`.
    pub fn once_in(&mut self, cases: u64) -> bool {
        self.roll(cases) == 0
    }

    /// One of them.
    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        if all.is_empty() { None } else { all.get(self.roll(all.len() as u64) as usize) }
    }
}
