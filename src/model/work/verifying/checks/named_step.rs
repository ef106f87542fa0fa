//! A verify step as it is written: `[NAME=]COMMAND`, or `[NAME=]@PERSONA`.
//!
//! `FOO=1 make` is a command, and so is `n=$(ls | wc -l); test $n = 2`: a shell takes what stands before `=` for a variable. So a name
//! is only what looks like none: lower-case letters, digits and hyphens, beginning with a letter, and after the `=` a word that begins
//! like a program's name or path. Whoever means a variable in lower case writes `env` before it.

/// The longest name.
const LONGEST: usize = 40;

/// A verify step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedVerifyStep<'a> {
    /// Its name, where it has one.
    pub name: Option<&'a str>,
    /// The command of the shell.
    pub command: &'a str,
}

impl<'a> NamedVerifyStep<'a> {
    /// Reads a step as it is written.
    pub fn of(text: &'a str) -> Self {
        let named = text.split_once('=').filter(|(name, _)| is_name(name));
        match named.map(|(name, command)| (name, command.trim_start())) {
            Some((name, command)) if begins_a_command(command) => Self { name: Some(name), command },
            Some(_) | None => Self { name: None, command: text },
        }
    }

    /// The persona whose agent program looks at the work, where the step is no command of the shell.
    pub fn persona(&self) -> Option<&'a str> {
        self.command.trim().strip_prefix('@')
    }

    /// How it is called: by its name, or by the command.
    pub fn label(&self) -> &'a str {
        self.name.unwrap_or(self.command)
    }

    /// A safe name for files of the step that stands at this place of a list.
    pub fn file_name(&self, place: usize) -> String {
        match self.name {
            Some(name) => name.to_owned(),
            // No name begins with a digit.
            None => format!("{}", place + 1),
        }
    }
}

fn is_name(text: &str) -> bool {
    let begins = text.as_bytes().first().is_some_and(u8::is_ascii_lowercase);
    begins && text.len() <= LONGEST && text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
}

fn begins_a_command(text: &str) -> bool {
    text.as_bytes().first().is_some_and(|byte| byte.is_ascii_alphabetic() || matches!(byte, b'.' | b'/' | b'@' | b'_'))
}

/// The first name that two of these steps have.
pub fn repeated(steps: &[String]) -> Option<&str> {
    let mut seen = std::collections::BTreeSet::new();
    steps.iter().filter_map(|text| NamedVerifyStep::of(text).name).find(|name| !seen.insert(*name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stands_before_the_command_and_a_variable_is_none() {
        for (text, name, command) in [
            ("unit=cargo test", Some("unit"), "cargo test"),
            ("unit = cargo test", None, "unit = cargo test"),
            ("unit= cargo test", Some("unit"), "cargo test"),
            ("e2e-slow=./run --all", Some("e2e-slow"), "./run --all"),
            ("lint=FOO=1 make lint", Some("lint"), "FOO=1 make lint"),
            ("FOO=1 make", None, "FOO=1 make"),
            ("Foo=bar make", None, "Foo=bar make"),
            ("npm_config_cache=/tmp npm test", None, "npm_config_cache=/tmp npm test"),
            ("x=1 make", None, "x=1 make"),
            ("n=$(ls | wc -l); test $n = 2", None, "n=$(ls | wc -l); test $n = 2"),
            ("n='a'; test $n = a", None, "n='a'; test $n = a"),
            ("n=", None, "n="),
            ("-n=make", None, "-n=make"),
            ("1st=make", None, "1st=make"),
            ("make test=1", None, "make test=1"),
            ("test $(ls | wc -l) = 1", None, "test $(ls | wc -l) = 1"),
            ("[ a = a ]", None, "[ a = a ]"),
            ("env mode=fast make", None, "env mode=fast make"),
            ("é=make", None, "é=make"),
        ] {
            assert_eq!(NamedVerifyStep::of(text), NamedVerifyStep { name, command }, "{text}");
        }
        let long = format!("{}=make", "a".repeat(LONGEST + 1));
        assert_eq!(NamedVerifyStep::of(&long).name, None);
    }

    #[test]
    fn what_begins_with_an_at_sign_is_a_persona() {
        for (text, name, persona) in [
            ("@reviewer", None, Some("reviewer")),
            ("review=@reviewer", Some("review"), Some("reviewer")),
            ("review= @ed-2 ", Some("review"), Some("ed-2")),
            ("@two words", None, Some("two words")),
            ("echo @reviewer", None, None),
            ("echo=mail @reviewer", Some("echo"), None),
        ] {
            let step = NamedVerifyStep::of(text);
            assert_eq!((step.name, step.persona()), (name, persona), "{text}");
        }
    }

    #[test]
    fn files_have_safe_names_and_names_are_there_once() {
        assert_eq!(NamedVerifyStep::of("unit=make").file_name(3), "unit");
        assert_eq!(NamedVerifyStep::of("rm -rf ../x").file_name(3), "4");
        let steps = |all: &[&str]| all.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        assert_eq!(repeated(&steps(&["a=make", "make", "make", "b=make"])), None);
        assert_eq!(repeated(&steps(&["a=make", "b=make", "a=true"])), Some("a"));
    }
}
