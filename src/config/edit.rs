//! Changing one key in the text of a configuration file. Comments, order and everything else stay as they are. Pure: the
//! caller reads and writes the file.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use toml_edit::{Array, Document, DocumentMut, Item, Table, TableLike};

use super::{byte_order_mark, file};
use crate::error::{Code, Error, Result};

/// What becomes of a key.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// It gets this value: a switch, a whole number, a text, or a list of texts.
    Set(Value),
    /// It is removed.
    Unset,
}

/// The text with one key changed; `parts` are the names of the tables in which it stands, then its own. The result was parsed
/// again: all other keys have the values that they had. A comment in the line of a removed key goes with it.
///
/// # Errors
/// `CONFIG_INVALID` with file and line where the text is not valid TOML, or something else stands in place of a table.
pub fn edited(path: &Path, text: &str, parts: &[&str], change: &Change) -> Result<String> {
    let (mark, body) = byte_order_mark::split(text);
    let before = values(path, body)?;
    let name = parts.join(".");
    let mut wanted = before.clone();
    let new = match change {
        Change::Set(value) if before.get(&name) == Some(value) => return Ok(text.to_owned()),
        Change::Set(value) => {
            wanted.insert(name, value.clone());
            with(path, body, parts, value)?
        }
        Change::Unset if wanted.remove(&name).is_none() => return Ok(text.to_owned()),
        Change::Unset => match without(body, parts) {
            Some(new) if values(path, &new).is_ok_and(|now| now == wanted) => new,
            Some(_) | None => removed(path, body, parts)?,
        },
    };
    // The library writes line feeds.
    let ends_as_windows_does = body.contains('\n') && !body.replace("\r\n", "").contains('\n');
    let new = if ends_as_windows_does { new.replace("\r\n", "\n").replace('\n', "\r\n") } else { new };
    if !has_all_comments(body, &new) {
        return Err(Error::new(Code::ConfigInvalid, format!("comments of '{}' would be lost", path.display()))
            .why(format!("they are within what '{}' changes", parts.join(".")))
            .hint("git axiom config edit    opens the file in your editor"));
    }
    match values(path, &new) {
        Ok(now) if now == wanted => Ok(format!("{mark}{new}")),
        Ok(_) | Err(_) => Err(in_the_way(path, &parts.join("."))),
    }
}

/// Whether each line that is a comment is still there, as often as it was.
fn has_all_comments(before: &str, now: &str) -> bool {
    let comments = |text: &str| {
        let mut count: BTreeMap<String, usize> = BTreeMap::new();
        for line in text.lines().map(str::trim).filter(|line| line.starts_with('#')) {
            *count.entry(line.to_owned()).or_default() += 1;
        }
        count
    };
    let now = comments(now);
    comments(before).iter().all(|(line, times)| now.get(line).is_some_and(|left| left >= times))
}

/// Whether there are comments within a list.
fn has_comments_within(value: &toml_edit::Value) -> bool {
    let toml_edit::Value::Array(items) = value else { return false };
    let says =
        |text: Option<&toml_edit::RawString>| text.and_then(toml_edit::RawString::as_str).is_some_and(|text| text.contains('#'));
    let around = |item: &toml_edit::Value| says(item.decor().prefix()) || says(item.decor().suffix());
    items.iter().any(around) || says(Some(items.trailing()))
}

/// The keys in a file, in its order.
///
/// # Errors
/// `CONFIG_INVALID` with file and line.
pub fn names_in(path: &Path, text: &str) -> Result<Vec<String>> {
    let (_, body) = byte_order_mark::split(text);
    Ok(file::entries(path, body)?.into_iter().map(|(name, _)| name).collect())
}

/// The value of a key in a file; `None` where it has none.
///
/// # Errors
/// `CONFIG_INVALID` with file and line.
pub fn value_in(path: &Path, text: &str, name: &str) -> Result<Option<Value>> {
    Ok(values(path, byte_order_mark::split(text).1)?.remove(name))
}

fn values(path: &Path, text: &str) -> Result<BTreeMap<String, Value>> {
    Ok(file::entries(path, text)?.into_iter().map(|(name, place)| (name, place.value)).collect())
}

fn parsed(path: &Path, text: &str) -> Result<DocumentMut> {
    text.parse().map_err(|e| {
        Error::new(Code::ConfigInvalid, format!("'{}' is not valid TOML", path.display())).because(anyhow::Error::from(e))
    })
}

fn in_the_way(path: &Path, name: &str) -> Error {
    Error::new(Code::ConfigInvalid, format!("'{name}' cannot be changed in '{}'", path.display()))
        .why("something else stands in its place, or in place of its table")
}

