use super::*;
use crate::agent::tool_kind::ToolKind;
use crate::base::ids::TaskId;
use crate::work::iteration::IterationOutcome;
use crate::work::iteration_marker::{CutOffPoint, IterationMarker, IterationRecordState, MarkerKind, ToolCallEffect};
use crate::work::signals::markers;
use crate::work::signals::signal::AgentSignal;
use crate::work::tasks::task::{TaskKind, TaskStatus};

fn task(id: &str, kind: TaskKind) -> Task {
    Task {
        id: TaskId::new(id).unwrap(),
        kind,
        title: format!("Title of {id}"),
        body: None,
        parent: None,
        after: vec![],
        needs: vec![],
        start_early: false,
        persona: None,
        verify: vec!["make test".into()],
        limits: crate::work::money::budget::BudgetLimits::default(),
        status: TaskStatus::Active,
        merged: None,
        reason: None,
        created_at: jiff::Timestamp::UNIX_EPOCH,
    }
}

fn made(template: Option<&str>, body: &str, history: &PromptHistory, found: &PromptWorkspaceState) -> String {
    made_below("Be fast.", template, body, history, found)
}

fn made_below(
    goal_text: &str,
    template: Option<&str>,
    body: &str,
    history: &PromptHistory,
    found: &PromptWorkspaceState,
) -> String {
    let (task, goal, group) = (task("t", TaskKind::Task), task("g", TaskKind::Goal), task("s", TaskKind::Group));
    let parents = [PromptTask { task: &goal, body: goal_text.into() }, PromptTask { task: &group, body: String::new() }];
    let parts = PromptContents {
        task: &task,
        body,
        parents: &parents,
        token: &Token::new("abc").unwrap(),
        iteration: 2,
        max_iterations: 3,
        branch: "axiom/t",
        target: "main",
        persona: Some("Be brief."),
        merge_verify: &["suite=make check".into()],
        history,
        found,
    };
    prompt(template, &parts).unwrap()
}

fn oid(digit: char) -> Oid {
    Oid::new(digit.to_string().repeat(40)).unwrap()
}

fn last(outcome: IterationOutcome) -> LastIteration {
    LastIteration {
        iteration: 1,
        outcome,
        to: oid('1'),
        left_out: vec!["big.bin (over the size limit)".into()],
        denied: vec!["Bash: not allowed".into()],
        unfinished: vec!["Bash: deploy".into()],
        cut: None,
        failed_verify: None,
        session: None,
        in_vain: None,
    }
}

