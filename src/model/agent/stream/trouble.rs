//! What an error of the model's service means: by the status of HTTP, or by its text.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ModelTrouble {
    /// The user has to sign in, or to give a key.
    SignIn,
    /// Too many requests: it passes.
    RateLimit,
    /// The service has too much to do: it passes.
    Overload,
    /// Anything else.
    Other,
}

/// Statuses and texts. The texts are in lower case.
const TABLE: &[(ModelTrouble, &[u16], &[&str])] = &[
    (
        ModelTrouble::SignIn,
        &[401, 403],
        &[
            "authentication_error",
            "authentication_failed",
            "permission_error",
            "unauthorized",
            "not logged in",
            "not signed in",
            "invalid api key",
            "incorrect api key",
            "api key not valid",
            "no api key",
        ],
    ),
    (
        ModelTrouble::RateLimit,
        &[429],
        &["rate_limit", "rate limit", "too many requests", "resource_exhausted", "usage limit reached"],
    ),
    (ModelTrouble::Overload, &[502, 503, 504, 529], &["overloaded", "service unavailable", "experiencing high demand"]),
];

/// What stands before a status in a text that does not begin with it.
const BEFORE_STATUS: &[&str] =
    &["status ", "status: ", "status code ", "status code: ", "api error: ", "error code: ", "http ", "\"code\":", "\"code\": "];

/// The status of HTTP that `text` names.
pub fn status_in(text: &str) -> Option<u16> {
    let text = text.to_ascii_lowercase();
    let status = |after: &str| {
        let digits = after.get(..3)?;
        let ends = !after.get(3..)?.starts_with(|c: char| c.is_ascii_alphanumeric());
        digits.parse().ok().filter(|status| ends && (400..600).contains(status))
    };
    let after = |before: &str| text.match_indices(before).find_map(|(at, _)| status(text.get(at.checked_add(before.len())?..)?));
    status(&text).or_else(|| BEFORE_STATUS.iter().find_map(|before| after(before)))
}

/// What an error means. The status counts more than the text, the adapter's own texts (`own`) more than both.
pub fn classify(status: Option<u16>, text: &str, own: &BTreeMap<String, ModelTrouble>) -> ModelTrouble {
    let text = text.to_ascii_lowercase();
    let by_own = own.iter().find(|(part, _)| text.contains(&part.to_ascii_lowercase())).map(|(_, trouble)| *trouble);
    let row = |fits: &dyn Fn(&[u16], &[&str]) -> bool| {
        TABLE.iter().find(|(_, statuses, texts)| fits(statuses, texts)).map(|(trouble, ..)| *trouble)
    };
    by_own
        .or_else(|| row(&|statuses, _| status.is_some_and(|status| statuses.contains(&status))))
        .or_else(|| row(&|_, texts| texts.iter().any(|part| text.contains(part))))
        .unwrap_or(ModelTrouble::Other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_counts_more_than_a_text_and_an_own_text_more_than_both() {
        let none = BTreeMap::new();
        let own = BTreeMap::from([("Quota for Today".to_owned(), ModelTrouble::RateLimit)]);
        for (status, text, own, expected) in [
            (Some(401), "", &none, ModelTrouble::SignIn),
            (Some(403), "rate limit", &none, ModelTrouble::SignIn),
            (Some(429), "", &none, ModelTrouble::RateLimit),
            (Some(529), "", &none, ModelTrouble::Overload),
            (Some(503), "", &none, ModelTrouble::Overload),
            (Some(400), "", &none, ModelTrouble::Other),
            (Some(502), "", &none, ModelTrouble::Overload),
            (Some(500), "We’re currently experiencing high demand.", &none, ModelTrouble::Overload),
            (None, "Overloaded", &none, ModelTrouble::Overload),
            (Some(500), "Too Many Requests", &none, ModelTrouble::RateLimit),
            (None, "Not logged in · Please run /login", &none, ModelTrouble::SignIn),
            (Some(403), "quota for today is used", &own, ModelTrouble::RateLimit),
            (None, "", &own, ModelTrouble::Other),
        ] {
            assert_eq!(classify(status, text, own), expected, "{status:?} {text}");
        }
    }

    #[test]
    fn a_status_is_found_where_services_write_it() {
        for (text, status) in [
            ("401 scripted error", Some(401)),
            ("429", Some(429)),
            ("unexpected status 401 Unauthorized: x", Some(401)),
            ("exceeded retry limit, last status: 429", Some(429)),
            ("API Error: 529 {}", Some(529)),
            ("Error code: 401 - {'error': {}}", Some(401)),
            ("status of the line: bad, last status: 429", Some(429)),
            ("status ok, status 503", Some(503)),
            ("[{\"code\":503,\"status\":\"UNAVAILABLE\"}]", Some(503)),
            ("4011 lines", None),
            ("200 files", None),
            ("line 401 is wrong", None),
            ("status 40é1", None),
            ("status ", None),
            ("", None),
        ] {
            assert_eq!(status_in(text), status, "{text}");
        }
    }
}