fn with(path: &Path, text: &str, parts: &[&str], value: &Value) -> Result<String> {
    let refused = || in_the_way(path, &parts.join("."));
    let (name, tables) = parts.split_last().ok_or_else(refused)?;
    let value = to_toml(value).ok_or_else(refused)?;
    let mut document = parsed(path, text)?;
    let trailing = document.trailing().as_str().unwrap_or_default().to_owned();
    let mut is_new = false;
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for (depth, part) in tables.iter().enumerate() {
        if !table.contains_key(part) {
            is_new = true;
            table.insert(part, Item::Table(new_table(depth + 1 == tables.len(), &trailing)));
        }
        table = table.get_mut(part).and_then(Item::as_table_like_mut).ok_or_else(refused)?;
    }
    match table.get_mut(name) {
        Some(Item::Value(old)) if has_comments_within(old) => {
            return Err(in_the_way(path, &parts.join("."))
                .why("its list has comments")
                .hint("git axiom config edit    opens the file in your editor"));
        }
        Some(Item::Value(old)) => {
            let decor = old.decor().clone();
            *old = value;
            *old.decor_mut() = decor;
        }
        Some(Item::None) | None => drop(table.insert(name, Item::Value(value))),
        Some(Item::Table(_) | Item::ArrayOfTables(_)) => return Err(refused()),
    }
    if is_new && !trailing.is_empty() {
        // They now stand before the new table.
        document.set_trailing("");
    }
    Ok(document.to_string())
}

/// A table for the end of the file. The comments there stay before it.
fn new_table(has_values: bool, trailing: &str) -> Table {
    let mut table = Table::new();
    table.set_implicit(!has_values);
    table.set_position(Some(isize::MAX));
    if has_values && !trailing.is_empty() {
        let line_end = if trailing.ends_with('\n') { "" } else { "\n" };
        table.decor_mut().set_prefix(format!("{trailing}{line_end}\n"));
    }
    table
}

/// A value in one line: a human who approves the file reads it as it stands there. JSON's way to write a switch, a number or a text
/// is one of TOML's, but for one character.
fn to_toml(value: &Value) -> Option<toml_edit::Value> {
    match value {
        Value::Array(items) => {
            let items: Option<Vec<toml_edit::Value>> = items.iter().map(to_toml).collect();
            Some(toml_edit::Value::Array(items?.into_iter().collect::<Array>()))
        }
        Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string().replace('\u{7f}', "\\u007f").parse().ok(),
        Value::Null | Value::Object(_) => None,
    }
}

/// The text without the lines of a key; `None` where it does not have them for itself.
fn without(text: &str, parts: &[&str]) -> Option<String> {
    let document = Document::parse(text).ok()?;
    let (name, tables) = parts.split_last()?;
    let table = tables.iter().try_fold(document.as_table() as &dyn TableLike, |table, part| table.get(part)?.as_table_like())?;
    let (key, item) = table.get_key_value(name)?;
    let (begins, ends) = (key.span()?.start, item.span()?.end);
    let start = text.get(..begins)?.rfind('\n').map_or(0, |line_end| line_end + 1);
    let rest = text.get(ends..)?;
    let after = rest.find('\n').map_or(rest.len(), |line_end| line_end + 1);
    let is_alone = |rest: &str| rest.trim().is_empty() || rest.trim_start().starts_with('#');
    let alone = is_alone(rest.get(..after)?);
    alone.then(|| Some([text.get(..start)?, rest.get(after..)?].concat())).flatten()
}

