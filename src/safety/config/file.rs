//! Reading a configuration file: every value with its line, so that errors can name the line.

use std::path::Path;

use serde_json::Value;
use toml::de::{DeTable, DeValue};

use super::key_lookup::find;
use super::value_kind::ConfigValueKind;
use axiom_base::error::{Code, Error, Result};

/// More keys than any configuration has: others cannot make every verb slow.
const MOST_KEYS: usize = 1000;

/// A value and its line.
#[derive(Debug)]
pub struct ConfigFileValue {
    /// The value.
    pub value: Value,
    /// The line, from 1.
    pub line: usize,
}

/// All values of a file by their full names (`section.name`), in the file's order.
pub fn entries(path: &Path, text: &str) -> Result<Vec<(String, ConfigFileValue)>> {
    let table = DeTable::parse(text).map_err(|e| {
        let line = e.span().map_or(0, |span| line_of(text, span.start));
        Error::new(Code::ConfigInvalid, format!("{}:{line}: this is not valid TOML", path.display())).why(e.message().to_owned())
    })?;
    let ends: Vec<usize> = memchr::memchr_iter(b'\n', text.as_bytes()).collect();
    let mut found = Vec::new();
    if !collect(&ends, "", table.get_ref(), &mut found) {
        return Err(Error::new(Code::ConfigInvalid, format!("'{}' has more than {MOST_KEYS} keys", path.display())));
    }
    found.sort_by_key(|(_, place)| place.line);
    Ok(found)
}

fn line_of(text: &str, offset: usize) -> usize {
    1 + text.as_bytes().iter().take(offset).filter(|byte| **byte == b'\n').count()
}

/// Returns `false` where there are too many. `ends` are the offsets of the ends of lines.
fn collect(ends: &[usize], prefix: &str, table: &DeTable<'_>, found: &mut Vec<(String, ConfigFileValue)>) -> bool {
    table.iter().all(|(key, value)| {
        let name = if prefix.is_empty() { key.get_ref().to_string() } else { format!("{prefix}.{}", key.get_ref()) };
        if let DeValue::Table(inner) = value.get_ref()
            && !takes_table(&name)
        {
            return collect(ends, &name, inner, found);
        }
        let line = 1 + ends.partition_point(|end| *end < key.span().start);
        found.push((name, ConfigFileValue { value: convert(value.get_ref()), line }));
        found.len() <= MOST_KEYS
    })
}

/// Whether a key of this name takes a whole table.
fn takes_table(name: &str) -> bool {
    find(name, false).is_some_and(|named| named.key.kind == ConfigValueKind::Table)
}

/// A TOML value as JSON. Types that no key accepts become strings or null.
fn convert(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::from(text.as_ref()),
        DeValue::Boolean(switch) => Value::from(*switch),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => Value::from(number),
            Err(_) => Value::from(number.as_str()),
        },
        DeValue::Float(number) => number.as_str().parse::<f64>().map_or(Value::Null, Value::from),
        DeValue::Datetime(time) => Value::from(time.to_string()),
        DeValue::Array(items) => items.iter().map(|item| convert(item.get_ref())).collect(),
        DeValue::Table(table) => table.iter().map(|(key, value)| (key.get_ref().to_string(), convert(value.get_ref()))).collect(),
    }
}
