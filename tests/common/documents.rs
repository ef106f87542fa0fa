//! Compares documents of `--json` with `docs/JSON.md`: no unknown key, no missing one, the right types.

#![allow(dead_code, clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde_json::{Map, Value};

/// The type of a value, as written in `docs/JSON.md`.
#[derive(Debug, Clone)]
enum Kind {
    /// One word: `string`, `time`, or the name of a shape.
    Word(String),
    OneOf(Vec<String>),
    List(Box<Kind>),
    Names(Box<Kind>),
    OrNull(Box<Kind>),
}

#[derive(Debug, Clone, Default)]
struct Shape {
    /// Other shapes whose keys it has too.
    also: Vec<String>,
    keys: BTreeMap<String, (Kind, Presence)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Presence {
    Always,
    Sometimes,
}

/// The contents of `docs/JSON.md`.
#[derive(Debug, Default)]
pub struct Page {
    /// The answer of each verb; several entries for a verb with different answers.
    verbs: Vec<(String, Shape)>,
    shapes: BTreeMap<String, Shape>,
}

/// `docs/JSON.md`.
pub fn page() -> &'static Page {
    static PAGE: OnceLock<Page> = OnceLock::new();
    PAGE.get_or_init(|| Page::read(include_str!("../../docs/JSON.md")))
}

/// The differences between a document and `docs/JSON.md`; empty where there are none.
pub fn complaints(document: &Value) -> Vec<String> {
    page().complaints(document)
}

/// Expects that a document is as described in `docs/JSON.md`.
#[track_caller]
pub fn check(document: &Value) {
    let complaints = complaints(document);
    assert!(complaints.is_empty(), "not as docs/JSON.md says: {complaints:#?}\n{document}");
}

impl Page {
    /// Parses the page.
    pub fn read(text: &str) -> Self {
        let mut page = Self::default();
        let mut of: Option<&str> = None;
        let mut shape = Shape::default();
        for line in text.lines().chain(["# end"]) {
            if line.starts_with("# ") || line.starts_with("### ") {
                let whole = std::mem::take(&mut shape);
                of.into_iter().for_each(|heading| page.put(heading, &whole));
                of = line.strip_prefix("### ");
            } else if let Some(row) = line.strip_prefix("| ").filter(|_| of.is_some()) {
                let cells: Vec<&str> = row.split(" | ").collect();
                let (keys, kind) = (cells[0], cells[1].trim());
                if keys == "…" {
                    shape.also.push(kind.to_owned());
                } else if keys.starts_with('`') {
                    let (kind, presence) = match kind.strip_suffix(", may be absent") {
                        Some(kind) => (kind, Presence::Sometimes),
                        None => (kind, Presence::Always),
                    };
                    shape.keys.extend(quoted(keys).into_iter().map(|key| (key, (Kind::read(kind), presence))));
                }
            }
        }
        page
    }

    /// Adds a shape. The heading contains verbs in backquotes, or the name of one shape.
    fn put(&mut self, heading: &str, shape: &Shape) {
        let verbs = quoted(heading);
        if verbs.is_empty() {
            self.shapes.insert(heading.to_owned(), shape.clone());
        }
        let verbs = verbs.into_iter().map(|verb| verb.split(" --").next().unwrap().to_owned());
        self.verbs.extend(verbs.map(|verb| (verb, shape.clone())));
    }

    /// The verbs that are described.
    pub fn verbs(&self) -> Vec<&str> {
        self.verbs.iter().map(|(verb, _)| verb.as_str()).collect()
    }

    /// The shapes of a verb's answers: its own, or else those of its first word.
    fn shapes_of(&self, verb: &str) -> Vec<&Shape> {
        let of = |name: &str| self.verbs.iter().filter(|(one, _)| one == name).map(|(_, shape)| shape).collect::<Vec<_>>();
        let exact = of(verb);
        if exact.is_empty() { of(verb.split(' ').next().unwrap()) } else { exact }
    }

    /// The differences between a document and the page.
    pub fn complaints(&self, document: &Value) -> Vec<String> {
        let Some(object) = document.as_object() else { return vec!["no object".to_owned()] };
        let mut wrong = Vec::new();
        if object.get("schema") != Some(&Value::from(2)) {
            wrong.push("'schema' is not 2".to_owned());
        }
        let verb = object.get("verb").unwrap_or(&Value::from(0)).clone();
        if let Some(error) = object.get("error") {
            error_is_sound(error, &verb, &mut wrong);
        }
        let is_common = |key: &str| matches!(key, "schema" | "verb" | "error");
        let content: Map<String, Value> =
            object.iter().filter(|(key, _)| !is_common(key)).map(|(key, value)| (key.clone(), value.clone())).collect();
        if content.is_empty() && object.contains_key("error") {
            return wrong;
        }
        let Some(verb) = verb.as_str() else {
            wrong.push("'verb' is not said".to_owned());
            return wrong;
        };
        let of_shape = |shape: &&Shape| {
            let mut wrong = Vec::new();
            self.object_is(&content, shape, verb, &mut wrong);
            wrong
        };
        match self.shapes_of(verb).iter().map(of_shape).min_by_key(Vec::len) {
            Some(found) => wrong.extend(found),
            None => wrong.push(format!("nothing is said of '{verb}'")),
        }
        wrong
    }

