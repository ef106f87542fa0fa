//! Checks that objects can be read and that their content matches their id. git's own walk checks only that the file of a
//! blob exists, and a power loss can leave that file empty.

use axiom_base::error::Result;
use axiom_model::base::names::Oid;

use crate::repo::handles::{Connectivity, Objects};
use axiom_base::own_process::threads;

/// Larger objects are not read into memory; they are reported as too large.
const LARGE: u64 = 512 * 1024 * 1024;

/// With fewer objects than this, another thread is not worth its cost.
const FEW: usize = 256;

/// The result of reading objects back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadBackReport {
    /// How many objects match their ids.
    pub whole: usize,
    /// Objects that are missing, cannot be read, or do not match their id.
    pub damaged: Vec<Oid>,
    /// Objects that are too large to be read here.
    pub too_large: Vec<Oid>,
}

impl Objects<'_> {
    /// All objects that are reachable from these objects, themselves included, as far as they are in this repository. Only
    /// commits and trees are read.
    pub fn all_below(&self, roots: &[Oid]) -> Result<Vec<Oid>> {
        if roots.is_empty() {
            return Ok(Vec::new());
        }
        let output = self.repo.connectivity().walk(roots, &["--no-object-names"]).run_ok()?;
        let lines = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| Oid::new(String::from_utf8_lossy(line))).collect()
    }

    /// Reads objects completely, in several threads.
    pub fn read_back(&self, objects: &[Oid]) -> Result<ReadBackReport> {
        self.repo.gix()?;
        let mut all = ReadBackReport::default();
        for some in threads::in_parts(objects, FEW, |_, part| vec![self.read_some(part)]) {
            let some = some?;
            all.whole += some.whole;
            all.damaged.extend(some.damaged);
            all.too_large.extend(some.too_large);
        }
        Ok(all)
    }

    fn read_some(&self, objects: &[Oid]) -> Result<ReadBackReport> {
        use gix::objs::Find;
        let gix = self.repo.gix()?;
        let (mut read, mut content) = (ReadBackReport::default(), Vec::new());
        for oid in objects {
            let id = super::database::gix_id(oid)?;
            if gix.find_header(id).is_ok_and(|header| header.size() > LARGE) {
                read.too_large.push(oid.clone());
                continue;
            }
            let is_whole = match gix.objects.try_find(&id, &mut content) {
                Ok(Some(found)) => gix::objs::compute_hash(id.kind(), found.kind, found.data).is_ok_and(|is| is == id),
                Ok(None) | Err(_) => false,
            };
            if is_whole {
                read.whole += 1;
            } else {
                read.damaged.push(oid.clone());
            }
        }
        Ok(read)
    }
}

impl Connectivity<'_> {
    /// git's message if an object is missing that a ref, a worktree or an index needs, which makes `git gc` fail; `None` if
    /// none is missing.
    pub fn missing_of_all(&self) -> Result<Option<String>> {
        let git = self.repo.git().env("GIT_NO_LAZY_FETCH", "1").args(["rev-list", "--objects", "--quiet"]);
        let git = if self.is_partial() { git.arg("--exclude-promisor-objects") } else { git };
        let output = git.args(["--all", "--indexed-objects"]).run()?;
        Ok((!output.ok()).then(|| super::connectivity::words_of(&output)))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use super::*;
    use crate::repo::scratch::ScratchRepository;

    #[test]
    fn what_is_not_what_its_name_says_is_found_loose_and_packed() {
        let scratch = ScratchRepository::new(&[]);
        for number in 0..600 {
            scratch.write(&format!("f{number}"), format!("content {number}").as_bytes());
        }
        scratch.git(&["add", "-A"]);
        scratch.git(&["commit", "-qm", "many"]);
        let head = Oid::new(scratch.git(&["rev-parse", "HEAD"])).unwrap();
        let all = scratch.repo().objects().all_below(std::slice::from_ref(&head)).unwrap();
        assert!(all.len() > 600);
        let read = scratch.repo().objects().read_back(&all).unwrap();
        assert_eq!(read, ReadBackReport { whole: all.len(), ..ReadBackReport::default() });
        let path = |oid: &str| scratch.path().join(".git/objects").join(&oid[..2]).join(&oid[2..]);
        let (empty, other) = (scratch.git(&["rev-parse", "HEAD:f5"]), scratch.git(&["rev-parse", "HEAD:f599"]));
        std::fs::remove_file(path(&empty)).unwrap();
        std::fs::write(path(&empty), b"").unwrap();
        std::fs::remove_file(path(&other)).unwrap();
        std::fs::copy(path(&scratch.git(&["rev-parse", "HEAD:f7"])), path(&other)).unwrap();
        assert_eq!(scratch.repo().connectivity().missing_below(&[head]).unwrap(), None, "git takes them for what they are not");
        let mut damaged = scratch.repo().objects().read_back(&all).unwrap().damaged;
        damaged.sort();
        let mut expected = [empty, other].map(|oid| Oid::new(oid).unwrap());
        expected.sort();
        assert_eq!(damaged, expected);
    }
}
