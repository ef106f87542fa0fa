//! What an agent says for people: how they sign in, and what went wrong.

use serde_json::Value;

/// The most ways to sign in that are told.
const MOST_WAYS: usize = 10;

/// The ways to sign in, from the list that the agent begins with.
pub(super) fn of_sign_in(methods: &Value) -> Vec<String> {
    let methods = methods.as_array().map(Vec::as_slice).unwrap_or_default();
    let words = |method: &Value| {
        let text = |key: &str| method[key].as_str().filter(|text| !text.is_empty());
        let name = text("name").or(text("id"))?;
        Some(text("description").map_or_else(|| name.to_owned(), |about| format!("{name}: {about}")))
    };
    methods.iter().take(MOST_WAYS).filter_map(words).collect()
}

/// The words of an error, and the status of HTTP that it names.
pub(super) fn of_error(error: &Value) -> (String, Option<u16>) {
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let data = &error["data"];
    let details = text(data).or_else(|| ["details", "message", "error"].iter().find_map(|key| text(&data[*key])));
    let why: Vec<String> = text(&error["message"]).into_iter().chain(details).collect();
    let status = data["status"].as_u64().or(data["statusCode"].as_u64()).and_then(|status| u16::try_from(status).ok());
    (why.join(": "), status)
}
