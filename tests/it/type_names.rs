//! A type says what it is without its path: no two types of the source share a name, and few names are one word.

use std::collections::BTreeMap;

use crate::source_paths::sources;

/// Names that two places have, and why.
const SHARED: [(&str, &str); 1] = [("ExaminedProcess", "two builds of one type: one for Linux, one for the rest")];

/// The name of the type that a line defines. Associated types of traits are none of ours to name.
fn defined(line: &str) -> Option<&str> {
    let code = line.trim_start();
    let code = match code.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(')')?.1.trim_start(),
        Some(rest) => rest.strip_prefix(' ')?,
        None => code,
    };
    let (keyword, rest) = code.split_once(' ')?;
    let defines = matches!(keyword, "struct" | "enum" | "trait" | "union") || keyword == "type" && !line.starts_with(' ');
    let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().filter(|name| !name.is_empty())?;
    (defines && name.starts_with(|c: char| c.is_ascii_uppercase())).then_some(name)
}

/// The types of the source without its tests: name and files.
fn types() -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, text) in sources() {
        if name.ends_with("tests.rs") || name.contains("/tests/") {
            continue;
        }
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        for one in code.lines().filter_map(defined) {
            found.entry(one.to_owned()).or_default().push(name.clone());
        }
    }
    found
}

#[test]
fn no_two_types_share_a_name() {
    let all = types();
    assert!(all.len() > 1000, "the types of the source are read: {}", all.len());
    let excused = |name: &str| SHARED.iter().any(|(known, _)| *known == name);
    let shared: Vec<_> = all.iter().filter(|(name, files)| files.len() > 1 && !excused(name)).collect();
    assert!(shared.is_empty(), "a type says what it is without its path; two have one name: {shared:#?}");
    for (name, why) in SHARED {
        assert!(all.get(name).is_some_and(|files| files.len() > 1), "'{name}' needs no exception any more ({why})");
    }
}

#[test]
fn few_types_have_a_name_of_one_word() {
    let all = types();
    let of_one_word = |name: &&String| name.chars().filter(char::is_ascii_uppercase).count() == 1;
    let short: Vec<&String> = all.keys().filter(of_one_word).collect();
    assert!(short.len() * 4 < all.len(), "{} of {} types have a name of one word: {short:?}", short.len(), all.len());
}

#[test]
fn definitions_are_found_however_they_are_written() {
    assert_eq!(defined("pub(in crate::git) struct RawCommit<'a> {"), Some("RawCommit"));
    assert_eq!(defined("    enum RowKind {"), Some("RowKind"));
    assert_eq!(defined("pub type Result<T> = core::Result;"), Some("Result"));
    assert_eq!(defined("    type Value = State;"), None);
    assert_eq!(defined("/// struct Told"), None);
    assert_eq!(defined("let enumerated = 1;"), None);
}
