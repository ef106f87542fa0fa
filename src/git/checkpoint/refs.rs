//! The three refs of a checkpoint: its capture ref (the commit point), its tag, its note.
//!
//! The checkpoint exists once its capture ref exists; a missing tag or note is made again from the objects of the capture.

use std::collections::{BTreeMap, BTreeSet};

use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_model::base::ids::CheckpointName;
use axiom_model::base::names::{Oid, RefName};
use axiom_model::base::own_names::{CAPTURES, NOTES, capture_ref, checkpoint_tag};

use super::held_ref_group::HeldRefs;
use super::held_refs::REFS;
use super::record::JSON;
use super::tag::CheckpointTag;
use super::tag::foreign_tag;
use crate::base::limits;
use crate::base::modes::TREE;
use crate::base::tries::{TRIES, wait_a_little};
use crate::capture::captured::WorktreeCapture;
use crate::capture::worktree::captured_trees::CaptureCommits;
use crate::objects::database::{NewCommit, TreeEntry, gix_id};
use crate::refs::edits::{ExpectedRefValue, RefEdit};
use crate::repo::handles::Checkpoints;

/// The objects of a checkpoint, made but not yet referenced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckpointObjects {
    /// The main worktree's capture: the value for `refs/axiom/captures/<name>`.
    pub capture: Oid,
    /// The blob of the JSON document.
    pub json: Oid,
}

/// What a checkpoint has beside its capture ref.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckpointMark {
    /// This tag, and the note on it.
    Tag(CheckpointTag),
    /// The note on its capture.
    Note,
    /// Nothing.
    Nothing,
}

/// A checkpoint as found from its capture ref.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckpointRef {
    /// Its name.
    pub name: CheckpointName,
    /// The value of its capture ref.
    pub capture: Oid,
}

