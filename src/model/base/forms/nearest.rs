//! Which known name the user may have meant by a mistyped one.

use axiom_base::error::Error;

/// The nearest known name, if it is near enough to be a typing error: letters left out, added, changed or swapped, another case, or an
/// end left out or added. A word of three letters may have one such slip, one of six two: what is further away is another word.
pub fn to<'a>(meant: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let known: Vec<&str> = known.into_iter().collect();
    let folded = meant.to_lowercase();
    if let Some(name) = by_number(meant, &known) {
        return Some(name);
    }
    let same_numbers = known.into_iter().filter(|name| numbers(name) == numbers(meant));
    let near = same_numbers.filter_map(|name| {
        let other = name.to_lowercase();
        let slips = distance(&folded, &other);
        let far = folded.chars().count().min(other.chars().count()) / 3;
        (slips <= far.min(MOST) || slips == 0 || is_beginning(&folded, &other)).then_some((
            slips,
            !other.starts_with(&folded),
            name,
        ))
    });
    near.min().map(|(_, _, name)| name)
}

/// The only name that has this number and no other: `1` means `task-001`.
fn by_number<'a>(meant: &str, known: &[&'a str]) -> Option<&'a str> {
    let is_number = !meant.is_empty() && meant.bytes().all(|byte| byte.is_ascii_digit());
    let mut named = known.iter().filter(|name| is_number && numbers(name) == numbers(meant));
    match (named.next(), named.next()) {
        (Some(one), None) => Some(one),
        (_, _) => None,
    }
}

/// The most slips in a word, however long it is.
const MOST: usize = 4;

/// Whether one is the beginning of the other and most of it, or a word of it: `stat` of `status`, `claude` of `claude-code`.
fn is_beginning(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    let Some(rest) = long.strip_prefix(short) else { return false };
    let is_most = short.len() >= 4 && (rest.len() * 2 <= short.len() || rest.starts_with(['-', '_']));
    is_most || short.len() >= 2 && rest.len() == 1
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
        assert_eq!([near("10"), near("010"), near("1"), near("9")], [Some("task-010"), Some("task-010"), None, None]);
        let verbs = ["log", "mode", "sessions", "edit", "status", "stats", "claude"];
        let near = |meant| to(meant, verbs);
        assert_eq!([near("foo"), near("nope"), near("version"), near("get"), near("a")], [None; 5]);
        assert_eq!([near("stat"), near("statu"), near("lgo")], [Some("stats"), Some("status"), Some("log")]);
        assert_eq!([near("Claude"), near("claude-code"), near("claud")], [Some("claude"); 3]);
        assert_eq!(to("a", []), None);
    }
}
