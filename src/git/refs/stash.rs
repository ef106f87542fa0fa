//! Reading the entries of the stash, putting an entry back and taking one out. Both changes use `git stash`: the reflog of
//! the ref is the stash.

use std::path::PathBuf;

use axiom_base::error::{Code, Error, Result};
use axiom_base::{env, files};
use axiom_model::base::names::{Oid, RefName};
use axiom_model::checkpoint::local_refs::{STASH, StashEntry};

use crate::base::formats::RefFormat;
use crate::repo::handles::Stash;
use crate::repo::shortcuts::FastWay;

/// The largest reflog of the stash that is read.
const LOG_LIMIT: u64 = 256 * 1024 * 1024;

/// How many entries are asked for by their numbers, and what is said of each.
const MOST_ASKED: usize = 200;
const UNREAD: &str = "its message cannot be read";

impl Stash<'_> {
    /// The entries of the stash, newest first.
    pub fn entries(&self) -> Result<Vec<StashEntry>> {
        if self.repo.shortcuts().allow(FastWay::ReadRefs) {
            return self.in_files();
        }
        match self.repo.refs().read_ref(&RefName::new(STASH))? {
            Some(_) => self.by_git(),
            None => Ok(Vec::new()),
        }
    }

    pub(crate) fn in_files(&self) -> Result<Vec<StashEntry>> {
        let log = files::read_optional(&self.repo.common_dir().join("logs").join(STASH), LOG_LIMIT)?.unwrap_or_default();
        let lines: Vec<&[u8]> = log.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
        let entry = |line: &&[u8]| {
            let text = String::from_utf8_lossy(line);
            let (head, message) = text.split_once('\t').unwrap_or((&text, ""));
            let id = Oid::new(head.split(' ').nth(1)?).ok()?;
            Some(StashEntry { id, message: message.to_owned() })
        };
        self.with_top(lines.iter().rev().filter_map(entry).collect())
    }

    /// Adds the value of the ref as the top entry if the reflog does not contain it: it was made without a reflog, or the
    /// reflog was expired (`git reflog expire`). The ref may be packed.
    fn with_top(&self, mut entries: Vec<StashEntry>) -> Result<Vec<StashEntry>> {
        let top = self.repo.refs().read_ref(&RefName::new(STASH))?.filter(|top| entries.iter().all(|entry| entry.id != *top));
        if let Some(id) = top {
            entries.insert(0, StashEntry { id, message: String::new() });
        }
        Ok(entries)
    }

    pub(crate) fn by_git(&self) -> Result<Vec<StashEntry>> {
        let output = self.repo.git().args(["log", "-g", "--no-show-signature", "--format=%H %gs", STASH, "--"]).run()?;
        if !output.ok() {
            // It reads the commits as well: one that is lost or empty costs no other entry.
            return match self.repo.ref_format() {
                RefFormat::Files => self.in_files(),
                RefFormat::Reftable => self.by_number(),
            };
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let entry = |line: &str| {
            let (id, message) = line.split_once(' ').unwrap_or((line, ""));
            Ok(StashEntry { id: Oid::new(id)?, message: message.to_owned() })
        };
        self.with_top(text.lines().map(entry).collect::<Result<_>>()?)
    }

    /// Entries asked for by their numbers, by which git reads no commit; what was said of them is not told.
    fn by_number(&self) -> Result<Vec<StashEntry>> {
        let numbers: Vec<String> = (0..MOST_ASKED).map(|number| format!("{STASH}@{{{number}}}")).collect();
        // It ends with an error where there are no more.
        let output = self.repo.git().arg("rev-parse").args(numbers.iter().map(String::as_str)).run()?;
        let ids = String::from_utf8_lossy(&output.stdout);
        let ids = ids.lines().map_while(|line| Oid::new(line).ok());
        self.with_top(ids.map(|id| StashEntry { id, message: UNREAD.to_owned() }).collect())
    }

    /// Puts an entry on top of the stash, durably. Does nothing if the entry is in the stash already.
    pub fn put_on_top(&self, entry: &StashEntry) -> Result<()> {
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

    /// The top entry may be missing from the reflog (`git reflog expire`); then storing another entry would lose it. It is
    /// stored again, which adds it to the reflog. After a crash in between, only the checkpoint that was made before still
    /// has it.
    fn log_the_top(&self) -> Result<()> {
        let Some(top) = self.entries()?.into_iter().next().filter(StashEntry::is_unlogged) else {
            return Ok(());
        };
        let main = self.repo.worktrees().main_worktree()?;
        self.repo.git_in(&main).writing().args(["update-ref", "-d", STASH, top.id.as_str()]).run_ok()?;
        self.store(&StashEntry { message: "without a log".to_owned(), ..top })
    }

    /// Removes an entry from the stash, durably. Does nothing if the entry is not in the stash. The order of the others does
    /// not change.
    pub fn take_out(&self, id: &Oid) -> Result<()> {
        let before = self.entries()?;
        let Some(place) = before.iter().position(|entry| entry.id == *id) else { return Ok(()) };
        env::fault_point("git.before-stash");
        let main = self.repo.worktrees().main_worktree()?;
        self.repo.git_in(&main).writing().args(["stash", "drop", "-q", &format!("stash@{{{place}}}")]).run_ok()?;
        let after = self.entries()?;
        if after.iter().any(|entry| entry.id == *id) {
            let gone = before.iter().filter(|entry| !after.contains(entry));
            gone.filter(|entry| entry.id != *id).try_for_each(|entry| self.put_on_top(entry))?;
            return Err(Error::new(Code::ChangedMeanwhile, "the stash was changed just now").hint("try again"));
        }
        env::fault_point("git.after-stash");
        self.sync_stash()
    }

    fn place_in_stash(&self, id: &Oid) -> Result<Option<usize>> {
        Ok(self.entries()?.iter().position(|entry| entry.id == *id))
    }

    fn sync_stash(&self) -> Result<()> {
        let name = RefName::new(STASH);
        if self.repo.ref_format() == RefFormat::Files {
            let all: [PathBuf; 2] = [self.repo.common_dir().join(STASH), self.repo.common_dir().join("logs").join(STASH)];
            for file in all.iter().filter(|file| file.is_file()) {
                files::sync_file(file)?;
            }
        }
        self.repo.refs().folders_of(std::iter::once(&name)).sync()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use crate::repo::repository::Repository;
    use crate::repo::scratch::ScratchRepository;

    #[test]
    fn one_whose_log_is_gone_is_an_entry_and_stays_one() {
        for kind in [&[][..], &["--ref-format=reftable"]] {
            let scratch = ScratchRepository::new(kind);
            for text in ["one", "two"] {
                scratch.write("a.txt", text.as_bytes());
                scratch.git(&["stash", "push", "-q", "-m", text]);
            }
            let repo = scratch.repo();
            let all = repo.stash().entries().unwrap();
            let ids = |repo: &Repository| repo.stash().entries().unwrap().into_iter().map(|entry| entry.id).collect::<Vec<_>>();
            repo.stash().take_out(&all[1].id).unwrap();
            scratch.git(&["reflog", "expire", "--expire=now", "--all"]);
            scratch.git(&["pack-refs", "--all"]);
            assert_eq!(ids(&repo), [all[0].id.clone()], "packed, and in no log");
            repo.stash().put_on_top(&all[1]).unwrap();
            assert_eq!(ids(&repo), [all[1].id.clone(), all[0].id.clone()]);
            repo.stash().take_out(&all[1].id).unwrap();
            assert_eq!(ids(&repo), [all[0].id.clone()]);
            assert_eq!(scratch.git(&["rev-parse", "refs/stash"]), all[0].id.as_str());
        }
    }

    #[test]
    fn entries_go_and_come_back_and_the_others_stay_in_their_order() {
        for kind in [&[][..], &["--ref-format=reftable"], &["--object-format=sha256"]] {
            let scratch = ScratchRepository::new(kind);
            for text in ["one", "two", "three"] {
                scratch.write("a.txt", text.as_bytes());
                scratch.git(&["stash", "push", "-q", "-m", text]);
            }
            let repo = scratch.repo();
            let all = repo.stash().entries().unwrap();
            let now = || scratch.git(&["stash", "list", "--format=%gs"]);
            assert_eq!(now(), "On main: three\nOn main: two\nOn main: one");
            repo.stash().take_out(&all[1].id).unwrap();
            repo.stash().take_out(&all[1].id).unwrap();
            assert_eq!(now(), "On main: three\nOn main: one");
            repo.stash().put_on_top(&all[1]).unwrap();
            repo.stash().put_on_top(&all[1]).unwrap();
            assert_eq!(now(), "On main: two\nOn main: three\nOn main: one");
            all.iter().for_each(|entry| repo.stash().take_out(&entry.id).unwrap());
            assert_eq!((now().as_str(), repo.stash().entries().unwrap().len()), ("", 0));
            repo.stash().put_on_top(&all[2]).unwrap();
            assert_eq!(repo.stash().entries().unwrap(), [all[2].clone()]);
            scratch.git(&["stash", "pop", "-q"]);
            assert_eq!(scratch.read("a.txt"), "one");
        }
    }

    #[test]
    fn one_whose_commit_is_lost_hides_no_other() {
        for kind in [&[][..], &["--ref-format=reftable"]] {
            let scratch = ScratchRepository::new(kind);
            for text in ["one", "two", "three"] {
                scratch.write("a.txt", text.as_bytes());
                scratch.git(&["stash", "push", "-q", "-m", text]);
            }
            let ids: Vec<String> = (0..3).map(|number| scratch.git(&["rev-parse", &format!("stash@{{{number}}}")])).collect();
            let (folder, name) = ids[0].split_at(2);
            std::fs::remove_file(scratch.path().join(".git/objects").join(folder).join(name)).unwrap();
            let all = scratch.repo().stash().by_git().unwrap();
            assert_eq!(all.iter().map(|entry| entry.id.as_str()).collect::<Vec<_>>(), ids, "{kind:?}");
        }
    }
}
