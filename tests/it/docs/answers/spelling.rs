//! How fields and variants are spelled in JSON, and the words that comments list.

use super::shapes::{ValueType, WordList};
use super::source_types::{SourceVariant, WritingRules};

/// The type of a string, and its meaning. A comment that begins with words in backquotes lists all that the string may be, each with
/// its meaning in parentheses where it has one; the rest of the comment is about the string.
pub fn words_of(comment: &str, wrap: &dyn Fn(ValueType) -> ValueType) -> (ValueType, String) {
    let mut words = Vec::new();
    let mut rest = comment;
    while let Some((word, after)) = rest.strip_prefix('`').and_then(|text| text.split_once('`')) {
        let (meaning, after) = match after.strip_prefix(" (").and_then(|text| text.split_once(')')) {
            Some((meaning, after)) => (meaning, after),
            None => ("", after),
        };
        words.push((word.to_owned(), meaning.to_owned()));
        rest = [", ", " or "].iter().find_map(|between| after.strip_prefix(between)).unwrap_or(after);
    }
    let ends_there = rest.is_empty() || rest.starts_with('.') || rest.starts_with(':');
    if words.len() < 2 || !ends_there {
        return (wrap(ValueType::Plain("string")), comment.to_owned());
    }
    let mut meaning = rest.trim_start_matches(['.', ':']).trim_start().to_owned();
    meaning.get_mut(..1).into_iter().for_each(str::make_ascii_uppercase);
    (wrap(ValueType::Words(WordList { name: None, words })), meaning)
}

/// The name of a field, by the rule for all of its type.
pub fn renamed_field(name: &str, rule: Option<&str>) -> String {
    match rule {
        None | Some("snake_case") => name.to_owned(),
        Some("camelCase") => {
            let mut parts = name.split('_');
            let first = parts.next().unwrap_or_default().to_owned();
            parts.fold(first, |all, part| all + &part[..1].to_uppercase() + &part[1..])
        }
        Some("kebab-case") => name.replace('_', "-"),
        Some(other) => panic!("fields are renamed to {other}"),
    }
}

/// The word that a variant is written as.
pub fn word(variant: &SourceVariant, rules: &WritingRules) -> String {
    if let Some(name) = &variant.rules.rename {
        return name.clone();
    }
    let name = &variant.name;
    let mut snake = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    match rules.rename_all.as_deref() {
        None => name.clone(),
        Some("lowercase") => name.to_lowercase(),
        Some("UPPERCASE") => name.to_uppercase(),
        Some("SCREAMING_SNAKE_CASE") => snake.to_uppercase(),
        Some(rule) => renamed_field(&snake, Some(rule)),
    }
}
