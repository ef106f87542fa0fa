//! What an agent does with a tool, or asks to do, as far as its input says so. All of it is the agent's text.

use std::borrow::Cow;

use super::json_fields::{fields, items, text};
use axiom_base::shell_word::quoted_word;

/// The most files, words of a command and blocks of content that are looked at.
const MOST: usize = 500;
/// Where agents put the file of a tool.
const PATHS: [&str; 6] = ["file_path", "filePath", "filepath", "path", "absolute_path", "notebook_path"];

/// What an agent does with a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AcpToolAct {
    /// The id of the call.
    pub id: String,
    /// `read`, `edit`, `delete`, `move`, `search`, `execute`, `think`, `fetch`, `other`, or another word; empty where it is not said, as in an
    /// update that says only what changed. A hint: the input decides.
    pub kind: String,
    /// `pending`, `in_progress`, `completed`, `failed`, or another word; empty where it is not said.
    pub status: String,
    /// The line for people; some agents say the command here alone.
    pub title: String,
    /// Whether there is an input with something in it.
    pub has_input: bool,
    /// The shell command of the input; words of a list are quoted.
    pub command: Option<String>,
    /// The folder in which the input says that the command runs.
    pub folder: Option<String>,
    /// The file that the input names.
    pub path: Option<String>,
    /// The files of `locations` and of differences, without doubles: a hint as the kind is.
    pub located: Vec<String>,
}

impl AcpToolAct {
    /// Reads the object of a tool call, or of an update of one. `None` for what is no object.
    pub fn of(call: &str) -> Option<Self> {
        let names = ["toolCallId", "kind", "status", "title", "rawInput", "locations", "content"];
        let [id, kind, status, title, input, locations, content] = fields(call, names)?;
        let word = |raw: Option<&str>| raw.and_then(text).unwrap_or_default().into_owned();
        let mut act = Self {
            id: word(id),
            kind: word(kind),
            status: word(status),
            title: word(title),
            ..input.map(Self::of_input).unwrap_or_default()
        };
        for item in [locations, content].into_iter().flatten().flat_map(|list| items(list, MOST)) {
            act.locate(item);
        }
        Some(act)
    }

    /// Whether it has ended.
    pub fn has_ended(&self) -> bool {
        matches!(self.status.as_str(), "completed" | "failed" | "cancelled")
    }

    fn of_input(input: &str) -> Self {
        let Some([command, cmd, cwd, workdir]) = fields(input, ["command", "cmd", "cwd", "workdir"]) else {
            return Self::default();
        };
        let named = fields(input, PATHS).unwrap_or_default();
        let own = |raw: &str| text(raw).map(Cow::into_owned).filter(|text| !text.is_empty());
        Self {
            has_input: input.trim_end().len() > 2,
            command: [command, cmd].into_iter().flatten().find_map(command_of),
            folder: [cwd, workdir].into_iter().flatten().find_map(own),
            path: named.into_iter().flatten().find_map(own),
            ..Self::default()
        }
    }

    fn locate(&mut self, item: &str) {
        let path = fields(item, ["path"]).and_then(|[path]| path).and_then(text);
        if let Some(path) = path.filter(|path| !path.is_empty() && self.located.len() < MOST)
            && self.located.iter().all(|known| *known != path)
        {
            self.located.push(path.into_owned());
        }
    }
}

/// A command: a text, or its words.
fn command_of(raw: &str) -> Option<String> {
    let command = match text(raw) {
        Some(text) => text.into_owned(),
        None => items(raw, MOST).into_iter().filter_map(text).map(|word| quoted_word(&word)).collect::<Vec<_>>().join(" "),
    };
    Some(command).filter(|command| !command.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_input_says_what_is_done() {
        let act = AcpToolAct::of(
            r#"{"toolCallId":"c","kind":"execute","status":"pending","title":"ls","rawInput":{"command":"rm -rf x","cwd":"/repo"},"locations":[{"path":"/repo"}]}"#,
        )
        .unwrap();
        assert_eq!((act.command.as_deref(), act.folder.as_deref(), act.path), (Some("rm -rf x"), Some("/repo"), None));
        assert_eq!((act.located.as_slice(), act.has_input), (&["/repo".to_owned()][..], true));
        let act = AcpToolAct::of(r#"{"rawInput":{"command":["bash","-lc","rm 'a b'"]}}"#).unwrap();
        assert_eq!(act.command.unwrap(), r"'bash' '-lc' 'rm '\''a b'\'''");
        let act = AcpToolAct::of(r#"{"rawInput":{"filepath":"/r/a","diff":"x"},"content":[{"type":"diff","path":"/r/a"},{"type":"diff","path":"b"}],"locations":[{"path":"b"}]}"#).unwrap();
        assert_eq!((act.path.as_deref(), act.located), (Some("/r/a"), vec!["b".to_owned(), "/r/a".to_owned()]));
    }

    #[test]
    fn what_is_not_as_expected_is_nothing() {
        for call in ["7", "[]", "", "null", "{"] {
            assert_eq!(AcpToolAct::of(call), None, "{call}");
        }
        for input in ["{}", "null", "7", "\"rm x\"", "[1]"] {
            let act =
                AcpToolAct::of(&format!("{{\"rawInput\":{input},\"kind\":9,\"locations\":{{}},\"content\":\"x\"}}")).unwrap();
            assert_eq!(act, AcpToolAct::default(), "{input}");
        }
        let many: Vec<String> = (0..2000).map(|n| format!("{{\"path\":\"{n}\"}}")).collect();
        let act = AcpToolAct::of(&format!("{{\"locations\":[{}]}}", many.join(","))).unwrap();
        assert_eq!(act.located.len(), MOST);
    }
}
