//! The model without a terminal: what keys ask for, and that nothing is done without a question.

pub mod fixtures;

use proptest::prelude::*;

use super::*;
use crate::panel::event::{ClickedPlace, PanelEvent};
use crate::panel::input::{PanelDirection, PanelInput, PanelKey};
use crate::panel::keys::TABLE;
use crate::panel::request::{PanelAction, PanelAnswer, PanelExit, PanelFailure, PanelPreview, PanelQuestion, PanelRequest};
use axiom_model::queries::project::LiveSessionStatus;
use axiom_model::work::sessions::session::SessionMode;
use fixtures::{answer, any_answer, asked, model, moments, press, seen};

#[test]
fn stop_kill_and_block_are_done_after_a_dialog_and_escape_does_nothing() {
    let mut model = model(80, 24);
    let (agent, task) = (|| "ed-001".to_owned(), || Some("ch-004".to_owned()));
    let ends =
        [("s", PanelAction::Stop { agent: agent(), task: task() }), ("x", PanelAction::Kill { agent: agent(), task: task() })];
    for (key, deed) in ends {
        assert_eq!(press(&mut model, key), []);
        assert!(matches!(model.dialogs.as_slice(), [PanelDialog::Plan { .. }]));
        assert_eq!(press(&mut model, "Esc"), []);
        assert!(model.dialogs.is_empty());
        assert_eq!(press(&mut model, &format!("{key} Enter")), [PanelRequest::Do(deed)]);
        assert!(model.dialogs.is_empty());
    }
    assert_eq!(press(&mut model, "b Enter"), [], "a reason is needed");
    assert_eq!(
        press(&mut model, "Esc b n o Space D B Backspace B Enter"),
        [PanelRequest::Do(PanelAction::Block { task: "ch-004".into(), reason: "no DB".into() })]
    );
}

#[test]
fn what_is_under_way_is_not_begun_again() {
    let mut model = model(80, 24);
    let stop = PanelAction::Stop { agent: "ed-001".into(), task: Some("ch-004".into()) };
    assert_eq!(press(&mut model, "s Enter"), [PanelRequest::Do(stop.clone())]);
    assert_eq!(press(&mut model, "s Enter"), []);
    assert_eq!(press(&mut model, "Ctrl+C"), [], "it is finished first");
    assert_eq!(press(&mut model, "Ctrl+C"), [PanelRequest::Close(PanelExit::Interrupted)]);
    update(&mut model, PanelEvent::Done(stop.clone(), Ok(vec!["Stopped ed-001.".into()])));
    assert_eq!(model.notice.as_ref().unwrap().text, "Stopped ed-001.");
    assert_eq!(press(&mut model, "s Enter"), [PanelRequest::Do(stop)]);
}

#[test]
fn a_rollback_waits_for_its_real_plan() {
    let mut model = model(80, 24);
    let requests = press(&mut model, "R");
    let deed = PanelAction::RollBackTask("ch-004".into());
    assert_eq!(asked(&requests), Some(&PanelQuestion::Plan(deed.clone())));
    assert_eq!(press(&mut model, "Enter"), [], "nothing is agreed to before it is shown");
    assert_eq!(model.dialogs.len(), 1);
    answer(
        &mut model,
        &requests,
        PanelAnswer::Plan(PanelPreview { lines: vec!["Would take back".into()], deed: Some(deed.clone()) }),
    );
    assert_eq!(press(&mut model, "Enter"), [PanelRequest::Do(deed)]);
    // An answer that nobody waits for any more does nothing.
    let requests = press(&mut model, "U");
    press(&mut model, "Esc");
    answer(
        &mut model,
        &requests,
        PanelAnswer::Plan(PanelPreview { lines: Vec::new(), deed: Some(PanelAction::Undo("t".into())) }),
    );
    assert!(model.dialogs.is_empty());
    assert_eq!(press(&mut model, "Enter"), []);
    // Where nothing would change, there is nothing to agree to.
    let requests = press(&mut model, "1 U");
    answer(&mut model, &requests, PanelAnswer::Plan(PanelPreview { lines: vec!["Nothing".into()], deed: None }));
    assert_eq!(press(&mut model, "Enter"), []);
}

