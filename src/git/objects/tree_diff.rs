//! The paths in which two trees differ, computed in this process. The cost depends on the number of folders that differ.

use gix::diff::tree::recorder::Change;
use gix::objs::tree::EntryMode;

use axiom_base::error::Result;
use axiom_model::base::names::{Oid, RepoPath};

use super::database::gix_id;
use super::tree_reader::{TreeReader, unreadable};
use crate::base::tree_change::{FileId, TreeChange};
use crate::repo::repository::Repository;

/// The mode as git prints it: for a regular file only the executable bit counts.
fn canonical(mode: EntryMode) -> u32 {
    let mode = u32::from(mode.value());
    if mode & 0o170_000 != 0o100_000 {
        return mode;
    }
    if mode & 0o100 == 0 { 0o100_644 } else { 0o100_755 }
}

fn file(mode: EntryMode, oid: gix::ObjectId) -> Result<Option<FileId>> {
    if mode.is_tree() { Ok(None) } else { Ok(Some(FileId { mode: canonical(mode), oid: Oid::from_bytes(oid.as_bytes())? })) }
}

/// Compares two trees, or the trees of two commits. Ordered by path; a rename is a deletion and an addition.
pub(crate) fn diff(repository: &Repository, old: &Oid, new: &Oid) -> Result<Vec<TreeChange>> {
    if old == new {
        return Ok(Vec::new());
    }
    let trees = TreeReader::of(repository)?;
    let ((first, one), (second, other)) = (trees.peel(gix_id(old)?)?, trees.peel(gix_id(new)?)?);
    if first == second {
        return Ok(Vec::new());
    }
    let [one, other] = [&one, &other].map(|content| gix::objs::TreeRefIter::from_bytes(content, first.kind()));
    let mut recorder = gix::diff::tree::Recorder::default();
    let state = gix::diff::tree::State::default();
    gix::diff::tree(one, other, state, &trees, &mut recorder).map_err(unreadable)?;
    let mut changes = Vec::with_capacity(recorder.records.len());
    for record in recorder.records {
        let (path, old, new) = match record {
            Change::Addition { entry_mode, oid, path, .. } => (path, None, file(entry_mode, oid)?),
            Change::Deletion { entry_mode, oid, path, .. } => (path, file(entry_mode, oid)?, None),
            Change::Modification { previous_entry_mode, previous_oid, entry_mode, oid, path } => {
                (path, file(previous_entry_mode, previous_oid)?, file(entry_mode, oid)?)
            }
        };
        // The recorder also lists folders, and modes that differ but mean the same.
        if old != new {
            changes.push(TreeChange { path: RepoPath::new(path.to_vec()), old, new });
        }
    }
    changes.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(joined(changes))
}

/// Joins a deletion and an addition of the same path into one change.
fn joined(changes: Vec<TreeChange>) -> Vec<TreeChange> {
    let mut joined: Vec<TreeChange> = Vec::with_capacity(changes.len());
    for change in changes {
        match joined.last_mut() {
            Some(last) if last.path == change.path => {
                last.old = last.old.take().or(change.old);
                last.new = last.new.take().or(change.new);
            }
            Some(_) | None => joined.push(change),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;
    use crate::base::tree_change::parse_raw;
    use crate::repo::scratch::ScratchRepository;

    #[test]
    fn it_says_what_git_says_of_every_kind_of_change() {
        for kind in [&[][..], &["--object-format=sha256"]] {
            let scratch = ScratchRepository::new(kind);
            let head = || Oid::new(scratch.git(&["rev-parse", "HEAD"])).unwrap();
            for (path, text) in [("a-b", "1"), ("a/x", "2"), ("a.c", "3"), ("file", "4"), ("folder/deep/x", "5"), ("mode", "6")] {
                scratch.write(path, text.as_bytes());
            }
            symlink("a-b", scratch.path().join("link")).unwrap();
            scratch.git(&["add", "-A"]);
            scratch.git(&["commit", "-qm", "one"]);
            let one = head();
            scratch.git(&["rm", "-qr", "file", "folder", "link"]);
            for (path, text) in
                [("file/now/folder", "1"), ("folder", "file"), ("link", "no link"), ("odd\n\"name", "x"), ("a/x", "")]
            {
                scratch.write(path, text.as_bytes());
            }
            let mode = scratch.path().join("mode");
            std::fs::set_permissions(&mode, std::fs::Permissions::from_mode(0o755)).unwrap();
            scratch.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{one},module")]);
            scratch.git(&["add", "-A", "--", ":!module"]);
            scratch.git(&["commit", "-qm", "two"]);
            let two = head();
            let repo = scratch.repo();
            for (old, new) in [(&one, &two), (&two, &one), (&one, &one)] {
                let args = ["diff-tree", "-r", "-z", "--raw", "--no-renames", "--ignore-submodules=none"];
                let output = repo.git().args(args).args([old.as_str(), new.as_str()]).run_ok().unwrap();
                assert_eq!(diff(&repo, old, new).unwrap(), parse_raw(&output.stdout).unwrap());
            }
            assert!(diff(&repo, &one, &two).unwrap().len() > 8);
        }
    }
}
