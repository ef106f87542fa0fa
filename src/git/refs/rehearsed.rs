//! Whether a ref could certainly be changed now, without asking git: for the rehearsal of an operation.

use super::edits::{ExpectedRefValue, RefEdit};
use super::own_refs::REF_LIMIT;
use crate::repo::handles::Refs;
use axiom_base::files;

impl Refs<'_> {
    /// Whether moving an existing ref to another commit would succeed: it is a file with the expected value, nobody has locked it,
    /// and its folder can be changed. `false` where only git can tell. The caller knows that no hook sees the change.
    pub(crate) fn could_move(&self, edit: &RefEdit) -> bool {
        let (ExpectedRefValue::Value(old), Some(new)) = (&edit.expected, &edit.new) else { return false };
        let file = self.repo.common_dir().join(edit.name.in_git());
        let is_plain = std::fs::symlink_metadata(&file).is_ok_and(|meta| meta.is_file());
        let has_old = || {
            let content = files::read_optional(&file, REF_LIMIT).ok().flatten();
            content.is_some_and(|content| content.trim_ascii_end() == old.as_str().as_bytes())
        };
        let is_free = || self.lock_of_ref(&edit.name).symlink_metadata().is_err();
        let can_change = || file.parent().is_some_and(|folder| files::refuses_changes(folder).is_none());
        is_plain && has_old() && is_free() && can_change() && self.repo.objects().read_commit(new).is_ok()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use super::*;
    use crate::repo::scratch::ScratchRepository;
    use axiom_model::base::names::{Oid, RefName};

    #[test]
    fn it_is_certain_only_where_git_would_do_it() {
        let scratch = ScratchRepository::new(&[]);
        let oid = |what: &str| Oid::new(scratch.git(&["rev-parse", what])).unwrap();
        scratch.git(&["commit", "-q", "--allow-empty", "-m", "one"]);
        let (old, new) = (oid("HEAD~1"), oid("HEAD"));
        scratch.git(&["branch", "side", old.as_str()]);
        let edit = |expected, new| RefEdit { name: RefName::branch("side"), expected, new };
        let could = |expected, to| {
            let edit = edit(expected, to);
            let ours = scratch.repo().refs().could_move(&edit);
            assert!(!ours || scratch.repo().refs().try_refs(std::slice::from_ref(&edit)).is_ok());
            ours
        };
        let moved = || could(ExpectedRefValue::Value(old.clone()), Some(new.clone()));
        assert!(moved());
        assert!(!could(ExpectedRefValue::Value(new.clone()), Some(new.clone())), "another value");
        assert!(!could(ExpectedRefValue::Any, Some(new.clone())) && !could(ExpectedRefValue::Value(old.clone()), None));
        assert!(!could(ExpectedRefValue::Value(old.clone()), Some(oid("HEAD^{tree}"))), "no commit");
        let lock = scratch.path().join(".git/refs/heads/side.lock");
        std::fs::write(&lock, "").unwrap();
        assert!(!moved(), "locked");
        std::fs::remove_file(lock).unwrap();
        scratch.git(&["pack-refs", "--all"]);
        assert!(!moved(), "packed");
    }
}
