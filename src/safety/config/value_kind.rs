//! What a key of the configuration takes: texts, numbers with units, patterns, folders.

use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use axiom_base::error::{Code, Error, Result};
use axiom_model::base::forms::with_unit::{SECONDS, with_unit};
use axiom_model::prompt::template::PromptTemplate;
use axiom_model::work::money::amounts;
use axiom_model::work::permissions::permission_rule::PermissionRule;

/// The kind of values that a key accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigValueKind {
    /// `true` or `false`.
    Switch,
    /// A whole number between two limits.
    Number(u64, u64),
    /// A size in MB; a string may have a unit.
    Megabytes,
    /// Seconds; a string may have a unit.
    Seconds,
    /// Days; a string may have a unit.
    Days,
    /// US dollars, above 0.
    Dollars,
    /// A number of tokens, above 0; a string may end with `k` or `M`.
    Tokens,
    /// Seconds, above 0; a string may have a unit.
    Time,
    /// A non-empty string.
    Text,
    /// A folder, absolute or relative to the main worktree, but not that worktree itself.
    Folder,
    /// A list of non-empty strings.
    List,
    /// A list of path patterns, as in a `.gitignore`.
    Patterns,
    /// A list of names of files and folders, which may be in any folder. Nothing in them has a special meaning.
    Names,
    /// A list of rules for permissions.
    Permissions,
    /// The name of a signal.
    Signal,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// The template of a prompt.
    Template,
    /// A table, which only a file can have. What is in it is checked where it is used.
    Table,
}

/// The signals that ask a program to stop.
const SIGNALS: [&str; 4] = ["TERM", "INT", "HUP", "QUIT"];

/// The largest number of a value with a unit, so that nothing overflows when it is converted to bytes or milliseconds.
const MOST: u64 = 1_000_000_000;

impl ConfigValueKind {
    /// A description of the accepted values, for messages.
    pub fn expects(self) -> String {
        match self {
            Self::Switch => "true or false".into(),
            Self::Number(least, most) => format!("a whole number from {least} to {most}"),
            Self::Megabytes => "a number of MB, or a text such as \"500MB\" or \"2GB\"".into(),
            Self::Seconds => "a number of seconds, or a text such as \"30s\", \"5min\" or \"2h\"".into(),
            Self::Days => "a number of days, or a text such as \"30d\" or \"4w\"".into(),
            Self::Dollars => "US dollars above 0, such as 5 or 2.50".into(),
            Self::Tokens => "a number of tokens above 0, or a text such as \"200k\" or \"1.5M\"".into(),
            Self::Time => "a number of seconds above 0, or a text such as \"30min\" or \"2h\"".into(),
            Self::Text => "a text that is not empty".into(),
            Self::Folder => "a folder, absolute or relative to the main worktree, but not that itself".into(),
            Self::List => "a list of texts".into(),
            Self::Names => "a list of files or folders without wildcards, such as [\".envrc\", \"deploy/prod\"]".into(),
            Self::Permissions => "a list of rules, such as [\"allow command cargo test *\", \"ask edit *.sql\"]".into(),
            Self::Signal => format!("one of {}", SIGNALS.join(", ")),
            Self::OneOf(words) => format!("one of {}", words.join(", ")),
            Self::Template => "a template with placeholders, such as {{task.title}}".into(),
            Self::Table => "a table, in a configuration file".into(),
            Self::Patterns => "a list of patterns as in a .gitignore, such as [\".env*\", \"secrets/*.pem\"]".into(),
        }
    }

