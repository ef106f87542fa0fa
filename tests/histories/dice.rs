//! Small, seeded, the same everywhere (splitmix64).

/// A row of numbers that follows from a seed.
pub struct Dice(u64);

impl Dice {
    /// Mixed first: the numbers of seed + 1 would be those of the seed, one further.
    pub fn of(seed: u64) -> Self {
        let mut dice = Self(seed.wrapping_mul(0xD134_2543_DE82_EF95) ^ 0x5851_F42D_4C95_7F2D);
        Self(dice.roll(u64::MAX))
    }

    /// A number below `sides`.
    pub fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (word ^ (word >> 31)) % sides.max(1)
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
