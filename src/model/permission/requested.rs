//! What an agent asks for: read from the input of the tool alone. Its title and its places are words for people, and count for nothing;
//! its kind says no more than whether it reads the paths that it names.

use serde_json::{Map, Value};

use super::patch::{self, MOST_PATHS, NamedPath};
use super::plain_command;
use axiom_base::shell_word::quoted_word;

/// Keys that hold a path, whatever the tool.
const PATH: [&str; 12] = [
    "file_path",
    "filePath",
    "filepath",
    "path",
    "absolute_path",
    "absolutePath",
    "abs_path",
    "notebook_path",
    "target_file",
    "file",
    "fileName",
    "relative_workspace_path",
];
/// Keys that hold lists of paths, or of objects with paths.
const LISTS: [&str; 5] = ["paths", "file_paths", "files", "edits", "changes"];
/// Keys that only an edit has.
const WRITES: [&str; 20] = [
    "content",
    "contents",
    "file_text",
    "new_string",
    "newString",
    "new_str",
    "newText",
    "new_text",
    "old_string",
    "oldString",
    "old_str",
    "oldText",
    "old_text",
    "new_source",
    "diff",
    "unified_diff",
    "edits",
    "changes",
    "insert_text",
    "patch",
];
/// Keys that say no more than how a file is edited or read.
const HOW: [&str; 34] = [
    "replace_all",
    "replaceAll",
    "expected_replacements",
    "insert_line",
    "cell_id",
    "cell_type",
    "edit_mode",
    "type",
    "kind",
    "add",
    "update",
    "delete",
    "instruction",
    "description",
    "reason",
    "offset",
    "limit",
    "line",
    "lines",
    "start_line",
    "end_line",
    "pages",
    "pattern",
    "query",
    "glob",
    "include",
    "output_mode",
    "head_limit",
    "multiline",
    "case_sensitive",
    "recursive",
    "ignore",
    "exclude",
    "move_path",
];
/// Keys that a command may have beside itself.
const OF_COMMAND: [&str; 10] =
    ["command", "cmd", "cwd", "workdir", "timeout", "timeout_ms", "description", "reason", "parsed_cmd", "call_id"];

/// What an agent asks for, with the places of its paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PermissionAct {
    /// It reads or searches.
    Read {
        /// Where.
        paths: Vec<PermissionPath>,
    },
    /// It changes files.
    Edit {
        /// Which.
        paths: Vec<PermissionPath>,
    },
    /// It runs a command.
    Command {
        /// The text for a shell.
        text: String,
        /// The folder in which it runs, where that is another than the workspace.
        folder: Option<PermissionPath>,
    },
    /// It cannot be said what it does.
    Unknown {
        /// Why.
        why: String,
    },
}

/// A path of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermissionPath {
    /// As the agent says it.
    pub said: String,
    /// Where it leads.
    pub place: PermissionPlace,
    /// Whether what is there goes away, or elsewhere.
    pub goes: bool,
}

/// Where a path leads, after all links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PermissionPlace {
    /// Beneath the workspace, by no link, and not below `.git`.
    Inside {
        /// Relative to the workspace.
        relative: String,
    },
    /// Beneath the workspace, below a `.git`.
    BelowGit {
        /// Relative to the workspace.
        relative: String,
    },
    /// Elsewhere.
    Outside {
        /// The absolute path.
        path: String,
    },
    /// By a link, or nobody can say.
    Unclear,
}

impl PermissionPlace {
    /// The path there, where one can be named: relative to the workspace within it, else absolute.
    pub(super) fn path(&self) -> Option<&str> {
        match self {
            Self::Inside { relative: path } | Self::BelowGit { relative: path } | Self::Outside { path } => Some(path),
            Self::Unclear => None,
        }
    }
}

