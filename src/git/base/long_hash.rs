//! A hash for the keys of caches.

use std::hash::{DefaultHasher, Hash, Hasher};

/// A hash of 128 bits, the same in every process of the same build.
pub(crate) fn long_hash(of: impl Hash) -> u128 {
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        (salt, &of).hash(&mut hasher);
        u128::from(hasher.finish())
    };
    half(0) << 64 | half(1)
}
