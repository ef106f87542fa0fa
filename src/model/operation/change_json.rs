//! How changes are written in the documents of `--json`: one form for each kind of thing, the same for all verbs. Stored
//! events do not use these forms: their names never change.
//!
//! The functions are for `#[serde(serialize_with = …)]`.

use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};

use crate::base::ids::{CheckpointName, TaskId};
use crate::base::names::{Oid, RefName};
use crate::base::ref_change::{ChangeDirection, RefChange};
use crate::base::text::ValueChange;
use crate::checkpoint::branch_config::{BranchConfigChange, ConfigValue};
use crate::checkpoint::known_scope::KnownPathsCount;
use crate::checkpoint::local_refs::StashEntry;
use crate::journal::journaled_changes::StashChange;
use crate::work::tasks::task::{TaskChangeSet, TaskFieldChange};

/// How a file changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum FileChange {
    /// There is no such file yet.
    Added,
    /// It gets other content.
    Modified,
    /// It is deleted.
    Deleted,
    /// It becomes executable, or stops being executable.
    ModeChanged,
    /// It gets another type, such as symbolic link or submodule.
    TypeChanged,
}

impl FileChange {
    /// How a file changes, from its mode and content id in git before and after.
    pub fn between<T: PartialEq>(old: Option<(u32, &T)>, new: Option<(u32, &T)>) -> Self {
        let of_type = |mode: u32| mode & 0o170_000;
        match (old, new) {
            (None, _) => Self::Added,
            (Some(_), None) => Self::Deleted,
            (Some((then, _)), Some((now, _))) if of_type(then) != of_type(now) => Self::TypeChanged,
            // The same mode too: git sees no change, but the bytes that git's conversions hide differ. That is `Modified`.
            (Some((one, then)), Some((other, now))) if then == now && one != other => Self::ModeChanged,
            (Some(_), Some(_)) => Self::Modified,
        }
    }
}

/// What happens to a workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum WorkspaceFate {
    /// Its files are rolled back; its folder stays where it is.
    Restored,
    /// It goes to the trash.
    PutAside,
    /// It comes back from the trash.
    BroughtBack,
    /// It is made again from its capture, without ignored files.
    MadeAgain,
    /// Its folder does not exist any more; git and the state forget it.
    Forgotten,
    /// It could not be captured, and stays as it is.
    NotCaptured,
}

/// A ref that changes.
#[derive(Serialize)]
struct RefChangeJson<'a> {
    name: &'a RefName,
    /// Null: there is none.
    old: Option<&'a Oid>,
    /// Null: there is none.
    new: Option<&'a Oid>,
}

/// Refs that change: {`name`, `old`, `new`}.
pub fn refs<S: Serializer>(all: &[RefChange], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(all.iter().map(|RefChange { name, value }| RefChangeJson {
        name,
        old: value.old.as_ref(),
        new: value.new.as_ref(),
    }))
}

/// What happens to something that is neither a file nor a folder.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum ChangeActionJson {
    Removed,
    BroughtBack,
}

impl From<ChangeDirection> for ChangeActionJson {
    fn from(way: ChangeDirection) -> Self {
        match way {
            ChangeDirection::PutAside => Self::Removed,
            ChangeDirection::BringBack => Self::BroughtBack,
        }
    }
}

/// A stash entry that comes back or goes.
#[derive(Serialize)]
struct StashChangeJson<'a> {
    id: &'a Oid,
    message: &'a str,
    action: ChangeActionJson,
}

/// Stash entries that are removed or brought back: {`id`, `message`, `action`}.
pub fn stash<S: Serializer>(all: &[StashChange], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(all.iter().map(|StashChange { entry, way }| StashChangeJson {
        id: &entry.id,
        message: &entry.message,
        action: ChangeActionJson::from(*way),
    }))
}

/// As [`stash`], where all entries come back.
pub fn stash_back<S: Serializer>(all: &[StashEntry], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(all.iter().map(|StashEntry { id, message }| StashChangeJson {
        id,
        message,
        action: ChangeActionJson::BroughtBack,
    }))
}

/// The configuration of a branch that changes.
#[derive(Serialize)]
struct BranchConfigJson<'a> {
    branch: &'a RefName,
    values: &'a [ConfigValue],
    action: ChangeActionJson,
}

/// The configuration of branches that is removed or brought back: {`branch`, `values`, `action`}.
pub fn branch_configs<S: Serializer>(all: &[BranchConfigChange], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(all.iter().map(|BranchConfigChange { branch, values, way }| BranchConfigJson {
        branch,
        values,
        action: ChangeActionJson::from(*way),
    }))
}

/// A task of which fields change.
#[derive(Serialize)]
struct TaskFieldChangesJson<'a> {
    id: &'a TaskId,
    changes: Vec<FieldChangeJson<'a>>,
}