    fn units(self) -> &'static [(&'static str, u64)] {
        match self {
            Self::Megabytes => &[("mb", 1), ("gb", 1000), ("tb", 1_000_000)],
            Self::Seconds => SECONDS,
            Self::Days => &[("d", 1), ("w", 7)],
            Self::Switch
            | Self::Number(..)
            | Self::Dollars
            | Self::Tokens
            | Self::Time
            | Self::Text
            | Self::Folder
            | Self::List
            | Self::Patterns
            | Self::Names
            | Self::Permissions
            | Self::Signal
            | Self::OneOf(_)
            | Self::Template
            | Self::Table => &[],
        }
    }

    /// Checks a value and converts it to the form of the schema: numbers in the unit of the key.
    pub fn accept(self, name: &str, value: Value) -> Result<Value> {
        let refuse = || {
            let what = format!("the value {value} of '{name}' cannot be used");
            Err(Error::new(Code::ConfigInvalid, what).hint(format!("it takes {}", self.expects())))
        };
        let (least, most) = if let Self::Number(least, most) = self { (least, most) } else { (0, MOST) };
        let in_range = |number: u64| (least..=most).contains(&number);
        match (self, &value) {
            (Self::Switch, Value::Bool(_)) => Ok(value),
            (Self::Text, Value::String(text)) if !text.trim().is_empty() => Ok(value),
            (Self::Signal, Value::String(text)) if SIGNALS.contains(&text.as_str()) => Ok(value),
            (Self::OneOf(words), Value::String(text)) if words.contains(&text.as_str()) => Ok(value),
            (Self::Table, Value::Object(_)) => Ok(value),
            (Self::Template, Value::String(text)) if !text.trim().is_empty() => {
                PromptTemplate::read(text).map_err(|error| error.context(format!("'{name}'")))?;
                Ok(value)
            }
            (Self::Folder, Value::String(text)) => folder(text).map_or_else(refuse, |folder| Ok(Value::from(folder))),
            (Self::List, Value::Array(items)) if items.iter().all(|item| item.as_str().is_some_and(|s| !s.is_empty())) => {
                Ok(value)
            }
            (Self::Names, Value::Array(items)) if items.iter().all(|item| item.as_str().is_some_and(is_name)) => Ok(value),
            (Self::Permissions, Value::Array(items)) => {
                let rules = items.iter().map(|item| item.as_str().unwrap_or_default().parse::<PermissionRule>());
                rules.collect::<Result<Vec<_>>>().map(|_| value).map_err(|error| error.context(name))
            }
            (Self::Patterns, Value::Array(items)) if items.iter().all(|item| item.as_str().is_some_and(is_pattern)) => Ok(value),
            (Self::Number(..) | Self::Megabytes | Self::Seconds | Self::Days, Value::Number(number)) => {
                if number.as_u64().is_some_and(in_range) { Ok(value) } else { refuse() }
            }
            (Self::Dollars | Self::Tokens | Self::Time, Value::Number(number)) => {
                self.accept(name, Value::from(number.to_string())).or_else(|_| refuse())
            }
            (Self::Dollars, Value::String(text)) => {
                amounts::cost(text).map_or_else(|_| refuse(), |usd| Ok(Value::from(usd.dollars())))
            }
            (Self::Tokens, Value::String(text)) => {
                amounts::tokens(text).map_or_else(|_| refuse(), |tokens| Ok(Value::from(tokens)))
            }
            (Self::Time, Value::String(text)) => amounts::seconds(text).map_or_else(|_| refuse(), |time| Ok(Value::from(time))),
            (Self::Megabytes | Self::Seconds | Self::Days, Value::String(text)) => match with_unit(text, self.units()) {
                Some(number) if in_range(number) => Ok(Value::from(number)),
                Some(_) | None => refuse(),
            },
            (_, _) => refuse(),
        }
    }

    /// Checks and converts a value given as text (`git config`, command line). For a list, each text is an item, and a single
    /// empty text is the empty list; otherwise the last one counts.
    pub fn accept_text(self, name: &str, texts: &[String]) -> Result<Value> {
        self.accept(name, self.as_in_a_file(texts))
    }

    /// The value that a file has in place of these texts: as the user wrote it, in the type of the key where it is of that type.
    fn as_in_a_file(self, texts: &[String]) -> Value {
        let last = texts.last().map_or("", String::as_str);
        match self {
            // The boolean values of git; a key without a value is true.
            Self::Switch => match last.to_ascii_lowercase().as_str() {
                "" | "true" | "yes" | "on" | "1" => Value::Bool(true),
                "false" | "no" | "off" | "0" => Value::Bool(false),
                _ => Value::from(last),
            },
            Self::Dollars => last.parse::<f64>().map_or_else(|_| Value::from(last), Value::from),
            Self::Number(..) | Self::Megabytes | Self::Seconds | Self::Days | Self::Tokens | Self::Time => {
                last.parse::<u64>().map_or_else(|_| Value::from(last), Value::from)
            }
            Self::Text | Self::Folder | Self::Signal | Self::OneOf(_) | Self::Template | Self::Table => Value::from(last),
            Self::List | Self::Patterns | Self::Names | Self::Permissions if texts == [""] => Value::Array(Vec::new()),
            Self::List | Self::Patterns | Self::Names | Self::Permissions => Value::from(texts.to_vec()),
        }
    }
}

/// Whether a text is a path pattern, and not a comment or several patterns in one text.
fn is_pattern(text: &str) -> bool {
    let meant = text.trim_start_matches('!').trim_matches('/');
    !meant.trim().is_empty() && !text.starts_with('#') && !text.contains('\n')
}

