//! Screens without a terminal, compared with approved ones. `INSTA_UPDATE=always` writes new ones; look at them before committing.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{PanelColours, draw};
use crate::panel::event::PanelEvent;
use crate::panel::model::tests::fixtures::{answer, model, moments, press, seen, seen_with_questions};
use crate::panel::model::{PanelModel, PanelView, update};
use crate::panel::request::{PanelAction, PanelAnswer, PanelFailure, PanelPreview, PanelRemedies};
use crate::panel::snapshot::{CheckpointRow, WaitingRow};
use axiom_model::queries::project::LiveSessionStatus;
use axiom_model::work::tasks::task::TaskStatus;

fn buffer(model: &PanelModel, colours: PanelColours) -> Buffer {
    let area = Rect { x: 0, y: 0, width: model.size.0, height: model.size.1 };
    let mut buffer = Buffer::empty(area);
    draw(model, colours, area, &mut buffer);
    buffer
}

/// What the selected row of the shown view says; of the output its first line.
pub fn selected(model: &PanelModel) -> String {
    use ratatui::style::Modifier;
    let buffer = buffer(model, PanelColours::None);
    let row = |y: u16| (0..model.size.0).map(|x| buffer[(x, y)].symbol()).collect::<String>();
    let is_selected = |y: &u16| buffer[(1, *y)].modifier.contains(Modifier::REVERSED);
    if model.selected.view == PanelView::Output {
        row(2)
    } else {
        (2..model.size.1).find(is_selected).map(row).unwrap_or_default()
    }
}

