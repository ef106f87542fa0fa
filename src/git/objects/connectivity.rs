//! Whether objects exist together with everything that is reachable from them.
//!
//! Nothing is fetched. An object that a promisor remote of a partial clone has does not count as missing, although it is not
//! here.

use std::collections::BTreeSet;

use axiom_base::error::Result;
use axiom_model::base::names::Oid;

use super::database::gix_id;
use crate::repo::handles::Connectivity;
use crate::repo::program::{Git, GitOutput};

impl Connectivity<'_> {
    /// Whether an object is in this repository or in one of its alternates; no process is started, nothing is fetched.
    pub fn holds(&self, oid: &Oid) -> bool {
        use gix::objs::Exists;
        matches!((self.repo.gix(), gix_id(oid)), (Ok(gix), Ok(id)) if gix.objects.exists(&id))
    }

    /// Whether this is a partial clone: a promisor remote has objects that are not here.
    pub fn is_partial(&self) -> bool {
        let Ok(gix) = self.repo.gix() else { return false };
        let config = gix.config_snapshot();
        let remotes = config.plumbing().sections_by_name("remote");
        let promises = |value: &[u8]| !matches!(value.to_ascii_lowercase().as_slice(), b"false" | b"no" | b"off" | b"0");
        config.string("extensions.partialClone").is_some()
            || remotes.into_iter().flatten().any(|remote| {
                // A key without a value is true.
                remote.contains_value_name("promisor") && remote.value("promisor").is_none_or(|value| promises(&value))
            })
    }

    /// git's message if an object that these objects reach is missing; `None` if all are here, or promised by a promisor
    /// remote.
    pub fn missing_below(&self, roots: &[Oid]) -> Result<Option<String>> {
        self.missing(roots, &[])
    }

    /// Like [`Connectivity::missing_below`], but everything that the current refs reach is assumed to be complete, unless git
    /// finds damage: then everything is checked. So the cost depends only on what no ref reaches.
    pub fn missing_beyond_refs(&self, roots: &[Oid]) -> Result<Option<String>> {
        match self.missing(roots, &["--not", "--all"])? {
            None => Ok(None),
            Some(_) => self.missing(roots, &[]),
        }
    }

    /// Like [`Connectivity::missing_below`], but everything that `base` reaches is assumed to be complete.
    pub fn missing_since(&self, tip: &Oid, base: &Oid) -> Result<Option<String>> {
        self.missing(std::slice::from_ref(tip), &["--not", base.as_str()])
    }

    fn missing(&self, roots: &[Oid], but: &[&str]) -> Result<Option<String>> {
        if roots.is_empty() {
            return Ok(None);
        }
        let output = self.walk(roots, &["--quiet"]).args(but).run()?;
        Ok((!output.ok()).then(|| words_of(&output)))
    }

    /// Those of the tips of which something that they reach is missing; what `base` reaches is assumed to be complete. One call of git
    /// where all are whole; each broken one costs a few more.
    pub fn broken_tips(&self, tips: &[Oid], base: Option<&Oid>) -> Result<BTreeSet<Oid>> {
        let but: Vec<&str> = base.into_iter().flat_map(|base| ["--not", base.as_str()]).collect();
        let (mut open, mut broken) = (vec![tips], BTreeSet::new());
        while let Some(part) = open.pop() {
            if self.missing(part, &but)?.is_none() {
                continue;
            }
            match part {
                [one] => drop(broken.insert(one.clone())),
                many => {
                    let (one, other) = many.split_at(many.len() / 2);
                    open.extend([one, other]);
                }
            }
        }
        Ok(broken)
    }

    /// Whether a commit is here with its tree and its parents, and those with theirs: what git writes at one moment. No process is
    /// started, and what is further down is not looked at.
    pub fn is_whole_nearby(&self, commit: &Oid) -> bool {
        if self.is_partial() {
            // A remote may have the trees.
            return self.holds(commit);
        }
        let with_tree = |oid: &Oid| {
            let read = self.holds(oid).then(|| self.repo.objects().read_commit(oid).ok()).flatten();
            read.filter(|commit| self.holds(&commit.tree))
        };
        with_tree(commit).is_some_and(|commit| commit.parents.iter().all(|parent| with_tree(parent).is_some()))
    }

    /// How many of the objects that these trees reach are not here but promised by a promisor remote. Only for trees for
    /// which [`Self::missing_below`] returned `None`.
    pub fn owed_below(&self, trees: &[Oid]) -> Result<usize> {
        if trees.is_empty() || !self.is_partial() {
            return Ok(0);
        }
        let git = self.repo.git().env("GIT_NO_LAZY_FETCH", "1");
        let output = git.args(["rev-list", "--objects", "--missing=print", "--stdin"]).stdin(lines(trees)).run_ok()?;
        Ok(output.stdout.split(|byte| *byte == b'\n').filter(|line| line.first() == Some(&b'?')).count())
    }

    pub(crate) fn walk(&self, roots: &[Oid], how: &[&str]) -> Git<'_> {
        let git = self.repo.git().env("GIT_NO_LAZY_FETCH", "1").args(["rev-list", "--objects"]).args(how);
        let git = if self.is_partial() { git.arg("--exclude-promisor-objects") } else { git };
        git.arg("--stdin").stdin(lines(roots))
    }
}

fn lines(objects: &[Oid]) -> String {
    objects.iter().flat_map(|oid| [oid.as_str(), "\n"]).collect()
}

pub(crate) fn words_of(output: &GitOutput) -> String {
    let words = output.stderr.trim().replace('\n', "; ");
    if words.is_empty() { "git did not say what".to_owned() } else { words }
}
