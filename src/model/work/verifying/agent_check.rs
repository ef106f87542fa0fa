//! What a check of an agent program asks of it, and what is missing after it. Pure.

mod finding;

use crate::agent::stream::stream_event::AgentRunFailure;
use crate::agent::stream::summary::StreamSummary;
use crate::agent::stream::trouble::ModelTrouble;
use crate::work::iteration::{IterationOutcome, ReviewCause};
pub use finding::AgentCheckFinding;

/// The file that the agent is to write.
pub const ANSWER: &str = "answer.txt";
/// The file with the `git-axiom` that the agent's commands find first.
pub const FOUND: &str = "found.txt";
/// The file with what `git axiom signal` said there.
pub const SAID: &str = "said.txt";
/// The script that is in the repository.
pub const SCRIPT: &str = "check.sh";

/// The script's text.
pub const SCRIPT_TEXT: &str = "\
# What 'git axiom agents check' asks an agent to run.
p=$(command -v git-axiom) && readlink -f \"$p\" > found.txt
git axiom signal progress 50 > said.txt 2>&1
";

/// The task of a program that reads prompts.
pub const TASK: &str = "\
Create the file `answer.txt` with the one line `ok`. Then run the command `sh check.sh`, if you can run commands. Do nothing
else, and report that the task is complete.
";

/// The task of a program that runs scripts.
pub const TASK_SCRIPT: &str = "echo ok > answer.txt\nsh check.sh\ngit axiom signal complete\n";

/// What is known after the run.
#[derive(Debug, Clone, Default)]
pub struct AgentCheckFacts {
    /// How the iteration ended; `None` where it did not.
    pub outcome: Option<IterationOutcome>,
    /// What its output said.
    pub told: StreamSummary,
    /// Whether it said that the task is complete, by `git axiom signal` or by the tag; of a program that needs not say so, by its
    /// exit status.
    pub reported: bool,
    /// Whether [`ANSWER`] is there.
    pub answered: bool,
    /// Another `git-axiom` that its commands find first.
    pub other: Option<String>,
    /// What `git axiom signal` said, where that failed.
    pub said: Option<String>,
    /// The last lines of its output, where no rule reads them.
    pub last_lines: Vec<String>,
    /// Whether it ran until the time limit.
    pub over_time: bool,
}

/// What is missing; nothing where all is well.
pub fn findings(facts: &AgentCheckFacts) -> Vec<AgentCheckFinding> {
    let mut all: Vec<AgentCheckFinding> = of_end(facts).into_iter().collect();
    if let Some(first) =
        facts.told.calls.denied.first().filter(|_| !all.iter().any(|one| matches!(one, AgentCheckFinding::ToolDenied { .. })))
    {
        all.push(AgentCheckFinding::ToolDenied { why: first.in_words() });
    }
    let is_complete = facts.outcome == Some(IterationOutcome::Complete);
    let ran = all.is_empty();
    if ran && !facts.reported {
        all.push(AgentCheckFinding::NoSignal { said: facts.said.clone() });
    }
    if !facts.answered && (ran || is_complete) {
        all.push(AgentCheckFinding::NothingWritten);
    }
    all.extend(facts.other.clone().map(|path| AgentCheckFinding::OtherGitAxiom { path }));
    all
}

/// What is the matter with how it ended. It is well where nothing but a report is missing.
fn of_end(facts: &AgentCheckFacts) -> Option<AgentCheckFinding> {
    let told = &facts.told;
    if facts.outcome == Some(IterationOutcome::Complete) {
        return None;
    }
    if let Some(AgentRunFailure { trouble, message, .. }) = &told.failed {
        return Some(of_trouble(*trouble, message).unwrap_or_else(|| AgentCheckFinding::Failed { why: message.clone() }));
    }
    let waited = told.waits.last.as_ref().and_then(|waits| of_trouble(waits.trouble, &waits.why));
    match &facts.outcome {
        Some(IterationOutcome::NeedsHuman { cause: ReviewCause::SignIn, why }) => {
            Some(AgentCheckFinding::NotSignedIn { why: why.clone() })
        }
        Some(IterationOutcome::NeedsHuman { cause: ReviewCause::ToolDenied, why }) => {
            Some(AgentCheckFinding::ToolDenied { why: why.clone() })
        }
        Some(IterationOutcome::NeedsHuman {
            cause: ReviewCause::VerifyFailed | ReviewCause::HookVeto | ReviewCause::Recovery,
            why,
        }) => Some(AgentCheckFinding::Failed { why: why.clone() }),
        Some(IterationOutcome::Limited { why, .. }) => Some(AgentCheckFinding::ModelBusy { why: why.clone() }),
        Some(IterationOutcome::Waiting { question }) => Some(AgentCheckFinding::Asked { question: question.clone() }),
        Some(IterationOutcome::Blocked { reason }) => Some(AgentCheckFinding::Failed { why: reason.clone() }),
        Some(IterationOutcome::Unfinished { .. }) if facts.over_time => Some(waited.unwrap_or(AgentCheckFinding::TimeLimit)),
        Some(IterationOutcome::Unfinished { why }) => {
            let ended_well = told.ended.as_ref().is_some_and(|ended| ended.success);
            (!ended_well).then(|| unfinished(why, &facts.last_lines))
        }
        Some(IterationOutcome::Stopped) | None => Some(waited.unwrap_or(AgentCheckFinding::TimeLimit)),
        Some(IterationOutcome::Crashed) => Some(AgentCheckFinding::Failed { why: "its keeper died".into() }),
        Some(IterationOutcome::Complete) => None,
    }
}

