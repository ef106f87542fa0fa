//! The tables of `benches/results.md`: those between markers are made by the benchmark, everything else by hand.
//!
//! A group's table stands between `<!-- made by: GROUP -->` and `<!-- end -->`. The rows of growth of all groups stand in one
//! table, made by `growth`; the last cell of a line names its group.

/// The document with the table of a group replaced. `None` where it has no such markers.
pub fn with_table(document: &str, group: &str, table: &str) -> Option<String> {
    let (before, _, after) = parts(document, group)?;
    Some(format!("{before}\n{table}\n{after}"))
}

/// The document with the rows of growth of one group replaced, the groups in this order. `None` where it has no such markers.
pub fn with_growth(document: &str, head: &str, group: &str, lines: &[String], order: &[&str]) -> Option<String> {
    let (before, table, after) = parts(document, "growth")?;
    let old = table.trim().lines().skip(head.lines().count()).map(str::to_owned);
    let mut all: Vec<String> = old.filter(|line| group_of(line) != group).chain(lines.iter().cloned()).collect();
    all.sort_by_key(|line| order.iter().position(|name| *name == group_of(line)));
    let body: String = all.iter().map(|line| format!("{line}\n")).collect();
    Some(format!("{before}\n{head}{body}\n{after}"))
}

fn group_of(line: &str) -> &str {
    line.trim_end().trim_end_matches('|').rsplit('|').next().unwrap_or_default().trim()
}

/// What is before a table, the table with the empty lines around it, and what is behind them.
fn parts<'a>(document: &'a str, group: &str) -> Option<(&'a str, &'a str, &'a str)> {
    let marker = format!("<!-- made by: {group} -->\n");
    let start = document.find(&marker)? + marker.len();
    let length = document[start..].find("<!-- end -->")?;
    Some((&document[..start], &document[start..start + length], &document[start + length..]))
}
