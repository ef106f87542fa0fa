//! Which of many refs reach some objects, found by one walk over all that they reach, however many refs there are.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::modes::GITLINK;
use crate::objects::database::gix_id;
use crate::repo::handles::Objects;
use axiom_base::error::{Error, Result};
use axiom_model::base::names::Oid;

/// The largest tag that is read.
const TAG: u64 = 16 * 1024 * 1024;

/// What refers to what.
#[derive(Debug, Default)]
pub struct ObjectGraph {
    below: BTreeMap<Oid, Vec<Oid>>,
    /// The tree of each commit.
    trees: BTreeMap<Oid, Oid>,
}

impl ObjectGraph {
    /// Of `named` and all that they reach, the objects that reach one of `wanted`, or are it.
    pub fn reaching(&self, wanted: &BTreeSet<Oid>) -> BTreeSet<Oid> {
        let mut above: BTreeMap<&Oid, Vec<&Oid>> = BTreeMap::new();
        for (oid, below) in &self.below {
            below.iter().for_each(|one| above.entry(one).or_default().push(oid));
        }
        let known = |oid: &&Oid| self.below.contains_key(*oid) || above.contains_key(*oid);
        walk(wanted.iter().filter(known), |oid| above.get(oid).map(Vec::as_slice).unwrap_or_default().iter().copied())
    }

    /// The commits, with their trees.
    pub fn commits(&self) -> impl Iterator<Item = (&Oid, &Oid)> {
        self.trees.iter()
    }

    /// All that was walked over.
    pub fn all(&self) -> impl Iterator<Item = &Oid> {
        self.below.keys()
    }

    /// All that some objects reach, with themselves.
    pub fn below_all<'o>(&'o self, from: impl Iterator<Item = &'o Oid>) -> BTreeSet<Oid> {
        walk(from, |oid| self.below.get(oid).map(Vec::as_slice).unwrap_or_default().iter())
    }

    /// All that an object reaches, with itself.
    pub fn below(&self, oid: &Oid) -> BTreeSet<Oid> {
        self.below_all(std::iter::once(oid))
    }
}

fn walk<'g, I: Iterator<Item = &'g Oid>>(from: impl Iterator<Item = &'g Oid>, next: impl Fn(&Oid) -> I) -> BTreeSet<Oid> {
    let mut open: Vec<&Oid> = from.collect();
    let mut found: BTreeSet<Oid> = BTreeSet::new();
    while let Some(oid) = open.pop() {
        if found.insert(oid.clone()) {
            open.extend(next(oid));
        }
    }
    found
}

impl Objects<'_> {
    /// The graph of all that these commits and tags reach. What `without` and its history have may be left out.
    pub fn graph(&self, from: &[Oid], without: &[&str]) -> Result<ObjectGraph> {
        let mut graph = ObjectGraph::default();
        for (oid, _) in self.repo.forgotten().reached(from, without)? {
            let children = self.referred_to(&oid, &mut graph.trees)?;
            graph.below.insert(oid, children);
        }
        Ok(graph)
    }

    fn referred_to(&self, oid: &Oid, trees: &mut BTreeMap<Oid, Oid>) -> Result<Vec<Oid>> {
        use gix::objs::Kind;
        let kind = self.repo.gix()?.find_header(gix_id(oid)?).map(|header| header.kind());
        match kind {
            Ok(Kind::Blob) => Ok(Vec::new()),
            Ok(Kind::Commit) => {
                let commit = self.read_commit(oid)?;
                trees.insert(oid.clone(), commit.tree.clone());
                Ok([vec![commit.tree], commit.parents].concat())
            }
            Ok(Kind::Tree) => {
                let entries = self.repo.trees().read_tree(oid)?.into_iter().filter(|entry| entry.mode != GITLINK);
                Ok(entries.map(|entry| entry.oid).collect())
            }
            Ok(Kind::Tag) => {
                let content = self.read_object("tag", oid, TAG)?;
                let text = String::from_utf8_lossy(&content);
                let target = text.lines().next().and_then(|line| line.strip_prefix("object "));
                target.map(|id| Oid::new(id.to_owned())).into_iter().collect()
            }
            Err(e) => Err(Error::new(axiom_base::error::Code::GitFailed, format!("{oid} cannot be read")).why(e.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn oid(number: u32) -> Oid {
        Oid::new(format!("{number:040x}")).unwrap()
    }

    #[test]
    fn what_reaches_an_object_is_found_from_it_upwards() {
        // 1 → 2 → 3 → 9, 4 → 3, 5 → 6; 9 is a blob that is not listed itself.
        let edges = [(1, vec![2]), (2, vec![3]), (3, vec![9]), (4, vec![3]), (5, vec![6]), (6, vec![])];
        let below = edges.into_iter().map(|(from, to)| (oid(from), to.into_iter().map(oid).collect())).collect();
        let graph = ObjectGraph { below, trees: BTreeMap::new() };
        let all = |numbers: &[u32]| numbers.iter().copied().map(oid).collect::<BTreeSet<Oid>>();
        assert_eq!(graph.reaching(&all(&[9])), all(&[1, 2, 3, 4, 9]));
        assert_eq!(graph.reaching(&all(&[6, 77])), all(&[5, 6]));
        assert_eq!(graph.below(&oid(4)), all(&[3, 4, 9]));
        assert_eq!(graph.reaching(&all(&[])), all(&[]));
    }
}
