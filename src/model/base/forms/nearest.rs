//! Which known name the user may have meant by a mistyped one.

use axiom_base::error::Error;

/// The nearest known name, if it is near enough to be a typing error: letters left out, added, changed or swapped, or
/// another case.
pub fn to<'a>(meant: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = meant.to_lowercase();
    let far = 1 + meant.chars().count() / 3;
    let same_numbers = known.into_iter().filter(|name| numbers(name) == numbers(meant));
    let near = same_numbers.map(|name| (distance(&folded, &name.to_lowercase()), name));
    near.filter(|(distance, name)| *distance <= far && *distance < name.chars().count().max(1)).min().map(|(_, name)| name)
}

/// The numbers in a text, without leading zeros. A typing error does not change them: `t9` does not suggest `t1`.
fn numbers(text: &str) -> Vec<&str> {
    let digits = text.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
    digits.map(|digits| digits.trim_start_matches('0')).collect()
}

/// How many letters have to be added, left out, changed or swapped with their neighbour to turn one text into the other.
fn distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, b) in other.iter().enumerate() {
            let changed = row[j] + usize::from(a != b);
            let mut least = changed.min(row[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && *a == other[j - 1] && one[i - 1] == *b {
                least = least.min(before[j - 1] + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut row, next);
    }
    row.last().copied().unwrap_or_default()
}

/// Adds a hint to an error about an unknown name: the name that may have been meant, or else `otherwise`, which says where
/// the names are listed.
#[must_use]
pub fn hinted<'a>(error: Error, meant: &str, known: impl IntoIterator<Item = &'a str>, otherwise: &str) -> Error {
    match to(meant, known) {
        Some(name) => error.hint(format!("did you mean '{name}'?")),
        None => error.hint(otherwise),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_understood_and_other_words_are_not() {
        let known = ["task-001", "task-010", "login-form", "t1", "good"];
        let near = |meant| to(meant, known);
        assert_eq!(near("task-01"), Some("task-001"));
        assert_eq!(near("taks-010"), Some("task-010"));
        assert_eq!(near("Login-Form"), Some("login-form"));
        assert_eq!(near("loginform"), Some("login-form"));
        assert_eq!(near("goood"), Some("good"));
        assert_eq!([near("nonsense"), near("x"), near(""), near("before-rollback"), near("t2"), near("task-002")], [None; 6]);
        assert_eq!(to("a", []), None);
    }
}
