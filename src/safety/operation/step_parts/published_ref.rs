//! A ref that is made once and keeps commits.

use axiom_base::error::{Code, Result};
use axiom_git::{ExpectedRefValue, RefEdit, Repository};
use axiom_model::base::names::{Oid, RefName};

/// Makes the ref, where it does not exist. While a `git gc` packs refs, an earlier try that made it may not be seen at once: one
/// that keeps the same is this one.
pub(in crate::operation) fn publish(repo: &Repository, name: RefName, commit: Oid, reflog: &str) -> Result<()> {
    let edit = RefEdit { name: name.clone(), expected: ExpectedRefValue::Absent, new: Some(commit.clone()) };
    match repo.refs().update_refs(&[edit], reflog) {
        Err(error) if error.code() == Code::ChangedMeanwhile => match repo.refs().read_ref(&name)? {
            Some(there) if keeps_the_same(repo, &there, &commit)? => Ok(()),
            Some(_) | None => Err(error),
        },
        outcome => outcome,
    }
}

/// Whether two commits keep the same; they may have been made at different times.
fn keeps_the_same(repo: &Repository, one: &Oid, other: &Oid) -> Result<bool> {
    let [one, other] = [repo.objects().read_commit(one)?, repo.objects().read_commit(other)?];
    Ok((one.tree, one.parents, one.message) == (other.tree, other.parents, other.message))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::operation::keep_ref::name_of;
    use crate::scratch::ScratchRepository;
    use axiom_git::NewCommit;
    use axiom_model::base::ids::OperationId;

    #[test]
    fn a_ref_that_an_earlier_try_made_is_this_one_and_any_other_is_refused() {
        let scratch = ScratchRepository::new(&[]);
        let head = Oid::new(scratch.git(&["rev-parse", "HEAD"]).trim()).unwrap();
        let commit = |name: &str, message: &str, parents: &[Oid]| {
            scratch.git(&["config", "user.name", name]);
            let repo = Repository::discover(&scratch.path()).unwrap();
            let (tree, who) = (repo.trees().write_tree(&[]).unwrap(), repo.objects().signature().unwrap());
            let parents = parents.to_vec();
            let made = repo.objects().write_commit(&NewCommit { tree: &tree, parents, who: &who, message }).unwrap();
            repo.durability().sync_objects().unwrap();
            made
        };
        let repo = Repository::discover(&scratch.path()).unwrap();
        let name = || name_of(&OperationId::new("t1").unwrap());
        let made = commit("one", "kept for undo: x", std::slice::from_ref(&head));
        publish(&repo, name(), made.clone(), "x").unwrap();
        let at = || scratch.git(&["rev-parse", name().as_str()]).trim().to_owned();
        for (second, is_same) in [
            (made.clone(), true),
            (commit("two", "kept for undo: x", std::slice::from_ref(&head)), true),
            (commit("two", "kept for undo: y", std::slice::from_ref(&head)), false),
            (commit("two", "kept for undo: x", &[]), false),
        ] {
            let outcome = publish(&repo, name(), second.clone(), "x");
            assert_eq!(outcome.as_ref().map_err(|error| error.code()).err(), (!is_same).then_some(Code::ChangedMeanwhile));
            assert_eq!(at(), made.as_str());
        }
    }
}
