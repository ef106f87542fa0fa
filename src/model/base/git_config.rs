//! What `git config --null` prints, and what the values of its keys mean. Pure.

/// The entries of what `git config --null --get-regexp` prints, in its order, as keys and values. A key without a value is true.
pub fn entries(listed: &str) -> impl Iterator<Item = (&str, &str)> {
    listed.split_terminator('\0').map(|entry| entry.split_once('\n').unwrap_or((entry, "true")))
}

/// Whether a value is one of git's words for false. Case does not count.
pub fn is_false(value: &str) -> bool {
    value.is_empty() || ["false", "no", "off", "0"].iter().any(|word| value.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_without_a_value_is_true_and_values_keep_their_lines() {
        let listed = "merge.log\0core.eol\nlf\0axiom.words\none\ntwo\0user.name\n\0";
        let found: Vec<_> = entries(listed).collect();
        assert_eq!(found, [("merge.log", "true"), ("core.eol", "lf"), ("axiom.words", "one\ntwo"), ("user.name", "")]);
        assert_eq!(entries("").count(), 0);
    }

    #[test]
    fn the_words_for_false_are_those_of_git() {
        for value in ["", "false", "False", "NO", "off", "0"] {
            assert!(is_false(value), "{value}");
        }
        for value in ["true", "yes", "on", "1", "none", " "] {
            assert!(!is_false(value), "{value}");
        }
    }
}
