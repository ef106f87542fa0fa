//! Amounts of money in US dollars, as whole numbers of a small part, so that sums are exact.

use serde::{Deserialize, Serialize};

/// US dollars, in millionths: they are compared and added exactly. In JSON a number of dollars.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Usd(pub u64);

impl Usd {
    /// So many dollars; `None` where that is no amount of money.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub fn of(dollars: f64) -> Option<Self> {
        let millionths = (dollars * 1e6).round();
        (millionths.is_finite() && (0.0..=9e15).contains(&millionths)).then_some(Self(millionths as u64))
    }

    /// The number of dollars.
    #[allow(clippy::cast_precision_loss)]
    pub fn dollars(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

impl std::fmt::Display for Usd {
    /// With cents, and as much more as tells something.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let digits = match self.0 {
            small if small.is_multiple_of(10_000) => 2,
            small if small < 10_000 => 6,
            _ => 4,
        };
        f.pad(&format!("${:.digits$}", self.dollars()))
    }
}

impl Serialize for Usd {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.dollars().serialize(to)
    }
}

impl<'de> Deserialize<'de> for Usd {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Self::of(f64::deserialize(from)?).ok_or_else(|| serde::de::Error::custom("no amount of money"))
    }
}