/// What a call asks for. `kind` is what the agent calls it, `input` its raw input, `content` its contents: where there is no input, the
/// differences among them say which files are written. `place` finds out where a path leads.
pub fn requested(
    kind: &str,
    input: Option<&Value>,
    content: Option<&Value>,
    place: &dyn Fn(&str) -> PermissionPlace,
) -> PermissionAct {
    let unknown = |why: &str| PermissionAct::Unknown { why: why.to_owned() };
    let at = |named: NamedPath| PermissionPath { place: place(&named.said), said: named.said, goes: named.goes };
    match input {
        Some(Value::Object(input)) if !input.is_empty() => of_input(kind, input, &at),
        None | Some(Value::Null | Value::Object(_)) => {
            let written = differences(content);
            match written {
                Some(paths) => PermissionAct::Edit { paths: paths.into_iter().map(at).collect() },
                None => unknown("it does not say what it does"),
            }
        }
        Some(Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => unknown("what it does cannot be read"),
    }
}

fn of_input(kind: &str, input: &Map<String, Value>, at: &dyn Fn(NamedPath) -> PermissionPath) -> PermissionAct {
    let unknown = |why: String| PermissionAct::Unknown { why };
    let odd = |known: &dyn Fn(&str) -> bool| {
        input.keys().find(|key| !known(key)).map(|key| format!("nobody knows what '{key}' means in it"))
    };
    if input.contains_key("command") || input.contains_key("cmd") {
        let Some(text) = command_of(input) else { return unknown("its command cannot be read".into()) };
        if let Some(why) = odd(&|key| OF_COMMAND.contains(&key)) {
            return unknown(why);
        }
        return match folder_of(input) {
            Ok(folder) => {
                let folder = folder.map(|said| at(NamedPath { said, goes: false }));
                // Many say so where they mean the workspace.
                let is_elsewhere = |folder: &PermissionPath| folder.place != PermissionPlace::Inside { relative: String::new() };
                PermissionAct::Command { text, folder: folder.filter(is_elsewhere) }
            }
            Err(()) => unknown("its folder cannot be read".into()),
        };
    }
    let known = |key: &str| [&PATH[..], &LISTS[..], &WRITES[..], &HOW[..]].iter().any(|keys| keys.contains(&key));
    if let Some(why) = odd(&known) {
        return unknown(why);
    }
    let mut paths = Vec::new();
    if collect(input, &mut paths, 4).is_none() || paths.len() > MOST_PATHS {
        return unknown("its files cannot be read".into());
    }
    let writes = WRITES.iter().any(|key| input.contains_key(*key));
    // What a kind says makes nobody less careful.
    let goes = matches!(kind, "delete" | "move");
    let paths: Vec<PermissionPath> = paths.into_iter().map(|path| at(NamedPath { goes: goes || path.goes, ..path })).collect();
    match (writes, kind) {
        (true, _) if paths.is_empty() => unknown("it does not say which file it changes".into()),
        (true, _) => PermissionAct::Edit { paths },
        // The same input may stand for a deletion.
        (false, "read" | "search") => PermissionAct::Read { paths },
        (false, _) => unknown("it does not say what it does with them".into()),
    }
}

/// The command, where it is a text or a list of words; of a list that starts a shell with a text, that.
fn command_of(input: &Map<String, Value>) -> Option<String> {
    let mut found = ["command", "cmd"].iter().filter_map(|key| input.get(*key));
    let command = found.next()?;
    if found.next().is_some() {
        return None;
    }
    match command {
        Value::String(text) => {
            let words = plain_command::words(text).unwrap_or_default();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            Some(of_shell(&words).unwrap_or(text).to_owned())
        }
        Value::Array(words) => {
            let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
            let words = words?;
            let joined = || words.iter().map(|word| plain_or_quoted(word)).collect::<Vec<_>>().join(" ");
            Some(of_shell(&words).map_or_else(joined, str::to_owned))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
    .filter(|text| !text.trim().is_empty())
}

/// The text that a shell is started with, where that is all of the command.
fn of_shell<'w>(words: &[&'w str]) -> Option<&'w str> {
    let [shell, "-c" | "-lc", text] = *words else { return None };
    // Elsewhere, such a name may be any program's.
    let name = shell.strip_prefix("/usr").unwrap_or(shell);
    matches!(name.strip_prefix("/bin/").unwrap_or(name), "sh" | "bash" | "zsh" | "dash").then_some(text)
}

