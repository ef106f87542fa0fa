//! What git axiom promises to cost, as ratios to git and to plain writes measured in the same run, and as growth:
//!
//! ```text
//! cargo bench --bench goals                            all groups but the large ones
//! AXIOM_BENCH_LARGE=1 cargo bench --bench goals        the large ones too: they take more than a minute each
//! cargo bench --bench goals -- checkpoint idle         these groups, large or not
//! cargo bench --bench goals -- --write [GROUP…]        and write their tables into benches/results.md
//! cargo bench --bench goals -- --list                  the groups
//! ```
//!
//! A and B are measured in turns, so that what else the machine does hits both; the ratio is the median of those of the rounds.
//! Everything happens in scratch folders below `target/tmp`, on a real file system, without the machine's git configuration.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    missing_docs
)]

mod bench;
mod document;
mod groups;
mod history;
mod machine;
mod measure;
mod repositories;
mod row;
mod scratch;
mod session;
#[path = "../../tests/support/terminal.rs"]
mod terminal;
#[path = "../../tests/support/traced_calls.rs"]
mod traced_calls;

use bench::Bench;
use groups::{GROUPS, Group, Size};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--list") {
        return GROUPS.iter().for_each(|group| println!("{}", group.name));
    }
    // cargo itself adds --bench.
    let wanted: Vec<&str> = arguments.iter().map(String::as_str).filter(|argument| !argument.starts_with("--")).collect();
    for name in &wanted {
        assert!(GROUPS.iter().any(|group| group.name == *name), "there is no group '{name}'; --list names them");
    }
    let large = std::env::var_os("AXIOM_BENCH_LARGE").is_some();
    let write = arguments.iter().any(|argument| argument == "--write");
    for group in GROUPS {
        let runs = if wanted.is_empty() { large || group.size == Size::Usual } else { wanted.contains(&group.name) };
        if runs {
            run(group, write);
        }
    }
}

/// Measures a group and prints its tables. They are written at once: a later group may fail, or be interrupted.
fn run(group: &Group, write: bool) {
    eprintln!("measuring {} …", group.name);
    let start = std::time::Instant::now();
    let mut bench = Bench::new(group.name);
    (group.rows)(&mut bench);
    eprintln!("{} took {:.0} s", group.name, start.elapsed().as_secs_f64());
    let (growth, plain): (Vec<_>, Vec<_>) = bench.rows.iter().partition(|row| row.is_growth());
    let lines = |rows: &[&row::Row]| rows.iter().map(|row| row.line(group.name)).collect::<Vec<_>>();
    let (growth, plain) = (lines(&growth), lines(&plain));
    let table = |head: &str, lines: &[String]| {
        let body: String = lines.iter().map(|line| format!("{line}\n")).collect();
        if body.is_empty() { body } else { format!("{head}{body}") }
    };
    println!("\n{}: {}\n\n{}\n{}", group.name, group.about, table(row::HEAD, &plain), table(row::GROWTH_HEAD, &growth));
    if !write {
        return;
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/results.md");
    let mut text = std::fs::read_to_string(path).unwrap();
    if !plain.is_empty() {
        text = document::with_table(&text, group.name, &table(row::HEAD, &plain)).expect("benches/results.md has no such table");
    }
    let order: Vec<&str> = GROUPS.iter().map(|group| group.name).collect();
    text = document::with_growth(&text, row::GROWTH_HEAD, group.name, &growth, &order)
        .expect("benches/results.md has no table of growth");
    std::fs::write(path, text).unwrap();
}
