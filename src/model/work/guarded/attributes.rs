//! Whether git's attributes name drivers: with `filter`, `diff` or `merge` git runs a program that its configuration names. Pure.
//!
//! The lines are not parsed as exactly as git does. What git takes for such an attribute is found, and a bit more: a file that
//! is asked about without need costs a look.

use std::collections::BTreeSet;

/// The attributes that name drivers.
const DRIVERS: [&[u8]; 3] = [b"filter", b"diff", b"merge"];

/// How a line that defines a macro begins.
const MACRO: &[u8] = b"[attr]";

/// The macros that set such an attribute, by themselves or by another macro.
#[derive(Debug, Clone, Default)]
pub struct DriverAttributeMacros(BTreeSet<Vec<u8>>);

impl DriverAttributeMacros {
    /// Those that these files define.
    pub fn new<'t>(texts: impl IntoIterator<Item = &'t [u8]>) -> Self {
        let lines = texts.into_iter().flat_map(lines);
        let mut open: Vec<(&[u8], Vec<&[u8]>)> =
            lines.filter_map(|(first, words)| Some((first.strip_prefix(MACRO)?, words))).collect();
        let mut known = Self::default();
        loop {
            let (set, others): (Vec<_>, Vec<_>) = open.into_iter().partition(|(_, words)| known.sets_one(words));
            if set.is_empty() {
                return known;
            }
            known.0.extend(set.into_iter().map(|(name, _)| name.to_vec()));
            open = others;
        }
    }

    fn sets_one(&self, words: &[&[u8]]) -> bool {
        words.iter().any(|word| match word.split(|byte| *byte == b'=').collect::<Vec<_>>().as_slice() {
            // A macro is applied only where it stands alone. `-filter` and `!filter` name no driver.
            [name] => DRIVERS.contains(name) || self.0.contains(*name),
            [name, ..] => DRIVERS.contains(name),
            [] => false,
        })
    }
}

/// Whether a file of attributes sets `filter`, `diff` or `merge` for any path or in any macro, by itself or by one of these
/// macros.
pub fn name_drivers(text: &[u8], macros: &DriverAttributeMacros) -> bool {
    lines(text).any(|(_, words)| macros.sets_one(&words))
}

/// The first word and the others of each line that is no comment. A quoted pattern with spaces gives further words.
fn lines(text: &[u8]) -> impl Iterator<Item = (&[u8], Vec<&[u8]>)> {
    text.split(|byte| *byte == b'\n').filter_map(|line| {
        let mut words = line.split(|byte| matches!(byte, b' ' | b'\t' | b'\r')).filter(|word| !word.is_empty());
        let first = words.next().filter(|word| !word.starts_with(b"#"))?;
        Some((first, words.collect()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drivers_are_found_in_every_way_to_write_them() {
        for (text, expected) in [
            ("*.bin filter=lfs diff=lfs merge=lfs -text\n", true),
            ("*.c diff=cpp", true),
            ("*.lock merge=ours\n", true),
            ("* filter\n", true),
            ("*.txt text eol=lf\r\n*.x\tfilter=evil\r\n", true),
            ("*.x\rfilter=evil", true),
            ("\"a b\" filter=evil\n", true),
            ("  * filter=evil\n", true),
            ("\u{feff}* filter=evil\n", true),
            ("[attr]mine filter=evil\n", true),
            ("* text filter=\n", true),
            ("", false),
            ("*.txt text eol=lf\n*.png binary\n", false),
            ("# * filter=evil\n", false),
            ("  # * filter=evil\n", false),
            ("* -filter -diff !merge\n", false),
            ("filter=evil text\n", false),
            ("* myfilter=x filters diff-x=1 linguist-vendored\n", false),
        ] {
            assert_eq!(name_drivers(text.as_bytes(), &DriverAttributeMacros::default()), expected, "{text:?}");
        }
    }

    #[test]
    fn macros_set_what_they_are_made_of() {
        let first = "[attr]a b\n[attr]b text c -x\n[attr]plain text\n[attr]round around\n[attr]around round\n";
        let second = "[attr]c merge=mine\n";
        let macros = DriverAttributeMacros::new([first, second].map(str::as_bytes));
        for (text, expected) in [
            ("* a", true),
            ("* b", true),
            ("* text c", true),
            ("* -a", false),
            ("* !a", false),
            ("* a=1", false),
            ("* plain round", false),
            ("a text", false),
        ] {
            assert_eq!(name_drivers(text.as_bytes(), &macros), expected, "{text:?}");
        }
        assert!(!name_drivers(b"* a", &DriverAttributeMacros::new([first.as_bytes()])), "nothing says what c is");
    }
}
