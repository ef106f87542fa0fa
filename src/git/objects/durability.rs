//! Packs loose objects, and joins small packs, without losing objects in a power loss.

use std::path::{Path, PathBuf};

use gix::odb::pack::index::File as PackIndex;

use axiom_base::error::{Code, Error, Result};
pub(crate) use axiom_base::files::{sync_file_system, sync_file_systems};
use axiom_base::{env, files};
use axiom_model::base::names::Oid;
use axiom_model::base::own_names;

use crate::repo::handles::Durability;
use crate::repo::program::Git;

/// Larger packs are not joined; that is left to `git gc`.
const SMALL_PACK: u64 = 64 * 1024 * 1024;

impl<'r> Durability<'r> {
    /// Packs reachable loose objects durably, and removes the loose files. No other object is touched. A crash leaves some
    /// objects both packed and loose.
    pub fn pack_loose(&self) -> Result<()> {
        // The pack is on disk before the loose objects are removed.
        self.pack_what_is_loose(&[])?;
        self.sync_objects()?;
        env::fault_point("git.packed");
        self.repo.git().args(["prune-packed", "-q"]).run_ok().map(drop)
    }

    /// Packs those loose objects that these commits reach and nothing else in the repository does, durably, with their names, so that what is
    /// alike is stored as differences. No other object is touched. Nothing is done while a `git gc` runs, or in a partial clone. A
    /// crash leaves some objects both packed and loose.
    pub fn pack_below(&self, roots: &[Oid]) -> Result<()> {
        if roots.is_empty() || self.repo.concurrent_gc().gc_lives() || self.repo.connectivity().is_partial() {
            return Ok(());
        }
        let Some(stage) = self.stage_folder()? else { return Ok(()) };
        let but_ours = format!("--exclude={}*", own_names::REFS);
        let others = ["--unpacked", "--not", but_ours.as_str(), "--all"];
        let list = self.repo.connectivity().walk(roots, &[]).args(others).run_ok()?.stdout;
        if list.is_empty() {
            return Ok(());
        }
        self.pack_objects(stage.path(), list)?.run_ok()?;
        // The pack is on disk before the loose objects are removed.
        self.sync_objects()?;
        env::fault_point("git.packed-below");
        self.repo.git().args(["prune-packed", "-q"]).run_ok().map(drop)
    }

    /// The call of git that packs the objects of a list into a folder of objects, the stage where there is one, and prints the name
    /// of the pack.
    pub(crate) fn pack_objects(&self, objects: &Path, list: Vec<u8>) -> Result<Git<'r>> {
        files::create_dirs_unsynced(&objects.join("pack"))?;
        Ok(self.repo.git().making_objects().args(["pack-objects", "-q"]).arg(objects.join("pack/pack")).stdin(list))
    }

    /// Packs reachable loose objects; these stay, too. Where the disk is full, git leaves the begun pack: it would keep the disk full.
    pub fn pack_what_is_loose(&self, more: &[&str]) -> Result<()> {
        // No bitmap: it would need all objects in one pack.
        let git = self.repo.git().writing().config("repack.writeBitmaps=false");
        let output = git.args(["repack", "-q", "-l"]).args(more).run()?;
        if output.ok() {
            return Ok(());
        }
        let folder = self.repo.common_dir().join("objects/pack");
        // Only what it names is its own: another git may be writing a pack right now.
        for name in output.stderr.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| word.starts_with("tmp_"))
        {
            files::remove_file(&folder.join(name))?;
        }
        Err(output.error())
    }

    /// Joins small packs. Every operation during a `git gc` leaves one, and fifty of them would start `git gc --auto`. No
    /// object is lost, not even unreachable ones. Packs with a `.keep`, `.mtimes`, `.promisor` or `.bitmap` file are left
    /// alone. Nothing is done while a `git gc` runs, in a partial clone, or where git has a multi-pack index. A crash leaves
    /// some objects twice. Returns how many packs became one.
    pub fn join_small_packs(&self) -> Result<usize> {
        let folder = self.repo.common_dir().join("objects/pack");
        if self.repo.concurrent_gc().gc_lives()
            || self.repo.connectivity().is_partial()
            || folder.join("multi-pack-index").exists()
        {
            return Ok(0);
        }
        let Some(stage) = self.stage_folder()? else { return Ok(0) };
        let small = |path: &Path| {
            let apart = ["keep", "mtimes", "promisor", "bitmap"].iter().any(|kind| path.with_extension(kind).exists());
            !apart && path.metadata().is_ok_and(|meta| meta.len() <= SMALL_PACK)
        };
        let packs: Vec<PathBuf> = files::list(&folder)?.iter().map(std::fs::DirEntry::path).collect();
        let packs: Vec<PathBuf> =
            packs.into_iter().filter(|path| path.extension().is_some_and(|kind| kind == "pack") && small(path)).collect();
        if packs.len() < 2 {
            return Ok(0);
        }
        let mut list = Vec::new();
        for pack in &packs {
            let index = PackIndex::at(pack.with_extension("idx"), self.repo.hash().gix());
            let index =
                index.map_err(|e| Error::new(Code::GitFailed, format!("'{}' has no index", pack.display())).because(e))?;
            index.iter().for_each(|entry| list.extend_from_slice(format!("{}\n", entry.oid).as_bytes()));
        }
        let joined = self.pack_objects(stage.path(), list)?.text()?;
        self.sync_objects()?;
        env::fault_point("git.packs-joined");
        for pack in packs.iter().filter(|pack| pack.file_stem().is_some_and(|stem| *stem != *format!("pack-{joined}"))) {
            // The index goes first: without it git does not use the pack.
            ["idx", "rev", "pack"].iter().try_for_each(|kind| files::remove_file(&pack.with_extension(kind)))?;
        }
        files::sync_dir(&folder)?;
        Ok(packs.len())
    }
}

