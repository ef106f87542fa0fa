//! A configuration's table laid over a preset, or over nothing: what a user says about a program counts more.

use serde_json::{Map, Value};

use super::acp_lines::acp_value;
use super::adapter::{AgentAdapter, invalid};
use axiom_base::error::{Code, Result};

/// The keys whose entries are merged, rather than the whole value replaced.
const BY_ENTRY: [&str; 3] = ["env", "tools", "stream"];

/// The agent program that `over` (a table of the configuration, with `name`) makes of `base` (a preset). Keys of `over`
/// replace those of `base`; entries of `env`, `tools` and `stream` are replaced one by one, `stream.rules` and `stream.trouble`
/// as a whole. A `null` takes a key away.
pub fn overlaid(base: Option<Value>, over: Value) -> Result<AgentAdapter> {
    let Value::Object(over) = over else { return Err(invalid("an agent program has to be a table")) };
    let mut table = match base {
        Some(Value::Object(table)) => table,
        Some(_) | None => Map::new(),
    };
    for (key, value) in over {
        match (table.get_mut(&key), value) {
            (Some(Value::Object(old)), Value::Object(new)) if BY_ENTRY.contains(&key.as_str()) => {
                for (entry, value) in new {
                    put(old, entry, value);
                }
            }
            (_, value) => put(&mut table, key, value),
        }
    }
    adapter_of(Value::Object(table))
}

fn put(table: &mut Map<String, Value>, key: String, value: Value) {
    if value.is_null() {
        table.remove(&key);
    } else {
        table.insert(key, value);
    }
}

/// With what every program of the protocol says in the same words, where the table says nothing else.
fn with_protocol(mut table: Value) -> Result<Value> {
    if table.get("protocol").and_then(Value::as_str) == Some("acp")
        && let (Some(table), Value::Object(common)) = (table.as_object_mut(), acp_value()?)
    {
        for (key, value) in common {
            match (table.get_mut(&key), value) {
                (Some(Value::Object(own)), Value::Object(more)) if BY_ENTRY.contains(&key.as_str()) => {
                    for (entry, value) in more {
                        own.entry(entry).or_insert(value);
                    }
                }
                (Some(_), _) => {}
                (None, value) => {
                    table.insert(key, value);
                }
            }
        }
    }
    Ok(table)
}

pub(super) fn adapter_of(table: Value) -> Result<AgentAdapter> {
    let table = with_protocol(table)?;
    let name = table.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    if table.get("command").is_none() {
        return Err(invalid(format!("agents.{name} has no command"))
            .hint(format!("set agents.{name}.command to the program and its arguments")));
    }
    let adapter: AgentAdapter = serde_json::from_value(table).map_err(|error| {
        axiom_base::error::Error::new(Code::ConfigInvalid, format!("agents.{name} cannot be used"))
            .because(error)
            .hint("correct or remove the key")
    })?;
    adapter.checked()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::adapter::AdapterStopSignal;
    use super::super::presets::{preset, preset_value};
    use super::super::stream::rules::UsageCounting;
    use super::super::tool_kind::ToolKind;
    use super::*;

    fn claude_with(over: Value) -> Result<AgentAdapter> {
        overlaid(Some(preset_value("claude").unwrap()), over)
    }

    #[test]
    fn a_table_changes_a_preset_piecewise() {
        let plain = preset("claude").unwrap();
        let over = json!({
            "command": ["claude", "-p"], "stopSignal": "INT", "silenceLimit": 0,
            "env": {"DISABLE_AUTOUPDATER": "0", "MINE": "1"}, "tools": {"Bash": "other"}, "stream": {"usage": "step"},
        });
        let changed = claude_with(over).unwrap();
        assert_eq!(changed.command, ["claude", "-p"]);
        assert_eq!((changed.stop_signal, changed.silence_limit), (AdapterStopSignal::Int, None));
        assert_eq!((changed.env["DISABLE_AUTOUPDATER"].as_str(), changed.env["MINE"].as_str()), ("0", "1"));
        assert_eq!(changed.env.len(), plain.env.len() + 1);
        assert_eq!((changed.tool_kind("Bash"), changed.tool_kind("Write")), (ToolKind::Other, ToolKind::Write));
        assert_eq!(changed.stream.usage, UsageCounting::Step);
        assert_eq!(changed.stream.rules, plain.stream.rules);
        let own = json!([{"is": "text", "text": "/say"}]);
        assert_eq!(claude_with(json!({"stream": {"rules": own}})).unwrap().stream.rules.len(), 1);
        assert_eq!(claude_with(json!({"resume": null})).unwrap().resume, <Vec<String>>::new());
        assert_eq!(claude_with(json!({})).unwrap(), plain);
    }

    #[test]
    fn a_program_of_ones_own_needs_only_a_command() {
        let own = overlaid(None, json!({"name": "mine", "command": ["mine", "{promptFile}"]})).unwrap();
        assert_eq!((own.exit_completes, own.stop_signal, own.silence_limit), (false, AdapterStopSignal::Term, None));
        let price = overlaid(None, json!({"name": "m", "command": ["m"], "price": {"input": 3, "output": 15}})).unwrap().price;
        assert!((price.unwrap().of(1_000_000, 0, 100_000) - 4.5).abs() < 1e-9);
        assert!((price.unwrap().of(1_000_000, 900_000, 100_000) - 4.5).abs() < 1e-9);
        let cached = json!({"name": "m", "command": ["m"], "price": {"input": 3, "cachedInput": 0.3, "output": 15}});
        let price = overlaid(None, cached).unwrap().price.unwrap();
        assert!((price.of(1_000_000, 900_000, 100_000) - 2.07).abs() < 1e-9);
        assert!((price.of(10, 99, 0) - 3e-6).abs() < 1e-12, "no more can be cached than was sent");
    }

    #[test]
    fn what_cannot_be_used_is_refused_with_its_key() {
        for (over, part) in [
            (json!({"commnd": ["x"]}), "commnd"),
            (json!({"command": []}), "has no command"),
            (json!({"command": null}), "has no command"),
            (json!({"name": " "}), "no name"),
            (json!({"stopSignal": "KILL"}), "KILL"),
            (json!({"resume": ["claude"]}), "agents.claude.resume"),
            (json!({"env": {"A=B": "1"}}), "A=B"),
            (json!({"price": {"input": -1, "output": 0}}), "agents.claude.price"),
            (json!({"price": {"input": 1, "cachedInput": -1, "output": 0}}), "agents.claude.price"),
            (json!({"stream": {"rules": [{"is": "text", "text": "say"}]}}), "'say' is no pointer"),
            (json!({"stream": {"rules": [{"is": "text"}]}}), "needs 'text'"),
            (json!({"stream": {"rules": [{"is": "text", "text": "/a", "exit": "/b"}]}}), "'exit'"),
            (json!({"stream": {"rules": [{"is": "text", "text": "/a", "of": {"/b": 1}}]}}), "'each'"),
            (json!({"stream": {"rules": [{"is": "text", "text": "/a", "when": {"/b": [[1]]}}]}}), "/b"),
            (json!("claude"), "a table"),
        ] {
            let error = claude_with(over).unwrap_err();
            assert_eq!(error.code(), Code::ConfigInvalid);
            assert!(format!("{error}").contains(part), "{error} / {part}");
        }
    }
}
