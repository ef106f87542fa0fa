//! Numbers with a unit, as people write them. Pure.

/// The units of time, and how many seconds they have.
pub const SECONDS: &[(&str, u64)] = &[("s", 1), ("sec", 1), ("m", 60), ("min", 60), ("h", 3600), ("d", 86400)];

/// A whole number with one of these units, in lower or upper case: the number times what the unit counts. A number alone has the
/// unit `""`.
pub fn with_unit(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(split);
    let (_, factor) = units.iter().find(|(name, _)| *name == unit.trim())?;
    digits.parse::<u64>().ok()?.checked_mul(*factor)
}