#[cfg(test)]
mod tests {
    use crate::base::object_kind::ObjectKind;
    use crate::objects::database::TreeEntry;
    use crate::repo::scratch::ScratchRepository;

    #[test]
    fn small_packs_become_one_and_keep_what_nothing_refers_to() {
        let scratch = ScratchRepository::new(&[]);
        let pack = || {
            let all = scratch.git(&["cat-file", "--batch-all-objects", "--batch-check=%(objectname)"]);
            let repo = scratch.repo();
            let base = scratch.path().join(".git/objects/pack/pack");
            repo.git().args(["pack-objects", "-q"]).arg(base).stdin(all).run_ok().unwrap();
            scratch.git(&["prune-packed"]);
        };
        for number in 0..3 {
            scratch.landed(|repo| repo.objects().write_blob(format!("nothing refers to {number}").as_bytes()).unwrap());
            pack();
        }
        let count = |what: &str| {
            let text = scratch.git(&["count-objects", "-v"]);
            text.lines().find_map(|line| line.strip_prefix(what)?.parse::<usize>().ok()).unwrap()
        };
        assert_eq!(count("packs: "), 3);
        let objects = scratch.git(&["cat-file", "--batch-all-objects", "--batch-check"]);
        assert_eq!(scratch.repo().durability().join_small_packs().unwrap(), 3);
        assert_eq!((count("packs: "), count("count: ")), (1, 0));
        assert_eq!(scratch.git(&["cat-file", "--batch-all-objects", "--batch-check"]), objects);
        assert_eq!(scratch.repo().durability().join_small_packs().unwrap(), 0);
        scratch.git(&["fsck", "--strict"]);
    }

    #[test]
    fn what_only_captures_reach_is_packed_and_nothing_else_is_touched() {
        let scratch = ScratchRepository::new(&[]);
        let capture = |text: &str| {
            scratch.landed(|repo| {
                let objects = repo.objects();
                let blob = objects.write_blob(text.as_bytes()).unwrap();
                let tree = repo.trees().write_tree(&[TreeEntry { mode: 0o100_644, oid: blob, name: b"a".to_vec() }]).unwrap();
                let who = "a <a@b> 1 +0000";
                let commit = format!("tree {tree}\nauthor {who}\ncommitter {who}\n\nx\n");
                objects.write_object(ObjectKind::Commit, commit).unwrap()
            })
        };
        let captures: Vec<_> = (0..3).map(|number| capture(&format!("{}{number}", "a line\n".repeat(500)))).collect();
        for (number, commit) in captures.iter().enumerate() {
            scratch.git(&["update-ref", &format!("refs/axiom/captures/c{number}"), commit.as_str()]);
        }
        let mine = scratch.landed(|repo| repo.objects().write_blob(b"nothing refers to it").unwrap());
        let loose = || {
            let text = scratch.git(&["count-objects", "-v"]);
            text.lines().find_map(|line| line.strip_prefix("count: ")?.parse::<usize>().ok()).unwrap()
        };
        let before = loose();
        scratch.repo().durability().pack_below(&captures).unwrap();
        // A commit, a tree and a blob of each are in the pack; the blob of nobody, and what branches reach, stay loose.
        assert_eq!(before - loose(), 9);
        scratch.git(&["cat-file", "-e", mine.as_str()]);
        let (folder, rest) = mine.as_str().split_at(2);
        assert!(scratch.path().join(".git/objects").join(folder).join(rest).exists());
        for commit in &captures {
            scratch.git(&["cat-file", "-p", &format!("{commit}:a")]);
        }
        scratch.git(&["fsck", "--strict"]);
        scratch.repo().durability().pack_below(&captures).unwrap();
        assert_eq!(before - loose(), 9, "what is packed is not packed again");
    }
}
