//! What documents leave out: values that a reader without them has anyway.

/// Whether a value is the one that its type has where nothing is said; for serde.
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
