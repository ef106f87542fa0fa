//! The documented table, scenarios, edge cases and crash points, by rules alone and with an evaluator. What needs
//! processes is in `tests/it/run/recovering.rs`, by the same names.

use super::decide::CrashAction::{ContinueTask, HumanReview, NextTask, RestartTask};
use super::decide::{
    ChangedWork, CrashDecisionLimits, CrashFacts, CutOffProgram, IterationCounters, LastCrashDecision, MANY_FILES, MayBeginAnew,
    WorkPlace, by_rules, certain, certain_after_pause,
};
use super::tests::{LIMITS, NOW, both, changed, decide, facts, hours_ago, with_marker};
use crate::agent::tool_kind::ToolKind;
use crate::work::iteration_marker::{CrashFollowUp, IterationRecordState, MarkerKind, ToolCallEffect};

#[test]
fn table_auth_implementation_continues() {
    both(&CrashFacts { work: changed(1), ..facts() }, ContinueTask);
}

#[test]
fn table_test_writing_restarts() {
    both(&CrashFacts { work: ChangedWork { changed: 1, empty: 1, ..facts().work }, ..facts() }, RestartTask);
    both(&CrashFacts { work: changed(0), ..facts() }, RestartTask);
}

#[test]
fn table_api_endpoint_is_followed_by_the_next_task() {
    both(&CrashFacts { progress: Some(100), tests_pass: Some(true), ..facts() }, NextTask);
    both(&CrashFacts { progress: Some(100), tests_pass: None, ..facts() }, ContinueTask);
    both(&CrashFacts { progress: Some(100), tests_pass: Some(false), ..facts() }, ContinueTask);
}

#[test]
fn a_hundred_percent_counts_only_for_what_it_was_said_of() {
    let said = CrashFacts { progress: Some(100), ..facts() };
    both(&CrashFacts { tests_pass: Some(true), said_of_this: false, ..said.clone() }, ContinueTask);
    // Whether its steps pass is found out before it counts as complete.
    both(&CrashFacts { has_steps: true, ..said.clone() }, NextTask);
    both(&CrashFacts { has_steps: true, said_of_this: false, ..said.clone() }, ContinueTask);
    both(&CrashFacts { has_steps: true, tests_pass: Some(false), ..said }, ContinueTask);
}

#[test]
fn what_was_given_back_to_an_agent_goes_on() {
    for facts in [
        facts(),
        CrashFacts { work: changed(0), ..facts() },
        CrashFacts { progress: Some(5), ..facts() },
        CrashFacts { progress: Some(100), tests_pass: Some(true), has_steps: true, ..facts() },
        CrashFacts {
            work: ChangedWork { recent: Some(0), changed: MANY_FILES, ..facts().work },
            saved_at: Some(hours_ago(300)),
            ..facts()
        },
        CrashFacts { recorded: IterationRecordState::Damaged, ..facts() },
        with_marker(MarkerKind::ToolStarted, Some(ToolKind::Edit)),
    ] {
        let given_back = CrashFacts { given_back: true, ..facts };
        both(&given_back, ContinueTask);
        assert_eq!(certain_after_pause(&given_back).map(|decision| decision.action), Some(ContinueTask));
    }
    let given_back = CrashFacts { given_back: true, progress: Some(5), ..facts() };
    let to_a_human = CrashDecisionLimits { auto_reset: false, ..LIMITS };
    assert_eq!(certain(&given_back, to_a_human, NOW).map(|decision| decision.action), Some(HumanReview));
    let threshold = CrashDecisionLimits { for_all: true, ..LIMITS };
    assert_eq!(certain(&given_back, threshold, NOW).map(|decision| decision.action), Some(RestartTask));
}

#[test]
fn edge_case_6_a_workspace_that_is_gone_begins_anew_or_a_human_agrees() {
    for percent in [None, Some(5), Some(80), Some(100)] {
        let there = CrashFacts { progress: percent, given_back: percent == Some(5), ..facts() };
        let gone =
            |may| CrashFacts { place: WorkPlace::Gone(may), work: ChangedWork { changed: 0, ..there.work }, ..there.clone() };
        both(&gone(MayBeginAnew::Yes), RestartTask);
        both(&gone(MayBeginAnew::Asks), HumanReview);
    }
    // What was saved of it is there again.
    both(&CrashFacts { place: WorkPlace::Captured(NOW), progress: Some(80), ..facts() }, ContinueTask);
    both(&CrashFacts { place: WorkPlace::Committed, progress: Some(80), ..facts() }, ContinueTask);
}

#[test]
fn table_unknown_state_is_reviewed() {
    both(&CrashFacts { work: ChangedWork { recent: Some(0), ..facts().work }, ..facts() }, HumanReview);
    both(&CrashFacts { work: ChangedWork { recent: None, ..facts().work }, ..facts() }, ContinueTask);
}

#[test]
fn scenario_1_orchestrator_crash_mid_task() {
    both(&CrashFacts { work: changed(1), progress: Some(40), ..facts() }, ContinueTask);
    both(&CrashFacts { work: changed(1), ..facts() }, ContinueTask);
}

#[test]
fn scenario_2_server_restart_during_tests() {
    both(&CrashFacts { work: ChangedWork { changed: 4, commits: 2, recent: Some(0), ..facts().work }, ..facts() }, ContinueTask);
    // Whose agent had said that it is complete: only its tests are left.
    both(&CrashFacts { recorded: IterationRecordState::Complete, work: changed(4), ..facts() }, NextTask);
}

