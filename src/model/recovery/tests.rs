//! The documented matrix of markers, and what decides. Scenarios and edge cases are in `scenarios`.

use jiff::{SignedDuration, Timestamp};

use super::decide::{
    ChangedWork, CrashAction, CrashDecider, CrashDecision, CrashDecisionLimits, CrashFacts, CutOffProgram, IterationCounters,
    WorkPlace, by_rules, certain, is_too_old,
};
use super::evaluator::answer;
use crate::agent::stream::stream_event::ModelExchange;
use crate::agent::stream::summary::StreamSummary;
use crate::agent::stream::tool_call::TextReplacement;
use crate::agent::tool_kind::ToolKind;
use crate::work::iteration_marker::{
    CrashFollowUp, IterationMarker, IterationRecordState, MarkerKind, ToolCallEffect, effect, follow,
};
use crate::work::signals::signal::{AgentSignal, ToolReport};
use CrashAction::{ContinueTask, HumanReview, NextTask, RestartTask};

pub(super) const NOW: Timestamp = Timestamp::UNIX_EPOCH;
pub(super) const LIMITS: CrashDecisionLimits =
    CrashDecisionLimits { threshold: 10, for_all: false, max_age_hours: 24, auto_reset: true };

pub(super) fn hours_ago(hours: i64) -> Timestamp {
    NOW.checked_sub(SignedDuration::from_hours(hours)).unwrap()
}

fn marker(kind: MarkerKind, tool: Option<ToolKind>) -> IterationMarker {
    IterationMarker {
        kind,
        at: NOW,
        tool_name: tool.map(|_| "x".into()),
        tool_kind: tool,
        tool_use_id: None,
        request_id: None,
        hash: None,
        about: None,
    }
}

/// A task of a program without markers, with two changed files, cut off a minute ago.
pub(super) fn facts() -> CrashFacts {
    CrashFacts {
        recorded: IterationRecordState::Whole,
        program: CutOffProgram { marker: None, tells_markers: false, effect: ToolCallEffect::Unknown },
        saved_at: Some(hours_ago(0)),
        paused: false,
        counted: IterationCounters { iterations: 1, tokens: None },
        progress: None,
        said_of_this: true,
        given_back: false,
        place: WorkPlace::There,
        tests_pass: None,
        has_steps: false,
        work: ChangedWork { changed: 2, empty: 0, recent: Some(2), commits: 0 },
    }
}

/// So many changed files, otherwise what [`facts`] have.
pub(super) fn changed(changed: u64) -> ChangedWork {
    ChangedWork { changed, ..facts().work }
}

pub(super) fn with_marker(kind: MarkerKind, tool: Option<ToolKind>) -> CrashFacts {
    CrashFacts { program: CutOffProgram { marker: Some(marker(kind, tool)), tells_markers: true, ..facts().program }, ..facts() }
}

pub(super) fn decide(facts: &CrashFacts) -> CrashDecision {
    certain(facts, LIMITS, NOW).unwrap_or_else(|| by_rules(facts))
}

