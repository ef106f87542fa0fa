//! Changing refs while a `git gc` may be running.
//!
//! `git gc` removes unreachable objects, and all new objects are unreachable until a ref names them. So the code that moves
//! refs checks before and after whether a gc is running. It never takes gc's own lock, since that would make the user's `git
//! gc` fail.
//!
//! If a gc is running, all objects that only the moved refs will reach go into one pack before the refs move: new objects,
//! and old ones that nothing referred to. A `.keep` file protects the pack until the refs have moved; by then the pack is
//! older than any list of packs that was made without knowing the new values. If no gc is running, the objects that were
//! written or reused are looked up once more after the refs have moved. If some are missing, the refs are moved back, and
//! the caller tries again.
//!
//! `git prune --expire=now`, started directly at that moment, leaves no `gc.pid`. What it removes is found by the second
//! lookup, unless it removes it later still.

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axiom_base::error::{Code, Error, Result};
use axiom_base::{env, files};
use axiom_model::base::names::Oid;
use axiom_model::base::own_names::NOTES;

use crate::objects::database::gix_id;
use crate::refs::edits::{ExpectedRefValue, RefEdit};
use crate::repo::handles::ConcurrentGc;

/// How long git itself trusts the `gc.pid` of a gc on another machine.
const ELSEWHERE: Duration = Duration::from_secs(12 * 60 * 60);

/// The beginning of the `.keep` files of our packs.
const KEEP: &str = "git axiom ";

/// A `.keep` of ours is not removed before this age.
const KEEP_AGE: Duration = Duration::from_secs(60 * 60);

/// The largest `gc.pid` or `.keep` that is read.
const SIGN_LIMIT: u64 = 4096;

/// A pack with a `.keep`: no gc repacks it while this value lives.
#[derive(Debug)]
pub(crate) struct KeptPack {
    mark: Option<PathBuf>,
}

impl Drop for KeptPack {
    fn drop(&mut self) {
        if let Some(Err(error)) = self.mark.as_deref().map(files::remove_file) {
            tracing::warn!(%error, "a pack is kept for longer than needed");
        }
    }
}

