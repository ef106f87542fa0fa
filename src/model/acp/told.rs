//! A sentence for the agent in a prompt: one more block of text, at the end. All other bytes of the line stay as they are.

use super::json_fields::fields;

/// The line with the sentence; `None` where its prompt is no list that can be added to.
pub fn with_block(line: &str, sentence: &str) -> Option<String> {
    let prompt = fields(fields(line, ["params"])?[0]?, ["prompt"])?[0]?;
    let inside = prompt.strip_prefix('[')?.strip_suffix(']')?;
    // It is a part of the line: where, its address says.
    let end = (prompt.as_ptr() as usize).checked_sub(line.as_ptr() as usize)?.checked_add(prompt.len())?.checked_sub(1)?;
    let (before, after) = (line.get(..end)?, line.get(end..)?);
    let block = serde_json::json!({"type": "text", "text": sentence});
    let comma = if inside.trim().is_empty() { "" } else { "," };
    Some(format!("{before}{comma}{block}{after}"))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn a_block_is_added_and_nothing_else_changes() {
        let line = "{ \"id\":1,\"params\":{\"prompt\":[ {\"type\":\"text\",\"text\":\"a]\"} ] ,\"sessionId\":\"é\"},\"method\":\"session/prompt\"}\r\n";
        let told = with_block(line, "say \"x\"").unwrap();
        assert_eq!(told.replace(",{\"text\":\"say \\\"x\\\"\",\"type\":\"text\"}", ""), line);
        let value: Value = serde_json::from_str(&told).unwrap();
        assert_eq!(value["params"]["prompt"][1]["text"], "say \"x\"");
        let none = with_block("{\"params\":{\"prompt\":[ ]}}", "x").unwrap();
        assert_eq!(serde_json::from_str::<Value>(&none).unwrap()["params"]["prompt"][0]["text"], "x");
    }

    /// Of two prompts the agent reads the last.
    #[test]
    fn what_has_no_list_is_left_alone() {
        for line in ["", "{}", "{\"params\":[]}", "{\"params\":{\"prompt\":\"x\"}}", "{\"params\":{\"prompt\":[1}}"] {
            assert_eq!(with_block(line, "x"), None, "{line}");
        }
        let twice = with_block("{\"params\":{\"prompt\":[1],\"prompt\":[2]}}", "x").unwrap();
        assert!(twice.starts_with("{\"params\":{\"prompt\":[1],\"prompt\":[2,{"), "{twice}");
    }
}