/// Whether a text is the name of a file or folder, perhaps with folders above it, and no pattern: it would protect nothing.
fn is_name(text: &str) -> bool {
    let text = text.strip_suffix('/').unwrap_or(text);
    let is_part = |part: &str| !matches!(part.trim(), "" | "." | "..");
    text.split('/').all(is_part) && !text.starts_with('!') && !text.contains(['*', '?', '[', '\\', '\n'])
}

/// A folder's path without `.`, and with `..` only at its beginning: so its first part says whether it is in the main worktree.
fn folder(text: &str) -> Option<String> {
    let mut parts = PathBuf::new();
    for part in Path::new(text).components() {
        match part {
            Component::ParentDir if matches!(parts.components().next_back(), Some(Component::Normal(_))) => drop(parts.pop()),
            Component::ParentDir if parts.has_root() => {}
            Component::CurDir => {}
            Component::ParentDir | Component::Normal(_) | Component::RootDir | Component::Prefix(_) => parts.push(part),
        }
    }
    if parts.as_os_str().is_empty() || text.trim().is_empty() { None } else { parts.to_str().map(str::to_owned) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::keys::{ADDED_TO, KEYS};

    #[test]
    fn patterns_are_texts_that_mean_paths() {
        for (text, accepted) in [
            (".env*", true),
            ("!public", true),
            ("a b/", true),
            ("", true),
            (" ", false),
            ("#x", false),
            ("!/", false),
            ("a\nb", false),
        ] {
            assert_eq!(ConfigValueKind::Patterns.accept_text("x", &[text.to_owned()]).is_ok(), accepted, "{text:?}");
        }
    }

    #[test]
    fn names_are_paths_without_patterns() {
        for (text, accepted) in [
            (".claude", true),
            (".github/workflows/", true),
            ("a b/c", true),
            // As in git, an empty text alone is an empty list.
            ("", true),
            ("/", false),
            ("/abs", false),
            ("a//b", false),
            ("./a", false),
            ("a/..", false),
            ("*.sh", false),
            ("a?", false),
            ("[a]", false),
            ("!a", false),
            ("a\\b", false),
            ("a\nb", false),
        ] {
            assert_eq!(ConfigValueKind::Names.accept_text("x", &[text.to_owned()]).is_ok(), accepted, "{text:?}");
        }
        assert!(ADDED_TO.iter().all(|key| KEYS.iter().any(|known| (known.section, known.name) == *key)));
    }

    #[test]
    fn a_folder_s_first_part_says_where_it_is() {
        for (text, folder) in [
            (".worktrees", ".worktrees"),
            ("./a//b/", "a/b"),
            ("..x/y", "..x/y"),
            ("a/../b", "b"),
            ("a/../../x", "../x"),
            ("../../x", "../../x"),
            ("/a/./b/../c", "/a/c"),
            ("/../a", "/a"),
            ("x/.git", "x/.git"),
        ] {
            assert_eq!(ConfigValueKind::Folder.accept("x", Value::from(text)).unwrap(), Value::from(folder), "{text}");
        }
        for text in ["", " ", ".", "./", "a/.."] {
            assert_eq!(ConfigValueKind::Folder.accept("x", Value::from(text)).unwrap_err().code(), Code::ConfigInvalid, "{text}");
        }
    }

    #[test]
    fn values_carry_units() {
        for (kind, text, expected) in [
            (ConfigValueKind::Megabytes, "2GB", Some(2000)),
            (ConfigValueKind::Megabytes, "500 mb", Some(500)),
            (ConfigValueKind::Seconds, "5min", Some(300)),
            (ConfigValueKind::Seconds, "2h", Some(7200)),
            (ConfigValueKind::Days, "4w", Some(28)),
            (ConfigValueKind::Days, "3h", None),
            (ConfigValueKind::Seconds, "-1s", None),
            (ConfigValueKind::Seconds, "99999999999999999999s", None),
            (ConfigValueKind::Tokens, "200k", Some(200_000)),
            (ConfigValueKind::Time, "2h", Some(7200)),
            (ConfigValueKind::Time, "0", None),
            (ConfigValueKind::Number(1, 9), "5", Some(5)),
            (ConfigValueKind::Number(1, 9), "10", None),
            (ConfigValueKind::Number(1, 9), "", None),
        ] {
            let got = kind.accept_text("x", &[text.to_owned()]).ok().and_then(|value| value.as_u64());
            assert_eq!(got, expected, "{kind:?} {text}");
        }
    }
}
