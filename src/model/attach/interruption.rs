//! How Claude Code writes down that a human interrupted a turn: no hook is called then. Pure.

use serde_json::Value;

/// With what the text begins that stands for the interruption.
const MARK: &str = "[Request interrupted by user";

/// Whether lines that were added to a conversation tell of an interruption by the human.
pub fn tells_interruption(lines: &str) -> bool {
    lines.lines().filter(|line| line.contains(MARK)).filter_map(|line| serde_json::from_str(line).ok()).any(|line| is_one(&line))
}

fn is_one(line: &Value) -> bool {
    let is_mark = |text: &Value| text.as_str().is_some_and(|text| text.starts_with(MARK));
    let content = line.pointer("/message/content").unwrap_or(&Value::Null);
    // What a tool has read is quoted in an item of another type.
    let item = |item: &Value| item.get("type").is_some_and(|kind| kind == "text") && item.get("text").is_some_and(is_mark);
    let is_users = line.get("type").is_some_and(|kind| kind == "user");
    is_users && (is_mark(content) || content.as_array().is_some_and(|items| items.iter().any(item)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_program_says_itself_is_an_interruption() {
        let text = |kind: &str, text: &str| {
            format!(r#"{{"type":"{kind}","message":{{"role":"{kind}","content":[{{"type":"text","text":"{text}"}}]}}}}"#)
        };
        let mark = "[Request interrupted by user]";
        assert!(tells_interruption(&format!("{}\n{}\n", text("assistant", "x"), text("user", mark))));
        assert!(tells_interruption(&text("user", "[Request interrupted by user for tool use]")));
        assert!(tells_interruption(&format!(r#"{{"type":"user","message":{{"content":"{mark}"}}}}"#)));
        assert!(!tells_interruption(&text("assistant", mark)) && !tells_interruption(&text("user", &format!("why {mark}?"))));
        let read = format!(r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","content":"{mark}"}}]}}}}"#);
        assert!(!tells_interruption(&read) && !tells_interruption(mark) && !tells_interruption(""));
    }
}
