//! The templates of prompts: text with named places. Pure.
//!
//! `{{name}}` is replaced by a value. What is between `{{#name}}` and `{{/name}}` stands only where the value is not empty, what is
//! between `{{^name}}` and `{{/name}}` only where it is. Such a mark alone on its line takes no line. `\{{` is `{{`. Values are put in
//! as they are: what looks like a place within them is none.

use super::values::{NAMES, Name, PromptValues};
use axiom_base::error::{Code, Error, Result};

/// The longest template, in bytes.
pub const MAX_TEMPLATE: usize = 256 * 1024;
/// How deep sections may be in one another.
const DEEPEST: usize = 20;
/// The most bytes of a wrong place that a message shows.
const SHOWN: usize = 60;

/// A template that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptTemplate<'t> {
    parts: Vec<TemplatePart<'t>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum TemplatePart<'t> {
    Text(&'t str),
    Value(Name),
    Section(TemplateSection<'t>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct TemplateSection<'t> {
    of: Name,
    /// Whether it stands where the value is empty, not where it is there.
    where_empty: bool,
    parts: Vec<TemplatePart<'t>>,
}

/// What one place says.
enum TemplateMark {
    Value(Name),
    Begin { of: Name, where_empty: bool },
    End(Name),
}

impl<'t> PromptTemplate<'t> {
    /// Reads a template.
    pub fn read(text: &'t str) -> Result<Self> {
        if text.len() > MAX_TEMPLATE {
            return Err(invalid(format!("the template has {} bytes, the limit is {MAX_TEMPLATE}", text.len())));
        }
        let mut open: Vec<TemplateSection<'t>> = Vec::new();
        let mut done: Vec<TemplatePart<'t>> = Vec::new();
        let mut at = 0;
        while let Some(found) = text[at..].find("{{").map(|offset| at + offset) {
            if text[at..found].ends_with('\\') {
                push(&mut open, &mut done, TemplatePart::Text(&text[at..found - 1]));
                push(&mut open, &mut done, TemplatePart::Text("{{"));
                at = found + 2;
                continue;
            }
            let Some(length) = text[found..].find("}}") else {
                return Err(invalid(format!("'{}' is not closed by '}}}}'", shown(&text[found..])))
                    .hint(r"for the two characters themselves, write \{{"));
            };
            let end = found + length + 2;
            let mark = mark(&text[found + 2..end - 2])?;
            let (from, to) = if let TemplateMark::Value(_) = mark { (found, end) } else { line_of(text, at, found, end) };
            push(&mut open, &mut done, TemplatePart::Text(&text[at..from]));
            at = to;
            match mark {
                TemplateMark::Value(name) => push(&mut open, &mut done, TemplatePart::Value(name)),
                TemplateMark::Begin { .. } if open.len() >= DEEPEST => {
                    return Err(invalid(format!("sections of the template are more than {DEEPEST} deep")));
                }
                TemplateMark::Begin { of, where_empty } => open.push(TemplateSection { of, where_empty, parts: Vec::new() }),
                TemplateMark::End(name) => {
                    let section = open.pop().filter(|section| section.of == name).ok_or_else(|| {
                        invalid(format!("'{{{{/{}}}}}' closes a section that is not open there", name.as_str()))
                    })?;
                    push(&mut open, &mut done, TemplatePart::Section(section));
                }
            }
        }
        if let Some(section) = open.last() {
            let name = section.of.as_str();
            return Err(invalid(format!("the section '{name}' is not closed by '{{{{/{name}}}}}'")));
        }
        done.push(TemplatePart::Text(&text[at..]));
        Ok(Self { parts: done })
    }

    /// The text with these values.
    pub fn fill(&self, values: &PromptValues) -> String {
        let mut text = String::new();
        fill(&self.parts, values, &mut text);
        text
    }
}

fn push<'t>(open: &mut [TemplateSection<'t>], done: &mut Vec<TemplatePart<'t>>, part: TemplatePart<'t>) {
    match open.last_mut() {
        Some(section) => section.parts.push(part),
        None => done.push(part),
    }
}

fn fill(parts: &[TemplatePart<'_>], values: &PromptValues, text: &mut String) {
    for part in parts {
        match part {
            TemplatePart::Text(piece) => text.push_str(piece),
            TemplatePart::Value(name) => text.push_str(values.get(*name)),
            TemplatePart::Section(section) if values.get(section.of).is_empty() == section.where_empty => {
                fill(&section.parts, values, text);
            }
            TemplatePart::Section(_) => {}
        }
    }
}

fn mark(inner: &str) -> Result<TemplateMark> {
    let inner = inner.trim();
    let named = |name: &str| {
        let name = name.trim();
        let found = NAMES.iter().find(|known| known.as_str() == name).copied();
        found.ok_or_else(|| {
            let known: Vec<&str> = NAMES.iter().map(|known| known.as_str()).collect();
            invalid(format!("'{}' is no placeholder of a prompt", shown(name))).hint(format!("there are: {}", known.join(", ")))
        })
    };
    match inner.as_bytes().first() {
        Some(b'#') => Ok(TemplateMark::Begin { of: named(&inner[1..])?, where_empty: false }),
        Some(b'^') => Ok(TemplateMark::Begin { of: named(&inner[1..])?, where_empty: true }),
        Some(b'/') => Ok(TemplateMark::End(named(&inner[1..])?)),
        Some(_) | None => Ok(TemplateMark::Value(named(inner)?)),
    }
}

/// The whole line of the mark from `found` to `end`, where nothing else is on it; what is before `at` was read already.
fn line_of(text: &str, at: usize, found: usize, end: usize) -> (usize, usize) {
    let begin = text[..found].rfind('\n').map_or(0, |place| place + 1);
    let rest = &text[end..];
    let (after, next) = rest.find('\n').map_or((rest, text.len()), |place| (&rest[..place], end + place + 1));
    let alone = begin >= at && text[begin..found].trim().is_empty() && after.trim().is_empty();
    if alone { (begin, next) } else { (found, end) }
}

fn shown(text: &str) -> String {
    let end = (0..=SHOWN.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    text[..end].chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn invalid(what: impl Into<String>) -> Error {
    Error::new(Code::ConfigInvalid, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(template: &str) -> String {
        let mut values = PromptValues::default();
        values.put(Name::Title, "T {{task.id}} \\{{".into());
        values.put(Name::Body, "a\nb".into());
        PromptTemplate::read(template).unwrap().fill(&values)
    }

    #[test]
    fn values_are_put_in_once_and_as_they_are() {
        for (template, expected) in [
            ("", ""),
            ("no place { } }} {", "no place { } }} {"),
            ("<{{task.title}}|{{ task.body }}>", "<T {{task.id}} \\{{|a\nb>"),
            ("{{task.id}}é{{task.body}}", "éa\nb"),
            (r"\{{task.body}} \\{{", "{{task.body}} \\{{"),
        ] {
            assert_eq!(filled(template), expected, "{template}");
        }
    }

    #[test]
    fn sections_without_a_value_vanish_with_their_lines() {
        for (template, expected) in [
            ("a{{#task.id}}b{{task.title}}{{/task.id}}c", "ac"),
            ("a{{#task.body}}b{{/task.body}}c", "abc"),
            ("a{{^task.body}}b{{/task.body}}{{^task.id}}d{{/task.id}}c", "adc"),
            ("a\n{{#task.id}}\nb\n{{/task.id}}\nc", "a\nc"),
            ("a\n  {{#task.body}}  \nb\n{{/task.body}}", "a\nb\n"),
            ("{{#task.body}}{{#task.id}}x{{/task.id}}y{{/task.body}}", "y"),
            ("{{#task.body}}\n{{^task.id}}\nx\n{{/task.id}}\n{{/task.body}}\n", "x\n"),
            // Something else is on the line.
            ("a\n- {{#task.body}}b\n{{/task.body}}\nc", "a\n- b\nc"),
        ] {
            assert_eq!(filled(template), expected, "{template}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let deep = "{{#token}}".repeat(DEEPEST + 1);
        let long = "x".repeat(MAX_TEMPLATE + 1);
        for (template, part) in [
            ("a {{task.name}}", "'task.name' is no placeholder"),
            ("{{}}", "'' is no placeholder"),
            ("{{#nope}}x{{/nope}}", "'nope'"),
            ("{{^nope}}x{{/nope}}", "'nope'"),
            ("{{task.id", "'{{task.id' is not closed"),
            ("{{#task.id}}x", "'task.id' is not closed by '{{/task.id}}'"),
            ("x{{/task.id}}", "'{{/task.id}}' closes"),
            ("{{#task.id}}{{#token}}{{/task.id}}{{/token}}", "'{{/task.id}}' closes"),
            (deep.as_str(), "deep"),
            (long.as_str(), "limit"),
        ] {
            let error = PromptTemplate::read(template).unwrap_err();
            assert!(error.code() == Code::ConfigInvalid && error.to_string().contains(part), "{template}: {error}");
        }
        let error = PromptTemplate::read("{{nope}}").unwrap_err();
        let hints = error.hints().iter().map(ToString::to_string).collect::<String>();
        assert!(hints.contains("task.title") && hints.contains("report"), "{hints}");
    }
}
