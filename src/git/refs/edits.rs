//! Changing refs by compare-and-swap.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use axiom_base::error::{Code, Error, Result};
use axiom_base::{env, files};
use axiom_model::base::names::{LINKED, Oid, RefName};
use axiom_model::base::own_names::is_own_ref;
use axiom_model::base::ref_change::RefChange;
use axiom_model::base::text::ValueChange;

use crate::base::formats::RefFormat;
use crate::base::head::Head;
use crate::objects::durability::sync_file_system;
use crate::repo::handles::Refs;
use crate::repo::program::GitOutput;
use crate::repo::stale_locks::LOCK_HINT;
use crate::repo::worktrees::Worktree;
use axiom_model::journal::journaled_changes::HeadState;

/// At most this many refs are changed here; for more, git is faster.
pub(crate) const FEW: usize = 16;

/// The value that a ref must have for a change to happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExpectedRefValue {
    /// Exactly this value.
    Value(Oid),
    /// It must not exist.
    Absent,
    /// Any value, or none.
    Any,
}

impl ExpectedRefValue {
    /// The expectation for a recorded old value; `None` means that the ref must not exist.
    pub fn from_old(old: Option<Oid>) -> Self {
        old.map_or(ExpectedRefValue::Absent, ExpectedRefValue::Value)
    }
}

/// One change of one ref. A symbolic ref is changed itself, never its target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefEdit {
    /// The full name.
    pub name: RefName,
    /// The expected old value.
    pub expected: ExpectedRefValue,
    /// The new value; `None` deletes the ref.
    pub new: Option<Oid>,
}

impl From<&RefChange> for RefEdit {
    /// The recorded change; the ref must still have the old value.
    fn from(change: &RefChange) -> Self {
        let ValueChange { old, new } = change.value.clone();
        Self { name: change.name.clone(), expected: ExpectedRefValue::from_old(old), new }
    }
}

/// A ref and its value; a tag object is not peeled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefValue {
    /// The full name.
    pub name: RefName,
    /// Its value.
    pub oid: Oid,
}

