//! What follows when a step of a session fails: one table, step × class of the error. Pure. `docs/ERRORS.md` has the same table,
//! made from this one.

mod session_step;

use std::time::Duration;

use crate::work::gates::gate::GateKind;
use axiom_base::error::Code;
pub use session_step::{FailureClass, SessionStep};

/// How often a step of the same task has failed in a row, this time included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StepFailureCounts {
    /// With errors that count: after [`MOST_TRIES`] a human has to look.
    pub tried: u32,
    /// With errors that only say that it is not its turn yet.
    pub looked: u32,
}

/// How often a step is tried.
pub const MOST_TRIES: u32 = 8;

/// The first pause before a step is tried again; doubled each time, up to the longest.
pub const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// The longest pause.
pub const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// The pause after this many failures in a row.
pub fn pause_after(failures: u32) -> Duration {
    let doubled = 2_u32.saturating_pow(failures.saturating_sub(1));
    FIRST_PAUSE.saturating_mul(doubled).min(LONGEST_PAUSE)
}

/// What follows a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureResponse {
    /// The step is tried again, and that is counted.
    Retry {
        /// The pause before.
        after: Duration,
    },
    /// The step is not possible yet: it is looked at again, however often.
    Wait {
        /// The pause before.
        after: Duration,
    },
    /// The agent gets another iteration and is told: only it can repair this.
    Again,
    /// The task waits for a human at this gate, who may let it go on; other tasks go on.
    Gate(GateKind),
    /// The task is blocked, with the reason; other tasks go on.
    Block,
    /// Nothing: the work does not depend on it.
    GoOn,
    /// Whoever asked for it gets the error as the answer.
    Answer,
    /// The session ends with the error; agents that run go on and are taken over by the next one.
    EndSession,
}

/// What follows the failure of a step, where it has failed this often.
pub fn what_follows(step: SessionStep, code: Code, times: StepFailureCounts) -> FailureResponse {
    let class = FailureClass::of(code);
    match rule(step, class) {
        FailureRule::Retry(_) | FailureRule::RetryOrEnd if times.tried < MOST_TRIES => {
            FailureResponse::Retry { after: pause_after(times.tried) }
        }
        FailureRule::Retry(gate) | FailureRule::Gate(gate) => FailureResponse::Gate(gate),
        FailureRule::Wait => FailureResponse::Wait { after: pause_after(times.tried.saturating_add(times.looked)) },
        FailureRule::Again => FailureResponse::Again,
        FailureRule::Block => FailureResponse::Block,
        FailureRule::GoOn => FailureResponse::GoOn,
        FailureRule::Answer => FailureResponse::Answer,
        FailureRule::RetryOrEnd | FailureRule::EndSession => FailureResponse::EndSession,
    }
}

/// Whether a failure of this kind is counted, see [`StepFailureCounts`].
pub fn is_counted(step: SessionStep, code: Code) -> bool {
    matches!(rule(step, FailureClass::of(code)), FailureRule::Retry(_) | FailureRule::RetryOrEnd)
}

/// The steps that stand still for all tasks where what failed for one of them concerns all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SharedSessionStep {
    /// Claims.
    Claims,
    /// Merges and their verification.
    Merges,
    /// Putting aside the workspaces of merged tasks.
    Workspaces,
}

/// What stands still for all tasks when a step fails for one: there is no space, or somebody else is carrying out an operation,
/// for any other task too. So one is tried in each pause, not all. A lock of git's may be one of this task's branch only.
pub const fn stands_still(step: SessionStep, code: Code) -> Option<SharedSessionStep> {
    let shared = match step {
        SessionStep::Claim => SharedSessionStep::Claims,
        SessionStep::Merge | SessionStep::VerifyMerge => SharedSessionStep::Merges,
        SessionStep::Begin
        | SessionStep::Start
        | SessionStep::Watch
        | SessionStep::Finish
        | SessionStep::Settle
        | SessionStep::PutAside
        | SessionStep::Request
        | SessionStep::Checkpoint
        | SessionStep::Copies
        | SessionStep::Log => return None,
    };
    match (FailureClass::of(code), code) {
        (FailureClass::Full, _) | (FailureClass::Held, Code::Busy) => Some(shared),
        (
            FailureClass::Held | FailureClass::Transient | FailureClass::Moved | FailureClass::Workspace | FailureClass::Branch,
            _,
        ) => None,
        (FailureClass::User | FailureClass::Filter | FailureClass::Everything | FailureClass::Ours, _) => None,
    }
}

/// A field of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FailureRule {
    /// Up to [`MOST_TRIES`] times, then a gate.
    Retry(GateKind),
    Wait,
    Again,
    Gate(GateKind),
    Block,
    GoOn,
    Answer,
    /// Up to [`MOST_TRIES`] times.
    RetryOrEnd,
    EndSession,
}

