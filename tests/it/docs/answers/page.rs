//! The made part of `docs/JSON.md`: a table of keys for each verb, and for each shape that several have, or that stands in another.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use git_axiom::ui::commands::answers::VerbAnswer;

use super::shapes::{ShapeKey, ShapeRow, Shapes, ValueType, WordList, name_of};

/// Lists of words that are longer have a table of their own, where more than one key takes them.
const LONGEST_LIST: usize = 6;

/// How often shapes and lists of words come by in others.
struct PageUses<'s> {
    shapes: &'s Shapes,
    of_shapes: BTreeMap<String, usize>,
    of_words: BTreeMap<String, (usize, WordList)>,
}

/// The made part of the page.
pub fn page_of(shapes: &Shapes, answers: &[VerbAnswer]) -> String {
    let mut page = PageUses { shapes, of_shapes: BTreeMap::new(), of_words: BTreeMap::new() };
    for shape in shapes.all.values() {
        shape.rows.iter().for_each(|row| page.count(row));
    }
    let mut text = String::from("# Verbs\n");
    for answer in answers {
        *page.of_shapes.entry(name_of(answer.of)).or_default() += 1;
    }
    for answer in answers {
        let shape = name_of(answer.of);
        let verbs: Vec<String> = answer.verbs.iter().map(|verb| format!("`{verb}`")).collect();
        let table = if page.has_section(&shape) { format!("{HEAD}| … | {} | |\n", link(&shape)) } else { page.table(&shape) };
        let _ = write!(text, "\n### {}\n\n{}{table}", verbs.join(", "), page.sentence(&shape));
    }
    text.push_str("\n# Shapes\n");
    let mut sections: BTreeMap<String, String> = BTreeMap::new();
    for shape in shapes.all.keys().filter(|name| page.has_section(name)) {
        sections.insert(shape.clone(), format!("{}{}", page.sentence(shape), page.table(shape)));
    }
    for (name, (_, list)) in page.of_words.iter().filter(|(_, (uses, list))| is_long(*uses, list)) {
        sections.insert(name.clone(), table_of_words(name, list));
    }
    for (name, section) in sections {
        let _ = write!(text, "\n### {name}\n\n{section}");
    }
    no_two_headings_are_one_anchor(&text);
    text
}

const HEAD: &str = "| key | type | |\n| --- | --- | --- |\n";

fn is_long(uses: usize, list: &WordList) -> bool {
    uses > 1 && list.words.len() > LONGEST_LIST
}

fn table_of_words(name: &str, list: &WordList) -> String {
    let told: Vec<(&str, String)> =
        list.words.iter().map(|(word, meaning)| (word.as_str(), cell(&unless_said(meaning, &[word, name])))).collect();
    if told.iter().all(|(_, meaning)| meaning.is_empty()) {
        return format!("One of {}.\n", told.iter().map(|(word, _)| format!("`{word}`")).collect::<Vec<_>>().join(", "));
    }
    let rows: String = told.iter().map(|(word, meaning)| format!("| `{word}` | {meaning} |\n")).collect();
    format!("| word | |\n| --- | --- |\n{rows}")
}

fn no_two_headings_are_one_anchor(text: &str) {
    let mut seen = BTreeSet::new();
    for heading in text.lines().filter_map(|line| line.strip_prefix("### ")) {
        // Verbs with several answers have several headings; nothing leads to them.
        let anchor = heading.replace('`', "").to_lowercase();
        assert!(seen.insert(anchor) || heading.starts_with('`'), "two headings are '{heading}'");
    }
}