impl Refs<'_> {
    /// Changes refs, each only if it has the expected value, and returns once the change survives a power loss. New objects
    /// are synced first. git's ref hooks run.
    ///
    /// All or nothing unless the process dies: in the files backend a crash can leave some of several refs changed, so the
    /// caller journals a batch. A crash may leave `.lock` files.
    pub fn update_refs(&self, edits: &[RefEdit], reflog: &str) -> Result<()> {
        if edits.is_empty() {
            return Ok(());
        }
        self.repo.concurrent_gc().beside_gc(edits, |edits| self.change_refs(edits, reflog))
    }

    fn change_refs(&self, edits: &[RefEdit], reflog: &str) -> Result<()> {
        if edits.iter().any(|edit| edit.name.is_of_a_linked_worktree()) {
            return self.update_refs_apart(edits, reflog);
        }
        if self.repo.own_refs().update_own_refs(edits, reflog)? || self.repo.own_refs().delete_own_refs(edits)? {
            return Ok(());
        }
        self.repo.own_refs().clear_own_locks(edits.iter().map(|edit| &edit.name))?;
        let makes = edits.iter().any(|edit| edit.new.is_some());
        let folders = self.folders_of(edits.iter().map(|edit| &edit.name)).knowing_what_is_there(makes)?;
        if makes {
            self.repo.durability().sync_objects()?;
        }
        env::fault_point("git.before-refs");
        if edits.len() > FEW && self.repo.ref_format() == RefFormat::Files {
            return self.change_many_refs(edits, reflog);
        }
        let git = self.repo.git().writing().args(["update-ref", "-m", reflog, "--stdin", "-z"]);
        let output = git.stdin(update_script(edits)).run()?;
        if !output.ok() {
            return Err(refused(&output));
        }
        env::fault_point("git.after-refs");
        folders.sync()
    }

    /// Two syncs instead of one for each ref: git locks all refs and writes their lock files, one sync brings them to disk,
    /// git renames them, and another sync brings the renames to disk.
    fn change_many_refs(&self, edits: &[RefEdit], reflog: &str) -> Result<()> {
        let script = update_script(edits);
        let (prepare, commit) = script.split_at(script.len() - COMMIT.len());
        let sync = || {
            env::fault_point("git.refs-prepared");
            sync_file_system(self.repo.common_dir())
        };
        let git = self.repo.git().writing().config(UNSYNCED).args(["update-ref", "-m", reflog, "--stdin", "-z"]);
        let output = git.run_in_two(prepare, "prepare: ok", sync, commit)?;
        if !output.ok() {
            return Err(refused(&output));
        }
        env::fault_point("git.after-refs");
        sync_file_system(self.repo.common_dir())
    }

    /// Checks whether refs could be changed now: git locks and checks them, its hooks run, and then the transaction is
    /// aborted. Changes nothing.
    pub fn try_refs(&self, edits: &[RefEdit]) -> Result<()> {
        let is_ours = |edit: &&RefEdit| is_own_ref(edit.name.as_str());
        // No hook sees refs of git axiom, and there may be thousands.
        let plain = self.repo.own_refs().refs_are_plain();
        let edits: Vec<RefEdit> = edits
            .iter()
            .filter(|edit| !plain || !(is_ours(edit) || self.could_move(edit)))
            // git accepts such a name only in its own worktree.
            .filter(|edit| !edit.name.is_of_a_linked_worktree())
            .cloned()
            .collect();
        if edits.is_empty() {
            return Ok(());
        }
        self.repo.own_refs().clear_own_locks(edits.iter().map(|edit| &edit.name))?;
        let edits = if plain { self.one_of_each_folder(edits)? } else { edits };
        let mut script = update_script(&edits);
        script.truncate(script.len() - COMMIT.len());
        script.extend_from_slice(b"abort\0");
        let git = self.repo.git().writing().config(UNSYNCED).args(["update-ref", "--stdin", "-z"]);
        would_do(&git.stdin(script).run()?)
    }

    /// Like [`Refs::try_refs`], for setting HEAD of a worktree to another branch or commit.
    pub fn try_head(&self, worktree: &Worktree, now: &Head, target: &HeadState) -> Result<()> {
        let line = match target {
            HeadState::Branch(name) => [b"symref-update HEAD ", name.in_git().as_bytes()].concat(),
            HeadState::Detached(commit) => {
                format!("update HEAD {commit} {}", now.commit().map_or("", Oid::as_str)).trim_end().as_bytes().to_vec()
            }
        };
        let script = [&b"start\noption no-deref\n"[..], &line, b"\nprepare\nabort\n"].concat();
        let output = self.repo.git_in(worktree).writing().args(["update-ref", "--stdin"]).stdin(script).run()?;
        // Before git 2.46 hooks did not see a change of HEAD's branch.
        if output.stderr.contains("unknown command: symref-update") { Ok(()) } else { would_do(&output) }
    }

    /// Where no hook runs, one new ref of each folder is enough for the check, together with all refs that are not new: git
    /// would make and remove a lock file for each of the others with the same result. For the others only existing lock
    /// files are looked for.
    fn one_of_each_folder(&self, edits: Vec<RefEdit>) -> Result<Vec<RefEdit>> {
        if edits.len() <= FEW {
            return Ok(edits);
        }
        let mut folders = BTreeSet::new();
        let (mut asked, mut others) = (Vec::new(), Vec::new());
        for edit in edits {
            let folder = edit.name.as_str().rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
            let is_new = edit.expected == ExpectedRefValue::Absent && edit.new.is_some();
            if folders.insert(folder) || !is_new { asked.push(edit) } else { others.push(edit.name) }
        }
        for name in others {
            let lock = self.lock_of_ref(&name);
            if lock.symlink_metadata().is_ok() {
                let what = format!("'{}' exists: another process is changing this ref", lock.display());
                return Err(Error::new(Code::GitLocked, what).hint(LOCK_HINT));
            }
        }
        Ok(asked)
    }

    /// Like [`Refs::update_refs`], where some are refs of linked worktrees: git deletes such a ref only in its worktree. The
    /// refs of one worktree change all or none; those of the repository come last.
    fn update_refs_apart(&self, edits: &[RefEdit], reflog: &str) -> Result<()> {
        let (apart, shared): (Vec<&RefEdit>, Vec<&RefEdit>) = edits.iter().partition(|edit| edit.name.is_of_a_linked_worktree());
        let mut by_worktree: BTreeMap<&str, Vec<RefEdit>> = BTreeMap::new();
        for edit in &apart {
            let inside = edit.name.as_str().strip_prefix(LINKED).and_then(|rest| rest.split_once('/'));
            if let Some((worktree, name)) = inside {
                by_worktree.entry(worktree).or_default().push(RefEdit { name: RefName::new(name), ..(*edit).clone() });
            }
        }
        self.repo.durability().sync_objects()?;
        for (name, edits) in by_worktree {
            env::fault_point("git.before-refs");
            let git_dir = self.repo.common_dir().join("worktrees").join(name);
            let worktree = Worktree::linked(git_dir.clone(), git_dir.clone());
            let git = self.repo.git_in(&worktree).writing().args(["update-ref", "-m", reflog, "--stdin", "-z"]);
            let output = git.stdin(update_script(&edits)).run()?;
            if !output.ok() {
                return Err(refused(&output));
            }
            if self.repo.ref_format() == RefFormat::Reftable {
                files::sync_dir(&git_dir.join("reftable"))?;
            }
        }
        env::fault_point("git.after-refs");
        self.folders_of(apart.iter().map(|edit| &edit.name)).sync()?;
        self.update_refs(&shared.into_iter().cloned().collect::<Vec<_>>(), reflog)
    }

    /// The lock file of a ref in the files backend.
    pub(crate) fn lock_of_ref(&self, name: &RefName) -> PathBuf {
        let mut file = name.in_git().into_owned();
        file.push(".lock");
        self.repo.common_dir().join(file)
    }
}