fn rule(step: SessionStep, class: FailureClass) -> FailureRule {
    use FailureClass::{Branch, Everything, Filter, Full, Held, Moved, Ours, Transient, User, Workspace};
    match step {
        // Somebody has just started the session and sees the error.
        SessionStep::Begin => FailureRule::EndSession,
        SessionStep::Claim => match class {
            Transient | Moved | Workspace => FailureRule::Retry(GateKind::Claim),
            Full | Held => FailureRule::Wait,
            Branch | User => FailureRule::Block,
            // Nothing is made for a repository that a human has to unlock first: whoever lets it go on has done so.
            Filter => FailureRule::Gate(GateKind::Claim),
            Everything | Ours => FailureRule::EndSession,
        },
        SessionStep::Start => match class {
            Transient | Moved => FailureRule::Retry(GateKind::Claim),
            Full | Held => FailureRule::Wait,
            Workspace | Branch => FailureRule::Gate(GateKind::Claim),
            User | Filter => FailureRule::Block,
            Everything | Ours => FailureRule::EndSession,
        },
        // The program runs whatever happens here. Its keeper knows how it ends.
        SessionStep::Watch => match class {
            Transient | Moved | Full | Held | Workspace | Branch | User | Filter => FailureRule::Wait,
            Everything | Ours => FailureRule::EndSession,
        },
        SessionStep::Finish => match class {
            Transient => FailureRule::Retry(GateKind::Claim),
            Full | Held => FailureRule::Wait,
            // HEAD is elsewhere, a conflict, no branch: the agent did that.
            Moved | Workspace | Branch => FailureRule::Again,
            User | Filter => FailureRule::Gate(GateKind::Claim),
            Everything | Ours => FailureRule::EndSession,
        },
        SessionStep::Settle => match class {
            Transient | Moved => FailureRule::Retry(GateKind::Claim),
            Full | Held => FailureRule::Wait,
            Workspace | Branch | User | Filter => FailureRule::Gate(GateKind::Claim),
            Everything | Ours => FailureRule::EndSession,
        },
        SessionStep::Merge | SessionStep::VerifyMerge => match class {
            Transient | Moved => FailureRule::Retry(GateKind::Merge),
            // A broken workspace is another agent's, and is repaired before its next iteration.
            Full | Held | Workspace => FailureRule::Wait,
            Branch | User | Filter => FailureRule::Gate(GateKind::Merge),
            Everything | Ours => FailureRule::EndSession,
        },
        SessionStep::Request => match class {
            Full | Held => FailureRule::Wait,
            Transient | Moved | Workspace | Branch | User | Filter | Everything | Ours => FailureRule::Answer,
        },
        // The task is merged already: see `agents::supervise::merges::closing`.
        SessionStep::PutAside | SessionStep::Checkpoint | SessionStep::Copies => FailureRule::GoOn,
        // Nothing was appended and nothing was done: all is looked at again. After a failed sync nothing more may be
        // acknowledged.
        SessionStep::Log => match class {
            Full | Held => FailureRule::Wait,
            // Somebody else recorded something first.
            Moved => FailureRule::RetryOrEnd,
            Transient | Workspace | Branch | User | Filter | Everything | Ours => FailureRule::EndSession,
        },
    }
}

/// The table as Markdown, for the documentation.
pub fn table() -> String {
    let codes = |class: FailureClass| {
        let codes = Code::ALL.iter().filter(|code| FailureClass::of(**code) == class);
        codes.map(|code| format!("`{code}`")).collect::<Vec<_>>().join(", ")
    };
    let mut text = String::from("| class | codes |\n| --- | --- |\n");
    for class in FailureClass::ALL {
        let codes = if class == FailureClass::Ours { "all others: no step should meet them".to_owned() } else { codes(class) };
        text.push_str(&format!("| {} | {codes} |\n", class.word()));
    }
    let columns: Vec<&str> = FailureClass::ALL.iter().map(|class| class.word()).collect();
    text.push_str(&format!("\n| while … | {} |\n|{}\n", columns.join(" | "), " --- |".repeat(columns.len() + 1)));
    for step in SessionStep::ALL {
        let fields: Vec<String> = FailureClass::ALL.iter().map(|class| rule(step, *class).in_words()).collect();
        text.push_str(&format!("| {} | {} |\n", step.words(), fields.join(" | ")));
    }
    text
}