impl PageUses<'_> {
    fn count(&mut self, row: &ShapeRow) {
        match row {
            ShapeRow::AllOf { shape, .. } => *self.of_shapes.entry(shape.clone()).or_default() += 1,
            ShapeRow::Key(key) => self.count_value(&key.of),
        }
    }

    fn count_value(&mut self, value: &ValueType) {
        match value {
            ValueType::Plain(_) => {}
            ValueType::Words(list) => {
                if let Some(name) = &list.name {
                    self.of_words.entry(name.clone()).or_insert_with(|| (0, list.clone())).0 += 1;
                }
            }
            ValueType::List(inner) | ValueType::Named(inner) | ValueType::OrNull(inner) => self.count_value(inner),
            // Wherever a shape is a value, it has a section of its own.
            ValueType::Shape(name) => *self.of_shapes.entry(name.clone()).or_default() += 2,
        }
    }

    /// Whether a shape has a section of its own: not where its keys are those of one other shape.
    fn has_section(&self, shape: &str) -> bool {
        self.of_shapes.get(shape).is_some_and(|uses| *uses > 1)
    }

    /// What a shape is, where that says more than its name.
    fn sentence(&self, shape: &str) -> String {
        let sentence = unless_said(&self.shapes.all[shape].meaning, &[shape]);
        if sentence.is_empty() { sentence } else { format!("{sentence}\n\n") }
    }

    fn table(&self, shape: &str) -> String {
        let mut rows: Vec<(Vec<String>, String, String)> = Vec::new();
        self.add_rows(shape, false, &mut rows);
        let mut table = String::from(HEAD);
        for (keys, of, meaning) in rows {
            let keys: Vec<String> = keys.iter().map(|key| if key == "…" { key.clone() } else { format!("`{key}`") }).collect();
            let _ = writeln!(table, "| {} | {of} | {} |", keys.join(", "), cell(&meaning));
        }
        table.replace(" |  |\n", " | |\n")
    }

    fn add_rows(&self, shape: &str, may_be_absent: bool, rows: &mut Vec<(Vec<String>, String, String)>) {
        for row in &self.shapes.all[shape].rows {
            match row {
                ShapeRow::Key(key) => {
                    let of = self.of_key(&ShapeKey { may_be_absent: key.may_be_absent || may_be_absent, ..key.clone() });
                    let meaning = self.meaning(key, shape);
                    match rows.last_mut() {
                        // Keys of one type, of which nothing else is to be said, share a row.
                        Some((keys, before, said)) if *before == of && *said == meaning && keys[0] != "…" => {
                            keys.push(key.name.clone());
                        }
                        Some(_) | None => rows.push((vec![key.name.clone()], of, meaning)),
                    }
                }
                ShapeRow::AllOf { shape, may_be_absent: absent } if self.has_section(shape) => {
                    let absent = if may_be_absent || *absent { ", may be absent" } else { "" };
                    rows.push((vec!["…".to_owned()], format!("{}{absent}", link(shape)), String::new()));
                }
                ShapeRow::AllOf { shape, may_be_absent: absent } => self.add_rows(shape, may_be_absent || *absent, rows),
            }
        }
    }

    fn of_key(&self, key: &ShapeKey) -> String {
        let absent = if key.may_be_absent { ", may be absent" } else { "" };
        format!("{}{absent}", self.in_words(&key.of))
    }

    fn in_words(&self, value: &ValueType) -> String {
        match value {
            ValueType::Plain(name) => (*name).to_owned(),
            ValueType::Words(WordList { name: Some(name), .. })
                if self.of_words.get(name).is_some_and(|(uses, list)| is_long(*uses, list)) =>
            {
                link(name)
            }
            ValueType::Words(list) => {
                let words: Vec<&str> = list.words.iter().map(|(word, _)| word.as_str()).collect();
                format!("one of {}", words.join(", "))
            }
            ValueType::List(inner) => format!("{}[]", self.in_words(inner)),
            ValueType::Named(inner) => format!("{}{{}}", self.in_words(inner)),
            ValueType::OrNull(inner) => format!("{} or null", self.in_words(inner)),
            ValueType::Shape(name) => link(name),
        }
    }

    /// What a key says beside its name and type. The words of its own list are explained here.
    fn meaning(&self, key: &ShapeKey, shape: &str) -> String {
        let names: Vec<&str> = [key.name.as_str(), shape].into_iter().chain(named_in(&key.of)).collect();
        let mut said = unless_said(&key.meaning, &names);
        if let ValueType::Words(list) = without_wrapping(&key.of)
            && list.name.is_none()
        {
            for (word, meaning) in list.words.iter().filter(|(_, meaning)| !meaning.is_empty()) {
                let between = if said.is_empty() { "" } else { " " };
                let _ = write!(said, "{between}{word}: {}.", told(meaning).trim_end_matches('.'));
            }
        }
        said
    }
}

fn without_wrapping(value: &ValueType) -> &ValueType {
    match value {
        ValueType::List(inner) | ValueType::Named(inner) | ValueType::OrNull(inner) => without_wrapping(inner),
        ValueType::Plain(_) | ValueType::Words(_) | ValueType::Shape(_) => value,
    }
}

fn named_in(value: &ValueType) -> Option<&str> {
    match without_wrapping(value) {
        ValueType::Shape(name) => Some(name),
        ValueType::Words(list) => list.name.as_deref(),
        ValueType::Plain(_) | ValueType::List(_) | ValueType::Named(_) | ValueType::OrNull(_) => None,
    }
}

fn link(name: &str) -> String {
    format!("[{name}](#{})", name.to_lowercase())
}

/// A comment as readers of JSON want it: with `null`, and without links within the source.
pub fn told(comment: &str) -> String {
    comment.replace("`None`", "null").replace("[`", "`").replace("`]", "`")
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// A comment; nothing where it repeats names.
fn unless_said(comment: &str, names: &[&str]) -> String {
    const SMALL: [&str; 22] = [
        "a", "all", "an", "and", "are", "as", "how", "id", "is", "it", "its", "many", "of", "one", "path", "s", "that", "the",
        "there", "they", "this", "what",
    ];
    let mut known: Vec<String> = names.iter().flat_map(|name| words(&spaced(name))).collect();
    known.extend(SMALL.map(str::to_owned));
    let says_more = words(comment).iter().any(|word| !known.iter().any(|one| same(one, word)));
    if says_more { told(comment) } else { String::new() }
}

/// Whether words differ in their ends alone.
fn same(one: &str, other: &str) -> bool {
    one.trim_end_matches('s') == other.trim_end_matches('s')
}

fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

/// `camelCase` as words.
fn spaced(name: &str) -> String {
    let mut spaced = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            spaced.push(' ');
        }
        spaced.push(c);
    }
    spaced
}
