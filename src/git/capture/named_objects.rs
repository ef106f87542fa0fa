//! Finds the objects that the files of an operation in progress name: git itself may prune these objects as soon as nothing
//! else refers to them.

use std::collections::BTreeSet;

use axiom_base::error::Result;
use axiom_model::base::names::Oid;

use super::extras::GitOperationFile;
use crate::base::limits;
use crate::objects::database::gix_id;
use crate::repo::handles::Captures;
use crate::repo::shortcuts::FastWay;

/// Objects that are named and that exist.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct NamedObjects {
    /// Commits. A parent of another one is left out, since that one keeps it alive.
    pub commits: Vec<Oid>,
    /// Trees.
    pub trees: Vec<Oid>,
}

impl Captures<'_> {
    /// The commits and trees that files of an operation in progress name by their full ids, each once, in order of their
    /// ids.
    pub(crate) fn named_by(&self, files: &[GitOperationFile]) -> Result<NamedObjects> {
        if files.is_empty() {
            return Ok(NamedObjects::default());
        }
        let mut ids = BTreeSet::new();
        for file in files {
            self.add_names(&self.repo.objects().read_blob(&file.oid, limits::EXTRAS)?, &mut ids)?;
        }
        let gix = self.repo.gix()?;
        let (mut commits, mut trees) = (BTreeSet::new(), Vec::new());
        for id in ids {
            match gix.find_header(gix_id(&id)?).map(|header| header.kind()) {
                Ok(gix::objs::Kind::Commit) => drop(commits.insert(id)),
                Ok(gix::objs::Kind::Tree) => trees.push(id),
                Ok(gix::objs::Kind::Blob | gix::objs::Kind::Tag) | Err(_) => {}
            }
        }
        // At the boundary of a shallow history, a commit does not keep its parents alive.
        if commits.len() > 1 && self.repo.shortcuts().allow(FastWay::ReadHistory) {
            for commit in commits.clone() {
                for parent in self.repo.objects().read_commit(&commit)?.parents {
                    commits.remove(&parent);
                }
            }
        }
        Ok(NamedObjects { commits: commits.into_iter().collect(), trees })
    }

    fn add_names(&self, content: &[u8], ids: &mut BTreeSet<Oid>) -> Result<()> {
        let digits = 2 * self.repo.hash().bytes();
        let words = content.split(|byte| !byte.is_ascii_hexdigit()).filter(|word| word.len() == digits);
        for word in words.filter(|word| word.iter().any(|byte| *byte != b'0')) {
            ids.insert(Oid::new(String::from_utf8_lossy(word).to_ascii_lowercase())?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::scratch::ScratchRepository;
    use axiom_model::base::names::RepoPath;

    #[test]
    fn commits_and_trees_are_found_in_any_text_and_a_chain_is_kept_by_its_end() {
        for kind in [&[][..], &["--object-format=sha256"]] {
            let scratch = ScratchRepository::new(kind);
            let of = |what: &str| Oid::new(scratch.git(&["rev-parse", what])).unwrap();
            let mut text = format!("pick {} first\n", of("HEAD"));
            for number in 0..3 {
                scratch.git(&["commit", "-q", "--allow-empty", "-m", &format!("{number}")]);
                text.push_str(&format!("\t{}\n", of("HEAD")));
            }
            let (end, tree, blob) = (of("HEAD"), of("HEAD^{tree}"), of("HEAD:a.txt"));
            scratch.git(&["commit", "-q", "--allow-empty", "-m", "not named"]);
            let width = end.as_str().len();
            text.push_str(&format!("{tree}{{x}} {blob} {end}0 {} {}", "0".repeat(width), "1".repeat(width)));
            let repo = scratch.repo();
            let oid = repo.objects().write_blob(text.as_bytes()).unwrap();
            let files = [GitOperationFile { path: RepoPath::new(&b"MERGE_MSG"[..]), oid }];
            assert_eq!(repo.captures().named_by(&files).unwrap(), NamedObjects { commits: vec![end], trees: vec![tree] });
        }
    }
}