#[test]
fn pause_pauses_then_stops_at_once_then_resumes() {
    let mut model = model(80, 24);
    assert_eq!(press(&mut model, "Space"), [PanelRequest::Do(PanelAction::Pause)]);
    assert_eq!(press(&mut model, "Space"), [PanelRequest::Do(PanelAction::PauseAtOnce)]);
    press(&mut model, "Esc");
    let mut paused = seen();
    paused.session.now = LiveSessionStatus::Paused;
    update(&mut model, PanelEvent::Seen(Box::new(paused)));
    assert_eq!(press(&mut model, "Space"), [PanelRequest::Do(PanelAction::Resume)]);
}

#[test]
fn the_mode_goes_round_and_asks_before_autopilot() {
    let mut model = model(80, 24);
    assert_eq!(press(&mut model, "m"), []);
    assert_eq!(press(&mut model, "Enter"), [PanelRequest::Do(PanelAction::Mode(SessionMode::Autopilot))]);
    for (now, next) in [(SessionMode::Autopilot, SessionMode::SemiAuto), (SessionMode::SemiAuto, SessionMode::Review)] {
        model.seen.session.mode = now;
        assert_eq!(press(&mut model, "m"), [PanelRequest::Do(PanelAction::Mode(next))]);
    }
}

#[test]
fn quit_asks_where_agents_run_and_else_closes() {
    let mut model = model(80, 24);
    let requests = press(&mut model, "q");
    assert_eq!(asked(&requests), Some(&PanelQuestion::AtWork));
    answer(&mut model, &requests, PanelAnswer::Text(vec!["2 agents are running".into()]));
    assert_eq!(press(&mut model, "l"), [PanelRequest::Close(PanelExit::Done)]);
    let requests = press(&mut model, "q");
    answer(&mut model, &requests, PanelAnswer::Text(Vec::new()));
    assert_eq!(press(&mut model, "s"), [PanelRequest::Do(PanelAction::CheckpointAndQuit)]);
    let done = update(&mut model, PanelEvent::Done(PanelAction::CheckpointAndQuit, Ok(vec!["Quitting".into()])));
    assert_eq!(done, [PanelRequest::Close(PanelExit::Done)]);
    model.seen.session.supervised = false;
    assert_eq!(press(&mut model, "q"), [PanelRequest::Close(PanelExit::Done)]);
}

#[test]
fn a_question_is_answered_in_place() {
    let mut model = model(80, 24);
    press(&mut model, "3");
    let requests = press(&mut model, "Enter");
    assert_eq!(asked(&requests), Some(&PanelQuestion::Gate("question-ch-006".into())));
    answer(&mut model, &requests, PanelAnswer::Text(vec!["Which database?".into()]));
    assert_eq!(
        press(&mut model, "a s q l Enter"),
        [PanelRequest::Do(PanelAction::Answer { gate: "question-ch-006".into(), text: "sql".into() })]
    );
}

#[test]
fn what_is_impossible_says_why_and_begins_nothing() {
    let mut model = model(80, 24);
    for (keys, why) in [
        ("1 j j s", "ed-003 works on nothing"),
        ("1 j x", "run by a human"),
        ("2 g s", "no agent is selected"),
        ("2 g R", "is a group"),
        ("2 g j j u", "is not blocked"),
    ] {
        assert_eq!(press(&mut model, keys), [], "{keys}");
        assert!(model.dialogs.is_empty() && model.notice.clone().unwrap().text.contains(why), "{keys}: {:?}", model.notice);
    }
    assert_eq!(press(&mut model, "2 g j j j u"), [PanelRequest::Do(PanelAction::Unblock("ch-007".into()))]);
}

