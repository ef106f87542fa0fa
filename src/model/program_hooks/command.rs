//! The commands that programs call, and which of those in their files are ours.

use serde_json::{Value, json};

use crate::base::forms::shell_word::shell_word;

/// What stands before the command in files that go to people who may not have git axiom.
const GUARD: &str = "command -v git-axiom >/dev/null 2>&1 || exit 0; exec ";

/// How hooks call us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookInvocation {
    /// By this path, or name on the `PATH`.
    Binary(String),
    /// By the name on the `PATH`, and not at all where there is none: for files that are shared.
    IfThere,
}

impl HookInvocation {
    /// The words of a shell.
    pub fn line(&self, program: &str) -> String {
        match self {
            Self::Binary(path) => format!("{} hook {program}", shell_word(path)),
            Self::IfThere => format!("{GUARD}git-axiom hook {program}"),
        }
    }

    /// The file to execute.
    pub fn file(&self) -> &str {
        match self {
            Self::Binary(path) => path,
            Self::IfThere => "git-axiom",
        }
    }

    /// The command of a handler; `by_arguments` programs start it without a shell.
    pub fn handler(&self, program: &str, by_arguments: bool) -> Value {
        match self {
            Self::Binary(path) if by_arguments => json!({"command": path, "args": ["hook", program]}),
            Self::Binary(_) | Self::IfThere => json!({"command": self.line(program)}),
        }
    }
}

/// Whether a handler calls `git axiom hook PROGRAM` and nothing else, of whatever version and path it is.
pub fn is_ours(handler: &Value, program: &str) -> bool {
    let Some(command) = handler.get("command").and_then(Value::as_str) else { return false };
    let words: Vec<String> = match handler.get("args").and_then(Value::as_array) {
        Some(args) => {
            let args = args.iter().map(|arg| arg.as_str().unwrap_or_default().to_owned());
            std::iter::once(command.to_owned()).chain(args).collect()
        }
        None => words(command.strip_prefix(GUARD).unwrap_or(command)),
    };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let name = |path: &str| path.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
    match words.as_slice() {
        [first, "hook", who] => *who == program && matches!(name(first).as_str(), "git-axiom" | "git-axiom.exe"),
        [first, "axiom", "hook", who] => *who == program && name(first) == "git",
        _ => false,
    }
}

/// The words of a command that has nothing but words; anything else comes out as words that are not ours.
fn words(line: &str) -> Vec<String> {
    let (mut all, mut word, mut is_word) = (Vec::new(), String::new(), false);
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' if is_word => {
                all.push(std::mem::take(&mut word));
                is_word = false;
            }
            ' ' | '\t' => {}
            '\'' | '"' => {
                is_word = true;
                word.extend(chars.by_ref().take_while(|next| *next != c));
            }
            '\\' => {
                is_word = true;
                word.extend(chars.next());
            }
            other => {
                is_word = true;
                word.push(other);
            }
        }
    }
    if is_word {
        all.push(word);
    }
    all
}
