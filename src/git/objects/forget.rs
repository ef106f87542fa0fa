//! Deleting single objects that nothing refers to any more, loose and in packs. All others stay, also those that nothing refers to.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::base::modes::{GITLINK as SUBMODULE, TREE};
use crate::objects::database::gix_id;
use crate::repo::handles::ForgottenObjects;
use axiom_base::error::{Code, Error, Result};
use axiom_base::{env, files};
use axiom_model::base::names::{Oid, RepoPath};

/// What belongs to a pack, but the pack itself; the index first, since without it git does not use the pack.
const BESIDE: [&str; 5] = ["idx", "rev", "bitmap", "mtimes", "keep"];

/// What a partial clone has not fetched is not fetched to be looked at: nothing of ours is among it.
const PROMISED: &str = "--missing=allow-promisor";

impl ForgottenObjects<'_> {
    /// Whether an object is a blob; `false` where it is missing.
    pub fn is_blob(&self, oid: &Oid) -> bool {
        self.blob_size(oid).is_some()
    }

    /// The size of a blob; `None` where it is missing, or no blob.
    pub fn blob_size(&self, oid: &Oid) -> Option<u64> {
        let header = self.repo.gix().ok()?.find_header(gix_id(oid).ok()?).ok()?;
        (header.kind() == gix::objs::Kind::Blob).then(|| header.size())
    }

    /// The id that a blob with this content has.
    pub fn id_of_blob(&self, content: &[u8]) -> Result<Oid> {
        let failed = |e: String| Error::new(Code::GitFailed, "an id cannot be computed").why(e);
        let id = gix::objs::compute_hash(self.repo.hash().gix(), gix::objs::Kind::Blob, content);
        Oid::new(id.map_err(|e| failed(e.to_string()))?.to_string())
    }

    /// The contents of the file at a path of a tree, or of all files below it (of all, for the empty path); submodules have none here.
    pub fn contents_at(&self, tree: &Oid, path: &RepoPath) -> Result<BTreeSet<Oid>> {
        let mut contents = BTreeSet::new();
        let mut open = if path.as_bytes().is_empty() {
            self.repo.trees().read_tree(tree)?
        } else {
            self.repo.trees().entry_in_tree(tree, path)?.into_iter().collect()
        };
        while let Some(entry) = open.pop() {
            match entry.mode {
                TREE => open.extend(self.repo.trees().read_tree(&entry.oid)?),
                SUBMODULE => {}
                _ => drop(contents.insert(entry.oid)),
            }
        }
        Ok(contents)
    }

    /// Everything that these commits and tags reach, with the path where it was found first. What `without` and its history have is left
    /// out, where git finds that out without much work.
    pub fn reached(&self, from: &[Oid], without: &[&str]) -> Result<Vec<(Oid, Vec<u8>)>> {
        let mut found = Vec::new();
        if from.is_empty() {
            return Ok(found);
        }
        let ids: String = from.iter().map(|oid| format!("{oid}\n")).collect();
        let mut git = self.repo.git().args(["rev-list", "--objects", PROMISED, "--stdin"]).stdin(ids);
        if !without.is_empty() {
            git = git.arg("--not").args(without);
        }
        let output = git.run_ok()?;
        for line in output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let (id, path) = line.split_at(memchr::memchr(b' ', line).unwrap_or(line.len()));
            found.push((Oid::new(String::from_utf8_lossy(id).into_owned())?, path.get(1..).unwrap_or_default().to_vec()));
        }
        Ok(found)
    }

    /// Everything that `what` reaches (`--all`, `--indexed-objects` and so on), and these objects, of which a part may be gone.
    pub fn reached_by(&self, what: &[&str], also: &BTreeSet<Oid>) -> Result<BTreeSet<Oid>> {
        let mut found = BTreeSet::new();
        let git = self.repo.git().args(["rev-list", "--objects", PROMISED, "--no-object-names"]).args(what);
        git.each_part(b'\n', |line| {
            found.insert(Oid::new(String::from_utf8_lossy(line).into_owned())?);
            Ok(())
        })?;
        let further: BTreeSet<Oid> = also.difference(&found).cloned().collect();
        found.extend(self.reached_from(&further)?);
        Ok(found)
    }

    /// Everything that these objects reach, as far as it is there.
    pub fn reached_from(&self, ids: &BTreeSet<Oid>) -> Result<BTreeSet<Oid>> {
        if ids.is_empty() {
            return Ok(BTreeSet::new());
        }
        let named: String = ids.iter().map(|oid| format!("{oid}\n")).collect();
        let git = self.repo.git().args(["rev-list", "--objects", "--no-object-names", "--missing=allow-any", "--stdin"]);
        let listed = git.stdin(named).run_ok()?;
        let lines = listed.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.map(|id| Oid::new(String::from_utf8_lossy(id).into_owned())).collect()
    }

    /// Gives these objects the time of now: git deletes what nothing refers to when it is old enough (`gc.pruneExpire`, two weeks).
    pub fn leave_to_git(&self, doomed: &BTreeSet<Oid>) -> Result<()> {
        let ids = doomed.iter().map(gix_id).collect::<Result<Vec<_>>>()?;
        drop(self.repo.durability().freshen_all(&ids));
        Ok(())
    }

    /// Deletes these objects from the repository's own object database. What refers to them has to be gone. Safe to repeat; a crash leaves
    /// some of them, and each other object at least once.
    pub fn forget(&self, doomed: &BTreeSet<Oid>) -> Result<()> {
        if doomed.is_empty() {
            return Ok(());
        }
        let objects = self.repo.common_dir().join("objects");
        if files::metadata(&self.repo.common_dir().join("gc.pid"))?.is_some() {
            return Err(
                Error::new(Code::Busy, "a 'git gc' runs, or was killed").hint("remove gc.pid if none runs, and call again")
            );
        }
        for pack in files::list(&objects.join("pack"))? {
            if pack.path().extension().is_some_and(|end| end == "idx") {
                self.pack_without(&pack.path(), doomed)?;
            }
        }
        env::fault_point("git.packs-without");
        for oid in doomed {
            let (folder, rest) = oid.as_str().split_at(2);
            files::remove_file(&objects.join(folder).join(rest))?;
        }
        // Caches that may name them; git makes them anew.
        for cache in ["pack/multi-pack-index", "info/commit-graph"] {
            files::remove_file(&objects.join(cache))?;
        }
        for entry in files::list(&objects.join("info/commit-graphs"))? {
            files::remove_file(&entry.path())?;
        }
        files::sync_file_system(&objects)
    }

    fn pack_without(&self, index: &Path, doomed: &BTreeSet<Oid>) -> Result<()> {
        let listed = self.repo.git().args(["show-index", &format!("--object-format={}", self.repo.hash().gix())]);
        let listed = listed.stdin(files::read(index, u64::MAX - 1)?).run_ok()?;
        let text = String::from_utf8_lossy(&listed.stdout).into_owned();
        let ids: Vec<&str> = text.lines().filter_map(|line| line.split(' ').nth(1)).collect();
        let is_doomed = |id: &&&str| Oid::new((**id).to_owned()).is_ok_and(|oid| doomed.contains(&oid));
        if !ids.iter().any(|id| is_doomed(&id)) {
            return Ok(());
        }
        let rest: String = ids.iter().filter(|id| !is_doomed(id)).map(|id| format!("{id}\n")).collect();
        let folder = index.parent().map(Path::to_owned).unwrap_or_default();
        if !rest.is_empty() {
            let git = self.repo.git().writing().args(["pack-objects", "-q", "--no-reuse-delta", "--delta-base-offset"]);
            let name = git.arg(folder.join("pack")).stdin(rest).text()?;
            for mark in ["promisor", "keep"] {
                let new = folder.join(format!("pack-{name}.{mark}"));
                if index.with_extension(mark).symlink_metadata().is_ok() && new.symlink_metadata().is_err() {
                    files::write_read_only(&new, b"")?;
                }
            }
            files::sync_file_system(&folder)?;
        }
        env::fault_point("git.pack-made-anew");
        let parts: Vec<PathBuf> = BESIDE.iter().chain(&["promisor", "pack"]).map(|kind| index.with_extension(kind)).collect();
        parts.iter().try_for_each(|part| files::remove_file(part))?;
        files::sync_dir(&folder)
    }
}