fn of_trouble(trouble: ModelTrouble, why: &str) -> Option<AgentCheckFinding> {
    match trouble {
        ModelTrouble::SignIn => Some(AgentCheckFinding::NotSignedIn { why: why.to_owned() }),
        ModelTrouble::RateLimit | ModelTrouble::Overload => Some(AgentCheckFinding::ModelBusy { why: why.to_owned() }),
        ModelTrouble::Other => None,
    }
}

/// Parts of a line, in lower case, that together say that a folder is not trusted.
const NOT_TRUSTED: [&[&str]; 3] = [&["trust", "folder"], &["trust", "directory"], &["trust", "workspace"]];

fn unfinished(why: &str, last_lines: &[String]) -> AgentCheckFinding {
    let of_trust = |line: &&String| {
        let line = line.to_ascii_lowercase();
        NOT_TRUSTED.iter().any(|parts| parts.iter().all(|part| line.contains(part)))
    };
    match last_lines.iter().find(of_trust) {
        Some(line) => AgentCheckFinding::FolderNotTrusted { why: line.clone() },
        None => {
            let said = last_lines.last().map(|line| format!("; it said: {line}")).unwrap_or_default();
            AgentCheckFinding::Failed { why: format!("{why}{said}") }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::stream::stream_event::{AgentRunResult, ModelWait};

    fn unfinished() -> Option<IterationOutcome> {
        Some(IterationOutcome::Unfinished { why: "it exited with status 9".into() })
    }

    fn names(facts: &AgentCheckFacts) -> Vec<&'static str> {
        findings(facts).iter().map(AgentCheckFinding::name).collect()
    }

    fn told(waits: Option<ModelTrouble>, failed: Option<ModelTrouble>, ended: Option<bool>) -> StreamSummary {
        let why = String::new;
        let mut told = StreamSummary::default();
        told.waits.last = waits.map(|trouble| ModelWait { trouble, status: None, why: why(), seconds: None });
        told.failed = failed.map(|trouble| AgentRunFailure { trouble, status: None, message: why(), broke_off: false });
        told.ended = ended.map(|success| AgentRunResult { success, text: None });
        told
    }

    #[test]
    fn the_end_decides_and_what_the_program_waited_for_explains_it() {
        let limited = Some(IterationOutcome::Limited { why: "429".into(), seconds: None });
        let stopped = Some(IterationOutcome::Stopped);
        let table = [
            (unfinished(), told(None, None, None), true, "timeLimit"),
            (unfinished(), told(Some(ModelTrouble::Overload), None, None), true, "modelBusy"),
            (unfinished(), told(Some(ModelTrouble::Other), None, None), true, "timeLimit"),
            (unfinished(), told(None, None, None), false, "failed"),
            (unfinished(), told(None, Some(ModelTrouble::Other), Some(false)), false, "failed"),
            (unfinished(), told(None, Some(ModelTrouble::SignIn), None), true, "notSignedIn"),
            (limited, told(None, None, None), false, "modelBusy"),
            (stopped, told(Some(ModelTrouble::SignIn), None, None), false, "notSignedIn"),
            (None, told(None, None, None), false, "timeLimit"),
        ];
        for (outcome, told, over_time, expected) in table {
            let facts = AgentCheckFacts { outcome, told, over_time, ..AgentCheckFacts::default() };
            assert_eq!(names(&facts), [expected], "{facts:?}");
        }
    }

    #[test]
    fn a_success_is_only_one_with_a_report_and_a_file() {
        let facts = |outcome, reported, answered| AgentCheckFacts {
            outcome,
            reported,
            answered,
            told: told(None, None, Some(true)),
            ..AgentCheckFacts::default()
        };
        assert_eq!(names(&facts(Some(IterationOutcome::Complete), true, true)), [] as [&str; 0]);
        assert_eq!(names(&facts(Some(IterationOutcome::Complete), true, false)), ["nothingWritten"]);
        assert_eq!(names(&facts(Some(IterationOutcome::Complete), false, true)), ["noSignal"]);
        assert_eq!(names(&facts(unfinished(), false, false)), ["noSignal", "nothingWritten"]);
        // A failure before a success that counts is no failure.
        let complete = AgentCheckFacts {
            told: told(None, Some(ModelTrouble::RateLimit), None),
            ..facts(Some(IterationOutcome::Complete), true, true)
        };
        assert_eq!(names(&complete), [] as [&str; 0]);
    }

    #[test]
    fn a_folder_that_is_not_trusted_is_known_by_its_words() {
        for (line, expected) in [
            ("Gemini CLI is not running in a trusted directory.", "folderNotTrusted"),
            ("Do you TRUST the files in this folder?", "folderNotTrusted"),
            ("no such folder", "failed"),
            ("trust me", "failed"),
        ] {
            let facts = AgentCheckFacts {
                outcome: unfinished(),
                last_lines: vec![line.into(), "bye".into()],
                ..AgentCheckFacts::default()
            };
            assert_eq!(names(&facts), [expected], "{line}");
        }
    }
}
