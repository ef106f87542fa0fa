//! Rules of a stream that cannot work are refused when they are read, not at the first line that they fit.

use serde_json::Value;

use super::rules::{StreamFieldPointers, StreamFormat, StreamRule, StreamRuleConditions, StreamRuleKind, StreamRules};
use axiom_base::error::{Code, Error, Result};

/// The most rules, entries of `trouble`, and places of one rule.
const MOST: usize = 200;

/// The fields of each kind; those with `!` it cannot do without.
const fn fields(kind: StreamRuleKind) -> &'static [&'static str] {
    match kind {
        StreamRuleKind::Session => &["!id"],
        StreamRuleKind::Text => &["!text", "piece"],
        StreamRuleKind::Response => &["!id"],
        StreamRuleKind::ToolStarted => &["!name", "id", "input"],
        StreamRuleKind::ToolCompleted => &["name", "id", "output", "exit", "failed"],
        StreamRuleKind::Denied => &["name", "id", "text"],
        StreamRuleKind::Waits => &["text", "status", "seconds", "milliseconds"],
        StreamRuleKind::Usage => &["id", "input", "cached", "output", "cost"],
        StreamRuleKind::Final => &["text", "success"],
        StreamRuleKind::Error => &["text", "status"],
    }
}

impl StreamRules {
    /// Checks places, values and fields.
    pub fn check(&self) -> Result<()> {
        for (what, count) in [("rules", self.rules.len()), ("trouble", self.trouble.len())] {
            if count > MOST {
                return Err(invalid(format!("{what} has {count} entries, the limit is {MOST}")));
            }
        }
        if self.trouble.keys().any(|text| text.trim().is_empty()) {
            return Err(invalid("trouble has an empty text, which every error would fit".into()));
        }
        let mut numbered = self.rules.iter().enumerate();
        numbered.try_for_each(|(at, rule)| {
            let of_text = rule.stderr || self.format == StreamFormat::Text;
            check(rule, of_text).map_err(|error| error.context(format!("rule {}", at + 1)))
        })
    }
}

fn invalid(what: String) -> Error {
    Error::new(Code::ConfigInvalid, what).hint("the preset 'claude' is an example that explains each key")
}

fn check(rule: &StreamRule, of_text: bool) -> Result<()> {
    let given = given(rule);
    let allowed = fields(rule.is);
    if let Some(needed) = allowed.iter().filter_map(|field| field.strip_prefix('!')).find(|field| !given.contains(field)) {
        return Err(invalid(format!("it needs '{needed}'")));
    }
    if let Some(odd) = given.iter().find(|field| !allowed.iter().any(|one| one.trim_start_matches('!') == **field)) {
        return Err(invalid(format!("'{odd}' does not belong to what it is")));
    }
    let tells_why =
        matches!(rule.is, StreamRuleKind::Denied | StreamRuleKind::Waits | StreamRuleKind::Error) && rule.text.is_some();
    if rule.between.is_some() && !tells_why {
        return Err(invalid("'between' is about the 'text' of denied, waits and error".into()));
    }
    if rule.each.is_none() && !rule.of.is_empty() {
        return Err(invalid("'of' needs 'each', the list whose elements it is about".into()));
    }
    let pointers: Vec<&str> = pointers(rule).collect();
    if pointers.len() > MOST {
        return Err(invalid(format!("it has {} places, the limit is {MOST}", pointers.len())));
    }
    if let Some(place) = pointers.iter().find(|place| of_text && !place.is_empty()) {
        let why = "the lines that it looks at are texts, whose only place is \"\"";
        return Err(invalid(format!("there is no '{place}': {why}")));
    }
    match pointers.iter().find(|pointer| !(pointer.is_empty() || pointer.starts_with('/'))) {
        Some(bad) => Err(invalid(format!("'{bad}' is no pointer")).hint("begin it with '/', as in '/message/text'")),
        None => conditions(rule).try_for_each(values_are_single),
    }
}

fn values_are_single(conditions: &StreamRuleConditions) -> Result<()> {
    let single = |value: &Value| !(value.is_array() || value.is_object());
    match conditions.iter().find(|(_, values)| values.as_slice().is_empty() || !values.as_slice().iter().all(single)) {
        Some((place, _)) => Err(invalid(format!("'{place}' has to be compared with a text, a number, true or false"))),
        None => Ok(()),
    }
}

fn places(rule: &StreamRule) -> [(&'static str, Option<&StreamFieldPointers>); 11] {
    [
        ("id", rule.id.as_ref()),
        ("name", rule.name.as_ref()),
        ("text", rule.text.as_ref()),
        ("input", rule.input.as_ref()),
        ("output", rule.output.as_ref()),
        ("cached", rule.cached.as_ref()),
        ("cost", rule.cost.as_ref()),
        ("exit", rule.exit.as_ref()),
        ("status", rule.status.as_ref()),
        ("seconds", rule.seconds.as_ref()),
        ("milliseconds", rule.milliseconds.as_ref()),
    ]
}

fn given(rule: &StreamRule) -> Vec<&'static str> {
    let conditions = [("piece", &rule.piece), ("failed", &rule.failed), ("success", &rule.success)];
    let places = places(rule).into_iter().filter_map(|(name, places)| places.map(|_| name));
    places.chain(conditions.into_iter().filter_map(|(name, given)| given.as_ref().map(|_| name))).collect()
}

fn conditions(rule: &StreamRule) -> impl Iterator<Item = &StreamRuleConditions> {
    let optional = [&rule.piece, &rule.failed, &rule.success];
    [&rule.when, &rule.of].into_iter().chain(optional.into_iter().flatten())
}

fn pointers(rule: &StreamRule) -> impl Iterator<Item = &str> {
    let fields = places(rule).into_iter().filter_map(|(_, places)| places).flat_map(StreamFieldPointers::as_slice);
    let texts = rule.contains.keys().chain(rule.lacks.keys()).chain(&rule.has).chain(&rule.each);
    conditions(rule).flat_map(StreamRuleConditions::keys).chain(texts).chain(fields).map(String::as_str)
}
