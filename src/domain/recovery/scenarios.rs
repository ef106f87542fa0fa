//! The documented table, scenarios, edge cases and crash points, by rules alone and with an evaluator. What needs
//! processes is in `tests/it/run/recovering.rs`, by the same names.

use super::decide::Action::{ContinueTask, HumanReview, NextTask, RestartTask};
use super::decide::{Decided, Facts, Limits, MANY_FILES, MayBeginAnew, WorkPlace, by_rules, certain, certain_after_pause};
use super::marker::{Effect, Follow, MarkerKind, Recorded};
use super::tests::{LIMITS, NOW, both, decide, facts, hours_ago, with_marker};
use crate::domain::agent::adapter::ToolKind;

#[test]
fn table_auth_implementation_continues() {
    both(&Facts { changed: 1, ..facts() }, ContinueTask);
}

#[test]
fn table_test_writing_restarts() {
    both(&Facts { changed: 1, empty: 1, ..facts() }, RestartTask);
    both(&Facts { changed: 0, ..facts() }, RestartTask);
}

#[test]
fn table_api_endpoint_is_followed_by_the_next_task() {
    both(&Facts { progress: Some(100), tests_pass: Some(true), ..facts() }, NextTask);
    both(&Facts { progress: Some(100), tests_pass: None, ..facts() }, ContinueTask);
    both(&Facts { progress: Some(100), tests_pass: Some(false), ..facts() }, ContinueTask);
}

#[test]
fn a_hundred_percent_counts_only_for_what_it_was_said_of() {
    let said = Facts { progress: Some(100), ..facts() };
    both(&Facts { tests_pass: Some(true), said_of_this: false, ..said.clone() }, ContinueTask);
    // Whether its steps pass is found out before it counts as complete.
    both(&Facts { has_steps: true, ..said.clone() }, NextTask);
    both(&Facts { has_steps: true, said_of_this: false, ..said.clone() }, ContinueTask);
    both(&Facts { has_steps: true, tests_pass: Some(false), ..said }, ContinueTask);
}

#[test]
fn what_was_given_back_to_an_agent_goes_on() {
    for facts in [
        facts(),
        Facts { changed: 0, ..facts() },
        Facts { progress: Some(5), ..facts() },
        Facts { progress: Some(100), tests_pass: Some(true), has_steps: true, ..facts() },
        Facts { recent: Some(0), changed: MANY_FILES, saved_at: Some(hours_ago(300)), ..facts() },
        Facts { recorded: Recorded::Damaged, ..facts() },
        with_marker(MarkerKind::ToolStarted, Some(ToolKind::Edit)),
    ] {
        let given_back = Facts { given_back: true, ..facts };
        both(&given_back, ContinueTask);
        assert_eq!(certain_after_pause(&given_back).map(|decision| decision.action), Some(ContinueTask));
    }
    let given_back = Facts { given_back: true, progress: Some(5), ..facts() };
    let to_a_human = Limits { auto_reset: false, ..LIMITS };
    assert_eq!(certain(&given_back, to_a_human, NOW).map(|decision| decision.action), Some(HumanReview));
    let threshold = Limits { for_all: true, ..LIMITS };
    assert_eq!(certain(&given_back, threshold, NOW).map(|decision| decision.action), Some(RestartTask));
}

#[test]
fn edge_case_6_a_workspace_that_is_gone_begins_anew_or_a_human_agrees() {
    for percent in [None, Some(5), Some(80), Some(100)] {
        let there = Facts { progress: percent, given_back: percent == Some(5), ..facts() };
        let gone = |may| Facts { place: WorkPlace::Gone(may), changed: 0, ..there.clone() };
        both(&gone(MayBeginAnew::Yes), RestartTask);
        both(&gone(MayBeginAnew::Asks), HumanReview);
    }
    // What was saved of it is there again.
    both(&Facts { place: WorkPlace::Captured(NOW), progress: Some(80), ..facts() }, ContinueTask);
    both(&Facts { place: WorkPlace::Committed, progress: Some(80), ..facts() }, ContinueTask);
}

#[test]
fn table_unknown_state_is_reviewed() {
    both(&Facts { recent: Some(0), ..facts() }, HumanReview);
    both(&Facts { recent: None, ..facts() }, ContinueTask);
}

#[test]
fn scenario_1_orchestrator_crash_mid_task() {
    both(&Facts { changed: 1, progress: Some(40), ..facts() }, ContinueTask);
    both(&Facts { changed: 1, ..facts() }, ContinueTask);
}

#[test]
fn scenario_2_server_restart_during_tests() {
    both(&Facts { changed: 4, commits: 2, recent: Some(0), ..facts() }, ContinueTask);
    // Whose agent had said that it is complete: only its tests are left.
    both(&Facts { recorded: Recorded::Complete, changed: 4, ..facts() }, NextTask);
}

