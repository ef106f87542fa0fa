//! Holds values against a JSON Schema, as far as ours goes. A keyword that is not known here is an error: nothing goes unchecked.

#![allow(dead_code, clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;

use regex_automata::meta::Regex;
use serde_json::{Map, Value};

/// A schema with its definitions.
#[derive(Debug)]
pub struct JsonSchema {
    whole: Value,
    patterns: BTreeMap<String, Regex>,
}

impl JsonSchema {
    /// Reads a schema.
    pub fn read(text: &str) -> Self {
        let whole: Value = serde_json::from_str(text).unwrap();
        let mut patterns = BTreeMap::new();
        find_patterns(&whole, &mut patterns);
        Self { whole, patterns }
    }

    /// The differences between a value and the schema; empty where there are none.
    pub fn complaints(&self, value: &Value) -> Vec<String> {
        let mut wrong = Vec::new();
        self.check(value, &self.whole, "", &mut wrong);
        wrong
    }

    fn fits(&self, value: &Value, schema: &Value) -> bool {
        let mut wrong = Vec::new();
        self.check(value, schema, "", &mut wrong);
        wrong.is_empty()
    }

    fn check(&self, value: &Value, schema: &Value, place: &str, wrong: &mut Vec<String>) {
        let rules = schema.as_object().unwrap_or_else(|| panic!("{place}: a schema is an object: {schema}"));
        for (keyword, rule) in rules {
            match keyword.as_str() {
                "$schema" | "$defs" | "title" | "description" | "then" | "else" => {}
                "$ref" => self.check(value, self.defined(rule.as_str().unwrap()), place, wrong),
                "allOf" => rule.as_array().unwrap().iter().for_each(|one| self.check(value, one, place, wrong)),
                "anyOf" => wrong.extend(self.nearest(value, rule.as_array().unwrap(), place)),
                "if" => {
                    let then = if self.fits(value, rule) { "then" } else { "else" };
                    rules.get(then).into_iter().for_each(|schema| self.check(value, schema, place, wrong));
                }
                "properties" => self.check_properties(value, rule, place, wrong),
                "additionalProperties" => self.check_others(value, rules, place, wrong),
                "items" => {
                    for (number, one) in value.as_array().into_iter().flatten().enumerate() {
                        self.check(one, rule, &format!("{place}[{number}]"), wrong);
                    }
                }
                "required" => {
                    let lacks = |key: &&str| value.is_object() && value.get(key).is_none();
                    let missing = rule.as_array().unwrap().iter().filter_map(Value::as_str).filter(lacks);
                    wrong.extend(missing.map(|key| format!("{place}.{key} is missing")));
                }
                _ if !self.is_as_said(value, keyword, rule) => wrong.push(format!("{place} is not {keyword} {rule}: {value}")),
                _ => {}
            }
        }
    }

    /// The complaints of the alternative that fits best.
    fn nearest(&self, value: &Value, alternatives: &[Value], place: &str) -> Vec<String> {
        let of_one = |one: &Value| {
            let mut wrong = Vec::new();
            self.check(value, one, place, &mut wrong);
            wrong
        };
        alternatives.iter().map(of_one).min_by_key(Vec::len).unwrap_or_default()
    }

    fn check_properties(&self, value: &Value, rule: &Value, place: &str, wrong: &mut Vec<String>) {
        for (key, schema) in rule.as_object().unwrap() {
            if let Some(inner) = value.get(key) {
                self.check(inner, schema, &format!("{place}.{key}"), wrong);
            }
        }
    }

    /// The keys that `properties` does not name.
    fn check_others(&self, value: &Value, rules: &Map<String, Value>, place: &str, wrong: &mut Vec<String>) {
        let is_named = |key: &str| rules.get("properties").is_some_and(|named| named.get(key).is_some());
        for (key, inner) in value.as_object().into_iter().flatten().filter(|(key, _)| !is_named(key)) {
            let rule = &rules["additionalProperties"];
            if *rule == Value::Bool(false) {
                wrong.push(format!("{place}.{key} is not documented"));
            } else {
                self.check(inner, rule, &format!("{place}.{key}"), wrong);
            }
        }
    }

    /// Whether a value is as a keyword says that looks at it alone.
    fn is_as_said(&self, value: &Value, keyword: &str, rule: &Value) -> bool {
        match keyword {
            "type" => match rule.as_array() {
                Some(all) => all.iter().any(|one| is_of_type(value, one.as_str().unwrap())),
                None => is_of_type(value, rule.as_str().unwrap()),
            },
            "const" => value == rule,
            "enum" => rule.as_array().unwrap().contains(value),
            "pattern" => value.as_str().is_none_or(|text| self.patterns[rule.as_str().unwrap()].is_match(text)),
            "maxProperties" => value.as_object().is_none_or(|keys| keys.len() as u64 <= rule.as_u64().unwrap()),
            other => panic!("the keyword '{other}' is not known here"),
        }
    }

    fn defined(&self, path: &str) -> &Value {
        let name = path.strip_prefix("#/$defs/").unwrap();
        self.whole["$defs"].get(name).unwrap_or_else(|| panic!("{path} is not defined"))
    }
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("there is no type '{other}'"),
    }
}

/// All patterns of a schema, by their texts. A property may be called `pattern`, too: its value is a schema.
fn find_patterns(value: &Value, found: &mut BTreeMap<String, Regex>) {
    match value {
        Value::Object(keys) => {
            if let Some(Value::String(pattern)) = keys.get("pattern") {
                found.entry(pattern.clone()).or_insert_with(|| Regex::new(pattern).unwrap());
            }
            keys.values().for_each(|inner| find_patterns(inner, found));
        }
        Value::Array(all) => all.iter().for_each(|inner| find_patterns(inner, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
