//! What a tool call is about, and which lines it changes: from its input, in the words that programs use for it.

use serde_json::Value;

/// Where programs put what a call is about.
const ABOUT: &[&str] = &["/command", "/file_path", "/filePath", "/absolute_path", "/path", "/pattern", "/query", "/url"];
/// Names of an old text and of the new one.
const REPLACED: &[(&str, &str)] =
    &[("/old_string", "/new_string"), ("/oldString", "/newString"), ("/oldText", "/newText"), ("/old_str", "/new_str")];
/// Where programs put the text of a new file.
const WRITTEN: &[&str] = &["/content", "/file_text"];
/// Where they put a list of replacements.
const EDITS: &str = "/edits";
/// The most replacements of one call that are looked at.
const MOST_EDITS: usize = 100;

/// What a call is about: a command, a path, a pattern. `None` where the input does not say.
pub fn about(input: &Value) -> Option<String> {
    let named = ABOUT.iter().find_map(|place| input.pointer(place).and_then(Value::as_str)).or(input.as_str());
    // A list of changes, each with its path.
    let paths = || {
        let changes = input.as_array()?.iter().take(MOST_EDITS);
        let paths: Vec<&str> = changes.filter_map(|change| change.get("path").and_then(Value::as_str)).collect();
        Some(paths.join(", "))
    };
    named.map(str::to_owned).or_else(paths).filter(|text| !text.trim().is_empty())
}

/// A text that a call replaces by another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextReplacement<'a> {
    /// The lines before.
    pub old: &'a str,
    /// The lines after.
    pub new: &'a str,
}

/// The texts that a call replaces: those of an edit, or of a new file.
pub fn replaced(input: &Value) -> Vec<TextReplacement<'_>> {
    let edits = input.pointer(EDITS).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let all = std::iter::once(input).chain(edits.iter().take(MOST_EDITS));
    all.filter_map(one).collect()
}

fn one(input: &Value) -> Option<TextReplacement<'_>> {
    let text = |place: &str| input.pointer(place).and_then(Value::as_str);
    let pair = REPLACED.iter().find_map(|(old, new)| Some(TextReplacement { old: text(old)?, new: text(new)? }));
    pair.or_else(|| Some(TextReplacement { old: "", new: WRITTEN.iter().find_map(|place| text(place))? }))
}

/// The lines that differ: those of the old text, then those of the new one, without the lines that both begin and end with.
pub fn differing<'a>(texts: TextReplacement<'a>) -> (Vec<&'a str>, Vec<&'a str>) {
    let (old, new): (Vec<&str>, Vec<&str>) = (texts.old.lines().collect(), texts.new.lines().collect());
    let same = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| pairs.take_while(|(old, new)| old == new).count();
    let begin = same(&mut old.iter().zip(&new));
    let end = same(&mut old[begin..].iter().rev().zip(new[begin..].iter().rev()));
    (old[begin..old.len() - end].to_vec(), new[begin..new.len() - end].to_vec())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_is_about_its_command_path_or_pattern() {
        for (input, expected) in [
            (json!({"command": "ls", "path": "x"}), Some("ls")),
            (json!({"filePath": "a.rs", "newString": "x"}), Some("a.rs")),
            (json!("git status"), Some("git status")),
            (json!([{"path": "a", "kind": "add"}, {"path": "b"}, 7]), Some("a, b")),
            (json!({"other": 1}), None),
            (json!({"command": " "}), None),
            (json!([]), None),
            (json!(null), None),
        ] {
            assert_eq!(about(&input).as_deref(), expected, "{input}");
        }
    }

    #[test]
    fn replaced_texts_are_found_in_all_dialects_and_only_what_differs_is_left() {
        let input =
            json!({"edits": [{"oldText": "a\nb\nc", "newText": "a\nB\nc"}, {"x": 1}], "old_string": "", "new_string": "n"});
        let found: Vec<_> = replaced(&input).into_iter().map(differing).collect();
        assert_eq!(found, [(vec![], vec!["n"]), (vec!["b"], vec!["B"])]);
        assert_eq!(replaced(&json!({"content": "x"})), [TextReplacement { old: "", new: "x" }]);
        assert_eq!(replaced(&json!({"edits": 7})), []);
        for (old, new, expected) in [
            ("a", "a", (vec![], vec![])),
            ("a\na", "a", (vec!["a"], vec![])),
            ("a", "a\na", (vec![], vec!["a"])),
            ("", "", (vec![], vec![])),
            ("é\nx", "é\ny\nx", (vec![], vec!["y"])),
        ] {
            assert_eq!(differing(TextReplacement { old, new }), expected, "{old} {new}");
        }
    }
}