#[test]
fn scenario_3_long_pause() {
    let stopped = Facts { saved_at: Some(hours_ago(300)), commits: 1, ..facts() };
    both(&stopped, RestartTask);
    both(&Facts { paused: true, ..stopped.clone() }, ContinueTask);
    // Of its own accord nothing is thrown away however long ago and however little: files and reports decide, or an evaluator.
    let paused = Facts { paused: true, progress: Some(2), ..stopped };
    assert_eq!((certain_after_pause(&paused), by_rules(&paused).action), (None, ContinueTask));
    let fifty = Facts { iterations: 50, tokens: Some(0), ..paused };
    assert_eq!(certain_after_pause(&fifty).map(|decision| decision.action), Some(RestartTask));
}

#[test]
fn scenario_4_unclear_state() {
    both(&Facts { changed: MANY_FILES, ..facts() }, HumanReview);
    both(&Facts { changed: MANY_FILES - 1, ..facts() }, ContinueTask);
}

#[test]
fn edge_case_2_partial_json_write() {
    let whole = with_marker(MarkerKind::ToolCompleted, Some(ToolKind::Shell));
    both(&whole, ContinueTask);
    both(&Facts { recorded: Recorded::Damaged, ..whole }, RestartTask);
}

#[test]
fn edge_case_3_clock_skew() {
    both(&Facts { saved_at: Some(hours_ago(-1000)), ..with_marker(MarkerKind::RequestSent, None) }, ContinueTask);
}

#[test]
fn edge_case_4_very_large_conversations() {
    // Numbers of any size are compared and said, and what is unknown of a log that is too long is not guessed.
    let large = Facts { iterations: u32::MAX, tokens: Some(u64::MAX), changed: u64::MAX, ..facts() };
    both(&large, HumanReview);
    let begun = with_marker(MarkerKind::ToolStarted, Some(ToolKind::Edit));
    assert_eq!(decide(&Facts { effect: Effect::Unknown, ..begun }).follow, Follow::CheckTool);
}

#[test]
fn edge_case_5_recovery_during_recovery() {
    // A decision that is not carried out yet is on disk with the task: the next recovery reads it and makes no other.
    let open = Decided { decision: decide(&facts()), at: NOW, open: true, puts_aside: true };
    let line = serde_json::to_string(&open).unwrap();
    assert_eq!(serde_json::from_str::<Decided>(&line).unwrap(), open);
}

#[test]
fn edge_case_6_task_deleted_during_crash() {
    let whole = with_marker(MarkerKind::ToolCompleted, Some(ToolKind::Read));
    both(&Facts { recorded: Recorded::Nothing, marker: None, ..whole }, RestartTask);
    both(&Facts { recorded: Recorded::Nothing, ..facts() }, RestartTask);
}

#[test]
fn edge_case_7_log_and_record_disagree() {
    let fifty = Facts { iterations: 50, ..with_marker(MarkerKind::RequestSent, None) };
    both(&Facts { tokens: Some(0), ..fifty.clone() }, RestartTask);
    both(&Facts { tokens: None, ..fifty.clone() }, ContinueTask);
    both(&Facts { tokens: Some(1), ..fifty }, ContinueTask);
}

/// A sprint that is 80 % done goes on, one at 50 % too, one at 5 % begins anew.
#[test]
fn crash_point_implementation() {
    for (percent, expected) in [(80, ContinueTask), (50, ContinueTask), (5, RestartTask)] {
        both(&Facts { progress: Some(percent), ..facts() }, expected);
    }
    // With markers only a threshold of the command line counts.
    let told = Facts { progress: Some(5), ..with_marker(MarkerKind::ToolStarted, Some(ToolKind::Edit)) };
    both(&told, ContinueTask);
    let given = Limits { for_all: true, ..LIMITS };
    assert_eq!(certain(&told, given, NOW).map(|decision| decision.action), Some(RestartTask));
}

#[test]
fn crash_point_tests() {
    // Its program ran them itself: whether they had an effect has to be found out, and the work stays.
    let running = with_marker(MarkerKind::ToolStarted, Some(ToolKind::Shell));
    both(&running, ContinueTask);
    assert_eq!(decide(&running).follow, Follow::CheckTool);
    // A verify step ran them: the task is complete, and is verified.
    both(&Facts { recorded: Recorded::Complete, tests_pass: None, ..facts() }, NextTask);
}

#[test]
fn crash_point_validation() {
    for tests_pass in [None, Some(true), Some(false)] {
        both(&Facts { recorded: Recorded::Complete, progress: Some(100), tests_pass, ..facts() }, NextTask);
    }
}

#[test]
fn crash_point_waiting() {
    let asked = with_marker(MarkerKind::WaitingForUser, None);
    both(&asked, ContinueTask);
    assert_eq!(decide(&asked).follow, Follow::AskAgain);
}