#[test]
fn the_selection_stays_by_name_and_output_follows_it() {
    let mut model = model(80, 24);
    assert_eq!(press(&mut model, "j"), [PanelRequest::Follow(Some("ed-002".into()))]);
    let mut fewer = seen();
    fewer.agents.remove(0);
    assert_eq!(update(&mut model, PanelEvent::Seen(Box::new(fewer.clone()))), []);
    assert_eq!(model.selected.agent.as_deref(), Some("ed-002"));
    fewer.agents.remove(0);
    assert_eq!(update(&mut model, PanelEvent::Seen(Box::new(fewer))), [PanelRequest::Follow(Some("ed-003".into()))]);
}

#[test]
fn a_filter_shows_what_contains_a_text_and_escape_shows_all_again() {
    let mut model = model(80, 24);
    press(&mut model, "2 / R E G I S T E R Enter");
    assert_eq!(model.names(PanelView::Tasks), ["ch-004"]);
    assert_eq!(model.selected.task.as_deref(), Some("ch-004"), "what is shown is selected");
    assert_eq!(model.names(PanelView::Agents).len(), 4, "other views are as they were");
    press(&mut model, "Esc");
    assert_eq!(model.names(PanelView::Tasks).len(), 5, "what is merged is hidden");
    press(&mut model, "/ n o t h i n g Enter");
    assert_eq!((model.names(PanelView::Tasks).len(), press(&mut model, "R")), (0, Vec::new()));
    press(&mut model, "/ Ctrl+U Enter");
    assert_eq!(model.names(PanelView::Tasks).len(), 5, "no text: no filter");
    press(&mut model, "h");
    assert_eq!(model.names(PanelView::Tasks).len(), 6, "merged ones too");
}

#[test]
fn editors_and_verbs_get_the_terminal() {
    use crate::panel::request::PanelEditTarget;
    let mut model = model(80, 24);
    assert_eq!(press(&mut model, "e"), [PanelRequest::Edit(PanelEditTarget::Body("ch-004".into()))]);
    assert_eq!(press(&mut model, "d"), [], "it has no workspace here");
    model.seen.tasks[2].workspace = Some("/repo/.worktrees/ed-001-ch-004".into());
    assert_eq!(press(&mut model, "d"), [PanelRequest::Edit(PanelEditTarget::Workspace("ch-004".into()))]);
    assert_eq!(press(&mut model, ": Enter"), [], "a verb is needed");
    assert_eq!(press(&mut model, "l o g Enter"), [PanelRequest::Run("log".into())]);
    assert!(model.dialogs.is_empty());
}

#[test]
fn at_a_checkpoint_one_file_comes_back_after_its_plan() {
    let mut model = model(80, 24);
    let requests = press(&mut model, "5");
    answer(&mut model, &requests, PanelAnswer::Timeline(moments()));
    assert_eq!(press(&mut model, "j Enter"), []);
    let restore = PanelAction::RestoreFile { checkpoint: "before-merge-1".into(), path: "a".into() };
    let requests = press(&mut model, "o a Enter");
    assert_eq!(asked(&requests), Some(&PanelQuestion::Plan(restore.clone())));
    answer(&mut model, &requests, PanelAnswer::Plan(PanelPreview { lines: Vec::new(), deed: Some(restore.clone()) }));
    assert_eq!(press(&mut model, "Enter"), [PanelRequest::Do(restore)]);
    assert_eq!(asked(&press(&mut model, "D")), Some(&PanelQuestion::Since("before-merge-1".into())));
}

#[test]
fn pasted_text_is_no_command_and_goes_into_a_line_that_is_typed() {
    let mut model = model(80, 24);
    assert_eq!(update(&mut model, PanelEvent::Input(PanelInput::Paste("sx\r".into()))), []);
    assert!(model.dialogs.is_empty());
    press(&mut model, "b");
    update(&mut model, PanelEvent::Input(PanelInput::Paste("one\ntwo".into())));
    assert_eq!(
        press(&mut model, "Enter"),
        [PanelRequest::Do(PanelAction::Block { task: "ch-004".into(), reason: "one two".into() })]
    );
}

