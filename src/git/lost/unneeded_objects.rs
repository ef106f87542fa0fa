//! What nothing needs of the objects that a power loss damaged: put apart below the quarantine, never deleted, so that nobody looks for
//! it again and `git fsck` is content.
//!
//! A damaged object is one thing; a whole one that names it is another: git reads all loose objects, also those that nothing refers
//! to, and calls each a broken link for good.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use axiom_base::error::Result;
use axiom_base::{env, files};
use axiom_model::base::names::Oid;

use crate::base::loose::loose_file;
use crate::objects::database::gix_id;
use crate::objects::interrupted_landing::LooseObjectLinks;
use crate::refs::other_roots::named_in_reflogs;
use crate::repo::handles::PowerLosses;

/// What keeps a commit or tree: refs, HEADs and their logs, of all worktrees. Indexes are not asked: one that is torn ends git's list, and
/// cached trees that name a lost one are made again or dropped before.
const KEEPERS: [&str; 2] = ["--all", "--reflog"];

impl PowerLosses<'_> {
    /// Those of the objects that refs, logs, worktrees or indexes need; all of them where git cannot list what is missing.
    pub fn needed_of(&self, objects: Vec<(Oid, PathBuf)>) -> Result<Vec<(Oid, PathBuf)>> {
        if objects.is_empty() {
            return Ok(objects);
        }
        let git = self.repo.git().env("GIT_NO_LAZY_FETCH", "1");
        let output = git.args(["rev-list", "--objects", "--missing=print", "--indexed-objects"]).args(KEEPERS).run()?;
        if !output.ok() {
            return Ok(objects);
        }
        let missing: BTreeSet<&[u8]> =
            output.stdout.split(|byte| *byte == b'\n').filter_map(|line| line.strip_prefix(b"?")).collect();
        // git passes over a lost commit in a log; 'git fsck' does not.
        let logged = named_in_reflogs(self.repo, &|_| false)?;
        let is_needed = |oid: &Oid| missing.contains(oid.as_str().as_bytes()) || logged.contains(oid);
        Ok(objects.into_iter().filter(|(oid, _)| is_needed(oid)).collect())
    }

    /// Puts the files of lost objects apart that no ref, log, worktree or index needs: from then on [`PowerLosses::lost_objects`] is of those
    /// alone that something needs, and whoever asks whether histories are whole asks only while there is one.
    pub fn retire_unneeded(&self) -> Result<()> {
        let lost = self.lost_objects()?;
        let needed: BTreeSet<Oid> = self.needed_of(lost.clone())?.into_iter().map(|(oid, _)| oid).collect();
        for (_, place) in lost.into_iter().filter(|(oid, _)| !needed.contains(oid)) {
            if let Some(name) = place.file_name().and_then(|name| name.to_str()) {
                put_apart(&self.quarantine(), &place, name)?;
            }
        }
        Ok(())
    }

    /// Loose objects of before this boot, and those of `made`, that are of no use: trees that name what is nowhere, and commits of such
    /// trees. A commit whose own tree is whole is of use whatever its parents lack, and so is what it names. None where something may be
    /// elsewhere: in a shallow history, in a partial clone, with alternates. None either where the system does not say when it was
    /// started: what a git process of now has still to write must not be taken for lost.
    pub fn broken_objects(&self, made: &[Oid]) -> Result<Vec<Oid>> {
        let connectivity = self.repo.connectivity();
        let Some(boot) = env::boot_time() else { return Ok(Vec::new()) };
        let folder = self.repo.common_dir().join("objects");
        let has_alternates = files::metadata(&folder.join("info/alternates"))?.is_some();
        if has_alternates || connectivity.is_partial() || self.repo.history().is_shallow() {
            return Ok(Vec::new());
        }
        let of_before = |id: &gix::ObjectId| is_older(&loose_file(&folder, id), boot);
        let made = made.iter().map(gix_id).collect::<Result<Vec<_>>>()?;
        let mut all = BTreeMap::new();
        for id in self.new_loose_objects()?.into_iter().filter(of_before).chain(made) {
            all.insert(Oid::from_bytes(id.as_bytes())?, self.repo.durability().loose_links(&folder, &id)?);
        }
        let (mut there, mut broken) = (BTreeMap::new(), BTreeSet::new());
        loop {
            let mut is_lost =
                |oid: &Oid| broken.contains(oid) || !*there.entry(oid.clone()).or_insert_with(|| connectivity.holds(oid));
            let mut lacks = |links: &LooseObjectLinks| links.content.iter().any(&mut is_lost);
            let more: Vec<Oid> = all.iter().filter(|(_, links)| lacks(links)).map(|(oid, _)| oid.clone()).collect();
            let known = broken.len();
            broken.extend(more);
            if broken.len() == known {
                break;
            }
        }
        // What a commit of use has above it stays too, as far as it is there.
        let of_use = all.iter().filter(|(oid, _)| !broken.contains(*oid));
        let mut open: Vec<&Oid> = of_use.flat_map(|(_, links)| &links.parents).collect();
        while let Some(oid) = open.pop() {
            if broken.remove(oid) {
                open.extend(all.get(oid).into_iter().flat_map(|links| links.content.iter().chain(&links.parents)));
            }
        }
        Ok(broken.into_iter().collect())
    }

    /// Puts those of the broken objects apart that no ref, HEAD, log of one or note of git's leads to. Safe to repeat.
    pub fn put_broken_apart(&self, broken: &[Oid]) -> Result<()> {
        let folder = self.repo.common_dir().join("objects");
        if broken.is_empty() {
            return Ok(());
        }
        let listed = self.repo.ref_lists().in_all_notes().and_then(|named| {
            let named: String = named.iter().flat_map(|oid| [oid.as_str(), "\n"]).collect();
            let git = self.repo.git().env("GIT_NO_LAZY_FETCH", "1").args(["rev-list", "--objects", "--no-object-names"]);
            let git = git.args(["--missing=allow-any", "--ignore-missing"]).args(KEEPERS);
            git.arg("--stdin").stdin(named).run_ok()
        });
        let listed = match listed {
            Ok(listed) => listed,
            Err(error) => {
                tracing::warn!(%error, "what leads to broken objects cannot be listed: they stay");
                return Ok(());
            }
        };
        let kept: BTreeSet<&[u8]> = listed.stdout.split(|byte| *byte == b'\n').collect();
        for oid in broken.iter().filter(|oid| !kept.contains(oid.as_str().as_bytes())) {
            let from = loose_file(&folder, &gix_id(oid)?);
            if files::metadata(&from)?.is_some() {
                put_apart(&self.quarantine(), &from, &format!("{oid}-{}", env::fresh_id()))?;
            }
        }
        Ok(())
    }
}