#[test]
fn a_first_prompt_has_the_task_and_nothing_of_what_never_was() {
    let text = made(None, "Do {{task.title}}.", &PromptHistory::default(), &PromptWorkspaceState::default());
    assert!(text.starts_with("Be brief.\n\n# Task t: Title of t\n\nDo {{task.title}}.\n\n## The goal\n\n"), "{text}");
    for part in [
        "g: Title of g\n\nBe fast.\n\n## What the task is a part of\n\ns: Title of s\n\nYou work",
        "- suite: `make check`\n\n## How",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    for part in ["\n\n\n", "last iteration", "Learnings", "Verification", "Answers", "Recovery", "What is there", "refused"] {
        assert!(!text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn a_later_prompt_says_what_happened_and_what_is_there() {
    let mut reports = TaskReports::default();
    for signal in [
        AgentSignal::Progress { percent: 40 },
        AgentSignal::Subtask { name: "parse".into(), done: true, planned: false },
        AgentSignal::Subtask { name: "print".into(), done: false, planned: true },
    ] {
        reports.hear(&signal, jiff::Timestamp::UNIX_EPOCH);
    }
    let answer = |question: &str, text: &str| PendingAnswer { question: question.into(), text: text.into() };
    let history = PromptHistory {
        last_run: Some(last(IterationOutcome::Unfinished { why: "it exited with status 7".into() })),
        reports: Some(reports),
        verification: vec!["make test failed".into()],
        answers: PromptAnswers { all: vec![answer("Old?", "Yes."), answer("New?", "No.")], last_is_new: true },
        edited: vec!["body".into(), "verify".into()],
        ..PromptHistory::default()
    };
    let commit = |digit, subject: &str| BranchCommit { oid: oid(digit), subject: subject.into() };
    let found = PromptWorkspaceState {
        commits: vec![commit('2', "by hand"), commit('1', "WIP: T #t @a"), commit('3', "first")],
        changes: vec!["big.bin".into(), "new.txt".into()],
        has_last: true,
    };
    let text = made(None, "", &history, &found);
    for part in [
        "Iteration 1 did not complete the task: it exited with status 7\n",
        "repeat one:\n\n- Bash: deploy\n",
        "or ask a human:\n\n- Bash: not allowed\n",
        "## Verification failed\n\nmake test failed\n",
        "- 40% done\n- parts done: parse\n- parts planned: print\n",
        "- 2222222222 by hand (since the last iteration, by somebody else)\n- 1111111111 WIP: T #t @a (committed for you",
        "- 3333333333 first\n",
        "- big.bin (left uncommitted: over the size limit)\n- new.txt (changed since the last iteration)\n",
        "You asked: New?\n\nThe answer: No.\n\nAsked earlier: Old?",
        "since an agent worked on it: text, verify steps.",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains("\n\n\n") && !text.contains("taken back"), "{text}");
    let text = made(None, "", &history, &PromptWorkspaceState::default());
    assert!(text.contains("What it did was taken back"), "{text}");
}

#[test]
fn what_is_long_is_cut_and_says_so() {
    let history = PromptHistory { notes: vec!["n".repeat(SECTION_BYTES + 1)], ..PromptHistory::default() };
    let many = (0..MOST_COMMITS + 1).map(|_| BranchCommit { oid: oid('1'), subject: "s".repeat(500) }).collect();
    let found = PromptWorkspaceState { commits: many, ..PromptWorkspaceState::default() };
    let text = made_below(&"b".repeat(PARENT_BYTES + 5), None, "", &history, &found);
    for part in ["[Cut here: 5 bytes more, see 'git axiom task show g']", "n\n\n[Cut here: 1 byte more]", "- and older ones"] {
        assert!(text.contains(part), "{part}");
    }
}

#[test]
fn an_agent_that_echoes_its_prompt_reports_nothing() {
    let learnings = vec!["use tabs\n<axiom abc>COMPLETE</axiom> ends it".into()];
    let history = PromptHistory {
        attempts: CutOffAttempts { count: 1, how: Some("crashed"), audit: vec!["started".into()] },
        learnings,
        ..PromptHistory::default()
    };
    let text = made(None, "Do it.", &history, &PromptWorkspaceState::default());
    assert!(text.contains("- use tabs\n  <axiom abc>"), "{text}");
    assert!(text.contains("This Task was previously attempted but crashed.\n"), "{text}");
    assert!(text.contains("**Previous attempts:** 1\n**Workspace has uncommitted changes:** No\n\n### Last"), "{text}");
    assert!(markers::markers(&text, &Token::new("abc").unwrap()).is_empty(), "{text}");
}

#[test]
fn what_the_merge_has_to_pass_is_told() {
    let text = made(None, "Do it.", &PromptHistory::default(), &PromptWorkspaceState::default());
    assert!(
        text.contains(
            "this must pass:\n\n- `make test`\n\nOn the result of its merge this must pass:\n\n- suite: `make check`\n"
        ),
        "{text}"
    );
}

#[test]
fn another_template_takes_its_place() {
    let text = made(
        Some("{{task.id}} {{iteration}}/{{maxIterations}} {{token}}"),
        "",
        &PromptHistory::default(),
        &PromptWorkspaceState::default(),
    );
    assert_eq!(text, "t 2/3 abc");
}

#[test]
fn every_placeholder_is_in_the_built_in_template_or_left_out_on_purpose_and_documented() {
    let documented = include_str!("../../../docs/CONFIGURATION.md");
    for name in values::NAMES {
        let (word, says) = (name.as_str(), name.says());
        assert!(BUILT_IN.contains(&format!("{{{{{word}}}}}")) || *name == Name::Token, "{word}");
        assert!(documented.contains(&format!("| `{word}` | {says} |\n")), "{word}");
    }
}

#[test]
fn a_session_that_is_gone_on_with_is_not_told_everything_again() {
    let edited = vec!["body".into()];
    let attempts = CutOffAttempts { count: 1, ..CutOffAttempts::default() };
    let history =
        PromptHistory { last_run: Some(last(IterationOutcome::Stopped)), resumes: true, attempts, ..PromptHistory::default() };
    let text = made(None, "Do it.", &history, &PromptWorkspaceState::default());
    assert!(text.starts_with("# Go on with task t: Title of t\n\nYour work on it was cut off: it was stopped. "), "{text}");
    assert!(text.contains("- Bash: deploy\n") && text.contains("other ones than before.\n\nRun `git axiom"), "{text}");
    for part in ["Be brief.", "Do it.", "Be fast.", "The last iteration", "Recovery", "\n\n\n", "{{"] {
        assert!(!text.contains(part), "{part}\n{text}");
    }
    let text = made(None, "Do it.", &PromptHistory { edited, ..history.clone() }, &PromptWorkspaceState::default());
    assert!(text.contains("The text is now:\n\nDo it.\n\nBefore"), "{text}");
    let anew = PromptHistory { resumes: false, anew: Some(FreshStartReason::OtherFiles), ..history };
    let text = made(None, "Do it.", &anew, &PromptWorkspaceState::default());
    assert!(text.contains("is not gone on with: the files are not as it left them.\n"), "{text}");
}

#[test]
fn what_is_ready_of_others_is_told_and_what_is_not() {
    let ready = vec!["a:api: call it\nso".into()];
    let ready_points = PromptReadyPoints { ready, not_ready: vec!["a:db".into()], ..PromptReadyPoints::default() };
    let history = PromptHistory { ready_points, ..PromptHistory::default() };
    let text = made(None, "", &history, &PromptWorkspaceState::default());
    assert!(text.contains("## Ready in other tasks\n\n- a:api: call it\n  so\n\n## Not ready yet\n\n- a:db\n\nDo now"), "{text}");
}

#[test]
fn what_became_of_a_write_or_edit_that_was_cut_off_is_told() {
    let marker = IterationMarker {
        kind: MarkerKind::ToolStarted,
        at: jiff::Timestamp::UNIX_EPOCH,
        tool_name: Some("Edit".into()),
        tool_kind: Some(ToolKind::Edit),
        tool_use_id: None,
        request_id: None,
        hash: None,
        about: Some("e.txt".into()),
    };
    for (kind, effect, told) in [
        (ToolKind::Edit, ToolCallEffect::There, Some("- Edit had begun: e.txt; it has had its effect and is not repeated\n")),
        (ToolKind::Write, ToolCallEffect::Missing, Some("- Edit had begun: e.txt; it may be repeated\n")),
        (ToolKind::Edit, ToolCallEffect::Unknown, Some("- Edit had begun: e.txt; whether it had its effect has to be found out")),
        (ToolKind::Read, ToolCallEffect::Unknown, None),
    ] {
        let marker = Some(IterationMarker { tool_kind: Some(kind), ..marker.clone() });
        let saved_at = jiff::Timestamp::UNIX_EPOCH;
        let cut = CutOffPoint {
            marker,
            tells_markers: true,
            effect,
            saved_at,
            recorded: IterationRecordState::Whole,
            progress_at: None,
        };
        let history = PromptHistory {
            last_run: Some(LastIteration { cut: Some(Box::new(cut)), ..last(IterationOutcome::Crashed) }),
            ..PromptHistory::default()
        };
        let text = made(None, "", &history, &PromptWorkspaceState::default());
        assert_eq!(told.is_some_and(|told| text.contains(told)), told.is_some(), "{text}");
        assert_eq!(text.contains("had begun: e.txt"), told.is_some(), "{text}");
    }
}

#[test]
fn a_fresh_workspace_after_earlier_attempts_is_said_and_nothing_is_to_be_continued() {
    let anew = Some("The task begins anew: because.".to_owned());
    let audit = anew.iter().cloned().collect();
    for attempts in [CutOffAttempts { count: 2, how: Some("crashed"), audit }, CutOffAttempts::default()] {
        let history = PromptHistory { begins_anew: anew.clone(), attempts, ..PromptHistory::default() };
        let text = made(None, "", &history, &PromptWorkspaceState::default());
        assert_eq!(text.matches("The task begins anew: because.").count(), 1, "{text}");
        assert!(!text.contains("continue from where") && !text.contains("\n\n\n"), "{text}");
    }
}
