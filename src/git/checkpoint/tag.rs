//! The annotated tag of a checkpoint, on an empty commit on top of the commit that was checked out. The same values give the
//! same tag.

use axiom_base::error::{Code, Error, Result};
use axiom_model::base::ids::CheckpointName;
use axiom_model::base::names::{Oid, RefName};
use axiom_model::base::own_names::CAPTURES;

use crate::base::limits;
use crate::base::object_kind::ObjectKind;
use crate::objects::database::NewCommit;
use crate::repo::handles::Checkpoints;
use crate::repo::person_ident::PersonIdent;

impl Checkpoints<'_> {
    /// Writes the annotated tag, and the empty commit on top of the one that was checked out.
    pub(crate) fn write_tag(&self, name: &CheckpointName, capture: &Oid, tag: &CheckpointTag) -> Result<Oid> {
        let base = match &tag.commit {
            Some(commit) => commit.clone(),
            None => self.repo.objects().root_commit()?,
        };
        let tree = self.repo.objects().read_commit(&base)?.tree;
        let message = tag_message(name, capture);
        let commit = NewCommit { tree: &tree, parents: vec![base], who: &tag.tagger, message: &message };
        let commit = self.repo.objects().write_commit(&commit)?;
        let tagger = &tag.tagger;
        let content = format!("object {commit}\ntype commit\ntag axiom/{name}\ntagger {tagger}\n\n{message}");
        self.repo.objects().write_object(ObjectKind::Tag, content)
    }

    /// The tag object that belongs to a checkpoint; it is written if it does not exist.
    pub fn tag_of_checkpoint(&self, name: &CheckpointName, capture: &Oid, tag: &CheckpointTag) -> Result<Oid> {
        self.write_tag(name, capture, tag)
    }

    /// Whether a tag was made for a checkpoint of this name, judged by its message.
    pub fn is_tag_of_ours(&self, name: &CheckpointName, tag: &Oid) -> Result<bool> {
        let begins = format!("checkpoint {name}\n\nThe files are in {CAPTURES}{name} (");
        match self.repo.objects().read_object("tag", tag, limits::TAG) {
            Ok(raw) => Ok(String::from_utf8_lossy(&raw).split_once("\n\n").is_some_and(|(_, text)| text.starts_with(&begins))),
            // A lightweight tag is not one of ours.
            Err(e) if e.code() == Code::GitFailed && self.repo.objects().has_object(tag) => Ok(false),
            Err(e) => Err(e),
        }
    }
}

fn tag_message(name: &CheckpointName, capture: &Oid) -> String {
    format!("checkpoint {name}\n\nThe files are in {CAPTURES}{name} ({capture}).\n")
}

pub(crate) fn foreign_tag(tag: &RefName) -> Error {
    Error::new(Code::InTheWay, format!("another tag has the name {}", tag.short()))
        .hint(format!("rename it: git tag new-name {0} && git tag -d {0}", tag.short()))
}

/// What the tag of a checkpoint is made from; the same values give the same tag.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CheckpointTag {
    /// The commit that was checked out; `None` on an unborn branch.
    pub commit: Option<Oid>,
    /// The tagger, and the time.
    pub tagger: PersonIdent,
}