/// For a git call whose files are synced by its caller, or that aborts its changes.
const UNSYNCED: &str = "core.fsync=none";

/// The end of the input of a ref transaction.
const COMMIT: &[u8] = b"commit\0";

/// The input of `git update-ref --stdin -z`. It ends with an explicit `commit`, so that an input cut short by our death
/// changes nothing.
pub(crate) fn update_script(edits: &[RefEdit]) -> Vec<u8> {
    let mut script = b"start\0".to_vec();
    for RefEdit { name, expected, new } in edits {
        let (command, values) = match (expected, new) {
            (ExpectedRefValue::Value(old), Some(new)) => ("update", format!("{new}\0{old}\0")),
            (ExpectedRefValue::Absent, Some(new)) => ("create", format!("{new}\0")),
            (ExpectedRefValue::Any, Some(new)) => ("update", format!("{new}\0\0")),
            (ExpectedRefValue::Value(old), None) => ("delete", format!("{old}\0")),
            // Here an empty old value means "must not exist", for both hash formats.
            (ExpectedRefValue::Absent, None) => ("verify", "\0".to_owned()),
            (ExpectedRefValue::Any, None) => ("delete", "\0".to_owned()),
        };
        let name = name.in_git();
        for part in [b"option no-deref\0", command.as_bytes(), b" ", name.as_bytes(), b"\0", values.as_bytes()] {
            script.extend_from_slice(part);
        }
    }
    script.extend_from_slice(b"prepare\0");
    script.extend_from_slice(COMMIT);
    script
}

/// Turns git's answer to an aborted transaction into a result.
fn would_do(output: &GitOutput) -> Result<()> {
    if output.ok() {
        return Ok(());
    }
    let error = refused(output);
    let by_hook = output.stderr.contains("aborted by hook");
    Err(if by_hook { error.hint("the repository's hook 'reference-transaction' refuses this: see its output") } else { error })
}

