//! `benches/results.md` and the benchmark that makes its tables: each replaces only its own, and has a place for it.

use crate::document::{with_growth, with_table};

const DOCUMENT: &str = "# A\n\n<!-- made by: one -->\n\n| 1 |\n\n<!-- end -->\n\nby hand\n\n<!-- made by: two -->\n\n| 2 |\n\
                        \n<!-- end -->\n\n<!-- made by: growth -->\n\n| head |\n| --- |\n| x | one |\n| y | two |\n\
                        \n<!-- end -->\n";

#[test]
fn only_the_table_of_the_group_is_replaced() {
    let new = with_table(DOCUMENT, "two", "| new |\n").unwrap();
    assert_eq!(new, DOCUMENT.replace("| 2 |", "| new |"));
    assert_eq!(with_table(&new, "two", "| 2 |\n").unwrap(), DOCUMENT);
    assert_eq!(with_table(DOCUMENT, "three", ""), None);
}

#[test]
fn rows_of_growth_of_other_groups_stay() {
    let lines = ["| p | one |".to_owned(), "| q | one |".to_owned()];
    let new = with_growth(DOCUMENT, "| head |\n| --- |\n", "one", &lines, &["one", "two"]).unwrap();
    assert_eq!(new, DOCUMENT.replace("| x | one |", "| p | one |\n| q | one |"));
}

#[test]
fn each_group_has_its_table_in_the_document() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let document = std::fs::read_to_string(root.join("benches/results.md")).unwrap();
    let groups = std::fs::read_to_string(root.join("benches/goals/groups/mod.rs")).unwrap();
    let named = |line: &str| {
        let line = line.trim().strip_prefix("usual(\"").or(line.trim().strip_prefix("large(\""))?;
        Some(line.split_once('"')?.0.to_owned())
    };
    let names: Vec<String> = groups.lines().filter_map(named).collect();
    assert!(names.len() > 10, "{names:?}");
    for name in &names {
        assert!(with_table(&document, name, "").is_some(), "no table for the group {name}");
    }
    assert!(with_growth(&document, "", &names[0], &[], &[]).is_some());
    assert_eq!(document.matches("<!-- made by: ").count(), names.len() + 1, "a table of a group that there is not");
}
