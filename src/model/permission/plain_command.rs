//! A shell command without anything that a shell would do to it but splitting it into words.

/// The words of a command, where every shell reads it as just these: nothing is substituted, joined, redirected or expanded.
pub(super) fn words(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = text.trim().chars();
    while let Some(c) = rest.next() {
        match c {
            ' ' | '\t' => words.extend(word.take()),
            '\'' => {
                let quoted = word.get_or_insert_default();
                loop {
                    match rest.next()? {
                        '\'' => break,
                        c => quoted.push(c),
                    }
                }
            }
            '"' => {
                let quoted = word.get_or_insert_default();
                loop {
                    match rest.next()? {
                        '"' => break,
                        '\\' => match rest.next()? {
                            c @ ('"' | '\\' | '$' | '`') => quoted.push(c),
                            c => quoted.extend(['\\', c]),
                        },
                        // The history of an interactive shell is no matter: these run commands, and no lines that are typed.
                        '$' | '`' => return None,
                        c => quoted.push(c),
                    }
                }
            }
            '\\' => match rest.next()? {
                '\n' => return None,
                c => word.get_or_insert_default().push(c),
            },
            // `~` and `=` mean something at some places, and `{`, `!` and `#` as well.
            '|' | '&' | ';' | '<' | '>' | '(' | ')' | '$' | '`' | '*' | '?' | '[' | '{' | '}' | '~' | '!' | '#' | '\n' | '\r' => {
                return None;
            }
            c if c.is_control() => return None,
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    // Variables before a command change what it does.
    let begins_plain = words.first().is_some_and(|first| !first.is_empty() && !first.contains('='));
    begins_plain.then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_every_shell_reads_alike_has_words() {
        let of = |text: &str| words(text);
        assert_eq!(
            of(" git axiom  signal waiting 'a; b' \"c?\" d\\ e ").unwrap(),
            ["git", "axiom", "signal", "waiting", "a; b", "c?", "d e"]
        );
        assert_eq!(of(r#"echo "a\"b\\c\n""#).unwrap(), ["echo", r#"a"b\c\n"#]);
        assert_eq!(of("echo '' \"\"").unwrap(), ["echo", "", ""]);
        for other in [
            "",
            " ",
            "a;b",
            "a && b",
            "a | b",
            "a > b",
            "a $(b)",
            "a `b`",
            "a $b",
            "a \"$b\"",
            "a \"`b`\"",
            "a *",
            "a ~",
            "A=b c",
            "a 'b",
            "a \"b",
            "a \\",
            "a\nb",
            "a &",
            "(a)",
            "{ a; }",
            "! a",
            "a # b",
            "a\u{0}b",
            "'' a",
            "a \\\nb",
        ] {
            assert_eq!(of(other), None, "{other:?}");
        }
    }
}
