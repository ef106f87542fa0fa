//! What a path ever had in the history of refs, and whether a ref's history has some contents.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use crate::repo::handles::History;
use axiom_base::error::Result;
use axiom_model::base::names::{Oid, RefName, RepoPath};

/// How many contents one call of git looks for.
const AT_ONCE: usize = 500;

/// One line for each change, with whole ids, of merges too, and without looking into files.
const RAW: [&str; 5] = ["--format=", "--raw", "--no-abbrev", "--no-renames", "-m"];

impl History<'_> {
    /// The contents that a file, or the files below a folder, ever had in the history of the refs that these arguments stand for.
    pub fn contents_ever_at(&self, path: &RepoPath, refs: &[&str]) -> Result<BTreeSet<Oid>> {
        let mut found = BTreeSet::new();
        let git = self.repo.git().arg("log").args(RAW).args(refs).arg("--").arg(exactly(path));
        git.each_part(b'\n', |line| {
            found.extend(contents_in(line));
            Ok(())
        })?;
        Ok(found)
    }

    /// One of these contents that the history of a ref has, at a path or wherever. `None` where it has none of them.
    pub fn has_one_of(&self, name: &RefName, contents: &BTreeSet<Oid>, at: Option<&RepoPath>) -> Result<Option<Oid>> {
        let all: Vec<&Oid> = contents.iter().collect();
        for some in all.chunks(AT_ONCE) {
            let looked_for = some.iter().map(|oid| format!("--find-object={oid}"));
            let git = self.repo.git().arg("log").args(RAW).arg("--max-count=1").args(looked_for).arg(name.as_str()).arg("--");
            // A ref that names no commit has no history.
            let output = git.args(at.map(exactly)).run()?;
            let found = output.stdout.split(|byte| *byte == b'\n').flat_map(contents_in).find(|oid| contents.contains(oid));
            if output.ok() && found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }
}

/// A pattern that means this path, wherever git is called, and whatever characters it has.
fn exactly(path: &RepoPath) -> OsString {
    OsString::from_vec([b":(top,literal)", path.as_bytes()].concat())
}

/// The contents before and after a change, as `:MODE MODE ID ID STATUS` says.
fn contents_in(line: &[u8]) -> Vec<Oid> {
    let Some(rest) = line.strip_prefix(b":") else { return Vec::new() };
    let words: Vec<&[u8]> = rest.split(|byte| matches!(byte, b' ' | b'\t')).take(4).collect();
    let [old_mode, new_mode, old, new] = words.as_slice() else { return Vec::new() };
    let contents = [(old_mode, old), (new_mode, new)].into_iter().filter(|(mode, _)| !matches!(**mode, b"000000" | b"160000"));
    contents.filter_map(|(_, id)| Oid::new(String::from_utf8_lossy(id).into_owned()).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_have_contents() {
        let line = |modes: &str| format!(":{modes} {} {} M\ta b", "1".repeat(40), "2".repeat(40)).into_bytes();
        let found = |modes: &str| contents_in(&line(modes)).iter().map(|oid| oid.as_str()[..1].to_owned()).collect::<String>();
        assert_eq!((found("100644 120000"), found("000000 100755")), ("12".to_owned(), "2".to_owned()));
        assert_eq!((found("160000 160000"), contents_in(b"").len()), (String::new(), 0));
    }
}
