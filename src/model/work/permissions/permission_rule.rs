//! What the configuration, or a human for one task, says about permissions. A rule is one line of text: `allow command cargo test *`.

use std::fmt;

use serde::{Deserialize, Serialize};

use axiom_base::error::{Code, Error, Result};

/// What is asked where no rule says anything.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PermissionMode {
    /// All but reading and searching in the workspace.
    Ask,
    /// All but that, and editing a file of the workspace that is not guarded.
    #[default]
    Workspace,
    /// Nothing.
    Allow,
}

/// What a rule answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PermissionRuleAnswer {
    /// The agent may do it.
    Allow,
    /// A human is asked.
    Ask,
    /// The agent may not do it.
    Reject,
}

/// What a rule is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PermissionSubject {
    /// Reading and searching.
    Read,
    /// Changing files.
    Edit,
    /// Shell commands.
    Command,
    /// All of them, and what is not understood.
    Any,
}

/// Which commands or paths a rule is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PermissionPattern {
    /// All.
    All,
    /// Those like this: `*` stands for anything within a word or a part of a path; a last word `*` for any further words, `**` for any
    /// further parts of a path.
    Like(String),
    /// This one, as it is written.
    Exactly(String),
}

/// A rule. Its text is `allow|ask|reject read|edit|command|any [PATTERN]`; `= TEXT` in place of a pattern means exactly that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PermissionRule {
    /// What it answers.
    pub answer: PermissionRuleAnswer,
    /// What it is about.
    pub subject: PermissionSubject,
    /// Which commands or paths it is for.
    pub pattern: PermissionPattern,
}

const ANSWERS: [(&str, PermissionRuleAnswer); 3] =
    [("allow", PermissionRuleAnswer::Allow), ("ask", PermissionRuleAnswer::Ask), ("reject", PermissionRuleAnswer::Reject)];
const SUBJECTS: [(&str, PermissionSubject); 4] = [
    ("read", PermissionSubject::Read),
    ("edit", PermissionSubject::Edit),
    ("command", PermissionSubject::Command),
    ("any", PermissionSubject::Any),
];

fn word_of<T: Copy + PartialEq>(table: &[(&'static str, T)], value: T) -> &'static str {
    table.iter().find(|(_, one)| *one == value).map_or("", |(word, _)| word)
}

impl std::str::FromStr for PermissionRule {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = |why: &str| {
            Error::new(Code::ConfigInvalid, format!("'{text}' is no rule for permissions: {why}"))
                .hint("such as \"allow command cargo test *\", \"ask edit *.sql\" or \"reject command git push *\"")
        };
        let (answer, rest) = text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
        let (subject, pattern) = rest.trim_start().split_once(char::is_whitespace).unwrap_or((rest.trim(), ""));
        let found = ANSWERS.iter().find(|(word, _)| *word == answer);
        let (_, answer) = found.ok_or_else(|| wrong("it has to begin with allow, ask or reject"))?;
        let found = SUBJECTS.iter().find(|(word, _)| *word == subject);
        let (_, subject) = found.ok_or_else(|| wrong("its second word has to be read, edit, command or any"))?;
        let pattern = match pattern.trim() {
            "" => PermissionPattern::All,
            pattern => match pattern.strip_prefix("= ") {
                Some(exactly) => PermissionPattern::Exactly(exactly.to_owned()),
                None => PermissionPattern::Like(pattern.to_owned()),
            },
        };
        if *subject == PermissionSubject::Any && pattern != PermissionPattern::All {
            return Err(wrong("'any' takes no pattern"));
        }
        Ok(Self { answer: *answer, subject: *subject, pattern })
    }
}

impl fmt::Display for PermissionRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", word_of(&ANSWERS, self.answer), word_of(&SUBJECTS, self.subject))?;
        match &self.pattern {
            PermissionPattern::All => Ok(()),
            PermissionPattern::Like(pattern) => write!(f, " {pattern}"),
            PermissionPattern::Exactly(text) => write!(f, " = {text}"),
        }
    }
}

impl TryFrom<String> for PermissionRule {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<PermissionRule> for String {
    fn from(rule: PermissionRule) -> Self {
        rule.to_string()
    }
}

/// All that is said about permissions: rules before the mode, and of rules the first that fits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PermissionPolicy {
    /// What is asked where no rule fits.
    pub mode: PermissionMode,
    /// The rules: those of the task first, then those of the configuration.
    pub rules: Vec<PermissionRule>,
    /// Files and folders that are guarded.
    pub guarded: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_a_line_and_comes_back() {
        for text in ["allow command cargo test *", "ask edit *.sql", "reject any", "allow command = ls *; rm x", "allow read"] {
            let rule: PermissionRule = text.parse().unwrap();
            assert_eq!(rule.to_string(), text);
            assert_eq!(serde_json::from_value::<PermissionRule>(serde_json::json!(text)).unwrap(), rule);
        }
        assert_eq!("  allow   edit   src/** ".parse::<PermissionRule>().unwrap().to_string(), "allow edit src/**");
        let several: PermissionRule = "allow command = a\nb".parse().unwrap();
        assert_eq!(several.pattern, PermissionPattern::Exactly("a\nb".into()));
    }

    #[test]
    fn what_is_no_rule_is_refused_with_the_reason() {
        for (text, part) in
            [("", "allow, ask or reject"), ("permit command x", "begin"), ("allow", "second word"), ("allow any x", "no pattern")]
        {
            let error = text.parse::<PermissionRule>().unwrap_err();
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}
