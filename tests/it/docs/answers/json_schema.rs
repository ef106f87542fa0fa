//! The JSON Schema (draft 2020-12) of all answers, from their shapes.

use std::collections::{BTreeMap, BTreeSet};

use git_axiom::ui::commands::answers::VerbAnswer;
use serde_json::{Map, Value, json};

use super::page::told;
use super::shapes::{Shapes, ValueType, name_of};

/// The types that the page explains itself, but for those that JSON Schema has.
fn plain_types() -> Map<String, Value> {
    let all = json!({
        "time": { "type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{3}Z$",
            "description": "RFC 3339 in UTC, to the millisecond." },
        "id": { "type": "string", "pattern": "^([0-9a-f]{40}|[0-9a-f]{64})$", "description": "The id of a git object." },
        "ref": { "type": "string", "pattern": "(^|/)refs/", "description": "The full name of a ref." },
        "path": { "anyOf": [ { "type": "string" }, { "type": "object", "properties": { "hex": { "type": "string" } },
            "required": ["hex"], "additionalProperties": false } ],
            "description": "The path of a file; an object where it is not UTF-8." },
    });
    let Value::Object(all) = all else { unreachable!() };
    all
}

/// The schema, for answers with this version.
pub fn schema_of(shapes: &Shapes, answers: &[VerbAnswer], version: u32) -> Value {
    let mut defined = plain_types();
    for name in shapes.all.keys() {
        let (properties, required) = keys_of(shapes, name);
        defined.insert(name.clone(), object(shapes, name, properties, &required));
    }
    let mut by_verb: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for answer in answers {
        let shape = name_of(answer.of);
        let verbs: BTreeSet<String> = answer.verbs.iter().map(|verb| VerbAnswer::verb_in_document(verb)).collect();
        let (mut properties, mut required) = keys_of(shapes, &shape);
        properties.insert("schema".to_owned(), json!({ "const": version }));
        properties.insert("verb".to_owned(), one_of_verbs(&verbs));
        properties.insert("error".to_owned(), json!({ "$ref": "#/$defs/Error" }));
        required.extend(["schema".to_owned(), "verb".to_owned()]);
        let name = format!("{shape}Answer");
        defined.insert(name.clone(), object(shapes, &shape, properties, &required));
        for verb in verbs {
            by_verb.entry(verb).or_default().insert(name.clone());
        }
    }
    let of_verb = |(verb, names): (&String, &BTreeSet<String>)| {
        let refs: Vec<Value> = names.iter().map(|name| json!({ "$ref": format!("#/$defs/{name}") })).collect();
        let then = if let [one] = refs.as_slice() { one.clone() } else { json!({ "anyOf": refs }) };
        json!({ "if": { "properties": { "verb": { "const": verb } }, "required": ["verb"] }, "then": then })
    };
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "What git axiom answers with --json",
        "description": "Holds for the document of every verb. Made from the types of the source, with docs/JSON.md.",
        "if": { "type": "object", "required": ["error"], "maxProperties": 3 },
        "then": { "$ref": "#/$defs/ErrorAlone" },
        "else": {
            "type": "object",
            "required": ["schema", "verb"],
            "properties": { "verb": one_of_verbs(&by_verb.keys().cloned().collect()) },
            "allOf": by_verb.iter().map(of_verb).collect::<Vec<_>>(),
        },
        "$defs": with_error_alone(defined, version),
    })
}

/// The schema as text: a definition on each line, of those that something refers to.
pub fn text_of(schema: &Value) -> String {
    let mut schema = schema.clone();
    let defined = schema["$defs"].take();
    let mut used: BTreeSet<String> = BTreeSet::new();
    let mut open = vec![&schema];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(keys) => {
                let name = keys.get("$ref").and_then(Value::as_str).and_then(|path| path.strip_prefix("#/$defs/"));
                open.extend(name.filter(|name| used.insert((*name).to_owned())).map(|name| &defined[name]));
                open.extend(keys.values());
            }
            Value::Array(all) => open.extend(all),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let lines: Vec<String> = used.iter().map(|name| format!("    {}: {}", json!(name), defined[name])).collect();
    let verbs: Vec<String> =
        schema["else"]["allOf"].take().as_array().unwrap().iter().map(|one| format!("      {one}")).collect();
    let keys =
        ["$schema", "title", "description", "if", "then"].map(|key| format!("  {}: {},\n", json!(key), schema[key])).concat();
    let (of, required, properties) = (&schema["else"]["type"], &schema["else"]["required"], &schema["else"]["properties"]);
    format!(
        "{{\n{keys}  \"else\": {{\n    \"type\": {of},\n    \"required\": {required},\n    \"properties\": {properties},\n    \
         \"allOf\": [\n{}\n    ]\n  }},\n  \"$defs\": {{\n{}\n  }}\n}}\n",
        verbs.join(",\n"),
        lines.join(",\n"),
    )
}

fn with_error_alone(mut defined: Map<String, Value>, version: u32) -> Map<String, Value> {
    let alone = json!({
        "type": "object",
        "description": "Where a verb failed and has nothing else to say.",
        "properties": {
            "schema": { "const": version },
            "verb": { "type": ["string", "null"] },
            "error": { "$ref": "#/$defs/Error" },
        },
        "required": ["error", "schema", "verb"],
        "additionalProperties": false,
    });
    defined.insert("ErrorAlone".to_owned(), alone);
    defined
}

fn one_of_verbs(verbs: &BTreeSet<String>) -> Value {
    match verbs.first() {
        Some(verb) if verbs.len() == 1 => json!({ "const": verb }),
        Some(_) | None => json!({ "enum": verbs }),
    }
}

fn object(shapes: &Shapes, name: &str, properties: Map<String, Value>, required: &BTreeSet<String>) -> Value {
    let mut object = json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false });
    if !shapes.all[name].meaning.is_empty() {
        object["description"] = told(&shapes.all[name].meaning).into();
    }
    object
}

/// The properties of a shape, and the names of those that are always there.
fn keys_of(shapes: &Shapes, name: &str) -> (Map<String, Value>, BTreeSet<String>) {
    let (mut properties, mut required) = (Map::new(), BTreeSet::new());
    for key in shapes.keys(name) {
        let mut value = schema_of_value(&key.of);
        if !key.meaning.is_empty() {
            value["description"] = told(&key.meaning).into();
        }
        if !key.may_be_absent {
            required.insert(key.name.clone());
        }
        properties.insert(key.name, value);
    }
    (properties, required)
}

fn schema_of_value(of: &ValueType) -> Value {
    match of {
        ValueType::Plain("any") => json!({}),
        ValueType::Plain("bool") => json!({ "type": "boolean" }),
        ValueType::Plain(name @ ("string" | "integer" | "number" | "object")) => json!({ "type": name }),
        ValueType::Plain(name) => json!({ "$ref": format!("#/$defs/{name}") }),
        ValueType::Words(list) => json!({ "enum": list.words.iter().map(|(word, _)| word).collect::<Vec<_>>() }),
        ValueType::List(inner) => json!({ "type": "array", "items": schema_of_value(inner) }),
        ValueType::Named(inner) => json!({ "type": "object", "additionalProperties": schema_of_value(inner) }),
        ValueType::OrNull(inner) => json!({ "anyOf": [schema_of_value(inner), { "type": "null" }] }),
        ValueType::Shape(name) => json!({ "$ref": format!("#/$defs/{name}") }),
    }
}
