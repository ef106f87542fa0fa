//! The documented matrix of markers, and what decides. Scenarios and edge cases are in `scenarios`.

use jiff::{SignedDuration, Timestamp};

use super::decide::{Action, CrashDecision, Decider, Facts, Limits, WorkPlace, by_rules, certain, is_too_old};
use super::evaluator::answer;
use super::marker::{Effect, Follow, Marker, MarkerKind, Recorded, effect, follow};
use crate::domain::agent::adapter::ToolKind;
use crate::domain::agent::stream::about::Replaced;
use crate::domain::agent::stream::seen::Exchange;
use crate::domain::agent::stream::summary::Summary;
use crate::domain::work::signal::{Signal, ToolReport};
use Action::{ContinueTask, HumanReview, NextTask, RestartTask};

pub(super) const NOW: Timestamp = Timestamp::UNIX_EPOCH;
pub(super) const LIMITS: Limits = Limits { threshold: 10, for_all: false, max_age_hours: 24, auto_reset: true };

pub(super) fn hours_ago(hours: i64) -> Timestamp {
    NOW.checked_sub(SignedDuration::from_hours(hours)).unwrap()
}

fn marker(kind: MarkerKind, tool: Option<ToolKind>) -> Marker {
    Marker {
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
pub(super) fn facts() -> Facts {
    Facts {
        recorded: Recorded::Whole,
        marker: None,
        tells_markers: false,
        effect: Effect::Unknown,
        saved_at: Some(hours_ago(0)),
        paused: false,
        iterations: 1,
        tokens: None,
        progress: None,
        said_of_this: true,
        given_back: false,
        place: WorkPlace::There,
        tests_pass: None,
        has_steps: false,
        changed: 2,
        empty: 0,
        recent: Some(2),
        commits: 0,
    }
}

pub(super) fn with_marker(kind: MarkerKind, tool: Option<ToolKind>) -> Facts {
    Facts { marker: Some(marker(kind, tool)), tells_markers: true, ..facts() }
}

pub(super) fn decide(facts: &Facts) -> CrashDecision {
    certain(facts, LIMITS, NOW).unwrap_or_else(|| by_rules(facts))
}

/// By rules, and where nothing is certain also by an evaluator that says the opposite: its word counts then.
pub(super) fn both(facts: &Facts, expected: Action) {
    let decision = decide(facts);
    assert_eq!(decision.action, expected, "{facts:?}");
    assert!(!decision.reasoning.is_empty() && decision.by == Decider::Rules);
    if certain(facts, LIMITS, NOW).is_none() {
        let other = if expected == HumanReview { ContinueTask } else { HumanReview };
        let said = format!(r#"{{"action":"{}","reasoning":"I saw it"}}"#, other.as_str());
        let decision = answer(&said, facts).unwrap();
        assert_eq!((decision.action, decision.by, decision.reasoning.as_str()), (other, Decider::Evaluator, "I saw it"));
    }
}

#[test]
fn matrix_of_markers() {
    use Effect::{Missing, There, Unknown};
    use ToolKind::{Edit, Other, Read, Shell, Write};
    let started = |tool| Some(marker(MarkerKind::ToolStarted, Some(tool)));
    for (point, effect, expected) in [
        (None, Unknown, Follow::RestartIteration),
        (Some(marker(MarkerKind::RequestSent, None)), Unknown, Follow::RetryCall),
        (Some(marker(MarkerKind::ResponseReceived, None)), Unknown, Follow::ProcessResponse),
        (started(Read), Unknown, Follow::RepeatTool),
        (started(Read), There, Follow::RepeatTool),
        (started(Write), There, Follow::SkipTool),
        (started(Write), Missing, Follow::RepeatTool),
        (started(Write), Unknown, Follow::RepeatTool),
        (started(Edit), There, Follow::SkipTool),
        (started(Edit), Missing, Follow::RepeatTool),
        (started(Edit), Unknown, Follow::CheckTool),
        (started(Shell), Unknown, Follow::CheckTool),
        (started(Shell), There, Follow::CheckTool),
        (started(Other), Missing, Follow::CheckTool),
        (Some(marker(MarkerKind::ToolStarted, None)), Unknown, Follow::CheckTool),
        (Some(marker(MarkerKind::ToolCompleted, Some(Shell))), Unknown, Follow::Continue),
        (Some(marker(MarkerKind::WaitingForUser, None)), Unknown, Follow::AskAgain),
    ] {
        assert_eq!(follow(point.as_ref(), effect), expected, "{point:?} {effect:?}");
        if let Some(point) = point {
            let decision = decide(&Facts { effect, ..with_marker(point.kind, point.tool_kind) });
            assert_eq!((decision.action, decision.follow), (ContinueTask, expected), "{point:?} {effect:?}");
        }
    }
}

#[test]
fn the_effect_of_a_write_or_an_edit_is_looked_for_in_the_file() {
    let texts = |old, new| [Replaced { old, new }];
    for (old, new, content, expected) in [
        ("", "whole", Some("whole"), Effect::There),
        ("", "whole", Some("who"), Effect::Missing),
        ("", "whole", None, Effect::Missing),
        ("old", "new", Some("an old text"), Effect::Missing),
        ("old", "new", Some("a new text"), Effect::There),
        ("old", "new", Some("another"), Effect::Unknown),
        ("old", "old and new", Some("old and new"), Effect::Missing),
    ] {
        assert_eq!(effect(&texts(old, new), content), expected, "{old} {new} {content:?}");
    }
    assert_eq!(effect(&[], Some("x")), Effect::Unknown);
    let half = [Replaced { old: "a", new: "b" }, Replaced { old: "c", new: "d" }];
    assert_eq!(effect(&half, Some("b c")), Effect::Unknown);
}

#[test]
fn crash_before_llm_call() {
    let before = Facts { tells_markers: true, changed: 0, ..facts() };
    both(&before, ContinueTask);
    assert_eq!(decide(&before).follow, Follow::RestartIteration);
    // What nobody told of is no beginning to go on from.
    both(&Facts { changed: 2, ..before.clone() }, RestartTask);
    both(&Facts { changed: 2, iterations: 2, ..before }, ContinueTask);
}

#[test]
fn old_missing_and_damaged_records_begin_anew() {
    let running = with_marker(MarkerKind::ToolCompleted, Some(ToolKind::Shell));
    for (facts, expected) in [
        (Facts { saved_at: Some(hours_ago(25)), ..running.clone() }, RestartTask),
        (Facts { saved_at: Some(hours_ago(24)), ..running.clone() }, RestartTask),
        (Facts { saved_at: Some(hours_ago(23)), ..running.clone() }, ContinueTask),
        (Facts { saved_at: None, ..running.clone() }, ContinueTask),
        (Facts { recorded: Recorded::Nothing, ..running.clone() }, RestartTask),
        (Facts { recorded: Recorded::Damaged, ..running.clone() }, RestartTask),
        (Facts { recorded: Recorded::Complete, saved_at: Some(hours_ago(99)), ..running }, NextTask),
    ] {
        both(&facts, expected);
    }
    assert!(!is_too_old(hours_ago(999), NOW, 0));
}

#[test]
fn progress_under_the_threshold_begins_anew_where_there_are_no_markers() {
    both(&Facts { progress: Some(5), ..facts() }, RestartTask);
    both(&Facts { progress: Some(10), ..facts() }, ContinueTask);
    let told = Facts { progress: Some(5), ..with_marker(MarkerKind::RequestSent, None) };
    both(&told, ContinueTask);
    let given = Limits { threshold: 50, for_all: true, ..LIMITS };
    assert_eq!(certain(&told, given, NOW).map(|decision| decision.action), Some(RestartTask));
}

#[test]
fn without_automatic_resets_a_human_decides() {
    let by_hand = Limits { auto_reset: false, ..LIMITS };
    let decided = |facts: &Facts| certain(facts, by_hand, NOW).map(|decision| decision.action);
    assert_eq!(decided(&facts()), Some(HumanReview));
    assert_eq!(decided(&Facts { recorded: Recorded::Complete, ..facts() }), Some(NextTask));
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
    let (mut told, mut last) = (Summary::default(), None);
    let mut hear = |signal: Signal| {
        crate::domain::work::told::add(&mut told, &signal);
        last = Marker::after(last.take(), &signal, &told, NOW);
        last.clone().map(|marker| (marker.kind, marker.tool_use_id))
    };
    assert_eq!(hear(Signal::Progress { percent: 1 }), None);
    assert_eq!(hear(Signal::RequestSent(Exchange::default())), Some((MarkerKind::RequestSent, None)));
    assert_eq!(hear(Signal::ToolStarted(call("1"))), Some((MarkerKind::ToolStarted, Some("1".into()))));
    assert_eq!(hear(Signal::ToolStarted(call("2"))), Some((MarkerKind::ToolStarted, Some("2".into()))));
    assert_eq!(hear(Signal::ToolCompleted(call("2"))), Some((MarkerKind::ToolStarted, Some("1".into()))));
    assert_eq!(hear(Signal::ToolCompleted(call("1"))), Some((MarkerKind::ToolCompleted, Some("1".into()))));
    assert_eq!(hear(Signal::Waiting { question: "?".into() }), Some((MarkerKind::WaitingForUser, None)));
}
