//! The result of running commands on the result of a merge, and the merge for which it is valid.

use serde::{Deserialize, Serialize};

use crate::domain::base::names::Oid;

/// How many lines at the end of a failing command's output are recorded.
const LINES: usize = 20;
const LINE: usize = 400;

/// A merge that is not made yet: its two commits and the resulting tree. A verification is valid for exactly this merge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MergeOf {
    /// The commit of the task's branch.
    pub branch: Oid,
    /// The commit of the target branch.
    pub target: Oid,
    /// The resulting tree.
    pub tree: Oid,
}

/// The result of one command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepResult {
    /// The command.
    pub command: String,
    /// Why it did not pass; `None` if it passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// The last lines of its output, if it did not pass.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<String>,
}

/// The verification of a merge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Verification {
    /// The merge.
    pub of: MergeOf,
    /// The commands that have to pass, in order.
    pub commands: Vec<String>,
    /// The results of those that were run: up to the first that failed.
    pub results: Vec<StepResult>,
}

impl Verification {
    /// The result of the command that failed.
    pub fn failed(&self) -> Option<&StepResult> {
        self.results.iter().find(|result| result.failure.is_some())
    }

    /// Whether every command was run and passed.
    pub fn passed(&self) -> bool {
        let ran = self.results.iter().map(|result| &result.command);
        self.failed().is_none() && ran.eq(&self.commands)
    }

    /// Whether it is valid for exactly this merge and these commands.
    pub fn is_about(&self, of: &MergeOf, commands: &[String]) -> bool {
        self.of == *of && self.commands == commands
    }

    /// What failed, in one line.
    pub fn summary(&self) -> Option<String> {
        let failed = self.failed()?;
        Some(format!("merge.verify '{}' {}", failed.command, failed.failure.as_deref().unwrap_or_default()))
    }
}

/// The last lines of a command's output.
pub fn last_lines(output: &str) -> Vec<String> {
    let lines: Vec<&str> = output.trim_end().lines().collect();
    let last = lines.iter().skip(lines.len().saturating_sub(LINES));
    last.map(|line| line.chars().take(LINE).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(branch: char, target: char, tree: char) -> MergeOf {
        let oid = |digit: char| Oid::new(digit.to_string().repeat(40)).unwrap();
        MergeOf { branch: oid(branch), target: oid(target), tree: oid(tree) }
    }

    fn passes(command: &str) -> StepResult {
        StepResult { command: command.into(), failure: None, lines: Vec::new() }
    }

    #[test]
    fn it_holds_for_one_merge_and_its_commands_alone() {
        let commands = vec!["a".to_owned(), "b".to_owned()];
        let one = Verification { of: of('1', '2', '3'), commands: commands.clone(), results: vec![passes("a"), passes("b")] };
        assert!(one.passed() && one.is_about(&of('1', '2', '3'), &commands));
        for other in [of('9', '2', '3'), of('1', '9', '3'), of('1', '2', '9')] {
            assert!(!one.is_about(&other, &commands));
        }
        assert!(!one.is_about(&of('1', '2', '3'), &commands[..1]));
        assert!(!one.is_about(&of('1', '2', '3'), &["b".to_owned(), "a".to_owned()]));
    }

    #[test]
    fn a_command_that_failed_or_was_not_run_passes_nothing() {
        let commands = vec!["a".to_owned(), "b".to_owned()];
        let with = |results: Vec<StepResult>| Verification { of: of('1', '2', '3'), commands: commands.clone(), results };
        assert!(!with(vec![passes("a")]).passed());
        assert!(!with(Vec::new()).passed());
        assert!(!with(vec![passes("b"), passes("a")]).passed());
        let failed = StepResult { failure: Some("exited with status 1".into()), ..passes("b") };
        let failed = with(vec![passes("a"), failed]);
        assert!(!failed.passed());
        assert_eq!(failed.summary().unwrap(), "merge.verify 'b' exited with status 1");
    }

    #[test]
    fn the_last_lines_are_few_and_short() {
        let output = (0..100).map(|n| format!("{n}{}\n", "x".repeat(1000))).collect::<String>();
        let lines = last_lines(&output);
        assert_eq!((lines.len(), lines[0].len(), &lines[19][..2]), (20, 400, "99"));
    }
}
