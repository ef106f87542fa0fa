//! What git shows of a checkpoint beside its capture ref. It is decided once, when the checkpoint is made, and recorded;
//! whatever rebuilds, lists or removes tags and notes reads what was decided.

use serde::{Deserialize, Serialize};

use crate::checkpoint::trigger::{CheckpointTrigger, CheckpointType};

/// Which checkpoints get a tag: the values of `checkpoints.tags`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CheckpointTagPolicy {
    /// All but those of attached sessions.
    All,
    /// Those that a user named.
    Named,
    /// None.
    None,
}

/// What a checkpoint has beside its capture ref.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CheckpointMarks {
    /// A tag, and a note on it.
    Tagged,
    /// A note on its capture.
    Noted,
    /// Nothing: its capture has the document too.
    Bare,
}

impl CheckpointMarks {
    /// What a new checkpoint gets. Those of attached sessions are many, so they get nothing.
    pub const fn decide(tags: CheckpointTagPolicy, kind: CheckpointType, trigger: CheckpointTrigger) -> Self {
        if trigger.is_attached() {
            return Self::Bare;
        }
        match (tags, kind) {
            (CheckpointTagPolicy::All, CheckpointType::Auto | CheckpointType::Named)
            | (CheckpointTagPolicy::Named, CheckpointType::Named) => Self::Tagged,
            (CheckpointTagPolicy::Named, CheckpointType::Auto)
            | (CheckpointTagPolicy::None, CheckpointType::Auto | CheckpointType::Named) => Self::Noted,
        }
    }

    /// What a checkpoint has whose record does not say it: what most have.
    pub(super) const fn unsaid(trigger: CheckpointTrigger) -> Self {
        Self::decide(CheckpointTagPolicy::All, CheckpointType::Auto, trigger)
    }

    /// What is recorded: nothing where it is what the absence of a record means.
    pub fn recorded(self, trigger: CheckpointTrigger) -> Option<Self> {
        (self != Self::unsaid(trigger)).then_some(self)
    }

    /// Whether it has a tag.
    pub const fn has_tag(self) -> bool {
        match self {
            Self::Tagged => true,
            Self::Noted | Self::Bare => false,
        }
    }

    /// Whether it has a note: on its tag, or on its capture where it has no tag.
    pub const fn has_note(self) -> bool {
        match self {
            Self::Tagged | Self::Noted => true,
            Self::Bare => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [CheckpointType; 2] = [CheckpointType::Auto, CheckpointType::Named];

    #[test]
    fn the_setting_decides_which_checkpoints_get_a_tag_and_the_others_have_their_note_on_the_capture() {
        let decided = |tags| KINDS.map(|kind| CheckpointMarks::decide(tags, kind, CheckpointTrigger::Manual));
        assert_eq!(decided(CheckpointTagPolicy::All), [CheckpointMarks::Tagged, CheckpointMarks::Tagged]);
        assert_eq!(decided(CheckpointTagPolicy::Named), [CheckpointMarks::Noted, CheckpointMarks::Tagged]);
        assert_eq!(decided(CheckpointTagPolicy::None), [CheckpointMarks::Noted, CheckpointMarks::Noted]);
    }

    #[test]
    fn attached_checkpoints_never_get_anything_beside_their_ref() {
        for tags in [CheckpointTagPolicy::All, CheckpointTagPolicy::Named, CheckpointTagPolicy::None] {
            for kind in KINDS {
                assert_eq!(CheckpointMarks::decide(tags, kind, CheckpointTrigger::Prompt), CheckpointMarks::Bare);
            }
        }
    }

    #[test]
    fn only_what_is_not_usual_is_recorded() {
        assert_eq!(CheckpointMarks::Tagged.recorded(CheckpointTrigger::Manual), None);
        assert_eq!(CheckpointMarks::Bare.recorded(CheckpointTrigger::Turn), None);
        assert_eq!(CheckpointMarks::Noted.recorded(CheckpointTrigger::Manual), Some(CheckpointMarks::Noted));
        assert_eq!(CheckpointMarks::unsaid(CheckpointTrigger::Manual), CheckpointMarks::Tagged);
        assert_eq!(CheckpointMarks::unsaid(CheckpointTrigger::Turn), CheckpointMarks::Bare);
    }
}
