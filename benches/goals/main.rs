//! What git axiom promises to cost, as ratios to git and to plain writes measured in the same run:
//!
//! ```text
//! cargo bench --bench goals              all of it
//! cargo bench --bench goals -- replay    what has "replay" in its name
//! ```
//!
//! A and B are measured in turns, so that what else the machine does hits both; medians are compared. Everything happens
//! in scratch folders below `target/tmp`, on a real file system, without the machine's git configuration.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    missing_docs
)]

mod append;
mod checkpoint;
mod history;
mod measure;
mod replay;
mod rollback;
mod scratch;
mod startup;
mod status;

use measure::Row;

type Group = fn() -> Vec<Row>;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [flag, folder] = arguments.as_slice()
        && flag == "--load"
    {
        return status::load(folder);
    }
    let wanted = arguments.iter().find(|argument| !argument.starts_with('-'));
    let groups: [(&str, Group); 6] = [
        ("checkpoint", checkpoint::rows),
        ("startup", startup::rows),
        ("append", append::rows),
        ("replay", replay::rows),
        ("status", status::rows),
        ("rollback", rollback::rows),
    ];
    let mut rows = Vec::new();
    for (name, group) in groups {
        if wanted.is_none_or(|wanted| name.contains(wanted.as_str())) {
            eprintln!("measuring {name} …");
            rows.extend(group());
        }
    }
    measure::print(&rows);
}
