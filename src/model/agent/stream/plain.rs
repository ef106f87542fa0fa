//! What an error says in words, where a service's answer stands in it as JSON.

use serde_json::Value;

/// How deep an answer may be in the text of another one.
const DEEPEST: usize = 4;

/// `text` with the JSON object in it replaced by its message, and by its code where it has one; as it is where there is no such.
pub(super) fn plain(text: &str) -> String {
    let mut text = text.to_owned();
    for _ in 0..DEEPEST {
        match replaced(&text) {
            Some(next) => text = next,
            None => break,
        }
    }
    text
}

fn replaced(text: &str) -> Option<String> {
    let (begin, end) = (text.find('{')?, text.rfind('}')?);
    let object: Value = serde_json::from_str(text.get(begin..=end)?).ok()?;
    let message = ["/error/message", "/message", "/error"].iter().find_map(|place| object.pointer(place)?.as_str())?;
    let code = ["/error/code", "/code", "/status"].iter().find_map(|place| object.pointer(place)?.as_u64());
    let code = code.map(|code| code.to_string()).filter(|code| !text[..begin].contains(code) && !message.contains(code));
    let code = code.map_or_else(String::new, |code| format!(" ({code})"));
    let (before, after) = (&text[..begin], &text[end + 1..]);
    // A list of which it is the only element.
    let (before, after) = match (before.strip_suffix('['), after.trim_start().strip_prefix(']')) {
        (Some(before), Some(after)) => (before, after),
        (_, _) => (before, after),
    };
    Some(format!("{before}{message}{code}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_in_json_is_read_as_its_message() {
        let inner = r#"{"error":{"code":400,"message":"API key not valid","status":"INVALID_ARGUMENT"}}"#;
        let outer = serde_json::json!({"error": {"message": inner, "code": 400}}).to_string();
        for (text, expected) in [
            ("plain words", "plain words"),
            (r#"[API Error: {"error":{"message":"no","code":401}}]"#, "[API Error: no (401)]"),
            (r#"401 {"message":"no","code":401}"#, "401 no"),
            (r#"{"error":"quota"}"#, "quota"),
            (r#"Error: [{"error":"quota"} ] again"#, "Error: quota again"),
            (outer.as_str(), "API key not valid (400)"),
            // Not an answer, or not whole.
            (r#"in {"a":1}"#, r#"in {"a":1}"#),
            (r#"cut {"message":"n"#, r#"cut {"message":"n"#),
            ("} and {", "} and {"),
            ("é{} ü", "é{} ü"),
        ] {
            assert_eq!(plain(text), expected);
        }
    }
}
