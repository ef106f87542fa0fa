//! Compares documents of `--json` with `docs/schemas/answers.json`: no unknown key, no missing one, the right types. That file is made
//! from the types of answers, as `docs/JSON.md` is.

#![allow(dead_code, clippy::unwrap_used, clippy::panic)]

use std::sync::OnceLock;

use serde_json::Value;

use super::json_schema::JsonSchema;

/// The schema of all answers.
fn answers() -> &'static JsonSchema {
    static ANSWERS: OnceLock<JsonSchema> = OnceLock::new();
    ANSWERS.get_or_init(|| JsonSchema::read(include_str!("../../docs/schemas/answers.json")))
}

/// The differences between a document and the schema; empty where there are none.
pub fn complaints(document: &Value) -> Vec<String> {
    let mut wrong = answers().complaints(document);
    if let Some(error) = document.get("error") {
        let known = |code: &str| git_axiom::base::error::Code::ALL.iter().any(|one| one.as_str() == code);
        if !error["code"].as_str().is_some_and(known) || error["verb"] != document["verb"] {
            wrong.push(format!("the error is of no known code, or of another verb: {error}"));
        }
    }
    wrong
}

/// Expects that a document is as described in `docs/JSON.md`.
#[track_caller]
pub fn check(document: &Value) {
    let complaints = complaints(document);
    assert!(complaints.is_empty(), "not as docs/schemas/answers.json says: {complaints:#?}\n{document}");
}