#[test]
fn scenario_3_long_pause() {
    let stopped = CrashFacts { saved_at: Some(hours_ago(300)), work: ChangedWork { commits: 1, ..facts().work }, ..facts() };
    both(&stopped, RestartTask);
    both(&CrashFacts { paused: true, ..stopped.clone() }, ContinueTask);
    // Of its own accord nothing is thrown away however long ago and however little: files and reports decide, or an evaluator.
    let paused = CrashFacts { paused: true, progress: Some(2), ..stopped };
    assert_eq!((certain_after_pause(&paused), by_rules(&paused).action), (None, ContinueTask));
    let fifty = CrashFacts { counted: IterationCounters { iterations: 50, tokens: Some(0) }, ..paused };
    assert_eq!(certain_after_pause(&fifty).map(|decision| decision.action), Some(RestartTask));
}

#[test]
fn scenario_4_unclear_state() {
    both(&CrashFacts { work: changed(MANY_FILES), ..facts() }, HumanReview);
    both(&CrashFacts { work: changed(MANY_FILES - 1), ..facts() }, ContinueTask);
}

#[test]
fn edge_case_2_partial_json_write() {
    let whole = with_marker(MarkerKind::ToolCompleted, Some(ToolKind::Shell));
    both(&whole, ContinueTask);
    both(&CrashFacts { recorded: IterationRecordState::Damaged, ..whole }, RestartTask);
}

#[test]
fn edge_case_3_clock_skew() {
    both(&CrashFacts { saved_at: Some(hours_ago(-1000)), ..with_marker(MarkerKind::RequestSent, None) }, ContinueTask);
}

#[test]
fn edge_case_4_very_large_conversations() {
    // Numbers of any size are compared and said, and what is unknown of a log that is too long is not guessed.
    let large = CrashFacts {
        counted: IterationCounters { iterations: u32::MAX, tokens: Some(u64::MAX) },
        work: changed(u64::MAX),
        ..facts()
    };
    both(&large, HumanReview);
    let begun = with_marker(MarkerKind::ToolStarted, Some(ToolKind::Edit));
    assert_eq!(
        decide(&CrashFacts { program: CutOffProgram { effect: ToolCallEffect::Unknown, ..begun.program.clone() }, ..begun })
            .follow,
        CrashFollowUp::CheckTool
    );
}

#[test]
fn edge_case_5_recovery_during_recovery() {
    // A decision that is not carried out yet is on disk with the task: the next recovery reads it and makes no other.
    let open = LastCrashDecision { decision: decide(&facts()), at: NOW, open: true, puts_aside: true };
    let line = serde_json::to_string(&open).unwrap();
    assert_eq!(serde_json::from_str::<LastCrashDecision>(&line).unwrap(), open);
}

#[test]
fn edge_case_6_task_deleted_during_crash() {
    let whole = with_marker(MarkerKind::ToolCompleted, Some(ToolKind::Read));
    both(
        &CrashFacts {
            recorded: IterationRecordState::Nothing,
            program: CutOffProgram { marker: None, ..whole.program.clone() },
            ..whole
        },
        RestartTask,
    );
    both(&CrashFacts { recorded: IterationRecordState::Nothing, ..facts() }, RestartTask);
}

#[test]
fn edge_case_7_log_and_record_disagree() {
    let fifty = |tokens| CrashFacts {
        counted: IterationCounters { iterations: 50, tokens },
        ..with_marker(MarkerKind::RequestSent, None)
    };
    both(&fifty(Some(0)), RestartTask);
    both(&fifty(None), ContinueTask);
    both(&fifty(Some(1)), ContinueTask);
}

/// A sprint that is 80 % done goes on, one at 50 % too, one at 5 % begins anew.
#[test]
fn crash_point_implementation() {
    for (percent, expected) in [(80, ContinueTask), (50, ContinueTask), (5, RestartTask)] {
        both(&CrashFacts { progress: Some(percent), ..facts() }, expected);
    }
    // With markers only a threshold of the command line counts.
    let told = CrashFacts { progress: Some(5), ..with_marker(MarkerKind::ToolStarted, Some(ToolKind::Edit)) };
    both(&told, ContinueTask);
    let given = CrashDecisionLimits { for_all: true, ..LIMITS };
    assert_eq!(certain(&told, given, NOW).map(|decision| decision.action), Some(RestartTask));
}

#[test]
fn crash_point_tests() {
    // Its program ran them itself: whether they had an effect has to be found out, and the work stays.
    let running = with_marker(MarkerKind::ToolStarted, Some(ToolKind::Shell));
    both(&running, ContinueTask);
    assert_eq!(decide(&running).follow, CrashFollowUp::CheckTool);
    // A verify step ran them: the task is complete, and is verified.
    both(&CrashFacts { recorded: IterationRecordState::Complete, tests_pass: None, ..facts() }, NextTask);
}

#[test]
fn crash_point_validation() {
    for tests_pass in [None, Some(true), Some(false)] {
        both(&CrashFacts { recorded: IterationRecordState::Complete, progress: Some(100), tests_pass, ..facts() }, NextTask);
    }
}

#[test]
fn crash_point_waiting() {
    let asked = with_marker(MarkerKind::WaitingForUser, None);
    both(&asked, ContinueTask);
    assert_eq!(decide(&asked).follow, CrashFollowUp::AskAgain);
}
