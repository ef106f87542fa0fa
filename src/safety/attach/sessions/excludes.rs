//! What is left out of captures by a file or a setting that no commit shows: where it changed during a session, that is told. A `.gitignore` is
//! the project's.

use crate::context::handle::Context;
use axiom_base::files;

/// The most patterns that are looked at, and how long one may be, in characters.
const MOST: usize = 200;
const LONGEST: usize = 200;
/// The largest file that is read.
const LIMIT: u64 = 1024 * 1024;

/// The patterns that count now.
pub(super) fn now(ctx: &Context) -> Vec<String> {
    let set = ctx.config.checkpoints.exclude.iter().map(|pattern| format!("checkpoints.exclude: {pattern}"));
    let file = ctx.repo.common_dir().join("info").join("exclude");
    let text = files::read_optional(&file, LIMIT).ok().flatten().unwrap_or_default();
    let text = String::from_utf8_lossy(&text).into_owned();
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let in_file = lines.map(|line| format!("info/exclude: {line}"));
    set.chain(in_file).map(|pattern| pattern.chars().take(LONGEST).collect()).take(MOST).collect()
}

/// How the patterns changed: each that came or went.
pub(super) fn changes(before: &[String], now: &[String]) -> Vec<String> {
    let came = now.iter().filter(|pattern| !before.contains(pattern)).map(|pattern| format!("added to {pattern}"));
    let went = before.iter().filter(|pattern| !now.contains(pattern)).map(|pattern| format!("removed from {pattern}"));
    came.chain(went).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pattern_that_came_or_went_is_told() {
        let [a, b, c] = ["info/exclude: a", "info/exclude: b", "checkpoints.exclude: c"].map(str::to_owned);
        assert_eq!(
            changes(&[a.clone(), b.clone()], &[b.clone(), c]),
            ["added to checkpoints.exclude: c", "removed from info/exclude: a"]
        );
        assert!(changes(&[a.clone(), b.clone()], &[b, a]).is_empty());
    }
}
