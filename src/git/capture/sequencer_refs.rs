//! Refs that belong to an operation in progress. In the files format they are files in the worktree's git directory, like
//! everything else that belongs to it; in the reftable format they are not. A capture records both in the same form: path
//! and content of the file.

use axiom_base::error::{Error, Result};
use axiom_base::{env, files};
use axiom_model::base::names::{Oid, RefName, RepoPath};

use super::extras::GitOperationFile;
use crate::base::formats::RefFormat;
use crate::refs::edits::{ExpectedRefValue, RefEdit, update_script};
use crate::repo::handles::GitOperations;
use crate::repo::worktrees::Worktree;

/// The root refs other than HEAD that git writes as refs; `MERGE_HEAD` is always a file.
const ROOT_REFS: &[&str] =
    &["MERGE_AUTOSTASH", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD", "AUTO_MERGE", "BISECT_HEAD", "BISECT_EXPECTED_REV"];

/// The folders of the other refs, of which each worktree has its own.
const BELOW: &[&str] = &["refs/bisect/", "refs/rewritten/"];

/// The largest content of such a file, in bytes: an id and a line end.
const LIMIT: u64 = 100;

/// A ref and the id that it names.
type SequencerRef = (RefName, Oid);

impl GitOperations<'_> {
    /// The refs of a worktree that belong to an operation in progress, as the files that they would be, ordered by name.
    /// Empty in the files format.
    pub(crate) fn operation_refs(&self, worktree: &Worktree) -> Result<Vec<GitOperationFile>> {
        let file = |(name, oid): SequencerRef| {
            let oid = self.repo.objects().write_blob(format!("{oid}\n").as_bytes())?;
            Ok(GitOperationFile { path: RepoPath::new(name.as_str().as_bytes()), oid })
        };
        self.refs_in_progress(worktree)?.into_iter().map(file).collect()
    }

    /// Sets the refs of a worktree that belong to an operation in progress to those in `files`, in one transaction, and
    /// returns the files that are not such refs. Repeating it changes nothing more.
    pub(crate) fn restore_operation_refs<'f>(
        &self,
        worktree: &Worktree,
        files: &'f [GitOperationFile],
    ) -> Result<Vec<&'f GitOperationFile>> {
        if self.repo.ref_format() == RefFormat::Files {
            return Ok(files.iter().collect());
        }
        let present = self.refs_in_progress(worktree)?;
        let (mut wanted, mut rest) = (Vec::new(), Vec::new());
        for file in files {
            match self.as_ref_value(file)? {
                Some(value) => wanted.push(value),
                None => rest.push(file),
            }
        }
        let edit = |(name, new): (&RefName, Option<&Oid>)| RefEdit {
            name: name.clone(),
            expected: ExpectedRefValue::Any,
            new: new.cloned(),
        };
        let goes = present.iter().filter(|(name, _)| !wanted.iter().any(|(other, _)| other == name));
        let comes = wanted.iter().filter(|value| !present.contains(value));
        let edits: Vec<RefEdit> =
            goes.map(|(name, _)| (name, None)).chain(comes.map(|(name, oid)| (name, Some(oid)))).map(edit).collect();
        if edits.is_empty() {
            return Ok(rest);
        }
        env::fault_point("git.before-operation-refs");
        self.repo.durability().sync_objects()?;
        let git = self.repo.git_in(worktree).writing().args(["update-ref", "--stdin", "-z"]);
        git.stdin(update_script(&edits)).run_ok()?;
        env::fault_point("git.after-operation-refs");
        files::sync_dir(&worktree.git_dir().join("reftable"))?;
        Ok(rest)
    }

    /// The ref that a file stands for; `None` if it is not such a ref, or the object that it names does not exist.
    fn as_ref_value(&self, file: &GitOperationFile) -> Result<Option<SequencerRef>> {
        let Ok(name) = std::str::from_utf8(file.path.as_bytes()) else { return Ok(None) };
        if !ROOT_REFS.contains(&name) && !BELOW.iter().any(|folder| name.starts_with(folder)) {
            return Ok(None);
        }
        let content = String::from_utf8_lossy(&self.repo.objects().read_blob(&file.oid, LIMIT)?).into_owned();
        let oid = Oid::new(content.trim_end()).ok().filter(|oid| self.repo.objects().has_object(oid));
        Ok(oid.map(|oid| (RefName::new(name), oid)))
    }

    /// The refs of a worktree that belong to an operation in progress; empty in the files format.
    pub(crate) fn refs_in_progress(&self, worktree: &Worktree) -> Result<Vec<SequencerRef>> {
        if self.repo.ref_format() == RefFormat::Files {
            return Ok(Vec::new());
        }
        let git = self.repo.git_in(worktree).args(["for-each-ref", "--include-root-refs", "--format=%(refname) %(objectname)"]);
        let text = git.args(ROOT_REFS).args(BELOW).text()?;
        let unclear = |line: &str| Error::new(axiom_base::error::Code::GitFailed, format!("git printed '{line}' for a ref"));
        let value = |line: &str| -> Result<SequencerRef> {
            let (name, oid) = line.split_once(' ').ok_or_else(|| unclear(line))?;
            Ok((RefName::new(name), Oid::new(oid)?))
        };
        text.lines().map(value).collect()
    }
}
