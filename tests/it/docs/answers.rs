//! `docs/JSON.md` and `docs/schemas/answers.json` are made from the types of answers: `ui::commands::answers` says which verb has which,
//! and the definitions with their comments say the rest. `AXIOM_UPDATE_DOCS=1 cargo test --test it docs` writes both anew.
//!
//! The definitions are read as text, so the program knows nothing of schemas. What this does not understand is an error, never left
//! out; and every document of every test is held against the schema, so what it misunderstands is found.

mod json_schema;
mod known_types;
mod page;
mod shapes;
mod source_types;
mod spelling;

use std::collections::BTreeSet;

use git_axiom::model::base::document_schema::SCHEMA;
use git_axiom::ui::commands::answers::ANSWERS;

use self::shapes::{Shapes, name_of};
use super::{check, path_of};

/// The type of errors in documents.
const ERROR: &str = "ErrorJson";
/// Types below `src/ui` that serde writes, and that are in no answer.
const NO_ANSWERS: [(&str, &str); 3] = [
    ("JsonDocument", "what every document has: its version and its verb"),
    ("AnswerWithErrorJson", "an answer and its error: the schema has both in one"),
    ("ErrorDocument", "an error alone, in the schema as ErrorAlone"),
];

fn shapes() -> Shapes {
    let mut shapes = Shapes::new();
    let _ = shapes.add(ERROR);
    for answer in ANSWERS {
        let _ = shapes.add(answer.of);
    }
    assert!(shapes.troubles.is_empty(), "these are not understood: {:#?}", shapes.troubles);
    shapes
}

#[test]
fn the_page_and_the_schema_of_answers_are_current() {
    let shapes = shapes();
    check("docs/schemas/answers.json", &json_schema::text_of(&json_schema::schema_of(&shapes, ANSWERS, SCHEMA)));
    let page = std::fs::read_to_string(path_of("docs/JSON.md")).unwrap();
    let (begin, end) = ("<!-- made from the types of answers -->\n", "<!-- end of what is made -->\n");
    let (before, rest) = page.split_once(begin).unwrap();
    let (_, after) = rest.split_once(end).unwrap();
    check("docs/JSON.md", &format!("{before}{begin}\n{}\n{end}{after}", page::page_of(&shapes, ANSWERS)));
}

/// A type that is written, and that no answer has, was forgotten in the table, or nothing prints it any more.
#[test]
fn every_written_type_of_the_interface_is_in_an_answer() {
    let shapes = shapes();
    let answered: BTreeSet<&str> = ANSWERS.iter().map(|answer| answer.of).collect();
    let excused = |name: &str| NO_ANSWERS.iter().any(|(known, _)| *known == name);
    let of_the_interface = shapes.types().iter().filter(|(_, of)| of.is_written && of.file.starts_with("ui/"));
    let forgotten: Vec<&String> = of_the_interface
        .map(|(name, _)| name)
        .filter(|name| !excused(name) && !answered.contains(name.as_str()) && !shapes.all.contains_key(&name_of(name)))
        .collect();
    assert!(forgotten.is_empty(), "src/ui/commands/answers.rs does not lead to {forgotten:?}");
}

#[test]
fn a_comment_lists_words_only_where_it_names_all_of_them() {
    let words = |comment: &str| match spelling::words_of(comment, &|words| words) {
        (shapes::ValueType::Words(list), meaning) => (list.words, meaning),
        (_, meaning) => (Vec::new(), meaning),
    };
    let word = |name: &str, meaning: &str| (name.to_owned(), meaning.to_owned());
    let wanted = vec![word("a", ""), word("b", "why"), word("c", "")];
    assert_eq!(words("`a`, `b` (why) or `c`: of it."), (wanted, "Of it.".to_owned()));
    for comment in ["`null` where it is not known.", "`user`, `recovery`, or the id of an agent.", "Either `a` or `b`."] {
        assert_eq!(words(comment), (Vec::new(), comment.to_owned()));
    }
}
