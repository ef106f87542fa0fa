//! Merges in which programs ran: remembered as long as the process lives, so that a driver runs once for a merge, and a session can
//! let it run aside of its loop.
//!
//! Where programs run aside, a merge that needs them ends with `BUSY` and is noted. Whoever waits for it takes the note
//! ([`Merges::take_merge_to_run`]), lets it run in another thread with a repository of its own ([`Merges::run_merge`]), and gives the
//! result back ([`Merges::remember_merge`]). Then the same call succeeds.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};

use super::merge_folder::MergePrograms;
use crate::base::marked_merge::{MarkedMerge, MergeToRun};
use crate::base::merge_cache::CachedMerge;
use crate::repo::handles::Merges;
use axiom_base::error::{Code, Error, Result};

/// How many merges are remembered.
const MOST: usize = 200;

impl Merges<'_> {
    /// From now on no merge of this repository waits for a program.
    pub fn run_drivers_aside(&self) {
        self.repo.merges.runs_aside.store(true, Ordering::SeqCst);
    }

    /// Whether merges may start programs: drivers, filters.
    pub fn may_run_drivers(&self) -> Result<bool> {
        self.repo.merges().merge_programs().map(|programs| programs != MergePrograms::None)
    }

    /// The merge that the last one to end with `BUSY` waits for.
    pub fn take_merge_to_run(&self) -> Option<MergeToRun> {
        self.repo.merges.to_run.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Computes a merge with its programs, and makes its objects known to other repositories. Ends them when `given_up` becomes true.
    pub fn run_merge(&self, asked: MergeToRun, given_up: Arc<AtomicBool>) -> Result<CachedMerge> {
        *self.repo.merges.given_up.lock().unwrap_or_else(PoisonError::into_inner) = Some(given_up);
        let merge = self.merge(asked.clone())?;
        self.repo.durability().sync_objects()?;
        Ok(CachedMerge { asked, merge })
    }

    /// Remembers a merge.
    pub fn remember_merge(&self, merge: CachedMerge) {
        let mut known = self.repo.merges.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST {
            known.remove(0);
        }
        known.push(merge);
    }

    pub(super) fn known_merge(&self, asked: &MergeToRun) -> Option<MarkedMerge> {
        let known = self.repo.merges.known.lock().unwrap_or_else(PoisonError::into_inner);
        let merge = known.iter().rev().find(|known| known.asked == *asked)?.merge.clone();
        // A garbage collection may have taken what nothing refers to.
        self.repo.objects().has_object(&merge.tree).then_some(merge)
    }

    /// Notes a merge and refuses where its programs run aside; otherwise what ends them before their time.
    pub(super) fn may_run_programs(&self, asked: &MergeToRun) -> Result<Arc<AtomicBool>> {
        let memory = &self.repo.merges;
        if memory.runs_aside.load(Ordering::SeqCst) {
            *memory.to_run.lock().unwrap_or_else(PoisonError::into_inner) = Some(asked.clone());
            return Err(Error::new(Code::Busy, "the merge waits for its merge driver"));
        }
        Ok(memory.given_up.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MergeResult;
    use crate::repo::scratch::ScratchRepository;
    use axiom_model::base::names::Oid;

    /// Two branches that change a file which this driver merges.
    fn with_driver(command: &str) -> (ScratchRepository, Oid, Oid) {
        let scratch = ScratchRepository::new(&[]);
        let head = || Oid::new(scratch.git(&["rev-parse", "HEAD"])).unwrap();
        scratch.write(".gitattributes", b"a.txt merge=driven\n");
        scratch.write("word", b"driven\n");
        scratch.git(&["add", "-A"]);
        scratch.git(&["commit", "-qm", "attributes"]);
        scratch.git(&["switch", "-q", "-c", "side"]);
        scratch.write("a.txt", b"side\n");
        scratch.git(&["commit", "-qam", "side"]);
        let side = head();
        scratch.git(&["switch", "-q", "main"]);
        scratch.write("a.txt", b"main\n");
        scratch.git(&["commit", "-qam", "main"]);
        let main = head();
        scratch.git(&["config", "merge.driven.driver", command]);
        (scratch, main, side)
    }

    #[test]
    fn a_merge_that_needs_a_driver_waits_for_whoever_runs_it_aside() {
        let (scratch, main, side) = with_driver("cat word > %A");
        let repo = scratch.repo();
        repo.merges().run_drivers_aside();
        let waits = || repo.merges().merge_in_memory(&main, &side).unwrap_err().code();
        assert_eq!((waits(), waits()), (Code::Busy, Code::Busy));
        let asked = repo.merges().take_merge_to_run().unwrap();
        assert!(repo.merges().take_merge_to_run().is_none());
        let other = scratch.repo();
        assert!(other.merges().may_run_drivers().unwrap());
        let merge = other.merges().run_merge(asked, Arc::default()).unwrap();
        repo.merges().remember_merge(merge);
        let MergeResult::Clean(tree) = repo.merges().merge_in_memory(&main, &side).unwrap() else { panic!() };
        assert_eq!(scratch.git(&["show", &format!("{tree}:a.txt")]), "driven");
        // Whoever merges where no driver is asked waits for nobody.
        assert!(matches!(repo.merges().merge_in_memory(&side, &main).unwrap_err().code(), Code::Busy));
        scratch.git(&["config", "--unset", "merge.driven.driver"]);
        assert!(matches!(scratch.repo().merges().merge_in_memory(&side, &main).unwrap(), MergeResult::Conflict(_)));
    }

    #[test]
    fn a_driver_that_nobody_waits_for_is_ended() {
        let (scratch, main, side) = with_driver("sleep 60");
        let repo = scratch.repo();
        repo.merges().run_drivers_aside();
        repo.merges().merge_in_memory(&main, &side).unwrap_err();
        let asked = repo.merges().take_merge_to_run().unwrap();
        let begun = std::time::Instant::now();
        let given_up = Arc::new(AtomicBool::new(true));
        let error = scratch.repo().merges().run_merge(asked, given_up).unwrap_err();
        assert_eq!(error.code(), Code::FilterFailed);
        assert!(begun.elapsed().as_secs() < 30);
    }
}
