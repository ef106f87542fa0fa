//! The commands that programs call, and which of those in their files are ours.

use serde_json::{Value, json};

use crate::agent::hook_call_source::HookCallSource;
use axiom_base::shell_word::shell_word;

/// How hooks call us. Whatever the form, a program that is gone keeps no agent from its work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookInvocation {
    /// By this path, or name on the `PATH`, for one repository.
    Binary(String),
    /// The same for all repositories of a user.
    ForAll(String),
    /// By the name on the `PATH`, and not at all where there is none: for files that are shared.
    IfThere,
    /// By the launcher in the folder of a plugin, which the program calls so.
    Launcher(&'static str),
}

/// The launcher's name in the folder of a plugin.
pub const LAUNCHER: &str = "launch.sh";
/// What we are called on the `PATH`.
const NAME: &str = "git-axiom";

impl HookInvocation {
    fn source(&self) -> HookCallSource {
        match self {
            Self::Binary(_) | Self::IfThere => HookCallSource::Repository,
            Self::ForAll(_) => HookCallSource::User,
            Self::Launcher(_) => HookCallSource::Plugin,
        }
    }

    /// The words after the file to execute.
    pub fn arguments(&self, program: &str) -> Vec<String> {
        let words = ["hook", program].into_iter().chain(self.source().word());
        words.map(str::to_owned).collect()
    }

    /// The words of a shell.
    pub fn line(&self, program: &str) -> String {
        let arguments = self.arguments(program).join(" ");
        match self {
            Self::Binary(path) | Self::ForAll(path) if path.contains('/') => {
                let path = shell_word(path);
                format!("{IS_FILE}{path} ]{ELSE}{path} {arguments}")
            }
            Self::Binary(name) | Self::ForAll(name) => format!("{IS_NAME}{name}{NOT_SAID}{ELSE}{name} {arguments}"),
            Self::IfThere => format!("{IS_NAME}{NAME}{NOT_SAID}{ELSE}{NAME} {arguments}"),
            Self::Launcher(folder) => format!("sh \"{folder}/{LAUNCHER}\" {arguments}"),
        }
    }

    /// The file to execute.
    pub fn file(&self) -> &str {
        match self {
            Self::Binary(path) | Self::ForAll(path) => path,
            Self::IfThere => NAME,
            Self::Launcher(_) => "sh",
        }
    }

    /// The command of a handler; `by_arguments` programs start it without a shell.
    pub fn handler(&self, program: &str, by_arguments: bool) -> Value {
        let arguments = self.arguments(program);
        match self {
            Self::Binary(path) | Self::ForAll(path) if by_arguments => json!({"command": path, "args": arguments}),
            Self::Launcher(folder) if by_arguments => {
                let words: Vec<String> = std::iter::once(format!("{folder}/{LAUNCHER}")).chain(arguments).collect();
                json!({"command": "sh", "args": words})
            }
            Self::Binary(_) | Self::ForAll(_) | Self::IfThere | Self::Launcher(_) => json!({"command": self.line(program)}),
        }
    }
}

// The pieces of what stands before a command, so that it does nothing where the program is gone.
const IS_FILE: &str = "[ -x ";
const IS_NAME: &str = "command -v ";
const NOT_SAID: &str = " >/dev/null 2>&1";
const ELSE: &str = " || exit 0; exec ";

/// The command behind what asks whether the program is there.
fn unguarded(command: &str) -> &str {
    let is_guarded = command.starts_with(IS_FILE) || command.starts_with(IS_NAME);
    command.split_once(ELSE).filter(|_| is_guarded).map_or(command, |(_, command)| command)
}

/// Whether a handler calls `git axiom hook PROGRAM` and nothing else, of whatever version and path it is.
pub fn is_ours(handler: &Value, program: &str) -> bool {
    let Some(command) = handler.get("command").and_then(Value::as_str) else { return false };
    let words: Vec<String> = match handler.get("args").and_then(Value::as_array) {
        Some(args) => {
            let args = args.iter().map(|arg| arg.as_str().unwrap_or_default().to_owned());
            std::iter::once(command.to_owned()).chain(args).collect()
        }
        None => words(unguarded(command)),
    };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let name = |path: &str| path.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
    match words.as_slice() {
        [first, "hook", who] | [first, "hook", who, "--user"] => {
            *who == program && matches!(name(first).as_str(), "git-axiom" | "git-axiom.exe")
        }
        [first, "axiom", "hook", who] => *who == program && name(first) == "git",
        _ => false,
    }
}

/// The file that a handler of ours executes: a path, or a name on the `PATH`.
pub fn called_file(handler: &Value) -> Option<String> {
    let command = handler.get("command").and_then(Value::as_str)?;
    match handler.get("args") {
        Some(Value::Array(_)) => Some(command.to_owned()),
        _ => words(unguarded(command)).into_iter().next(),
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
