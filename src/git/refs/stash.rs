//! Entries of the stash that come back and go. git's own program does both: the log of the ref is the stash.

use std::path::PathBuf;

use crate::domain::base::names::{Oid, RefName};
use crate::domain::checkpoint::local_refs::{STASH, StashEntry};
use crate::env;
use crate::error::{Code, Error, Result};
use crate::files;

use crate::git::repo::handles::Stash;
use crate::git::repo::repository::RefFormat;

impl Stash<'_> {
    /// Puts an entry on top of the stash, durably; nothing is done where it is in the stash already.
    ///
    /// # Errors
    /// `GIT_FAILED`, `GIT_LOCKED`, `DISK_FULL`.
    pub fn store_in_stash(&self, entry: &StashEntry) -> Result<()> {
        if self.place_in_stash(&entry.id)?.is_some() {
            return Ok(());
        }
        self.repo.durability().sync_objects()?;
        env::fault_point("git.before-stash");
        self.log_the_top()?;
        self.store(entry)?;
        env::fault_point("git.after-stash");
        self.sync_stash()
    }

    fn store(&self, entry: &StashEntry) -> Result<()> {
        let main = self.repo.worktrees().main_worktree()?;
        let git = self.repo.git_in(&main).writing().args(["stash", "store", "-q", "-m", entry.message.as_str()]);
        git.arg(entry.id.as_str()).run_ok().map(drop)
    }

    /// The entry on top may stand in no log (`git reflog expire`): the next one would take its place without a trace. It is
    /// stored again, which logs it. A crash between the two leaves it to the checkpoint that was made before.
    fn log_the_top(&self) -> Result<()> {
        let Some(top) = self.repo.refs().stash_entries()?.into_iter().next().filter(|top| top.message.is_empty()) else {
            return Ok(());
        };
        let main = self.repo.worktrees().main_worktree()?;
        self.repo.git_in(&main).writing().args(["update-ref", "-d", STASH, top.id.as_str()]).run_ok()?;
        self.store(&StashEntry { message: "without a log".to_owned(), ..top })
    }

    /// Takes an entry out of the stash, durably; nothing is done where it is not in there. The others stay in their order.
    ///
    /// # Errors
    /// `CHANGED_MEANWHILE` where somebody changed the stash at this very moment, so that another entry went: that one is on top
    /// of it again; `GIT_FAILED`, `GIT_LOCKED`, `DISK_FULL`.
    pub fn take_from_stash(&self, id: &Oid) -> Result<()> {
        let before = self.repo.refs().stash_entries()?;
        let Some(place) = before.iter().position(|entry| entry.id == *id) else { return Ok(()) };
        env::fault_point("git.before-stash");
        let main = self.repo.worktrees().main_worktree()?;
        self.repo.git_in(&main).writing().args(["stash", "drop", "-q", &format!("stash@{{{place}}}")]).run_ok()?;
        let after = self.repo.refs().stash_entries()?;
        if after.iter().any(|entry| entry.id == *id) {
            let gone = before.iter().filter(|entry| !after.contains(entry));
            gone.filter(|entry| entry.id != *id).try_for_each(|entry| self.store_in_stash(entry))?;
            return Err(Error::new(Code::ChangedMeanwhile, "the stash was changed at this very moment").hint("try again"));
        }
        env::fault_point("git.after-stash");
        self.sync_stash()
    }

    fn place_in_stash(&self, id: &Oid) -> Result<Option<usize>> {
        Ok(self.repo.refs().stash_entries()?.iter().position(|entry| entry.id == *id))
    }

    fn sync_stash(&self) -> Result<()> {
        let name = RefName::new(STASH);
        if self.repo.ref_format() == RefFormat::Files {
            let all: [PathBuf; 2] = [self.repo.common_dir().join(STASH), self.repo.common_dir().join("logs").join(STASH)];
            for file in all.iter().filter(|file| file.is_file()) {
                files::sync_file(file)?;
            }
        }
        self.repo.refs().sync_refs(std::iter::once(&name))
    }
}

#[cfg(test)]
mod tests {
    use crate::git::repo::repository::Repository;
    use crate::git::repo::scratch::Scratch;

    #[test]
    fn one_whose_log_is_gone_is_an_entry_and_stays_one() {
        for kind in [&[][..], &["--ref-format=reftable"]] {
            let scratch = Scratch::new(kind);
            for text in ["one", "two"] {
                scratch.write("a.txt", text.as_bytes());
                scratch.git(&["stash", "push", "-q", "-m", text]);
            }
            let repo = scratch.repo();
            let all = repo.refs().stash_entries().unwrap();
            let ids =
                |repo: &Repository| repo.refs().stash_entries().unwrap().into_iter().map(|entry| entry.id).collect::<Vec<_>>();
            repo.stash().take_from_stash(&all[1].id).unwrap();
            scratch.git(&["reflog", "expire", "--expire=now", "--all"]);
            scratch.git(&["pack-refs", "--all"]);
            assert_eq!(ids(&repo), [all[0].id.clone()], "packed, and in no log");
            repo.stash().store_in_stash(&all[1]).unwrap();
            assert_eq!(ids(&repo), [all[1].id.clone(), all[0].id.clone()]);
            repo.stash().take_from_stash(&all[1].id).unwrap();
            assert_eq!(ids(&repo), [all[0].id.clone()]);
            assert_eq!(scratch.git(&["rev-parse", "refs/stash"]), all[0].id.as_str());
        }
    }

    #[test]
    fn entries_go_and_come_back_and_the_others_stay_in_their_order() {
        for kind in [&[][..], &["--ref-format=reftable"], &["--object-format=sha256"]] {
            let scratch = Scratch::new(kind);
            for text in ["one", "two", "three"] {
                scratch.write("a.txt", text.as_bytes());
                scratch.git(&["stash", "push", "-q", "-m", text]);
            }
            let repo = scratch.repo();
            let all = repo.refs().stash_entries().unwrap();
            let now = || scratch.git(&["stash", "list", "--format=%gs"]);
            assert_eq!(now(), "On main: three\nOn main: two\nOn main: one");
            repo.stash().take_from_stash(&all[1].id).unwrap();
            repo.stash().take_from_stash(&all[1].id).unwrap();
            assert_eq!(now(), "On main: three\nOn main: one");
            repo.stash().store_in_stash(&all[1]).unwrap();
            repo.stash().store_in_stash(&all[1]).unwrap();
            assert_eq!(now(), "On main: two\nOn main: three\nOn main: one");
            all.iter().for_each(|entry| repo.stash().take_from_stash(&entry.id).unwrap());
            assert_eq!((now().as_str(), repo.refs().stash_entries().unwrap().len()), ("", 0));
            repo.stash().store_in_stash(&all[2]).unwrap();
            assert_eq!(repo.refs().stash_entries().unwrap(), [all[2].clone()]);
            scratch.git(&["stash", "pop", "-q"]);
            assert_eq!(scratch.read("a.txt"), "one");
        }
    }
}
