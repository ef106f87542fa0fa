//! The result of running commands on the result of a merge, and the merge for which it is valid.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::base::names::Oid;
use crate::work::usd::Usd;
use crate::work::verifying::checks::named_step::NamedVerifyStep;
use crate::work::verifying::checks::step_report::VerifyStepReport;
use crate::work::verifying::checks::test_counts::TestCounts;

/// How many lines at the end of a failing command's output are recorded.
const LINES: usize = 20;
/// How many of one that passed.
const LINES_OF_PASSED: usize = 3;
const LINE: usize = 400;

/// A merge that is not made yet: its two commits and the resulting tree. A verification is valid for exactly this merge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MergeCandidate {
    /// The commit of the task's branch.
    pub branch: Oid,
    /// The commit of the target branch.
    pub target: Oid,
    /// The resulting tree.
    pub tree: Oid,
}

/// What is asked whether a merge may be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum VerifyChecker {
    /// A command of `verify` or `merge.verify`.
    #[default]
    Command,
    /// A hook that decides.
    Hook,
}

impl VerifyChecker {
    /// Whether it is the one that is left out.
    #[allow(clippy::trivially_copy_pass_by_ref)] // serde wants it
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// What the agent program of a persona used that looked at the work.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProgramUsage {
    /// The agent program.
    pub program: String,
    /// Absent where it tells none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Absent where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<Usd>,
    /// Whether it was ended before it had said everything.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cut_off: bool,
    /// When it ended, where that was long before it was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// Whether nobody saw its end: it ran at least as long as is said.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub end_unseen: bool,
}

/// What is known of the run of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VerifyStepRun {
    /// Its exit status, where it exited by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<i32>,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// How many tests it ran, where its output or its JUnit file says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<TestCounts>,
    /// The last lines that it reported of itself, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reported: Vec<VerifyStepReport>,
    /// What the program of a persona used; `None` of a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<ProgramUsage>,
}

/// The result of one command or hook.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VerifyStepResult {
    /// The command as it is written, with its name; or the hook's file.
    pub command: String,
    /// Which of the two it is.
    #[serde(default, skip_serializing_if = "VerifyChecker::is_default")]
    pub by: VerifyChecker,
    /// Why it did not pass; `None` if it passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// The last lines of its output: some if it did not pass, few if it did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<String>,
    /// What is known of its run; nothing of a hook's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<Box<VerifyStepRun>>,
}

impl VerifyStepResult {
    /// How the tests ended, in words, where they were counted: `15/20 passed`.
    pub fn tests_in_words(&self) -> Option<String> {
        Some(self.run.as_ref()?.tests.as_ref()?.in_words())
    }

    /// The persona that looked at the work, what its program used, and how long it took.
    pub fn used(&self) -> Option<(&str, &ProgramUsage, u64)> {
        let (run, persona) = (self.run.as_deref()?, NamedVerifyStep::of(&self.command).persona()?);
        Some((persona, run.used.as_ref()?, run.duration_ms))
    }

    /// What failed, and what the tests say of it, in one line without the command; `None` if it passed.
    pub fn why(&self) -> Option<String> {
        let why = self.failure.as_ref()?;
        Some(self.tests_in_words().map_or_else(|| why.clone(), |tests| format!("{why}, {tests}")))
    }
}

/// A hook that is asked before a merge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PreMergeHook {
    /// Its file.
    pub hook: String,
    /// The digest of all approved files, of which it is one: whatever it reads beside itself may decide too.
    pub digest: String,
}

/// What has to pass before a merge: hooks first, then commands, each in order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MergeRequirements {
    /// The `pre-merge` hooks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<PreMergeHook>,
    /// The commands of `merge.verify`.
    pub commands: Vec<String>,
}

impl MergeRequirements {
    /// Whether nothing has to pass.
    pub fn is_empty(&self) -> bool {
        self.hooks.is_empty() && self.commands.is_empty()
    }

    /// All of them, as they are shown.
    pub fn names(&self) -> impl Iterator<Item = (VerifyChecker, &String)> {
        let hooks = self.hooks.iter().map(|asked| (VerifyChecker::Hook, &asked.hook));
        hooks.chain(self.commands.iter().map(|command| (VerifyChecker::Command, command)))
    }
}

/// The verification of a merge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MergeVerification {
    /// The merge.
    pub of: MergeCandidate,
    /// What has to pass.
    #[serde(flatten)]
    pub demands: MergeRequirements,
    /// The results of what was run: up to the first that failed.
    pub results: Vec<VerifyStepResult>,
}

impl MergeVerification {
    /// The result of the command or hook that failed.
    pub fn failed(&self) -> Option<&VerifyStepResult> {
        self.results.iter().find(|result| result.failure.is_some())
    }

    /// Whether everything was run and passed.
    pub fn passed(&self) -> bool {
        let ran = self.results.iter().map(|result| (result.by, &result.command));
        self.failed().is_none() && ran.eq(self.demands.names())
    }

    /// Whether commands were run on the result of the merge: hooks alone allow it, and verify nothing.
    pub fn ran_commands(&self) -> bool {
        self.results.iter().any(|result| result.by == VerifyChecker::Command)
    }

    /// The results of the first commands and hooks, as far as they have passed: they need not be run again for this merge.
    pub fn passed_so_far(&self) -> Vec<VerifyStepResult> {
        let pairs = self.results.iter().zip(self.demands.names());
        let passed = pairs.take_while(|(result, name)| result.failure.is_none() && (result.by, &result.command) == *name);
        passed.map(|(result, _)| result.clone()).collect()
    }