/// Fields of tasks that change: {`id`, `changes`}.
pub fn tasks<S: Serializer>(all: &[TaskChangeSet], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(
        all.iter().map(|TaskChangeSet { id, changes }| TaskFieldChangesJson {
            id,
            changes: changes.iter().map(FieldChangeJson).collect(),
        }),
    )
}

/// Fields of one task that change: {`field`, `old`, `new`}.
pub fn fields<S: Serializer>(all: &[TaskFieldChange], to: S) -> Result<S::Ok, S::Error> {
    let mut list = to.serialize_seq(Some(all.len()))?;
    all.iter().try_for_each(|change| list.serialize_element(&FieldChangeJson(change)))?;
    list.end()
}

struct FieldChangeJson<'a>(&'a TaskFieldChange);

impl Serialize for FieldChangeJson<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        /// A field of a task that changes.
        #[derive(Serialize)]
        struct FieldValuesJson<'a, T> {
            /// `title`, `body`, `parent`, `after`, `needs`, `startEarly`, `persona`, `verify`, `limits`, `status`, `merged` or `reason`.
            field: &'static str,
            /// A long body is {`blob`, `size`}.
            old: &'a T,
            /// As `old`.
            new: &'a T,
        }
        fn line<T: Serialize, S: Serializer>(field: &'static str, change: &ValueChange<T>, to: S) -> Result<S::Ok, S::Error> {
            let ValueChange { old, new } = change;
            FieldValuesJson { field, old, new }.serialize(to)
        }
        let field = self.0.field();
        match self.0 {
            TaskFieldChange::Title(change) => line(field, change, to),
            TaskFieldChange::Body(change) => line(field, change, to),
            TaskFieldChange::Parent(change) => line(field, change, to),
            TaskFieldChange::After(change) => line(field, change, to),
            TaskFieldChange::Needs(change) => line(field, change, to),
            TaskFieldChange::StartEarly(change) => line(field, change, to),
            TaskFieldChange::Persona(change) => line(field, change, to),
            TaskFieldChange::Verify(change) => line(field, change, to),
            TaskFieldChange::Limits(change) => line(field, change, to),
            TaskFieldChange::Status(change) => line(field, change, to),
            TaskFieldChange::Merged(change) => line(field, change, to),
            TaskFieldChange::Reason(change) => line(field, change, to),
        }
    }
}

/// A checkpoint, written with its name only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckpointNameJson<'a> {
    /// Its name.
    pub name: &'a CheckpointName,
}

/// For a checkpoint of known paths: how many paths were looked at, and which checkpoint the rest is taken from.
pub fn only<S: Serializer>(only: &Option<KnownPathsCount>, to: S) -> Result<S::Ok, S::Error> {
    /// How many paths were looked at, and where all else is from.
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct KnownPathsJson<'a> {
        /// How many paths.
        count: u64,
        /// The name of the checkpoint that all else is taken from.
        all_else_as_of: &'a str,
        /// Its capture: a name may be given again.
        all_else_capture: &'a Oid,
        /// Whether it was deleted since.
        all_else_gone: bool,
    }
    let line = only.as_ref().map(|only| {
        let KnownPathsCount { paths, all_else_as_of, all_else_capture, all_else_gone } = only;
        let all_else_gone = *all_else_gone;
        KnownPathsJson { count: *paths, all_else_as_of: all_else_as_of.as_str(), all_else_capture, all_else_gone }
    });
    line.serialize(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_becomes_of_a_file_follows_from_mode_and_content() {
        let between = |old: Option<(u32, u8)>, new: Option<(u32, u8)>| {
            FileChange::between(old.as_ref().map(|(mode, id)| (*mode, id)), new.as_ref().map(|(mode, id)| (*mode, id)))
        };
        let (file, program, link) = (0o100_644, 0o100_755, 0o120_000);
        assert_eq!(between(None, Some((file, 1))), FileChange::Added);
        assert_eq!(between(Some((file, 1)), None), FileChange::Deleted);
        assert_eq!(between(Some((file, 1)), Some((file, 2))), FileChange::Modified);
        assert_eq!(between(Some((file, 1)), Some((program, 2))), FileChange::Modified);
        assert_eq!(between(Some((file, 1)), Some((program, 1))), FileChange::ModeChanged);
        assert_eq!(between(Some((file, 1)), Some((link, 1))), FileChange::TypeChanged);
    }

    #[test]
    fn every_field_that_changes_has_the_same_three_keys() {
        let changes = [
            TaskFieldChange::Title(ValueChange::new("a".into(), "b".into())),
            TaskFieldChange::Parent(ValueChange::new(None, Some(TaskId::new("g").unwrap()))),
        ];
        let mut text = Vec::new();
        fields(&changes, &mut serde_json::Serializer::new(&mut text)).unwrap();
        let wanted = r#"[{"field":"title","old":"a","new":"b"},{"field":"parent","old":null,"new":"g"}]"#;
        assert_eq!(String::from_utf8(text).unwrap(), wanted);
    }
}