impl ConcurrentGc<'_> {
    /// Whether a `git gc` is running in this repository.
    pub(crate) fn gc_lives(&self) -> bool {
        let file = self.repo.common_dir().join("gc.pid");
        let Ok(Some(sign)) = files::read_optional(&file, SIGN_LIMIT) else { return false };
        let Ok(Some(meta)) = files::metadata(&file) else { return false };
        // A time in the future counts as age zero.
        let age = meta.modified().ok().and_then(|at| at.elapsed().ok()).unwrap_or_default();
        is_alive(&String::from_utf8_lossy(&sign), env::host_name().as_deref(), age, is_running)
    }

    /// Puts all objects that the edits are going to make reachable, and that no ref reaches yet, into one pack with a
    /// `.keep`. The pack is in the stage, and moves into the object database with the other new objects.
    pub(crate) fn pack_before(&self, edits: &[RefEdit]) -> Result<KeptPack> {
        self.pack_apart(edits, &["--not", "--all"])
    }

    /// Like [`ConcurrentGc::pack_before`], but after the refs have moved: packs what only these refs reach. The pack is in the
    /// object database when this returns.
    pub(crate) fn pack_after(&self, edits: &[RefEdit]) -> Result<KeptPack> {
        let others: Vec<String> = edits.iter().map(|edit| format!("--exclude={}", edit.name)).collect();
        let mut but = vec!["--not"];
        but.extend(others.iter().map(String::as_str));
        but.push("--all");
        let pack = self.pack_apart(edits, &but)?;
        self.repo.durability().sync_objects()?;
        Ok(pack)
    }

    fn pack_apart(&self, edits: &[RefEdit], but: &[&str]) -> Result<KeptPack> {
        let roots: Vec<Oid> = edits.iter().filter_map(|edit| edit.new.clone()).collect();
        let mut apart = self.listed_below(&roots, but)?;
        if apart.is_err() {
            // Perhaps a ref that is not part of the edits is damaged.
            apart = self.listed_below(&roots, &[])?;
        }
        let list = apart.map_err(|words| gone(&words))?;
        if list.is_empty() {
            return Ok(KeptPack { mark: None });
        }
        let folder = self.repo.durability().stage_folder()?;
        let objects = folder.map_or_else(|| self.repo.common_dir().join("objects"), |folder| folder.path().to_owned());
        let output = self.repo.durability().pack_objects(&objects, list.join(&b'\n'))?.run()?;
        if !output.ok() {
            let error = output.error();
            return Err(if error.code() == Code::GitFailed { gone(&error.to_string()) } else { error });
        }
        let keep = format!("pack-{}.keep", output.text()?);
        files::write_scratch(&objects.join("pack").join(&keep), format!("{KEEP}{}\n", std::process::id()).as_bytes())?;
        if let Some(stage) = self.repo.durability().stage()? {
            // These objects are in the pack.
            let ids = list.iter().filter_map(|line| gix::ObjectId::from_hex(line.split(|b| *b == b' ').next()?).ok());
            stage.forget(&ids.collect());
            stage.note_git();
        }
        env::fault_point("git.packed-beside-gc");
        Ok(KeptPack { mark: Some(self.repo.common_dir().join("objects/pack").join(keep)) })
    }

    /// The objects that these roots reach, one per line, or git's message about a missing one.
    fn listed_below(&self, roots: &[Oid], but: &[&str]) -> Result<std::result::Result<Vec<Vec<u8>>, String>> {
        let output = self.repo.connectivity().walk(roots, &[]).args(but).run()?;
        if !output.ok() {
            return Ok(Err(output.error().to_string()));
        }
        Ok(Ok(output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(<[u8]>::to_vec).collect()))
    }

    /// Changes refs with `change`, and leaves no ref that names objects which a gc has removed meanwhile.
    pub(crate) fn beside_gc(&self, edits: &[RefEdit], change: impl Fn(&[RefEdit]) -> Result<()>) -> Result<()> {
        if edits.iter().all(|edit| edit.new.is_none()) {
            return change(edits);
        }
        let before = self.values_before(edits)?;
        let was_too_late = self.repo.objects.freshened.too_late.swap(false, Ordering::AcqRel);
        if was_too_late || self.gc_lives() {
            let _kept =
                self.pack_before(edits).inspect_err(|_| self.repo.objects.freshened.too_late.store(true, Ordering::Release))?;
            change(edits)?;
            self.repo.durability().forget_noted();
            return Ok(());
        }
        change(edits)?;
        env::fault_point("git.refs-published");
        let gone = self.repo.durability().gone_of_noted()?;
        if gone == 0 && !self.gc_lives() {
            return Ok(());
        }
        let Err(error) = self.pack_after(edits) else { return Ok(()) };
        tracing::warn!(%error, gone, "what was just published is not whole, and is taken back");
        self.repo.objects.freshened.too_late.store(true, Ordering::Release);
        let back: Vec<RefEdit> = before.into_iter().rev().collect();
        change(&back).map_err(|second| second.context("refs that name what a git gc has removed could not be taken back"))?;
        self.forget_taken_back(&back);
        Err(error)
    }

    /// The logs of our notes would go on naming what is gone, and git calls that damage.
    fn forget_taken_back(&self, back: &[RefEdit]) {
        for edit in back.iter().filter(|edit| edit.name.as_str() == NOTES) {
            let log = self.repo.common_dir().join("logs").join(edit.name.in_git());
            if let Err(error) = self.repo.workspace_damage().forget_lost(&log, None) {
                tracing::warn!(%error, "the log of a ref names what is gone");
            }
        }
    }

    /// Makes sure that the objects of a branch still exist, after git itself has committed to it.
    pub(crate) fn stands_beside_gc(&self, edit: &RefEdit) -> Result<()> {
        let is_there = |oid: &Oid| gix_id(oid).and_then(|id| self.repo.durability().is_there_now(&id));
        if !self.gc_lives() && edit.new.as_ref().map_or(Ok(true), is_there)? {
            return Ok(());
        }
        self.pack_after(std::slice::from_ref(edit)).map(drop)
    }

    /// The edits that undo these edits.
    fn values_before(&self, edits: &[RefEdit]) -> Result<Vec<RefEdit>> {
        let any: Vec<_> =
            edits.iter().filter(|edit| edit.expected == ExpectedRefValue::Any).map(|edit| edit.name.clone()).collect();
        let mut values = self.repo.refs().read_refs(&any)?;
        let back = edits.iter().map(|edit| RefEdit {
            name: edit.name.clone(),
            expected: ExpectedRefValue::from_old(edit.new.clone()),
            new: match &edit.expected {
                ExpectedRefValue::Value(old) => Some(old.clone()),
                ExpectedRefValue::Absent => None,
                ExpectedRefValue::Any => values.remove(&edit.name),
            },
        });
        Ok(back.collect())
    }

    /// Removes `.keep` files of ours whose process died before its refs moved.
    pub fn clear_kept_packs(&self) -> Result<()> {
        for entry in files::list(&self.repo.common_dir().join("objects/pack"))? {
            let path = entry.path();
            if path.extension().is_none_or(|kind| kind != "keep") {
                continue;
            }
            let Ok(Some(text)) = files::read_optional(&path, SIGN_LIMIT) else { continue };
            let owner = String::from_utf8_lossy(&text).strip_prefix(KEEP).and_then(|pid| pid.trim().parse().ok());
            let old = entry.metadata().ok().and_then(|meta| meta.modified().ok()?.elapsed().ok()).unwrap_or_default() > KEEP_AGE;
            if old && owner.is_some_and(|pid| !is_running(pid)) {
                files::remove_file(&path)?;
            }
        }
        Ok(())
    }
}

