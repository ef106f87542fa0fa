//! Pseudo-random numbers, determined by a seed, the same on every machine.

#![allow(dead_code)]

/// A sequence of numbers (splitmix64).
pub struct Random(pub u64);

impl Random {
    /// The seed is mixed first: otherwise the sequence of seed + 1 would be similar to that of the seed.
    pub fn of(seed: u64) -> Self {
        let mut mixed = Self(seed.wrapping_mul(0xd134_2543_de82_ef95) ^ 0x5851_f42d_4c95_7f2d);
        Self(mixed.below(u64::MAX))
    }

    /// The next number below `limit`; 0 where there is none.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit.max(1)
    }

    /// Whether it is the one case in `cases`.
    pub fn once_in(&mut self, cases: u64) -> bool {
        self.below(cases) == 0
    }

    /// One of them.
    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        if all.is_empty() { None } else { all.get(self.below(all.len() as u64) as usize) }
    }
}