fn plain_or_quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,+@%=".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) { word.to_owned() } else { quoted_word(word) }
}

fn folder_of(input: &Map<String, Value>) -> Result<Option<String>, ()> {
    let mut folder = None;
    for value in ["cwd", "workdir"].iter().filter_map(|key| input.get(*key)) {
        match value {
            Value::Null => {}
            Value::String(text) if folder.is_none() => folder = Some(text.clone()),
            Value::String(_) | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => return Err(()),
        }
    }
    Ok(folder)
}

/// All paths in an object, and in the lists below it. `None` where one is no text, or they are too deep.
fn collect(object: &Map<String, Value>, paths: &mut Vec<NamedPath>, depth: usize) -> Option<()> {
    let removes = removes(object);
    for (key, value) in object {
        if PATH.contains(&key.as_str()) || key == "move_path" {
            let goes = removes && key != "move_path";
            match value {
                Value::String(path) => paths.push(NamedPath { said: path.clone(), goes }),
                Value::Null => {}
                Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => return None,
            }
        } else if matches!(key.as_str(), "diff" | "unified_diff" | "patch") {
            paths.extend(patch::named(value.as_str()?)?);
        } else if LISTS.contains(&key.as_str()) {
            below(value, paths, depth.checked_sub(1)?)?;
        } else if let Value::Object(inner) = value {
            collect(inner, paths, depth.checked_sub(1)?)?;
        }
    }
    Some(())
}

/// Whether what an object names goes away, or elsewhere.
fn removes(object: &Map<String, Value>) -> bool {
    let says = |value: &Value| matches!(value.as_str(), Some("delete" | "remove" | "move" | "rename"));
    let kinds = ["type", "kind"].iter().filter_map(|key| object.get(*key));
    let moves = |object: &Map<String, Value>| object.get("move_path").is_some_and(|path| !path.is_null());
    let is_said = |kind: &Value| {
        let within = |kind: &Map<String, Value>| kind.get("type").is_some_and(says) || moves(kind);
        says(kind) || kind.as_object().is_some_and(within)
    };
    let updates = object.get("update").and_then(Value::as_object);
    kinds.into_iter().any(is_said) || object.contains_key("delete") || moves(object) || updates.is_some_and(moves)
}

fn below(value: &Value, paths: &mut Vec<NamedPath>, depth: usize) -> Option<()> {
    match value {
        Value::Array(items) => items.iter().try_for_each(|item| match item {
            Value::String(path) => {
                paths.push(NamedPath { said: path.clone(), goes: false });
                Some(())
            }
            Value::Object(object) => collect(object, paths, depth),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => None,
        }),
        // Each key is a path.
        Value::Object(by_path) => by_path.iter().try_for_each(|(path, change)| {
            let Value::Object(change) = change else { return None };
            paths.push(NamedPath { said: path.clone(), goes: removes(change) });
            collect(change, paths, depth)
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

/// The files of the differences in a call's contents, where they are all that is in it.
fn differences(content: Option<&Value>) -> Option<Vec<NamedPath>> {
    let items = content?.as_array()?;
    let path = |item: &Value| {
        let text = |key: &str| item.get(key).and_then(Value::as_str);
        let goes = text("newText").is_none_or(str::is_empty) && text("oldText").is_some_and(|old| !old.is_empty());
        let said = text("path").filter(|_| text("type") == Some("diff"))?.to_owned();
        Some(NamedPath { said, goes })
    };
    let paths: Option<Vec<NamedPath>> = items.iter().take(MOST_PATHS + 1).map(path).collect();
    paths.filter(|paths| !paths.is_empty() && paths.len() <= MOST_PATHS)
}