fn put_apart(quarantine: &Path, from: &Path, name: &str) -> Result<()> {
    let apart = quarantine.join("unneeded");
    files::create_dir_all(&apart)?;
    files::move_unsynced(from, &apart.join(name))
}

fn is_older(file: &Path, time: SystemTime) -> bool {
    files::metadata(file).ok().flatten().and_then(|meta| meta.modified().ok()).is_some_and(|written| written < time)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use super::*;
    use crate::repo::scratch::ScratchRepository;

    /// A commit whose tree has a folder of its own, `name`; nothing leads to it. Returns the commit, its tree and the folder's tree.
    fn made(scratch: &ScratchRepository, name: &str) -> [Oid; 3] {
        scratch.write(&format!("{name}/in"), name.as_bytes());
        scratch.git(&["add", name]);
        let tree = scratch.git(&["write-tree"]);
        let commit = scratch.git(&["commit-tree", "-m", name, &tree]);
        let folder = scratch.git(&["rev-parse", &format!("{commit}:{name}")]);
        scratch.git(&["reset", "-q"]);
        [commit, tree, folder].map(|id| Oid::new(id).unwrap())
    }

    fn place(scratch: &ScratchRepository, oid: &Oid) -> PathBuf {
        loose_file(&scratch.path().join(".git/objects"), &gix_id(oid).unwrap())
    }

    #[test]
    fn what_names_a_lost_object_and_is_led_to_by_nothing_is_put_apart() {
        let scratch = ScratchRepository::new(&[]);
        let alone = made(&scratch, "alone");
        let [branch, log, young, merged, above] = ["branch", "log", "young", "merged", "above"].map(|name| made(&scratch, name));
        let submodule = scratch.git(&["rev-parse", "HEAD"]).replace(['0', '1', '2'], "a");
        let listed = format!("160000 commit {submodule}\tsub\n");
        let with_submodule = scratch.repo().git().args(["mktree"]).stdin(listed).text().unwrap();
        let with_submodule = Oid::new(with_submodule).unwrap();
        scratch.git(&["branch", "kept", branch[0].as_str()]);
        scratch.git(&["branch", "-f", "logged", log[0].as_str()]);
        scratch.git(&["reflog", "exists", "refs/heads/logged"]);
        scratch.git(&["update-ref", "--create-reflog", "refs/heads/logged", "HEAD"]);
        std::fs::write(scratch.path().join(".git/MERGE_HEAD"), format!("{}\n", merged[0])).unwrap();
        for [commit, tree, folder] in [&alone, &branch, &log, &merged] {
            std::fs::remove_file(place(&scratch, folder)).unwrap();
            for oid in [commit, tree, &with_submodule] {
                axiom_base::files::set_modified(&place(&scratch, oid), SystemTime::UNIX_EPOCH).unwrap();
            }
        }
        let of_use = scratch.git(&["commit-tree", "-p", above[0].as_str(), "-m", "of use", "HEAD^{tree}"]);
        std::fs::remove_file(place(&scratch, &above[2])).unwrap();
        for oid in [&above[0], &above[1], &Oid::new(of_use).unwrap()] {
            axiom_base::files::set_modified(&place(&scratch, oid), SystemTime::UNIX_EPOCH).unwrap();
        }
        std::fs::remove_file(place(&scratch, &young[2])).unwrap();
        scratch.git(&["worktree", "add", "-q", "torn", "-b", "torn"]);
        std::fs::write(scratch.path().join(".git/worktrees/torn/index"), b"DIRC\0\0").unwrap();
        std::fs::write(scratch.path().join(".git/worktrees/torn/HEAD"), b"").unwrap();
        let report = scratch.repo().power_losses().prove_objects().unwrap();
        let is_there = |one: &[Oid; 3]| [&one[0], &one[1]].map(|oid| place(&scratch, oid).exists());
        assert_eq!(is_there(&alone), [false, false]);
        let kept = [
            (&branch, "a branch"),
            (&log, "the log of a branch"),
            (&merged, "a merge in progress"),
            (&above, "a commit of use is made on it"),
            (&young, "it may be half written by now"),
        ];
        for (kept, why) in kept {
            assert_eq!(is_there(kept), [true, true], "{why}");
        }
        assert!(place(&scratch, &with_submodule).exists(), "the commit of a submodule is never here");
        let apart: Vec<_> = std::fs::read_dir(scratch.path().join(".git/axiom/quarantine/unneeded")).unwrap().flatten().collect();
        assert_eq!(apart.len(), 2, "{apart:?}");
        assert_eq!(report.broken.len(), 8);
        scratch.git(&["branch", "-D", "kept"]);
        scratch.repo().power_losses().put_broken_apart(&report.broken).unwrap();
        assert_eq!(is_there(&branch), [false, false], "once nothing leads to it any more");
    }
}