    /// The results that `older` does not have: what was run since then.
    pub fn news<'v>(&'v self, older: Option<&'v Self>) -> impl Iterator<Item = &'v VerifyStepResult> {
        let known = older.filter(|older| older.is_about(&self.of, &self.demands)).map_or(&[][..], |older| &older.results);
        self.results.iter().filter(move |result| !known.contains(result))
    }

    /// Whether it is valid for exactly this merge and these demands.
    pub fn is_about(&self, of: &MergeCandidate, demands: &MergeRequirements) -> bool {
        self.of == *of && self.demands == *demands
    }

    /// What failed, in one line.
    pub fn summary(&self) -> Option<String> {
        let failed = self.failed()?;
        let (what, why) = (NamedVerifyStep::of(&failed.command).label(), failed.why().unwrap_or_default());
        Some(match failed.by {
            VerifyChecker::Command => format!("merge.verify '{what}' {why}"),
            VerifyChecker::Hook => format!("hook pre-merge {} {why}", failed.command),
        })
    }
}

/// The last lines of the output of a command that did not pass.
pub fn last_lines(output: &str) -> Vec<String> {
    last(output, LINES)
}

/// The last lines of the output of a command that passed.
pub fn last_lines_of_passed(output: &str) -> Vec<String> {
    last(output, LINES_OF_PASSED)
}

fn last(output: &str, most: usize) -> Vec<String> {
    let lines: Vec<&str> = output.trim_end().lines().collect();
    let last = lines.iter().skip(lines.len().saturating_sub(most));
    last.map(|line| line.chars().take(LINE).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(branch: char, target: char, tree: char) -> MergeCandidate {
        let oid = |digit: char| Oid::new(digit.to_string().repeat(40)).unwrap();
        MergeCandidate { branch: oid(branch), target: oid(target), tree: oid(tree) }
    }

    fn passes(command: &str) -> VerifyStepResult {
        VerifyStepResult { command: command.into(), ..VerifyStepResult::default() }
    }

    fn commands(all: &[&str]) -> MergeRequirements {
        MergeRequirements { hooks: Vec::new(), commands: all.iter().map(|command| (*command).to_owned()).collect() }
    }

    #[test]
    fn it_holds_for_one_merge_and_its_commands_alone() {
        let demands = commands(&["a", "b"]);
        let one = MergeVerification { of: of('1', '2', '3'), demands: demands.clone(), results: vec![passes("a"), passes("b")] };
        assert!(one.passed() && one.is_about(&of('1', '2', '3'), &demands));
        for other in [of('9', '2', '3'), of('1', '9', '3'), of('1', '2', '9')] {
            assert!(!one.is_about(&other, &demands));
        }
        let hook = |digest: &str| PreMergeHook { hook: "h".to_owned(), digest: digest.to_owned() };
        let with_hook = |digest| MergeRequirements { hooks: vec![hook(digest)], ..demands.clone() };
        for other in [commands(&["a"]), commands(&["b", "a"]), with_hook("1")] {
            assert!(!one.is_about(&of('1', '2', '3'), &other));
        }
        let hooked = MergeVerification { demands: with_hook("1"), ..one.clone() };
        assert!(!hooked.is_about(&of('1', '2', '3'), &with_hook("2")) && !hooked.passed(), "other content, and not asked");
        let as_command = MergeVerification { results: vec![passes("h"), passes("a"), passes("b")], ..hooked };
        assert!(!as_command.passed(), "a command of the hook's name is not the hook");
    }

    #[test]
    fn a_command_that_failed_or_was_not_run_passes_nothing() {
        let with = |results| MergeVerification { of: of('1', '2', '3'), demands: commands(&["a", "b"]), results };
        assert!(!with(vec![passes("a")]).passed());
        assert!(!with(Vec::new()).passed());
        assert!(!with(vec![passes("b"), passes("a")]).passed());
        let failed = VerifyStepResult { failure: Some("exited with status 1".into()), ..passes("b") };
        let failed = with(vec![passes("a"), failed]);
        assert!(!failed.passed());
        assert_eq!(failed.passed_so_far(), [passes("a")]);
        assert_eq!(with(vec![passes("b")]).passed_so_far(), []);
        assert_eq!(failed.summary().unwrap(), "merge.verify 'b' exited with status 1");
    }

    #[test]
    fn what_was_known_already_is_no_news() {
        let of = |branch| of(branch, '2', '3');
        let with = |branch, results| MergeVerification { of: of(branch), demands: commands(&["a", "b"]), results };
        let (one, both) = (with('1', vec![passes("a")]), with('1', vec![passes("a"), passes("b")]));
        let names = |verification: &MergeVerification, older: Option<&MergeVerification>| {
            verification.news(older).map(|result| result.command.clone()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            (names(&one, None), names(&both, Some(&one)), names(&both, Some(&both))),
            ("a".into(), "b".into(), String::new())
        );
        assert_eq!(names(&both, Some(&with('9', vec![passes("a")]))), "a b", "another merge");
    }

    #[test]
    fn the_last_lines_are_few_and_short() {
        let output = (0..100).map(|n| format!("{n}{}\n", "x".repeat(1000))).collect::<String>();
        let lines = last_lines(&output);
        assert_eq!((lines.len(), lines[0].len(), &lines[19][..2]), (20, 400, "99"));
    }
}
