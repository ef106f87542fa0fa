//! A question about a tool call, as a human reads it: what exactly would happen. All of it is the agent's text; whoever prints it
//! escapes it.

use serde_json::Value;

use super::judge::{risk, rule_for_always};
use super::requested::PermissionAct;
use crate::agent::stream::tool_call::{self, TextReplacement};
use crate::base::forms::beginning::beginning;
use crate::work::permissions::permission_question::{PermissionQuestion, PermissionStanding};

/// The most lines that are shown, and their longest.
const MOST_LINES: usize = 60;
const LONGEST_LINE: usize = 400;
/// The longest words in one line.
const LONGEST_WORDS: usize = 120;

/// What is asked. `title` is what the agent calls the call: shown where nothing else says what it is.
pub fn question(number: u64, act: &PermissionAct, title: &str, call: PermissionCallTexts<'_>, why: String) -> PermissionQuestion {
    let paths = |paths: &[super::requested::PermissionPath]| {
        let said: Vec<&str> = paths.iter().map(|path| path.said.as_str()).collect();
        words(&said.join(", "))
    };
    let (about, details) = match act {
        PermissionAct::Command { text, folder } => {
            let folder = folder.as_ref().map(|folder| format!("in {}", folder.said));
            (format!("run: {}", words(text)), lines(text.lines().map(str::to_owned).chain(folder)))
        }
        PermissionAct::Edit { paths: changed } => (format!("change {}", paths(changed)), lines(changes(call))),
        PermissionAct::Read { paths: read } if read.is_empty() => ("search the workspace".to_owned(), Vec::new()),
        PermissionAct::Read { paths: read } => (format!("read {}", paths(read)), Vec::new()),
        PermissionAct::Unknown { .. } => {
            let title = words(title);
            let about = if title.is_empty() {
                "do something that it does not name".to_owned()
            } else {
                format!("do what it calls: {title}")
            };
            (about, lines(call.input.map(|input| input.to_string()).into_iter().chain(changes(call))))
        }
    };
    PermissionQuestion {
        number,
        about,
        details,
        why,
        risk: risk(act),
        standing: PermissionStanding::Asked,
        rule: rule_for_always(act),
    }
}

/// What a call says of itself.
#[derive(Debug, Clone, Copy)]
pub struct PermissionCallTexts<'a> {
    /// Its raw input.
    pub input: Option<&'a Value>,
    /// Its contents.
    pub content: Option<&'a Value>,
}

/// The lines that go and come: of a patch as they are, else of what is replaced by what.
fn changes(call: PermissionCallTexts<'_>) -> impl Iterator<Item = String> {
    let patch = call.input.and_then(|input| ["diff", "unified_diff", "patch"].iter().find_map(|key| input.get(*key)?.as_str()));
    let mut found: Vec<String> =
        patch.map(|patch| patch.lines().take(MOST_LINES + 1).map(str::to_owned).collect()).unwrap_or_default();
    if found.is_empty() {
        let replaced = call.input.map(tool_call::replaced).unwrap_or_default();
        found = replaced.into_iter().flat_map(differing).take(MOST_LINES + 1).collect();
    }
    if found.is_empty() {
        let blocks = call.content.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let text = |block: &Value, key: &str| block.get(key).and_then(Value::as_str).map(str::to_owned);
        let of = |block: &Value| {
            let new = text(block, "newText")?;
            let old = text(block, "oldText").unwrap_or_default();
            let head = text(block, "path").map(|path| format!("{path}:"));
            Some(head.into_iter().chain(differing(TextReplacement { old: &old, new: &new })).collect::<Vec<_>>())
        };
        found = blocks.iter().take(MOST_LINES).filter_map(of).flatten().take(MOST_LINES + 1).collect();
    }
    found.into_iter()
}

fn differing(texts: TextReplacement<'_>) -> Vec<String> {
    let (old, new) = tool_call::differing(texts);
    let with = |sign: &'static str| move |line: &str| format!("{sign}{line}");
    old.into_iter().map(with("-")).chain(new.into_iter().map(with("+"))).collect()
}

fn lines(all: impl Iterator<Item = String>) -> Vec<String> {
    let mut lines: Vec<String> = all.take(MOST_LINES + 1).map(|line| beginning(&line, LONGEST_LINE)).collect();
    if lines.len() > MOST_LINES {
        lines.truncate(MOST_LINES);
        lines.push("…".to_owned());
    }
    lines
}

fn words(text: &str) -> String {
    beginning(&text.split_whitespace().collect::<Vec<_>>().join(" "), LONGEST_WORDS)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::permission::requested::{PermissionPlace, requested};

    fn asked(input: &Value, content: Option<&Value>) -> PermissionQuestion {
        let act = requested("edit", Some(input), content, &|path| PermissionPlace::Inside { relative: path.to_owned() });
        question(1, &act, "a title", PermissionCallTexts { input: Some(input), content }, "why".into())
    }

    #[test]
    fn it_says_what_exactly_would_happen() {
        let command = asked(&json!({"command": "rm a\nls", "cwd": "b"}), None);
        assert_eq!(
            (command.about.as_str(), command.details.as_slice()),
            ("run: rm a ls", &["rm a".to_owned(), "ls".into(), "in b".into()][..])
        );
        assert_eq!(
            (command.risk.as_deref(), command.rule),
            (Some("rm a"), None),
            "elsewhere the same text would mean something else"
        );
        let command = asked(&json!({"command": "rm a\nls"}), None);
        assert_eq!(command.rule.unwrap().to_string(), "allow command = rm a\nls");
        let edit = asked(&json!({"file_path": "a", "old_string": "x\ny", "new_string": "x\nz"}), None);
        assert_eq!((edit.about.as_str(), edit.details.as_slice()), ("change a", &["-y".to_owned(), "+z".into()][..]));
        assert_eq!((edit.risk, edit.rule.unwrap().to_string()), (None, "allow edit = a".into()));
        let unknown = asked(&json!({"spell": "x"}), Some(&json!([{"type": "diff", "path": "a", "newText": "n"}])));
        assert_eq!(unknown.about, "do what it calls: a title");
        assert_eq!(unknown.details, ["{\"spell\":\"x\"}", "a:", "+n"]);
        assert!(unknown.risk.is_some() && unknown.rule.is_none());
    }

    #[test]
    fn however_long_it_is_it_is_short() {
        let long = asked(&json!({"command": "x\n".repeat(1000)}), None);
        assert_eq!((long.details.len(), long.details.last().unwrap().as_str()), (MOST_LINES + 1, "…"));
        let wide = asked(&json!({"file_path": "é".repeat(5000), "content": "é".repeat(5000)}), None);
        assert!(wide.about.chars().count() < 200 && wide.details[0].chars().count() <= LONGEST_LINE + 1);
    }
}
