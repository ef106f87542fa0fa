//! Conflicts of merges: how they are settled, and what is kept of one. Pure.

use serde::{Deserialize, Serialize};

use crate::domain::base::names::Oid;

/// Who settles a conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Level {
    /// Nobody has to: the task's commits apply to the target one by one.
    Trivial,
    /// An agent, in another iteration.
    Agent,
    /// A human, at a gate.
    Human,
}

impl Level {
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
pub enum Program {
    /// Its program reads a prompt.
    ReadsPrompts,
    /// It runs a script, which would only do the same again.
    RunsScript,
}

/// Who settles a conflict that no merge in memory could, where agents were given `rounds` of them already for this task.
pub fn level(program: Program, rounds: u32, max_retries: u32) -> Level {
    match program {
        Program::ReadsPrompts if rounds < max_retries => Level::Agent,
        Program::ReadsPrompts | Program::RunsScript => Level::Human,
    }
}

/// The most files and commits that are kept.
pub const MOST: usize = 50;

/// A conflict that was given to an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Conflict {
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

impl Conflict {
    /// What the next agent is told.
    pub fn in_words(&self, target: &str) -> String {
        let list = |items: &[String]| items.iter().map(|item| format!("- {item}\n")).collect::<String>();
        let behind = if self.theirs.is_empty() {
            String::new()
        } else {
            format!("\nWhat changed them on `{target}` since:\n\n{}", list(&self.theirs))
        };
        format!(
            "The work is complete, but it conflicts with `{target}` (at {}), so it could not be merged. Merge `{target}` into your \
             branch (`git merge {target}`), resolve the conflicts so that both sides keep their meaning, check the result and commit \
             it; then report the task as complete.\n\nThe files in conflict:\n\n{}{behind}",
            self.target.short(),
            list(&self.files)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_settle_a_conflict_a_few_times_and_scripts_never() {
        let table = [
            (Program::ReadsPrompts, 0, 3, Level::Agent),
            (Program::ReadsPrompts, 2, 3, Level::Agent),
            (Program::ReadsPrompts, 3, 3, Level::Human),
            (Program::ReadsPrompts, 0, 0, Level::Human),
            (Program::RunsScript, 0, 3, Level::Human),
        ];
        for (program, rounds, most, expected) in table {
            assert_eq!(level(program, rounds, most), expected, "{program:?} {rounds} {most}");
        }
    }

    #[test]
    fn the_agent_is_told_both_sides() {
        let oid = Oid::new("1".repeat(40)).unwrap();
        let (files, theirs) = (vec!["a b".to_owned()], vec!["2222222 other (u)".to_owned()]);
        let words = Conflict { target: oid.clone(), branch: oid, files, theirs, round: 1 }.in_words("main");
        assert!(
            words.contains("`git merge main`") && words.contains("- a b\n") && words.contains("- 2222222 other (u)\n"),
            "{words}"
        );
    }
}