    /// All keys of a shape, including those of other shapes.
    fn keys(&self, shape: &Shape) -> BTreeMap<String, (Kind, Presence)> {
        let mut keys = shape.keys.clone();
        for also in &shape.also {
            let also = self.shapes.get(also).unwrap_or_else(|| panic!("docs/JSON.md has no shape '{also}'"));
            keys.extend(self.keys(also));
        }
        keys
    }

    fn object_is(&self, object: &Map<String, Value>, shape: &Shape, place: &str, wrong: &mut Vec<String>) {
        let keys = self.keys(shape);
        for (key, (kind, presence)) in &keys {
            match object.get(key) {
                Some(value) => self.value_is(value, kind, &format!("{place}.{key}"), wrong),
                None if *presence == Presence::Always => wrong.push(format!("{place}.{key} is missing")),
                None => {}
            }
        }
        wrong.extend(object.keys().filter(|key| !keys.contains_key(*key)).map(|key| format!("{place}.{key} is not documented")));
    }

    fn value_is(&self, value: &Value, kind: &Kind, place: &str, wrong: &mut Vec<String>) {
        let fits = match (kind, value) {
            (Kind::OrNull(_), Value::Null) => true,
            (Kind::OrNull(kind), value) => return self.value_is(value, kind, place, wrong),
            (Kind::OneOf(words), Value::String(word)) => words.contains(word),
            (Kind::List(kind), Value::Array(all)) => {
                return all.iter().enumerate().for_each(|(n, one)| self.value_is(one, kind, &format!("{place}[{n}]"), wrong));
            }
            (Kind::Names(kind), Value::Object(all)) => {
                return all.iter().for_each(|(name, one)| self.value_is(one, kind, &format!("{place}[{name}]"), wrong));
            }
            (Kind::Word(word), value) => match is_of_word(value, word) {
                Some(fits) => fits,
                None => {
                    let shape = self.shapes.get(word).unwrap_or_else(|| panic!("docs/JSON.md has no shape '{word}'"));
                    match value.as_object() {
                        Some(object) => return self.object_is(object, shape, place, wrong),
                        None => false,
                    }
                }
            },
            (Kind::OneOf(_) | Kind::List(_) | Kind::Names(_), _) => false,
        };
        if !fits {
            wrong.push(format!("{place} is not {kind:?}: {value}"));
        }
    }
}

/// The texts between backquotes.
fn quoted(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Whether a value has a plain type; `None` where the word is not a plain type.
fn is_of_word(value: &Value, word: &str) -> Option<bool> {
    let text = value.as_str();
    Some(match word {
        "any" => true,
        "string" => text.is_some(),
        "number" => value.is_number(),
        "bool" => value.is_boolean(),
        "object" => value.is_object(),
        "time" => text.is_some_and(is_time),
        "id" => text.is_some_and(|text| [40, 64].contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())),
        "ref" => text.is_some_and(|text| text.starts_with("refs/") || text.contains("/refs/")),
        "path" => text.is_some() || value["hex"].is_string(),
        _ => return None,
    })
}

fn is_time(text: &str) -> bool {
    let form = "0000-00-00T00:00:00.000Z";
    let same = |(byte, wanted): (u8, u8)| if wanted == b'0' { byte.is_ascii_digit() } else { byte == wanted };
    text.len() == form.len() && text.bytes().zip(form.bytes()).all(same)
}

fn error_is_sound(error: &Value, verb: &Value, wrong: &mut Vec<String>) {
    let keys: Vec<&str> = error.as_object().into_iter().flat_map(Map::keys).map(String::as_str).collect();
    let known = |code: &str| git_axiom::base::error::Code::ALL.iter().any(|one| one.as_str() == code);
    let sound = keys == ["code", "hints", "message", "verb"]
        && error["code"].as_str().is_some_and(known)
        && error["message"].is_string()
        && error["hints"].as_array().is_some_and(|hints| hints.iter().all(Value::is_string))
        && error["verb"] == *verb;
    if !sound {
        wrong.push(format!("the error is not as documented: {error}"));
    }
}

impl Kind {
    fn read(text: &str) -> Self {
        if let Some(text) = text.strip_suffix(" or null") {
            return Self::OrNull(Box::new(Self::read(text)));
        }
        if let Some(words) = text.strip_prefix("one of ") {
            return Self::OneOf(words.split(", ").map(str::to_owned).collect());
        }
        if let Some(text) = text.strip_suffix("[]") {
            return Self::List(Box::new(Self::read(text)));
        }
        match text.strip_suffix("{}") {
            Some(text) => Self::Names(Box::new(Self::read(text))),
            None => Self::Word(text.to_owned()),
        }
    }
}