fn refused(output: &GitOutput) -> Error {
    let words = output.stderr.as_str();
    let changed = ["but expected", "reference already exists", "unable to resolve reference", "reference is missing"];
    if changed.iter().any(|part| words.contains(part)) {
        return Error::new(Code::ChangedMeanwhile, "a ref has changed").why(words.trim().replace('\n', "; "));
    }
    if words.contains("cannot create '") || words.contains("cannot process") {
        return Error::new(Code::InTheWay, "a ref is in the way of another")
            .why(words.trim().replace('\n', "; "))
            .hint("rename or delete the one that exists: git tag -d NAME, git branch -m OLD NEW; then try again");
    }
    output.error()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::scratch::ScratchRepository;

    fn edit(name: &str, expected: ExpectedRefValue, new: Option<&Oid>) -> RefEdit {
        RefEdit { name: RefName::new(name), expected, new: new.cloned() }
    }

    fn formats() -> Vec<ScratchRepository> {
        let kinds: [&[&str]; 3] = [&[], &["--object-format=sha256"], &["--ref-format=reftable"]];
        kinds.into_iter().map(ScratchRepository::new).collect()
    }

    #[test]
    fn refs_change_only_from_what_is_expected() {
        for scratch in formats() {
            let repo = scratch.repo();
            let first = Oid::new(scratch.git(&["rev-parse", "HEAD"])).unwrap();
            scratch.git(&["commit", "-q", "--allow-empty", "-m", "second"]);
            let second = Oid::new(scratch.git(&["rev-parse", "HEAD"])).unwrap();
            let x = "refs/axiom/captures/x";
            let swap = |expected, new| repo.refs().update_refs(&[edit(x, expected, new)], "test");
            let changed = |outcome: Result<()>| assert_eq!(outcome.unwrap_err().code(), Code::ChangedMeanwhile);
            changed(swap(ExpectedRefValue::Value(first.clone()), Some(&second)));
            changed(swap(ExpectedRefValue::Value(first.clone()), None));
            swap(ExpectedRefValue::Absent, None).unwrap();
            swap(ExpectedRefValue::Any, None).unwrap();
            swap(ExpectedRefValue::Absent, Some(&first)).unwrap();
            // Creating the same value again fails: a ref that must be absent works as a mutex.
            changed(swap(ExpectedRefValue::Absent, Some(&first)));
            changed(swap(ExpectedRefValue::Absent, None));
            changed(swap(ExpectedRefValue::Value(second.clone()), Some(&first)));
            swap(ExpectedRefValue::Value(first.clone()), Some(&second)).unwrap();
            assert_eq!(repo.refs().read_ref(&RefName::new(x)).unwrap(), Some(second.clone()));
            assert_eq!(repo.refs().refs_below("refs/axiom/").unwrap().len(), 1);
            swap(ExpectedRefValue::Value(second.clone()), None).unwrap();
            assert_eq!(repo.refs().read_ref(&RefName::new(x)).unwrap(), None);
        }
    }

    #[test]
    fn a_batch_with_one_wrong_expectation_changes_nothing() {
        for scratch in formats() {
            let repo = scratch.repo();
            let first = Oid::new(scratch.git(&["rev-parse", "HEAD"])).unwrap();
            let edits = [
                edit("refs/axiom/a", ExpectedRefValue::Absent, Some(&first)),
                edit("refs/heads/main", ExpectedRefValue::Absent, Some(&first)),
            ];
            assert_eq!(repo.refs().update_refs(&edits, "test").unwrap_err().code(), Code::ChangedMeanwhile);
            assert!(repo.refs().refs_below("refs/axiom/").unwrap().is_empty());
        }
    }

    #[test]
    fn of_many_new_refs_git_is_asked_about_one_of_each_folder_and_all_locks_are_seen() {
        let scratch = ScratchRepository::new(&[]);
        let repo = scratch.repo();
        let first = Oid::new(scratch.git(&["rev-parse", "HEAD"])).unwrap();
        let new = |name: String| edit(&name, ExpectedRefValue::Absent, Some(&first));
        let many: Vec<RefEdit> = (0..40).map(|n| new(format!("refs/heads/{}/{n}", n % 2))).collect();
        assert_eq!(repo.refs().one_of_each_folder(many.clone()).unwrap().len(), 2);
        repo.refs().try_refs(&many).unwrap();
        let wrong =
            [&many[..], &[edit("refs/heads/main", ExpectedRefValue::Value(Oid::new("1".repeat(40)).unwrap()), None)]].concat();
        assert_eq!(repo.refs().try_refs(&wrong).unwrap_err().code(), Code::ChangedMeanwhile, "what is there is asked about");
        scratch.write(".git/refs/heads/1/39.lock", b"");
        assert_eq!(repo.refs().try_refs(&many).unwrap_err().code(), Code::GitLocked);
        axiom_base::files::remove_file(&scratch.path().join(".git/refs/heads/1/39.lock")).unwrap();
        // All of them change together, or none.
        let half: Vec<RefEdit> = [&many[..], &[new("refs/heads/main".into())]].concat();
        assert_eq!(repo.refs().update_refs(&half, "test").unwrap_err().code(), Code::ChangedMeanwhile);
        assert_eq!(repo.refs().refs_below("refs/heads/").unwrap().len(), 1);
        repo.refs().update_refs(&many, "test").unwrap();
        assert_eq!(repo.refs().refs_below("refs/heads/").unwrap().len(), 41);
        assert!(repo.lock_files().git_locks().unwrap().is_empty());
    }

    #[test]
    fn a_lock_file_and_a_folder_in_the_way_have_their_own_errors() {
        let scratch = ScratchRepository::new(&[]);
        let repo = scratch.repo();
        let first = Oid::new(scratch.git(&["rev-parse", "HEAD"])).unwrap();
        let under = edit("refs/heads/main/x", ExpectedRefValue::Absent, Some(&first));
        assert_eq!(repo.refs().update_refs(&[under], "test").unwrap_err().code(), Code::InTheWay);
        scratch.write(".git/refs/heads/y.lock", b"");
        let locked = edit("refs/heads/y", ExpectedRefValue::Absent, Some(&first));
        assert_eq!(repo.refs().update_refs(&[locked], "test").unwrap_err().code(), Code::GitLocked);
    }
}
