//! Agents in the file of an editor that it starts through us: put in, found again, cut out, with everything else byte for byte.

use std::ops::Range;

use serde_json::Value;

use super::edit::HookEditRefusal;
use super::spans::{SpanEdits, SpannedContent, SpannedMember, SpannedNode, append, parse};

/// Our agents in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentServers {
    /// The key below which agents are.
    pub key: &'static str,
    /// Their names and values.
    pub entries: Vec<(String, Value)>,
}

impl AgentServers {
    /// The text with all of them, each once and as this version writes it; the same text where that is so already.
    pub fn with(&self, text: Option<&str>) -> Result<String, HookEditRefusal> {
        let text = text.filter(|text| !text.trim().is_empty()).unwrap_or("{}\n");
        self.entries.iter().try_fold(text.to_owned(), |text, (name, value)| self.with_one(&text, name, value))
    }

    /// The text without ours; a key that this empties goes too.
    pub fn without(&self, text: &str) -> Result<String, HookEditRefusal> {
        if text.trim().is_empty() {
            return Ok(text.to_owned());
        }
        let root = self.checked(text)?;
        let (mut edits, mut empty) = (SpanEdits::default(), Vec::new());
        for member in root.members() {
            let agents = member.value.members();
            let goes: Vec<bool> = agents.iter().map(|one| member.name == self.key && is_ours(&one.value.value(text))).collect();
            let all = !goes.is_empty() && goes.iter().all(|goes| *goes);
            if !all {
                edits.cut(&spans(agents), &goes);
            }
            empty.push(all);
        }
        edits.cut(&spans(root.members()), &empty);
        Ok(edits.apply(text))
    }

    fn with_one(&self, text: &str, name: &str, value: &Value) -> Result<String, HookEditRefusal> {
        let root = self.checked(text)?;
        let mut edits = SpanEdits::default();
        let put = |edits: &mut SpanEdits, container: &SpannedNode, entry: &str| {
            let (span, with) = append(text, container, container.members().last().map(SpannedMember::span), entry);
            edits.replace(span, with);
        };
        let Some(agents) = root.member(self.key) else {
            put(&mut edits, &root, &format!("\"{}\": {{}}", self.key));
            return self.with_one(&edits.apply(text), name, value);
        };
        match agents.value.member(name) {
            Some(there) if there.value.value(text) == *value => return Ok(text.to_owned()),
            Some(there) if is_ours(&there.value.value(text)) => edits.replace(there.value.span.clone(), value.to_string()),
            Some(_) => return Err(format!("'{}' in it has '{name}' already, which git axiom did not write", self.key)),
            None => put(&mut edits, &agents.value, &format!("{}: {value}", Value::from(name))),
        }
        Ok(edits.apply(text))
    }

    fn checked(&self, text: &str) -> Result<SpannedNode, HookEditRefusal> {
        let root = parse(text).map_err(|why| format!("it is not valid JSON (comments and trailing commas are none): {why}"))?;
        let is_object = |node: &SpannedNode| matches!(node.parts, SpannedContent::Object(_));
        if !is_object(&root) {
            return Err("it is not a JSON object".to_owned());
        }
        match root.members().iter().all(|member| member.name != self.key || is_object(&member.value)) {
            true => Ok(root),
            false => Err(format!("'{}' in it is not an object", self.key)),
        }
    }
}

fn spans(members: &[SpannedMember]) -> Vec<Range<usize>> {
    members.iter().map(SpannedMember::span).collect()
}

/// Whether an agent is started through us, whatever the path.
fn is_ours(value: &Value) -> bool {
    let program = value.get("command").and_then(Value::as_str).unwrap_or_default();
    let verb = value.get("args").and_then(|args| args.get(0)).and_then(Value::as_str);
    program.rsplit('/').next() == Some("git-axiom") && verb == Some("acp")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ours(path: &str) -> AgentServers {
        let entry = |name: &str| (name.to_owned(), json!({"command": path, "args": ["acp", "--", name]}));
        AgentServers { key: "agent_servers", entries: vec![entry("a"), entry("b")] }
    }

    #[test]
    fn what_is_put_in_is_cut_out_to_the_byte() {
        let texts = [
            "{}",
            "{\n    \"theme\": \"x\"\n}\n",
            "{\"agent_servers\": {\"mine\": {\"command\": \"x\"}}, \"z\": [1]}",
            "{\r\n\t\"agent_servers\": {\r\n\t\t\"mine\": {}\r\n\t}\r\n}\r\n",
        ];
        for text in texts {
            let with = ours("/bin/git-axiom").with(Some(text)).unwrap();
            let value: Value = serde_json::from_str(&with).unwrap();
            assert_eq!(value["agent_servers"]["b"]["args"][2], "b", "{with}");
            assert_eq!(ours("/bin/git-axiom").with(Some(&with)).unwrap(), with);
            let moved = ours("/opt/git-axiom").with(Some(&with)).unwrap();
            assert_eq!(moved.matches("/opt/git-axiom").count(), 2);
            let without = ours("/bin/git-axiom").without(&moved).unwrap();
            let (before, after): (Value, Value) = (serde_json::from_str(text).unwrap(), serde_json::from_str(&without).unwrap());
            assert_eq!(before, after);
            if text.contains("mine") {
                assert_eq!(without, text);
            }
        }
        assert!(ours("git-axiom").with(None).unwrap().ends_with("}\n"));
    }

    #[test]
    fn what_is_not_ours_is_left_alone() {
        for odd in ["[]", "{\"agent_servers\": []}", "{ // comment\n}", "{\"agent_servers\": {\"a\": {\"command\": \"x\"}}}"] {
            assert!(ours("git-axiom").with(Some(odd)).is_err(), "{odd}");
        }
        let others = "{\"agent_servers\": {\"a\": {\"command\": \"/x/git-axiom\", \"args\": [\"status\"]}}}";
        assert_eq!(ours("git-axiom").without(others).unwrap(), others);
    }
}