impl Checkpoints<'_> {
    /// Makes the objects of a checkpoint: `main` is the main worktree's capture, `json` the document, `kept` are all commits
    /// that must stay reachable (the captures of other worktrees, targets of refs that the document names), `refs` the local
    /// refs. Nothing refers to the objects yet.
    pub fn checkpoint_objects(
        &self,
        name: &CheckpointName,
        main: &WorktreeCapture,
        json: &[u8],
        kept: &[Oid],
        refs: &HeldRefs,
    ) -> Result<CheckpointObjects> {
        limits::fits("the document of the checkpoint", json, limits::DOCUMENT)
            .map_err(|error| error.hint("long bodies of tasks make it large; those over 1 KiB are stored separately"))?;
        let who = self.repo.objects().signature()?;
        let blob = self.repo.objects().write_blob(json)?;
        let document = TreeEntry { mode: 0o100_644, oid: blob.clone(), name: JSON.to_vec() };
        let tree =
            self.repo.trees().write_tree(&[document, TreeEntry { mode: TREE, oid: refs.tree.clone(), name: REFS.to_vec() }])?;
        for oid in kept {
            self.repo.durability().note_written([gix_id(oid)?]);
        }
        let mut seen = BTreeSet::new();
        let parents = kept.iter().chain(&refs.commits).filter(|oid| seen.insert(*oid)).cloned().collect();
        let message = format!("checkpoint {name}: its document, and what it keeps");
        let record = self.repo.objects().write_commit(&NewCommit { tree: &tree, parents, who: &who, message: &message })?;
        let CaptureCommits { commit, .. } =
            self.repo.captures().commit_capture(main, &format!("checkpoint {name}"), &[record])?;
        env::fault_point("git.checkpoint-objects");
        Ok(CheckpointObjects { capture: commit, json: blob })
    }

    /// Creates the capture ref (from here on the checkpoint exists) and what else it has, durably; tag and note together with it. After a crash [`Checkpoints::complete_checkpoint`] makes what is missing.
    pub fn publish_checkpoint(&self, name: &CheckpointName, objects: &CheckpointObjects, marking: &CheckpointMark) -> Result<()> {
        let capture_name = capture_ref(name);
        let capture =
            RefEdit { name: capture_name.clone(), expected: ExpectedRefValue::Absent, new: Some(objects.capture.clone()) };
        let tag_name = checkpoint_tag(name);
        let tag = match marking {
            CheckpointMark::Tag(tag) => tag,
            CheckpointMark::Note => {
                // The ref alone first: a note that a crash leaves on a capture without a ref would be found by nobody.
                self.repo.refs().update_refs(&[capture], &format!("git axiom: checkpoint {name}"))?;
                env::fault_point("git.checkpoint-noted");
                let note = BTreeMap::from([(objects.capture.clone(), Some(objects.json.clone()))]);
                return self.repo.notes().set_notes(&note);
            }
            CheckpointMark::Nothing => return self.repo.refs().update_refs(&[capture], &format!("git axiom: checkpoint {name}")),
        };
        let object = self.write_tag(name, &objects.capture, tag)?;
        let tag = RefEdit { name: tag_name.clone(), expected: ExpectedRefValue::Absent, new: Some(object.clone()) };
        let note = BTreeMap::from([(object, Some(objects.json.clone()))]);
        let mut last = None;
        for _ in 0..TRIES {
            let mut edits = vec![capture.clone()];
            edits.extend(self.repo.notes().edit_notes(&self.repo.notes().load()?, &note)?);
            edits.push(tag.clone());
            match self.repo.refs().update_refs(&edits, &format!("git axiom: checkpoint {name}")) {
                Ok(()) => return Ok(()),
                Err(e) if matches!(e.code(), Code::ChangedMeanwhile | Code::GitLocked) => {
                    let now = self.repo.refs().read_refs(&[capture_name.clone(), tag_name.clone()])?;
                    if now.contains_key(&capture_name) {
                        let taken = format!("there is a checkpoint '{name}' already");
                        return Err(Error::new(Code::DuplicateId, taken).hint("choose another name"));
                    }
                    if now.contains_key(&tag_name) {
                        return Err(foreign_tag(&tag_name));
                    }
                    if e.code() == Code::GitLocked && !self.is_locked_by_others(&edits) {
                        return Err(e);
                    }
                    last = Some(e);
                    wait_a_little();
                }
                Err(e) => return Err(e),
            }
        }
        Err(self.repo.notes().others_were_first(&RefName::new(NOTES), last))
    }

    /// Whether no ref of the edits is locked but perhaps the notes, whose lock other processes take only for a moment.
    fn is_locked_by_others(&self, edits: &[RefEdit]) -> bool {
        let lock = |name: &RefName| self.repo.refs().lock_of_ref(name).exists();
        !edits.iter().any(|edit| edit.name.as_str() != NOTES && lock(&edit.name))
    }

    /// Makes the note and the tag of a checkpoint where they are missing and it has them; returns what its note is on: the tag,
    /// or its capture. The tag is the same object as before, byte for byte. Text that others wrote into the note is kept below
    /// our document.
    pub fn complete_checkpoint(&self, name: &CheckpointName, capture: &Oid, json: &Oid, marking: &CheckpointMark) -> Result<Oid> {
        let object = match marking {
            CheckpointMark::Tag(tag) => self.complete_tag(name, capture, tag)?,
            CheckpointMark::Note => capture.clone(),
            CheckpointMark::Nothing => return Ok(capture.clone()),
        };
        let note = match self.repo.notes().note_of(&self.repo.notes().load()?, &object)? {
            Some(there) => self.repo.notes().note_with_ours(&there, json)?,
            None => json.clone(),
        };
        self.repo.notes().set_notes(&BTreeMap::from([(object.clone(), Some(note))]))?;
        // Perhaps the refs were right and only the tag object was missing or damaged.
        self.repo.durability().land()?;
        Ok(object)
    }

    fn complete_tag(&self, name: &CheckpointName, capture: &Oid, tag: &CheckpointTag) -> Result<Oid> {
        let object = self.write_tag(name, capture, tag)?;
        let tag_name = checkpoint_tag(name);
        match self.repo.refs().read_ref(&tag_name)? {
            Some(present) if present == object => {}
            Some(_) => return Err(foreign_tag(&tag_name)),
            None => {
                let edit = RefEdit { name: tag_name, expected: ExpectedRefValue::Absent, new: Some(object.clone()) };
                self.repo.refs().update_refs(&[edit], &format!("git axiom: checkpoint {name}"))?;
                env::fault_point("git.checkpoint-tagged");
            }
        }
        Ok(object)
    }

    /// All checkpoints that have a capture ref, ordered by name. Refs without a valid checkpoint name are left out.
    pub fn list(&self) -> Result<Vec<CheckpointRef>> {
        let refs = self.repo.refs().refs_below(CAPTURES)?;
        let named = refs.into_iter().filter_map(|found| {
            let name = CheckpointName::new(found.name.as_str().strip_prefix(CAPTURES)?).ok()?;
            Some(CheckpointRef { name, capture: found.oid })
        });
        Ok(named.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::scratch::ScratchRepository;
    use crate::{CaptureOptions, Repository};

    fn publish(
        scratch: &ScratchRepository,
        repo: &Repository,
        name: &str,
        kept: &[Oid],
    ) -> (CheckpointName, CheckpointObjects, CheckpointMark) {
        let options = CaptureOptions { max_file_size: 1000, excluded: Vec::new(), ..Default::default() };
        let taken = repo.captures().capture_worktree(&scratch.main(), &options).unwrap();
        let name = CheckpointName::new(name).unwrap();
        let json = format!("{{\"name\":\"{name}\"}}\n");
        let objects = repo
            .checkpoints()
            .checkpoint_objects(&name, &taken, json.as_bytes(), kept, &repo.checkpoints().hold_local_refs().unwrap())
            .unwrap();
        let tag = CheckpointMark::Tag(CheckpointTag {
            commit: taken.head.commit().cloned(),
            tagger: repo.objects().signature().unwrap(),
        });
        repo.checkpoints().publish_checkpoint(&name, &objects, &tag).unwrap();
        (name, objects, tag)
    }

    #[test]
    fn a_checkpoint_is_made_lost_and_completed() {
        for kind in [&[][..], &["--ref-format=reftable"], &["--object-format=sha256"]] {
            let scratch = ScratchRepository::new(kind);
            let repo = scratch.repo();
            scratch.git(&["notes", "--ref=axiom", "add", "-m", "of somebody else", "HEAD"]);
            let describe = scratch.git(&["describe", "--always"]);
            scratch.write("untracked", b"u");
            let kept = repo.objects().write_commit(&NewCommit {
                tree: &repo.trees().empty_tree().unwrap(),
                parents: Vec::new(),
                who: &repo.objects().signature().unwrap(),
                message: "kept",
            });
            let kept = kept.unwrap();
            let (name, objects, tag) = publish(&scratch, &repo, "x", std::slice::from_ref(&kept));
            scratch.git(&["gc", "-q", "--prune=now"]);
            assert!(repo.objects().has_object(&kept));
            assert_eq!(scratch.git(&["rev-parse", "axiom/x^{commit}^"]), scratch.git(&["rev-parse", "HEAD"]));
            assert_eq!(scratch.git(&["diff", "axiom/x^{commit}", "HEAD"]), "");
            assert_eq!(scratch.git(&["notes", "--ref=axiom", "show", "axiom/x"]), "{\"name\":\"x\"}");
            assert_eq!(scratch.git(&["describe", "--always"]), describe);
            let (id, json) = repo.checkpoints().checkpoint_json(&objects.capture).unwrap();
            assert_eq!((id, json.as_slice()), (objects.json.clone(), &b"{\"name\":\"x\"}\n"[..]));
            assert_eq!(
                repo.checkpoints().list().unwrap(),
                [CheckpointRef { name: name.clone(), capture: objects.capture.clone() }]
            );
            let taken = repo.checkpoints().publish_checkpoint(&name, &objects, &tag).unwrap_err();
            assert_eq!(taken.code(), Code::DuplicateId);
            // Lost by `git fetch --prune --prune-tags`: the same tag is made again.
            let before = scratch.git(&["rev-parse", "axiom/x"]);
            scratch.git(&["tag", "-d", "axiom/x"]);
            repo.checkpoints().complete_checkpoint(&name, &objects.capture, &objects.json, &tag).unwrap();
            assert_eq!(scratch.git(&["rev-parse", "axiom/x"]), before);
            let object = Oid::new(before).unwrap();
            assert!(repo.checkpoints().is_tag_of_ours(&name, &object).unwrap());
            repo.notes().set_notes(&BTreeMap::from([(object, None)])).unwrap();
            assert_eq!(scratch.git(&["notes", "--ref=axiom", "show", "HEAD"]), "of somebody else");
            scratch.git(&["fsck", "--strict"]);
        }
    }

    #[test]
    fn checkpoints_made_at_once_lose_no_note() {
        let scratch = ScratchRepository::new(&[]);
        std::thread::scope(|scope| {
            for writer in 0..3 {
                let scratch = &scratch;
                scope.spawn(move || {
                    let repo = scratch.repo();
                    for n in 0..3 {
                        publish(scratch, &repo, &format!("c{writer}-{n}"), &[]);
                    }
                });
            }
        });
        assert_eq!(scratch.repo().checkpoints().list().unwrap().len(), 9);
        assert_eq!(scratch.git(&["notes", "--ref=axiom", "list"]).lines().count(), 9);
    }

    #[test]
    fn an_unborn_branch_has_checkpoints_too() {
        let scratch = ScratchRepository::empty(&[]);
        let repo = scratch.repo();
        scratch.write("new", b"1");
        let (_, objects, _) = publish(&scratch, &repo, "first", &[]);
        assert_eq!(scratch.git(&["show", &format!("{}:new", objects.capture)]), "1");
    }
}