/// The screen as text.
pub fn drawn(model: &PanelModel) -> String {
    let buffer = buffer(model, PanelColours::Sixteen);
    let mut text = String::new();
    for row in 0..model.size.1 {
        let mut line = String::new();
        let mut skip = 0;
        for column in 0..model.size.0 {
            let symbol = buffer[(column, row)].symbol();
            if skip > 0 {
                skip -= 1;
                continue;
            }
            skip = super::canvas::width(symbol).saturating_sub(1);
            line.push_str(symbol);
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

const SIZES: [(u16, u16); 2] = [(80, 24), (200, 60)];

/// Compares the screens of both sizes after some keys.
fn screens(name: &str, play: impl Fn(&mut PanelModel)) {
    for (width, height) in SIZES {
        let mut model = model(width, height);
        play(&mut model);
        let screen = drawn(&model);
        assert!(!screen.contains('\u{1b}') && !screen.contains('\u{202e}') && !screen.contains('\u{7}'), "{screen}");
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(format!("{name}_{width}x{height}"), screen);
        });
    }
}

fn timeline(model: &mut PanelModel) {
    let requests = press(model, "5");
    answer(model, &requests, PanelAnswer::Timeline(moments()));
}

#[test]
fn every_view_is_as_approved() {
    screens("agents", |_| {});
    screens("agents_attached", |model| drop(press(model, "G")));
    screens("tasks", |model| drop(press(model, "2 j j j j")));
    screens("gates", |model| drop(press(model, "3")));
    screens("output", |model| drop(press(model, "l")));
    screens("output_full", |model| drop(press(model, "f")));
    screens("timeline", timeline);
    screens("filtered", |model| drop(press(model, "2 / j w t Enter")));
    screens("waiting", |model| {
        update(model, PanelEvent::Seen(Box::new(seen_with_questions())));
        press(model, "3 g");
    });
    screens("empty", |model| {
        let mut none = seen();
        (none.agents, none.tasks, none.waiting) = Default::default();
        (none.session.now, none.session.supervised) = (LiveSessionStatus::Crashed, false);
        none.recovery = vec!["the last session ended unexpectedly".into()];
        update(model, PanelEvent::Seen(Box::new(none)));
    });
    screens("none_begun", |model| {
        let mut none = seen();
        (none.agents, none.session.supervised) = (Vec::new(), true);
        update(model, PanelEvent::Seen(Box::new(none)));
    });
}

#[test]
fn the_footer_offers_what_is_possible_and_what_waits_is_counted_once() {
    let mut model = model(200, 60);
    let offers = |model: &PanelModel, words: &str| drawn(model).trim_end().lines().next_back().unwrap().contains(words);
    press(&mut model, "2 g");
    assert!(offers(&model, "pause") && offers(&model, "block"), "a group too");
    let selected = model.selected.task.clone();
    let mut now = seen();
    now.tasks.iter_mut().filter(|row| Some(&row.id) == selected.as_ref()).for_each(|row| row.status.stored = TaskStatus::Done);
    (now.session.now, now.session.supervised) = (LiveSessionStatus::Ending, true);
    let decided = now.waiting.iter().filter(|row| row.decided.is_none()).count();
    now.waiting.extend(now.waiting.clone().into_iter().map(|row| WaitingRow { decided: Some("approved".into()), ..row }));
    update(&mut model, PanelEvent::Seen(Box::new(now)));
    assert!(!offers(&model, "block") && !offers(&model, "pause"), "it is done, and the session ends");
    let drawn = drawn(&model);
    assert!(drawn.starts_with("  ending ") || drawn.starts_with(" ending "), "{drawn}");
    assert!(drawn.contains(&format!("{decided} for you")) && drawn.contains(&format!("3 Gates ({decided})")), "{drawn}");
}

#[test]
fn every_dialog_is_as_approved() {
    screens("help", |model| drop(press(model, "?")));
    screens("menu", |model| drop(press(model, "i Tab")));
    screens("stop", |model| drop(press(model, "s")));
    screens("kill", |model| drop(press(model, "x")));
    screens("block", |model| drop(press(model, "b n o Space k e y")));
    screens("autopilot", |model| drop(press(model, "m")));
    screens("pausing", |model| drop(press(model, "Space")));
    screens("checkpoint", |model| drop(press(model, "n v 1")));
    screens("plan_comes", |model| drop(press(model, "R")));
    screens("plan", |model| {
        let requests = press(model, "R");
        let lines =
            vec!["Would take 'ch-004' back on main:".into(), "  1 commit reverted".into(), format!("    {}", "x".repeat(90))];
        let deed = Some(PanelAction::RollBackTask("ch-004".into()));
        answer(model, &requests, PanelAnswer::Plan(PanelPreview { lines, deed }));
    });
    screens("plan_refused", |model| {
        press(model, "U");
        let lines = vec!["CHANGED_MEANWHILE: a.txt has changed".into(), "hint: git axiom log".into()];
        update(model, PanelEvent::Answered(1, Err(PanelFailure { code: "CHANGED_MEANWHILE", lines })));
    });
    screens("quit", |model| {
        let requests = press(model, "q");
        answer(model, &requests, PanelAnswer::Text(vec!["2 agents are running: ed-001 on ch-004 (50%)".into()]));
    });
    screens("question", |model| {
        press(model, "3");
        let requests = press(model, "Enter");
        answer(model, &requests, PanelAnswer::Text(vec!["question-ch-006: Which database?".into()]));
        press(model, "a s q l");
    });
    screens("filter", |model| drop(press(model, "/ j w t")));
    screens("verb", |model| drop(press(model, ": l o g")));
    screens("moment", |model| {
        timeline(model);
        press(model, "j Enter");
    });
    screens("redirect", |model| {
        let requests = press(model, "r");
        let items = vec![("ch-009".into(), "ch-009  Rate limiting  m1-core  (atomic)  recommended".into())];
        answer(model, &requests, PanelAnswer::Choices { before: vec!["ed-001 works on ch-004".into()], items });
    });
    screens("checkpoints", |model| {
        let requests = press(model, "C");
        let row = |name: &str| CheckpointRow { name: name.into(), line: format!("1  2026-01-13 14:30:00  auto  {name}") };
        let (heading, summary) = ("#  TIME  TYPE  NAME".into(), "2/50 checkpoints".into());
        answer(
            model,
            &requests,
            PanelAnswer::Checkpoints { heading, rows: vec![row("before-merge-1"), row("session-start")], summary },
        );
        press(model, "Space j");
    });
}

#[test]
fn questions_that_wait_are_as_approved() {
    let with_questions = |model: &mut PanelModel, keys: &str| {
        update(model, PanelEvent::Seen(Box::new(seen_with_questions())));
        press(model, "3 g");
        press(model, keys)
    };
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    screens("recovery", |model| {
        let requests = with_questions(model, "Enter");
        let text = "Crashed: 2026-01-13 14:30:00, 2m ago\n\nresumable  ch-004 (ed-001, iteration 7, 50%)\n           the program \
                    is gone; its work is there, and it goes on\nrepair     the last session did not end";
        answer(model, &requests, PanelAnswer::Recovery { lines: lines(text), choices: PanelRemedies::OfTasks });
    });
    screens("trust", |model| {
        let requests = with_questions(model, "G Enter");
        let text = "The project's configuration sets, also what is run as you:\n  merge.verify  [\"cargo test\"]  (now [])\n\n\
                    modified: .axiom/hooks/pre-merge.sh\n  | -exit 0\n  | +exit 1";
        answer(model, &requests, PanelAnswer::Trust { lines: lines(text), digest: Some("0a1b".into()) });
    });
}

/// However long the text is that is read before: what can be chosen, or done about a failure, is seen below it.
#[test]
fn choices_stay_visible_below_a_long_text() {
    let many: Vec<String> = (0..300).map(|number| format!(" src/file-{number:03}.rs  modified  +1 -1")).collect();
    for size in [(40, 10), (60, 12), (80, 24), (200, 60)] {
        let mut model = model(size.0, size.1);
        press(&mut model, "3");
        let requests = press(&mut model, "Enter");
        answer(&mut model, &requests, PanelAnswer::Text(many.clone()));
        let screen = drawn(&model);
        for choice in ["Leave it waiting", "[a] Answer", "[r] Reject"] {
            assert!(screen.contains(choice), "{size:?}: {choice}\n{screen}");
        }
        assert!(screen.contains("more"), "{screen}");
        // A list that is longer than the screen goes with the selection.
        press(&mut model, "Esc 1");
        let requests = press(&mut model, "r");
        let items = (0..40).map(|number| (format!("t-{number}"), format!("t-{number}  task"))).collect();
        answer(&mut model, &requests, PanelAnswer::Choices { before: many.clone(), items });
        for (keys, seen) in [("Home", "t-0 "), ("End", "t-39 "), ("k k k", "t-36 ")] {
            press(&mut model, keys);
            let screen = drawn(&model);
            assert!(screen.contains(seen), "{size:?}: {seen}\n{screen}");
        }
        press(&mut model, "Esc U");
        let lines = many.iter().cloned().chain(["hint: git axiom rollback task x --resolve".to_owned()]).collect();
        update(&mut model, PanelEvent::Answered(3, Err(PanelFailure { code: "MERGE_CONFLICT", lines })));
        assert!(drawn(&model).replace(['\n', '│', ' '], "").contains("--resolve"), "{size:?}\n{}", drawn(&model));
    }
}

#[test]
fn what_is_told_is_whole_or_gets_a_dialog() {
    let hint = "Stopped agent-001. It had completed ch-004, and that stands. To let its task continue: git axiom gate approve claim-ch-004";
    let long = format!("{}. To take it back: git axiom undo t1", "a very long name ".repeat(20));
    screens("notice_of_two_lines", |model| {
        update(model, PanelEvent::Done(PanelAction::Stop { agent: "agent-001".into(), task: None }, Ok(vec![hint.into()])));
    });
    for (text, needs_dialog) in [(hint.to_owned(), false), (long, true)] {
        let mut model = model(80, 24);
        update(&mut model, PanelEvent::Done(PanelAction::Stop { agent: "agent-001".into(), task: None }, Ok(vec![text.clone()])));
        assert_eq!(model.dialogs.len(), usize::from(needs_dialog), "{text}");
        let last: String = text.split(' ').next_back().unwrap().into();
        assert!(drawn(&model).contains(&last), "{}", drawn(&model));
    }
}

#[test]
fn without_colours_there_are_none_and_the_selection_is_seen_all_the_same() {
    use ratatui::style::{Color, Modifier};
    let model = model(80, 24);
    let plain = buffer(&model, PanelColours::None);
    assert!(plain.content().iter().all(|cell| cell.fg == Color::Reset && cell.bg == Color::Reset));
    assert!(plain[(5, 3)].modifier.contains(Modifier::REVERSED));
    let coloured = buffer(&model, PanelColours::Sixteen);
    assert!(coloured.content().iter().any(|cell| cell.fg == Color::Green));
    assert!(coloured.content().iter().all(|cell| !matches!(cell.fg, Color::Rgb(..) | Color::Indexed(_))), "sixteen colours");
}

#[test]
fn a_small_terminal_says_so_and_no_size_panics() {
    for (width, height) in [(1, 1), (0, 0), (39, 24), (80, 9), (40, 10), (41, 11), (500, 200)] {
        for keys in ["1", "2", "3", "4", "5", "i", "?", "s", "b", "Space", "R"] {
            let mut model = model(width, height);
            press(&mut model, keys);
            drawn(&model);
        }
    }
}