/// By rules, and where nothing is certain also by an evaluator that says the opposite: its word counts then.
pub(super) fn both(facts: &CrashFacts, expected: CrashAction) {
    let decision = decide(facts);
    assert_eq!(decision.action, expected, "{facts:?}");
    assert!(!decision.reasoning.is_empty() && decision.by == CrashDecider::Rules);
    if certain(facts, LIMITS, NOW).is_none() {
        let other = if expected == HumanReview { ContinueTask } else { HumanReview };
        let said = format!(r#"{{"action":"{}","reasoning":"I saw it"}}"#, other.as_str());
        let decision = answer(&said, facts).unwrap();
        assert_eq!((decision.action, decision.by, decision.reasoning.as_str()), (other, CrashDecider::Evaluator, "I saw it"));
    }
}

#[test]
fn matrix_of_markers() {
    use ToolCallEffect::{Missing, There, Unknown};
    use ToolKind::{Edit, Other, Read, Shell, Write};
    let started = |tool| Some(marker(MarkerKind::ToolStarted, Some(tool)));
    for (point, effect, expected) in [
        (None, Unknown, CrashFollowUp::RestartIteration),
        (Some(marker(MarkerKind::RequestSent, None)), Unknown, CrashFollowUp::RetryCall),
        (Some(marker(MarkerKind::ResponseReceived, None)), Unknown, CrashFollowUp::ProcessResponse),
        (started(Read), Unknown, CrashFollowUp::RepeatTool),
        (started(Read), There, CrashFollowUp::RepeatTool),
        (started(Write), There, CrashFollowUp::SkipTool),
        (started(Write), Missing, CrashFollowUp::RepeatTool),
        (started(Write), Unknown, CrashFollowUp::RepeatTool),
        (started(Edit), There, CrashFollowUp::SkipTool),
        (started(Edit), Missing, CrashFollowUp::RepeatTool),
        (started(Edit), Unknown, CrashFollowUp::CheckTool),
        (started(Shell), Unknown, CrashFollowUp::CheckTool),
        (started(Shell), There, CrashFollowUp::CheckTool),
        (started(Other), Missing, CrashFollowUp::CheckTool),
        (Some(marker(MarkerKind::ToolStarted, None)), Unknown, CrashFollowUp::CheckTool),
        (Some(marker(MarkerKind::ToolCompleted, Some(Shell))), Unknown, CrashFollowUp::Continue),
        (Some(marker(MarkerKind::WaitingForUser, None)), Unknown, CrashFollowUp::AskAgain),
    ] {
        assert_eq!(follow(point.as_ref(), effect), expected, "{point:?} {effect:?}");
        if let Some(point) = point {
            let decision = decide(&CrashFacts {
                program: CutOffProgram { effect, ..with_marker(point.kind, point.tool_kind).program },
                ..with_marker(point.kind, point.tool_kind)
            });
            assert_eq!((decision.action, decision.follow), (ContinueTask, expected), "{point:?} {effect:?}");
        }
    }
}

#[test]
fn the_effect_of_a_write_or_an_edit_is_looked_for_in_the_file() {
    let texts = |old, new| [TextReplacement { old, new }];
    for (old, new, content, expected) in [
        ("", "whole", Some("whole"), ToolCallEffect::There),
        ("", "whole", Some("who"), ToolCallEffect::Missing),
        ("", "whole", None, ToolCallEffect::Missing),
        ("old", "new", Some("an old text"), ToolCallEffect::Missing),
        ("old", "new", Some("a new text"), ToolCallEffect::There),
        ("old", "new", Some("another"), ToolCallEffect::Unknown),
        ("old", "old and new", Some("old and new"), ToolCallEffect::Missing),
    ] {
        assert_eq!(effect(&texts(old, new), content), expected, "{old} {new} {content:?}");
    }
    assert_eq!(effect(&[], Some("x")), ToolCallEffect::Unknown);
    let half = [TextReplacement { old: "a", new: "b" }, TextReplacement { old: "c", new: "d" }];
    assert_eq!(effect(&half, Some("b c")), ToolCallEffect::Unknown);
}

#[test]
fn crash_before_llm_call() {
    let before = CrashFacts { program: CutOffProgram { tells_markers: true, ..facts().program }, work: changed(0), ..facts() };
    both(&before, ContinueTask);
    assert_eq!(decide(&before).follow, CrashFollowUp::RestartIteration);
    // What nobody told of is no beginning to go on from.
    both(&CrashFacts { work: ChangedWork { changed: 2, ..before.work }, ..before.clone() }, RestartTask);
    both(
        &CrashFacts {
            work: ChangedWork { changed: 2, ..before.work },
            counted: IterationCounters { iterations: 2, ..before.counted },
            ..before
        },
        ContinueTask,
    );
}

#[test]
fn old_missing_and_damaged_records_begin_anew() {
    let running = with_marker(MarkerKind::ToolCompleted, Some(ToolKind::Shell));
    for (facts, expected) in [
        (CrashFacts { saved_at: Some(hours_ago(25)), ..running.clone() }, RestartTask),
        (CrashFacts { saved_at: Some(hours_ago(24)), ..running.clone() }, RestartTask),
        (CrashFacts { saved_at: Some(hours_ago(23)), ..running.clone() }, ContinueTask),
        (CrashFacts { saved_at: None, ..running.clone() }, ContinueTask),
        (CrashFacts { recorded: IterationRecordState::Nothing, ..running.clone() }, RestartTask),
        (CrashFacts { recorded: IterationRecordState::Damaged, ..running.clone() }, RestartTask),
        (CrashFacts { recorded: IterationRecordState::Complete, saved_at: Some(hours_ago(99)), ..running }, NextTask),
    ] {
        both(&facts, expected);
    }
    assert!(!is_too_old(hours_ago(999), NOW, 0));
}

#[test]
fn progress_under_the_threshold_begins_anew_where_there_are_no_markers() {
    both(&CrashFacts { progress: Some(5), ..facts() }, RestartTask);
    both(&CrashFacts { progress: Some(10), ..facts() }, ContinueTask);
    let told = CrashFacts { progress: Some(5), ..with_marker(MarkerKind::RequestSent, None) };
    both(&told, ContinueTask);
    let given = CrashDecisionLimits { threshold: 50, for_all: true, ..LIMITS };
    assert_eq!(certain(&told, given, NOW).map(|decision| decision.action), Some(RestartTask));
}

#[test]
fn without_automatic_resets_a_human_decides() {
    let by_hand = CrashDecisionLimits { auto_reset: false, ..LIMITS };
    let decided = |facts: &CrashFacts| certain(facts, by_hand, NOW).map(|decision| decision.action);
    assert_eq!(decided(&facts()), Some(HumanReview));
    assert_eq!(decided(&CrashFacts { recorded: IterationRecordState::Complete, ..facts() }), Some(NextTask));
}

#[test]
fn a_bad_answer_is_none() {
    for bad in [
        "",
        "continue_task",
        "{}",
        r#"{"action":"continue_task"}"#,
        r#"{"action":"continue_task","reasoning":" "}"#,
        r#"{"action":"delete","reasoning":"x"}"#,
        r#"{"action":"next_task","reasoning":"x"} and more"#,
    ] {
        assert!(answer(bad, &facts()).is_err(), "{bad}");
    }
    let cleaned = answer("{\"action\":\"next_task\",\"reasoning\":\"a\\u001b[1mb\",\"more\":1}\n", &facts()).unwrap();
    assert_eq!(cleaned.reasoning, "a [1mb");
}

#[test]
fn the_marker_is_that_of_the_call_that_still_runs() {
    let call = |id: &str| ToolReport {
        name: "Bash".into(),
        id: Some(id.into()),
        hash: Some("h".into()),
        does: Some(ToolKind::Shell),
        about: Some("make".into()),
        failed: false,
    };
    let (mut told, mut last) = (StreamSummary::default(), None);
    let mut hear = |signal: AgentSignal| {
        crate::work::signals::signal_summary::add(&mut told, &signal);
        last = IterationMarker::after(last.take(), &signal, &told, NOW);
        last.clone().map(|marker| (marker.kind, marker.tool_use_id))
    };
    assert_eq!(hear(AgentSignal::Progress { percent: 1 }), None);
    assert_eq!(hear(AgentSignal::RequestSent(ModelExchange::default())), Some((MarkerKind::RequestSent, None)));
    assert_eq!(hear(AgentSignal::ToolStarted(call("1"))), Some((MarkerKind::ToolStarted, Some("1".into()))));
    assert_eq!(hear(AgentSignal::ToolStarted(call("2"))), Some((MarkerKind::ToolStarted, Some("2".into()))));
    assert_eq!(hear(AgentSignal::ToolCompleted(call("2"))), Some((MarkerKind::ToolStarted, Some("1".into()))));
    assert_eq!(hear(AgentSignal::ToolCompleted(call("1"))), Some((MarkerKind::ToolCompleted, Some("1".into()))));
    assert_eq!(hear(AgentSignal::Waiting { question: "?".into() }), Some((MarkerKind::WaitingForUser, None)));
}
