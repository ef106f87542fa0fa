//! A struct is small enough to be known as a whole: how many methods and fields each has, over all of its `impl` blocks.

use std::collections::BTreeMap;

use crate::source_paths::{is_of_tests, sources};

/// The most methods of a type, those of its traits with them, and the most fields. What is written to a file, printed as JSON or read
/// from a command line has as many fields as that has.
const MOST_METHODS: usize = 30;
const MOST_FIELDS: usize = 12;

/// Structs with more methods. A number here may only become smaller.
const MORE_METHODS: [(&str, usize); 0] = [];

/// Structs with more fields. A number here may only become smaller.
const MORE_FIELDS: [(&str, usize); 0] = [];

#[derive(Debug, Default)]
struct StructSize {
    methods: usize,
    fields: usize,
    /// Whether its fields are those of a document or of a command line.
    is_data: bool,
}

/// A block whose entries are counted.
enum ReadBlock {
    Fields(String),
    Methods(String),
}

fn without_visibility(code: &str) -> &str {
    match code.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(") ").map_or(code, |(_, rest)| rest),
        Some(rest) => rest.strip_prefix(' ').unwrap_or(code),
        None => code,
    }
}

fn word(code: &str) -> &str {
    code.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()
}

/// The type that an `impl` is for.
fn implemented(code: &str) -> Option<&str> {
    let rest = code.strip_prefix("unsafe ").unwrap_or(code).strip_prefix("impl")?;
    let rest = match rest.strip_prefix('<') {
        Some(generics) => {
            let mut depth = 1;
            let end = generics.char_indices().find(|(at, c)| {
                depth += i32::from(*c == '<') - i32::from(*c == '>' && !generics[..*at].ends_with(['-', '=']));
                depth == 0
            });
            &generics[end?.0 + 1..]
        }
        None => rest,
    };
    let of = rest.rsplit_once(" for ").map_or(rest, |(_, of)| of).trim_start().trim_start_matches('&');
    let path = of.split(['<', ' ', '{']).next()?;
    path.rsplit("::").next().filter(|name| name.starts_with(|c: char| c.is_ascii_uppercase()))
}

fn is_method(code: &str) -> bool {
    let code = without_visibility(code);
    ["", "const ", "unsafe ", "const unsafe ", "async "]
        .iter()
        .any(|before| code.strip_prefix(before).is_some_and(|rest| rest.starts_with("fn ")))
}

fn is_field(code: &str) -> bool {
    let code = without_visibility(code);
    let name = word(code);
    !name.is_empty() && code[name.len()..].starts_with(": ")
}

/// Adds what a file has. Its layout is that of rustfmt: what a block has stands one step further in than its beginning and end.
fn read(text: &str, all: &mut BTreeMap<String, StructSize>) {
    let (mut attributes, mut open): (String, Option<(ReadBlock, usize)>) = (String::new(), None);
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    for line in text.lines() {
        let code = line.split("//").next().unwrap_or_default().trim();
        let depth = line.len() - line.trim_start().len();
        if let Some((block, outside)) = &open {
            if code == "}" && depth == *outside {
                open = None;
            } else if depth == outside + 4 {
                match block {
                    ReadBlock::Fields(name) if is_field(code) => all.entry(name.clone()).or_default().fields += 1,
                    ReadBlock::Methods(name) if is_method(code) => all.entry(name.clone()).or_default().methods += 1,
                    ReadBlock::Fields(_) | ReadBlock::Methods(_) => {}
                }
            }
            continue;
        }
        if code.starts_with('#') || !attributes.is_empty() && !attributes.trim_end().ends_with(']') {
            attributes.push_str(code);
            continue;
        }
        if let Some(rest) = without_visibility(code).strip_prefix("struct ") {
            let one = all.entry(word(rest).to_owned()).or_default();
            one.is_data |= ["Serialize", "Deserialize", "Args", "Parser"].iter().any(|data| attributes.contains(data));
            open = code.ends_with('{').then(|| (ReadBlock::Fields(word(rest).to_owned()), depth));
        } else if let Some(name) = implemented(code).filter(|_| code.ends_with('{')) {
            open = Some((ReadBlock::Methods(name.to_owned()), depth));
        }
        if !code.is_empty() {
            attributes.clear();
        }
    }
}

fn sizes() -> BTreeMap<String, StructSize> {
    let mut all = BTreeMap::new();
    sources().iter().filter(|(path, _)| !is_of_tests(path)).for_each(|(_, text)| read(text, &mut all));
    assert!(all.len() > 1000, "the structs of the source are read: {}", all.len());
    all
}

/// Checks that each number is at most `most`, or is the one of its exception.
fn is_held(what: &str, numbers: &BTreeMap<String, usize>, most: usize, exceptions: &[(&str, usize)]) {
    let allowed = |name: &str| exceptions.iter().find(|(known, _)| *known == name).map_or(most, |(_, number)| *number);
    let over: Vec<_> = numbers.iter().filter(|(name, number)| **number > allowed(name)).collect();
    assert!(over.is_empty(), "a struct with so many {what} is several: {over:?}");
    for (name, listed) in exceptions {
        let now = numbers.get(*name).copied().unwrap_or_default();
        assert!(now == *listed && now > most, "'{name}' has {now} {what} by now: its exception says {listed}");
    }
}

#[test]
fn a_struct_has_few_methods() {
    let numbers = sizes().into_iter().map(|(name, size)| (name, size.methods)).collect();
    is_held("methods", &numbers, MOST_METHODS, &MORE_METHODS);
}

#[test]
fn a_struct_has_few_fields() {
    let counted = sizes().into_iter().filter(|(_, size)| !size.is_data);
    let numbers = counted.map(|(name, size)| (name, size.fields)).collect();
    is_held("fields", &numbers, MOST_FIELDS, &MORE_FIELDS);
}

#[test]
fn methods_and_fields_are_counted_however_they_are_written() {
    let text = "#[derive(\n    Serialize,\n)]\npub(in crate::x) struct SomeData<'a> {\n    /// x: y\n    pub(super) one: &'a str,\n    two: u8,\n}\n\
        impl<'a> SomeData<'a> {\n    pub const fn one(&self) {\n        fn inner() {}\n    }\n}\n\
        impl<T: Fn(u8) -> u8> From<T> for super::SomeData<'_> {\n    fn from(\n        other: T,\n    ) -> Self {\n        x: y,\n    }\n}\n\
        mod inner {\n    struct OtherData {\n        one: u8,\n    }\n    unsafe impl Send for OtherData {}\n}\n";
    let mut all = BTreeMap::new();
    read(text, &mut all);
    let of = |name: &str| all.get(name).map(|size| (size.methods, size.fields, size.is_data));
    assert_eq!((of("SomeData"), of("OtherData")), (Some((2, 2, true)), Some((0, 1, false))));
}