/// As [`without`], for a key in the middle of a line.
fn removed(path: &Path, text: &str, parts: &[&str]) -> Result<String> {
    let refused = || in_the_way(path, &parts.join("."));
    let (name, tables) = parts.split_last().ok_or_else(refused)?;
    let mut document = parsed(path, text)?;
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for part in tables {
        table = table.get_mut(part).and_then(Item::as_table_like_mut).ok_or_else(refused)?;
    }
    table.remove(name);
    Ok(document.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn set(text: &str, name: &str, value: Value) -> Result<String> {
        edited(Path::new("/c.toml"), text, &name.split('.').collect::<Vec<_>>(), &Change::Set(value))
    }

    fn unset(text: &str, name: &str) -> String {
        edited(Path::new("/c.toml"), text, &name.split('.').collect::<Vec<_>>(), &Change::Unset).unwrap()
    }

    #[test]
    fn no_comment_is_lost() {
        for (text, name) in [
            ("agents = { count = 3 }\n\n# [merge]\n# notes\n", "agents.mine.stopSignal"),
            ("[merge]\nverify = [\n \"a\", # because\n]\n", "merge.verify"),
            ("[merge]\nverify = [\n # first\n \"a\",\n]\n", "merge.verify"),
        ] {
            let value = if name.ends_with("verify") { json!(["b"]) } else { json!("INT") };
            let error = set(text, name, value).unwrap_err();
            assert!(error.hints().iter().any(|hint| hint.contains("config edit")), "{text}: {error}");
        }
    }

    #[test]
    fn a_value_is_set_and_all_else_stays() {
        let text = "# mine\n\n[agents]   # who\n# how many\ncount  =  3 # not more\ndefault = 'x'\n\n[merge]\n# end\n";
        assert_eq!(set(text, "agents.count", json!(4)).unwrap(), text.replace("3", "4"));
        assert_eq!(set(text, "agents.default", json!("y")).unwrap(), text.replace("'x'", "\"y\""));
        assert_eq!(set(text, "agents.timeLimit", json!("2h")).unwrap(), text.replace("'x'\n", "'x'\ntimeLimit = \"2h\"\n"));
        assert_eq!(
            set(text, "merge.verify", json!(["a", "b"])).unwrap(),
            text.replace("[merge]\n", "[merge]\nverify = [\"a\", \"b\"]\n")
        );
        let added = set(text, "state.eventLogBackupCount", json!(4)).unwrap();
        assert_eq!(added, format!("{text}\n[state]\neventLogBackupCount = 4\n"));
        assert_eq!(set("", "agents.mine.command", json!(["a"])).unwrap(), "[agents.mine]\ncommand = [\"a\"]\n");
        assert_eq!(set("# only\n", "agents.count", json!(4)).unwrap(), "# only\n\n[agents]\ncount = 4\n");
    }

    #[test]
    fn what_was_set_is_what_is_read_whatever_the_file_is_like() {
        let nasty = json!("a\nb\t\"'\\ # \u{1} \u{7f} \u{e4}");
        for text in [
            "agents.count = 3\n",
            "agents = { count = 3 }\n",
            "[agents]\ncount = 3",
            "[agents.mine]\ncommand = ['x']\n[checkpoints]\n[agents]\n",
            "\u{feff}[agents]\r\ncount = 3\r\n",
            "[agents.mine]\ncommand = ['x']\n[merge]\n[agents.other]\ncommand = [\n  'a', # one\n]\n# end",
        ] {
            for (name, value) in [
                ("agents.count", json!(7)),
                ("agents.default", nasty.clone()),
                ("agents.mine.exitCompletes", json!(true)),
                ("merge.verify", json!(["a\nb", "c"])),
                ("merge.verify", json!([])),
                ("checkpoints.beforeMerge", json!(false)),
            ] {
                let new = set(text, name, value.clone()).unwrap_or_else(|error| panic!("{text:?} {name}: {error}"));
                assert_eq!(value_in(Path::new("/c"), &new, name).unwrap(), Some(value.clone()), "{text:?}: {new:?}");
                assert_eq!(new.starts_with('\u{feff}'), text.starts_with('\u{feff}'));
                assert_eq!(
                    text.contains('\r'),
                    new.replace("\r\n", "").matches('\n').count() == 0 && new.contains('\r'),
                    "{new:?}"
                );
                assert_eq!(set(&new, name, value).unwrap(), new, "again changes nothing");
                let back = unset(&new, name);
                assert_eq!(value_in(Path::new("/c"), &back, name).unwrap(), None, "{back:?}");
            }
        }
    }

    #[test]
    fn a_key_is_removed_with_its_line_and_comments_above_stay() {
        let text = "# mine\n[agents]\n# how many\ncount = 3 # not more\ndefault = 'x'\n[merge]\nverify = [\n 'a',\n] # all\n";
        assert_eq!(unset(text, "agents.count"), text.replace("count = 3 # not more\n", ""));
        assert_eq!(unset(text, "merge.verify"), text.replace("verify = [\n 'a',\n] # all\n", ""));
        assert_eq!(unset(text, "agents.maxIterations"), text);
        assert_eq!(unset("agents = { count = 3, default = 'x' }\n", "agents.count"), "agents = { default = 'x' }\n");
        assert_eq!(unset("agents.count = 3", "agents.count"), "");
    }

    #[test]
    fn what_cannot_be_parsed_or_stands_in_the_way_is_refused() {
        let error = set("[agents]\ncount = = 3\n", "agents.count", json!(1)).unwrap_err();
        assert!(error.code() == Code::ConfigInvalid && error.to_string().starts_with("/c.toml:2: "), "{error}");
        for (text, name) in
            [("agents = 3\n", "agents.count"), ("[agents.count]\nx = 1\n", "agents.count"), ("[[agents]]\n", "agents.count")]
        {
            assert!(set(text, name, json!(1)).unwrap_err().to_string().contains("cannot be changed"), "{text}");
        }
    }
}