impl FailureRule {
    fn in_words(self) -> String {
        match self {
            Self::Retry(gate) => format!("retry, then {} gate", gate.as_str()),
            Self::Wait => "wait".to_owned(),
            Self::Again => "another iteration".to_owned(),
            Self::Gate(gate) => format!("{} gate", gate.as_str()),
            Self::Block => "task blocked".to_owned(),
            Self::GoOn => "goes on".to_owned(),
            Self::Answer => "answered with it".to_owned(),
            Self::RetryOrEnd => "retry, then session ends".to_owned(),
            Self::EndSession => "session ends".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn follows(step: SessionStep, code: Code, tried: u32) -> FailureResponse {
        what_follows(step, code, StepFailureCounts { tried, looked: 0 })
    }

    /// The row of each step, by a code of each class.
    #[test]
    fn the_table_is_as_documented() {
        let document = include_str!("../../../../docs/ERRORS.md");
        assert!(document.contains(&table()), "docs/ERRORS.md is stale: AXIOM_UPDATE_DOCS=1 cargo test --test it docs::");
        for step in SessionStep::ALL {
            let row = document.lines().find(|line| line.starts_with(&format!("| {} |", step.words()))).unwrap();
            let fields: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).skip(1).collect();
            assert_eq!(fields.len(), FailureClass::ALL.len());
            for (class, field) in FailureClass::ALL.into_iter().zip(fields) {
                let codes = Code::ALL.iter().copied().filter(|code| FailureClass::of(*code) == class);
                for code in codes {
                    for tried in [1, MOST_TRIES - 1, MOST_TRIES, MOST_TRIES + 1] {
                        let expected = match (field.split_once(", then "), tried < MOST_TRIES) {
                            (Some((retry, _)), true) => retry,
                            (Some((_, gate)), false) => gate,
                            (None, _) => field,
                        };
                        let found = match follows(step, code, tried) {
                            FailureResponse::Retry { .. } => "retry".to_owned(),
                            FailureResponse::Wait { .. } => "wait".to_owned(),
                            FailureResponse::Again => "another iteration".to_owned(),
                            FailureResponse::Gate(kind) => format!("{} gate", kind.as_str()),
                            FailureResponse::Block => "task blocked".to_owned(),
                            FailureResponse::GoOn => "goes on".to_owned(),
                            FailureResponse::Answer => "answered with it".to_owned(),
                            FailureResponse::EndSession => "session ends".to_owned(),
                        };
                        assert_eq!(found, expected, "{step:?} {code} {tried}");
                    }
                }
            }
        }
    }

    /// Wherever a full disk or a lock is met in the middle of the work, the work waits and goes on by itself.
    #[test]
    fn a_full_disk_and_a_lock_wait_at_every_step_of_a_task() {
        for step in [
            SessionStep::Claim,
            SessionStep::Start,
            SessionStep::Watch,
            SessionStep::Finish,
            SessionStep::Settle,
            SessionStep::Merge,
            SessionStep::VerifyMerge,
            SessionStep::Log,
        ] {
            for code in [Code::DiskFull, Code::DiskCritical, Code::DiskEmergency, Code::Busy, Code::GitLocked] {
                for looked in [1, 1000, u32::MAX] {
                    let follows = what_follows(step, code, StepFailureCounts { tried: 3, looked });
                    assert!(matches!(follows, FailureResponse::Wait { .. }), "{step:?} {code}: {follows:?}");
                }
                assert!(!is_counted(step, code));
            }
        }
    }

    /// `BUSY` says that somebody is carrying it out; this says that nobody does, and a human has to decide.
    #[test]
    fn an_interrupted_operation_ends_the_session_where_it_is_in_the_way() {
        for step in [
            SessionStep::Claim,
            SessionStep::Start,
            SessionStep::Finish,
            SessionStep::Settle,
            SessionStep::Merge,
            SessionStep::VerifyMerge,
        ] {
            assert_eq!(follows(step, Code::OperationOpen, 1), FailureResponse::EndSession, "{step:?}");
        }
    }

    /// What is the same for all tasks is not tried for each; what may concern one task only does not stop the others.
    #[test]
    fn only_a_full_disk_and_our_own_lock_make_all_claims_and_merges_stand_still() {
        for code in Code::ALL.iter().copied() {
            let shared = matches!(code, Code::DiskFull | Code::DiskCritical | Code::DiskEmergency | Code::Busy);
            for step in SessionStep::ALL {
                let expected = match step.words() {
                    "its workspace is made" => Some(SharedSessionStep::Claims),
                    "it is merged" | "its merge is verified" => Some(SharedSessionStep::Merges),
                    _ => None,
                };
                assert_eq!(stands_still(step, code), expected.filter(|_| shared), "{step:?} {code}");
            }
        }
    }

    #[test]
    fn pauses_double_and_stay_short() {
        let millis: Vec<u128> = (1..9).map(|times| pause_after(times).as_millis()).collect();
        assert_eq!(millis, [100, 200, 400, 800, 1600, 3200, 5000, 5000]);
        assert_eq!((pause_after(0), pause_after(u32::MAX)), (FIRST_PAUSE, LONGEST_PAUSE));
    }

    #[test]
    fn nothing_is_tried_for_ever_that_counts() {
        for step in SessionStep::ALL {
            for code in Code::ALL {
                let last = follows(step, *code, MOST_TRIES);
                assert!(!matches!(last, FailureResponse::Retry { .. }), "{step:?} {code}");
                assert_eq!(is_counted(step, *code), matches!(follows(step, *code, 1), FailureResponse::Retry { .. }));
            }
        }
    }
}
