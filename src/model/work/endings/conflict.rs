//! Conflicts of merges: how they are settled, and what is kept of one. Pure.

use serde::{Deserialize, Serialize};

use crate::base::names::Oid;

/// Who settles a conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ConflictLevel {
    /// Nobody has to: the task's commits apply to the target one by one.
    Trivial,
    /// An agent, in another iteration.
    Agent,
    /// A human, at a gate.
    Human,
}

impl ConflictLevel {
    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Trivial => "trivial",
            Self::Agent => "agent",
            Self::Human => "human",
        }
    }
}

/// What an agent could do about a conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConflictProgramAbility {
    /// Its program reads a prompt.
    ReadsPrompts,
    /// It runs a script, which would only do the same again.
    RunsScript,
}

/// Who settles a conflict that no merge in memory could, where agents were given `rounds` of them already for this task.
pub fn level(program: ConflictProgramAbility, rounds: u32, max_retries: u32) -> ConflictLevel {
    match program {
        ConflictProgramAbility::ReadsPrompts if rounds < max_retries => ConflictLevel::Agent,
        ConflictProgramAbility::ReadsPrompts | ConflictProgramAbility::RunsScript => ConflictLevel::Human,
    }
}

/// The most files and commits that are kept.
pub const MOST: usize = 50;

/// A conflict that was given to an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AssignedConflict {
    /// The commit of the target with which the merge was computed.
    pub target: Oid,
    /// The commit of the task's branch.
    pub branch: Oid,
    /// The files, the first [`MOST`].
    pub files: Vec<String>,
    /// The commits that changed these files on the target since the branch began, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub theirs: Vec<String>,
    /// How many times a conflict of the task was given to an agent, with this one.
    pub round: u32,
}

/// Which sides have a file in conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConflictFileSides {
    /// Both.
    Both,
    /// The target deleted it.
    DeletedByTarget,
    /// The task deleted it.
    DeletedByTask,
}

/// A file in conflict, in a workspace in which a merge is in progress.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenConflictFile {
    /// Its path.
    pub path: String,
    /// Which sides have it.
    pub sides: ConflictFileSides,
    /// Whether it has conflict markers.
    pub is_marked: bool,
}

impl OpenConflictFile {
    fn in_words(&self, target: &str) -> String {
        let note = match (self.sides, self.is_marked) {
            (ConflictFileSides::Both, true) => String::new(),
            (ConflictFileSides::Both, false) => " (no conflict marker is in it: it has to be as it is to stay)".to_owned(),
            (ConflictFileSides::DeletedByTarget, _) => {
                format!(" (`{target}` deleted it, your branch changed it: keep it, or delete it)")
            }
            (ConflictFileSides::DeletedByTask, _) => {
                format!(" (your branch deleted it, `{target}` changed it: keep it, or delete it)")
            }
        };
        format!("{}{note}", self.path)
    }
}

impl AssignedConflict {
    /// What the next agent is told where an earlier one has merged the target, and nobody has said that the work is complete since.
    pub fn merged_in_words(&self, target: &str) -> String {
        let files: String = self.files.iter().map(|file| format!("- {file}\n")).collect();
        format!(
            "The work conflicted with `{target}` (at {}). An earlier iteration merged `{target}` into your branch, and it was cut off or \
             not accepted: check that both sides keep their meaning in these files, then report the task as complete.\n\n{files}",
            self.target.short()
        )
    }

    /// What the next agent is told, where the merge is in progress in its workspace with these files open, or where it has to begin it
    /// itself.
    pub fn in_words(&self, target: &str, begun: Option<&[OpenConflictFile]>) -> String {
        let list = |items: &[String]| items.iter().map(|item| format!("- {item}\n")).collect::<String>();
        let behind = if self.theirs.is_empty() {
            String::new()
        } else {
            format!("\nWhat changed them on `{target}` since:\n\n{}", list(&self.theirs))
        };
        let what = format!(
            "The work is complete, but it conflicts with `{target}` (at {}), so it could not be merged.",
            self.target.short()
        );
        let Some(open) = begun else {
            return format!(
                "{what} Merge `{target}` into your branch (`git merge {target}`), resolve the conflicts so that both sides keep their \
                 meaning, check the result and commit it; then report the task as complete.\n\nThe files in conflict:\n\n{}{behind}",
                list(&self.files)
            );
        };
        let more = open.len().saturating_sub(MOST);
        let shown = open.iter().take(MOST).map(|file| file.in_words(target));
        let shown: Vec<String> = shown.chain((more > 0).then(|| format!("and {more} more"))).collect();
        let files = if shown.is_empty() {
            "No file is in conflict any more.\n".to_owned()
        } else {
            format!("The files in conflict:\n\n{}", list(&shown))
        };
        format!(
            "{what} The merge of `{target}` into your branch is begun here: what does not conflict is merged in your files already. Edit \
             the files in conflict so that both sides keep their meaning and no conflict marker (`<<<<<<<`, `>>>>>>>`) is left, and check \
             the result; then report the task as complete. The merge is committed for you: you need no git command for it, and do not \
             abort it.\n\n{files}{behind}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_settle_a_conflict_a_few_times_and_scripts_never() {
        let table = [
            (ConflictProgramAbility::ReadsPrompts, 0, 3, ConflictLevel::Agent),
            (ConflictProgramAbility::ReadsPrompts, 2, 3, ConflictLevel::Agent),
            (ConflictProgramAbility::ReadsPrompts, 3, 3, ConflictLevel::Human),
            (ConflictProgramAbility::ReadsPrompts, 0, 0, ConflictLevel::Human),
            (ConflictProgramAbility::RunsScript, 0, 3, ConflictLevel::Human),
        ];
        for (program, rounds, most, expected) in table {
            assert_eq!(level(program, rounds, most), expected, "{program:?} {rounds} {most}");
        }
    }

    #[test]
    fn the_agent_is_told_both_sides() {
        let oid = Oid::new("1".repeat(40)).unwrap();
        let (files, theirs) = (vec!["a b".to_owned()], vec!["2222222 other (u)".to_owned()]);
        let conflict = AssignedConflict { target: oid.clone(), branch: oid, files, theirs, round: 1 };
        let words = conflict.in_words("main", None);
        assert!(
            words.contains("`git merge main`") && words.contains("- a b\n") && words.contains("- 2222222 other (u)\n"),
            "{words}"
        );
        let file = |path: &str, sides, is_marked| OpenConflictFile { path: path.into(), sides, is_marked };
        let open = [
            file("m", ConflictFileSides::Both, true),
            file("b", ConflictFileSides::Both, false),
            file("t", ConflictFileSides::DeletedByTarget, false),
            file("w", ConflictFileSides::DeletedByTask, false),
        ];
        let words = conflict.in_words("main", Some(&open));
        let parts =
            ["- m\n- b (no conflict marker", "- t (`main` deleted it", "- w (your branch deleted it", "- 2222222 other (u)\n"];
        assert!(parts.iter().all(|part| words.contains(part)) && !words.contains("git merge"), "{words}");
        assert!(conflict.in_words("main", Some(&[])).contains("No file is in conflict any more"));
        let many: Vec<OpenConflictFile> = (0..60).map(|n| file(&n.to_string(), ConflictFileSides::Both, true)).collect();
        assert!(conflict.in_words("main", Some(&many)).contains("- 49\n- and 10 more\n"));
    }
}