fn gone(words: &str) -> Error {
    Error::new(Code::Busy, "another process is pruning unreferenced objects")
        .why(words.to_owned())
        .hint("try again when 'git gc' or 'git prune' has ended")
}

fn is_running(pid: i32) -> bool {
    let Some(pid) = rustix::process::Pid::from_raw(pid) else { return false };
    !matches!(rustix::process::test_kill_process(pid), Err(rustix::io::Errno::SRCH))
}

/// Whether the content of `gc.pid`, `PID HOST`, is that of a running gc.
fn is_alive(sign: &str, here: Option<&str>, age: Duration, is_running: impl Fn(i32) -> bool) -> bool {
    let mut words = sign.split_whitespace();
    match (words.next().and_then(|pid| pid.parse().ok()), words.next()) {
        (Some(pid), Some(host)) if Some(host) == here => is_running(pid),
        // From another machine, or not completely written.
        (_, _) => age < ELSEWHERE,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use super::*;
    use crate::repo::repository::Repository;
    use crate::repo::scratch::ScratchRepository;
    use axiom_model::base::names::RefName;

    #[test]
    fn a_gc_is_alive_by_its_process_here_and_by_its_age_elsewhere() {
        let (now, old) = (Duration::ZERO, ELSEWHERE);
        for (sign, age, running, alive) in [
            ("12 here\n", old, true, true),
            ("12 here\n", now, false, false),
            ("12 there\n", now, false, true),
            ("12 there\n", old, true, false),
            ("", now, true, true),
            ("", old, true, false),
            ("x here", now, false, true),
        ] {
            assert_eq!(is_alive(sign, Some("here"), age, |_| running), alive, "{sign:?} {age:?} {running}");
        }
        assert!(is_alive("12 here", None, now, |_| false));
    }

    /// A commit that no ref reaches, with one file that existed before and one new file.
    fn unreached(scratch: &ScratchRepository, repo: &Repository) -> Oid {
        use crate::objects::database::{NewCommit, TreeEntry};
        scratch.write("reused", b"was there, and nothing refers to it");
        let old = Oid::new(scratch.git(&["hash-object", "-w", "reused"])).unwrap();
        let new = repo.objects().write_blob(b"is new").unwrap();
        let entry = |oid: &Oid, name: &str| TreeEntry { mode: 0o100_644, oid: oid.clone(), name: name.into() };
        let tree = repo.trees().write_tree(&[entry(&old, "old"), entry(&new, "new")]).unwrap();
        let who = repo.objects().signature().unwrap();
        let parents = vec![Oid::new(scratch.git(&["rev-parse", "HEAD"])).unwrap()];
        repo.objects().write_commit(&NewCommit { tree: &tree, parents, who: &who, message: "m" }).unwrap()
    }

    fn publish(commit: &Oid) -> RefEdit {
        RefEdit { name: RefName::new("refs/axiom/captures/x"), expected: ExpectedRefValue::Absent, new: Some(commit.clone()) }
    }

    fn packs(scratch: &ScratchRepository, kind: &str) -> usize {
        let folder = std::fs::read_dir(scratch.path().join(".git/objects/pack"));
        folder.map_or(0, |all| all.flatten().filter(|e| e.path().extension().is_some_and(|end| end == kind)).count())
    }

    #[test]
    fn beside_a_living_gc_all_that_a_ref_reaches_is_in_a_pack_before_it_moves() {
        for kind in [&[][..], &["--object-format=sha256"], &["--ref-format=reftable"]] {
            let scratch = ScratchRepository::new(kind);
            let repo = scratch.repo();
            let commit = unreached(&scratch, &repo);
            let sign = format!("{} {}", std::process::id(), axiom_base::env::host_name().unwrap_or_default());
            scratch.write(".git/gc.pid", sign.as_bytes());
            assert!(repo.concurrent_gc().gc_lives());
            let edit = publish(&commit);
            let seen = std::cell::Cell::new(false);
            repo.concurrent_gc()
                .beside_gc(std::slice::from_ref(&edit), |edits| {
                    repo.durability().sync_objects()?;
                    // The worst moment: a gc removes all unreachable objects, except those in packs with a `.keep`.
                    assert_eq!((packs(&scratch, "pack"), packs(&scratch, "keep")), (1, 1));
                    scratch.git(&["prune", "--expire=now"]);
                    scratch.git(&["repack", "-q", "-a", "-d"]);
                    scratch.git(&["prune", "--expire=now"]);
                    seen.set(true);
                    repo.own_refs().update_own_refs(edits, "test").map(|done| assert!(done || kind.len() == 1))
                })
                .unwrap();
            assert!(seen.get());
            assert_eq!(packs(&scratch, "keep"), 0, "the mark goes when the ref has moved");
            scratch.git(&["cat-file", "-e", &format!("{commit}:old")]);
            scratch.git(&["cat-file", "-e", &format!("{commit}:new")]);
        }
    }

    #[test]
    fn the_log_of_our_notes_does_not_name_what_was_taken_back() {
        let scratch = ScratchRepository::new(&[]);
        let repo = scratch.repo();
        let first = Oid::new(scratch.git(&["rev-parse", "HEAD"])).unwrap();
        scratch.git(&["update-ref", "refs/notes/axiom", first.as_str()]);
        let commit = unreached(&scratch, &repo);
        let name = RefName::new("refs/notes/axiom");
        let edit = RefEdit { name, expected: ExpectedRefValue::Value(first), new: Some(commit.clone()) };
        let change = |edits: &[RefEdit]| {
            repo.durability().sync_objects().unwrap();
            let (new, object) = (edits[0].new.as_ref().unwrap().as_str(), commit.as_str());
            scratch.git(&["update-ref", "refs/notes/axiom", new]);
            if new == object {
                let object = format!(".git/objects/{}/{}", &object[..2], &object[2..]);
                std::fs::remove_file(scratch.path().join(object)).unwrap();
            }
            Ok(())
        };
        let error = repo.concurrent_gc().beside_gc(std::slice::from_ref(&edit), change).unwrap_err();
        assert_eq!(error.code(), Code::Busy, "{error}");
        let log = std::fs::read_to_string(scratch.path().join(".git/logs/refs/notes/axiom")).unwrap();
        assert!(!log.contains(commit.as_str()) && log.lines().count() == 1, "{log}");
        scratch.git(&["fsck", "--strict"]);
    }

    #[test]
    fn what_a_gc_removed_before_it_was_published_is_taken_back_and_works_the_second_time() {
        let scratch = ScratchRepository::new(&[]);
        let repo = scratch.repo();
        let commit = unreached(&scratch, &repo);
        let edit = publish(&commit);
        let change = |edits: &[RefEdit]| {
            if edits[0].new.is_some() {
                repo.durability().sync_objects().unwrap();
                scratch.git(&["prune", "--expire=now"]);
                // As if the missing objects had not been noticed.
                let value = format!("{commit}\n");
                scratch.write(".git/refs/axiom/captures/x", value.as_bytes());
                return Ok(());
            }
            std::fs::remove_file(scratch.path().join(".git/refs/axiom/captures/x")).unwrap();
            Ok(())
        };
        let error = repo.concurrent_gc().beside_gc(std::slice::from_ref(&edit), change).unwrap_err();
        assert_eq!(error.code(), Code::Busy, "{error}");
        assert!(repo.refs().refs_below("refs/axiom/").unwrap().is_empty());
        scratch.git(&["gc", "-q", "--prune=now"]);
        let commit = unreached(&scratch, &repo);
        repo.refs().update_refs(&[publish(&commit)], "test").unwrap();
        assert_eq!((packs(&scratch, "keep"), scratch.git(&["count-objects"]).starts_with("0 ")), (0, false));
        scratch.git(&["fsck", "--strict"]);
    }
}