#[test]
fn failures_are_shown_whole() {
    let mut model = model(80, 24);
    press(&mut model, "c");
    let failure = PanelFailure { code: "DISK_FULL", lines: vec!["DISK_FULL: no".into(), "hint: git axiom disk".into()] };
    update(&mut model, PanelEvent::Done(PanelAction::Checkpoint(None), Err(failure)));
    assert!(matches!(model.dialogs.as_slice(), [PanelDialog::Text { body: DialogBody::Failed(lines), .. }] if lines.len() == 2));
    assert!(model.doing.all().is_empty());
}

/// What a human could press, answers that come, and changes on disk.
fn anything() -> impl Strategy<Value = PanelEvent> {
    let keys: Vec<PanelKey> = TABLE.iter().flat_map(|row| row.keys.iter().copied()).collect();
    let common = prop::sample::select(vec![
        PanelKey::Enter,
        PanelKey::Escape,
        PanelKey::Char('y'),
        PanelKey::Char('a'),
        PanelKey::Ctrl('c'),
        PanelKey::Tab,
    ]);
    let key = prop_oneof![prop::sample::select(keys), common];
    prop_oneof![
        20 => key.prop_map(|key| PanelEvent::Input(PanelInput::Key(key))),
        1 => "[a-z\\r\\n]{0,5}".prop_map(|text| PanelEvent::Input(PanelInput::Paste(text))),
        1 => prop_oneof![Just(PanelDirection::Up), Just(PanelDirection::Down)].prop_map(|way| PanelEvent::Input(PanelInput::Wheel(way))),
        1 => (0..6_usize).prop_map(|tab| PanelEvent::Clicked(ClickedPlace::Tab(tab))),
        2 => (0..4_usize, prop::sample::select(vec![LiveSessionStatus::Running, LiveSessionStatus::Paused, LiveSessionStatus::Pausing, LiveSessionStatus::Idle]))
            .prop_map(|(agents, now)| {
                let mut seen = seen();
                seen.agents.truncate(agents);
                seen.session.now = now;
                PanelEvent::Seen(Box::new(seen))
            }),
        1 => (1..250_u16, 1..70_u16).prop_map(|(width, height)| PanelEvent::Resized { width, height }),
    ]
}

/// Whether the open dialog, as it was before a key, offers this deed.
fn offered(dialog: Option<&PanelDialog>, deed: &PanelAction) -> bool {
    match dialog {
        Some(PanelDialog::Plan { body: DialogBody::Ready(_), deed: Some(shown), .. }) => shown == deed,
        Some(PanelDialog::Choose { items, .. }) => items.iter().any(|item| item.then == DialogChoiceAction::Do(deed.clone())),
        Some(PanelDialog::Typed(typed)) => typed.then.with(&typed.text) == Some(DialogTextResult::Do(deed.clone())),
        Some(PanelDialog::Pausing) => *deed == PanelAction::PauseAtOnce,
        Some(_) | None => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Whatever is pressed, whatever happens meanwhile: nothing that takes something away is done unless a dialog offered it.
    #[test]
    fn nothing_is_done_without_a_dialog(events in prop::collection::vec(anything(), 1..120)) {
        let mut model = model(80, 24);
        for event in events {
            let before = model.dialogs.last().cloned();
            let requests = update(&mut model, event);
            for request in &requests {
                match request {
                    PanelRequest::Do(deed) => prop_assert!(deed.needs_no_question() || offered(before.as_ref(), deed), "{deed:?}"),
                    PanelRequest::Ask(ticket, question) => {
                        let answered = any_answer(question);
                        update(&mut model, PanelEvent::Answered(*ticket, Ok(answered)));
                    }
                    PanelRequest::Follow(_) | PanelRequest::Edit(_) | PanelRequest::Run(_) => {}
                    PanelRequest::Suspend | PanelRequest::Redraw | PanelRequest::Close(_) => {}
                }
            }
            for deed in model.doing.all().to_vec() {
                update(&mut model, PanelEvent::Done(deed, Ok(vec!["done".into()])));
            }
            prop_assert!(model.dialogs.len() < 20, "dialogs pile up");
            crate::panel::view::tests::drawn(&model);
        }
    }
}
