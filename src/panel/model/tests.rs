//! The model without a terminal: what keys ask for, and that nothing is done without a question.

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;

use super::*;
use crate::domain::base::ids::CaseId;
use crate::domain::work::case::{Kind, Status};
use crate::domain::work::gate::GateKind;
use crate::domain::work::project::SessionNow;
use crate::domain::work::session::Mode;
use crate::panel::event::{Event, Printed};
use crate::panel::input::{Input, Key, Way};
use crate::panel::keys::TABLE;
use crate::panel::request::{Answer, Closing, Failure, Plan, Question, Remedies, Request};
use crate::panel::seen::{Counts, MomentKind, OutputKind, Runner, Session, TaskRow, Waiting, WaitingRow};

pub fn now() -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_hours(500_000)
}

fn ago(seconds: i64) -> Timestamp {
    now() - SignedDuration::from_secs(seconds)
}

fn agent(id: &str, task: Option<(&str, &str)>, state: &str) -> AgentRow {
    let works = task.is_some();
    AgentRow {
        id: id.to_owned(),
        runner: Runner::Agent,
        state: state.to_owned(),
        works,
        task: task.map(|(id, _)| id.to_owned()),
        title: task.map(|(_, title)| title.to_owned()).unwrap_or_default(),
        iteration: if works { (7, Some(50)) } else { (0, None) },
        progress: works.then_some(50),
        since: works.then(|| ago(725)),
        until: None,
        tokens: works.then_some(123_456),
        cost: works.then_some(1.5),
        heard: works.then(|| ago(3)),
        doing: works.then(|| "cargo test --lib 登録".to_owned()),
        phase: works.then(|| "writing tests".to_owned()),
        lines: works.then_some((120, 7)),
        workspace: task.map(|(task, _)| format!("/repo/.worktrees/{id}-{task}")),
        budget: None,
    }
}

fn task(id: &str, title: &str, depth: usize, (status, shown): (Status, &str)) -> TaskRow {
    TaskRow {
        id: id.to_owned(),
        title: title.to_owned(),
        kind: if depth == 0 { Kind::Operation } else { Kind::Task },
        depth,
        status,
        shown: shown.to_owned(),
        merged: false,
        progress: 0,
        after: Vec::new(),
        unblocks: 0,
        agent: None,
        reason: None,
        workspace: None,
    }
}

/// Two agents at work, one idle, one that a human runs; tasks of every kind; a question.
pub fn seen() -> Seen {
    let mut tasks = vec![
        task("m1-auth", "Authentication", 0, (Status::Pending, "in progress")),
        task("ch-001", "User model", 1, (Status::Done, "done")),
        task("ch-004", "Register endpoint", 1, (Status::Active, "active")),
        task("ch-006", "Evil \u{1b}[31mtitle\u{202e}", 1, (Status::Active, "active")),
        task("ch-007", "JWT token generation", 1, (Status::Blocked, "blocked")),
        task("ch-009", "Rate limiting", 1, (Status::Pending, "waiting")),
    ];
    tasks[1].merged = true;
    (tasks[2].agent, tasks[3].agent) = (Some("ed-001".into()), Some("ed-002".into()));
    (tasks[2].progress, tasks[2].unblocks) = (50, 2);
    tasks[4].reason = Some("needs the database password".into());
    tasks[5].after = vec!["ch-004".into(), "ch-007".into()];
    let mut human = agent("claude-code-a1b2c3", None, "UNPROTECTED");
    human.runner = Runner::Human { unprotected: Some("the disk is full".into()) };
    human.title = "3 prompts in /repo".into();
    Seen {
        seq: 41,
        session: Session {
            now: SessionNow::Running,
            supervised: true,
            mode: Mode::Review,
            target: Some("main".into()),
            budget: None,
            tokens: Some(223_456),
            cost: Some(3.25),
            checkpoints: 4,
            disk: Some("20.0 GiB free".into()),
            last_action: Some("ed-001 claimed ch-004".into()),
            doing: Vec::new(),
        },
        agents: vec![
            agent("ed-001", Some(("ch-004", "Register endpoint")), "running"),
            agent("ed-002", Some(("ch-006", "Evil \u{1b}[31mtitle")), "waiting"),
            agent("ed-003", None, "idle"),
            human,
        ],
        tasks,
        waiting: vec![WaitingRow {
            id: "question-ch-006".into(),
            what: Waiting::Gate(GateKind::Question),
            task: Some("ch-006".into()),
            reason: "Which database?".into(),
            details: vec!["postgres or sqlite".into()],
            since: Some(ago(65)),
            decided: None,
            asks: true,
        }],
        recovery: Vec::new(),
        counts: Counts { total: 5, ready: 0, waiting: 1, active: 2, done: 1, merged: 1, blocked: 1, failed: 0 },
    }
}

/// Everything else that can wait, a prompt of the human's agent, and what [`seen`] has.
pub fn seen_with_questions() -> Seen {
    let mut seen = seen();
    let row = |what: Waiting, reason: &str| WaitingRow {
        id: what.as_str().to_owned(),
        what,
        task: None,
        reason: reason.to_owned(),
        details: Vec::new(),
        since: None,
        decided: None,
        asks: false,
    };
    seen.session.supervised = false;
    seen.session.now = SessionNow::Crashed;
    seen.recovery = vec!["the last session ended unexpectedly".into(), "no supervisor attends to ed-001, ed-002".into()];
    let recovery = row(Waiting::Recovery, &seen.recovery.join("; "));
    let trust = row(Waiting::Trust, "the project's files have changed, so nothing of them is applied or run");
    let merge = WaitingRow {
        id: "merge-ch-004".into(),
        task: Some("ch-004".into()),
        since: Some(ago(3_700)),
        ..row(Waiting::Gate(GateKind::Merge), "ch-004 conflicts with main")
    };
    seen.waiting.splice(0..0, [recovery, merge]);
    seen.waiting.push(trust);
    let mut prompt = agent("  3", None, "prompt");
    prompt.runner = Runner::Prompt { checkpoint: "prompt-0003".into() };
    prompt.title = "tidy up".into();
    seen.agents.push(prompt);
    seen
}

pub fn moments() -> Vec<Moment> {
    let moment = |seconds, clock: &str, what, words: &str, by: &str| Moment {
        at: ago(seconds),
        clock: clock.to_owned(),
        what,
        words: words.to_owned(),
        by: by.to_owned(),
    };
    let transaction = |id: &str, undoable| MomentKind::Transaction { id: id.to_owned(), undoable };
    vec![
        moment(5, "14:30:00", transaction("t9", true), "merge of ch-001", "supervisor"),
        moment(6, "14:29:59", MomentKind::Checkpoint("before-merge-1".into()), "before-merge-1 (before-merge)", "checkpoint"),
        moment(99, "14:00:00", transaction("t1", false), "mode review", "user"),
    ]
}

pub fn model(width: u16, height: u16) -> Model {
    let mut model = Model::new(seen(), Keys::default(), (width, height), now());
    update(&mut model, Event::Now(now()));
    let line = |kind, text: &str| OutputLine { kind, text: text.to_owned() };
    let lines = vec![
        line(OutputKind::Heading, "Iteration 7, claude"),
        line(OutputKind::Said, "I add the endpoint \u{1b}]0;evil\u{7}now."),
        line(OutputKind::Call, "Bash cargo test"),
        line(OutputKind::Trouble, "exit status 101"),
    ];
    update(&mut model, Event::Output(Printed { of: "ed-001".into(), anew: true, lines }));
    model
}

/// Presses keys by their names, separated by spaces. Returns what the last one asks for.
pub fn press(model: &mut Model, keys: &str) -> Vec<Request> {
    let mut requests = Vec::new();
    for key in keys.split(' ') {
        requests = update(model, Event::Input(Input::Key(key.parse().unwrap())));
    }
    requests
}

pub fn answer(model: &mut Model, requests: &[Request], answer: Answer) {
    let ticket = requests.iter().find_map(|request| if let Request::Ask(ticket, _) = request { Some(*ticket) } else { None });
    update(model, Event::Answered(ticket.unwrap(), Ok(answer)));
}

pub fn asked(requests: &[Request]) -> Option<&Question> {
    requests.iter().find_map(|request| if let Request::Ask(_, question) = request { Some(question) } else { None })
}

#[test]
fn stop_kill_and_block_are_done_after_a_dialog_and_escape_does_nothing() {
    let mut model = model(80, 24);
    for (key, deed) in [("s", Deed::Stop("ed-001".into())), ("x", Deed::Kill("ed-001".into()))] {
        assert_eq!(press(&mut model, key), []);
        assert!(matches!(model.dialogs.as_slice(), [Dialog::Plan { .. }]));
        assert_eq!(press(&mut model, "Esc"), []);
        assert!(model.dialogs.is_empty());
        assert_eq!(press(&mut model, &format!("{key} Enter")), [Request::Do(deed)]);
        assert!(model.dialogs.is_empty());
    }
    assert_eq!(press(&mut model, "b Enter"), [], "a reason is needed");
    assert_eq!(
        press(&mut model, "Esc b n o Space D B Backspace B Enter"),
        [Request::Do(Deed::Block { task: "ch-004".into(), reason: "no DB".into() })]
    );
}

#[test]
fn what_is_under_way_is_not_begun_again() {
    let mut model = model(80, 24);
    let stop = Deed::Stop("ed-001".into());
    assert_eq!(press(&mut model, "s Enter"), [Request::Do(stop.clone())]);
    assert_eq!(press(&mut model, "s Enter"), []);
    assert_eq!(press(&mut model, "Ctrl+C"), [], "it is finished first");
    assert_eq!(press(&mut model, "Ctrl+C"), [Request::Close(Closing::Interrupted)]);
    update(&mut model, Event::Done(stop.clone(), Ok(vec!["Stopped ed-001.".into()])));
    assert_eq!(model.notice.as_ref().unwrap().text, "Stopped ed-001.");
    assert_eq!(press(&mut model, "s Enter"), [Request::Do(stop)]);
}

#[test]
fn a_rollback_waits_for_its_real_plan() {
    let mut model = model(80, 24);
    let requests = press(&mut model, "R");
    let deed = Deed::RollBackTask("ch-004".into());
    assert_eq!(asked(&requests), Some(&Question::Plan(deed.clone())));
    assert_eq!(press(&mut model, "Enter"), [], "nothing is agreed to before it is shown");
    assert_eq!(model.dialogs.len(), 1);
    answer(&mut model, &requests, Answer::Plan(Plan { lines: vec!["Would take back".into()], deed: Some(deed.clone()) }));
    assert_eq!(press(&mut model, "Enter"), [Request::Do(deed)]);
    // An answer that nobody waits for any more does nothing.
    let requests = press(&mut model, "U");
    press(&mut model, "Esc");
    answer(&mut model, &requests, Answer::Plan(Plan { lines: Vec::new(), deed: Some(Deed::Undo("t".into())) }));
    assert!(model.dialogs.is_empty());
    assert_eq!(press(&mut model, "Enter"), []);
    // Where nothing would change, there is nothing to agree to.
    let requests = press(&mut model, "1 U");
    answer(&mut model, &requests, Answer::Plan(Plan { lines: vec!["Nothing".into()], deed: None }));
    assert_eq!(press(&mut model, "Enter"), []);
}

#[test]
fn pause_pauses_then_stops_at_once_then_resumes() {
    let mut model = model(80, 24);
    assert_eq!(press(&mut model, "Space"), [Request::Do(Deed::Pause)]);
    assert_eq!(press(&mut model, "Space"), [Request::Do(Deed::PauseAtOnce)]);
    press(&mut model, "Esc");
    let mut paused = seen();
    paused.session.now = SessionNow::Paused;
    update(&mut model, Event::Seen(Box::new(paused)));
    assert_eq!(press(&mut model, "Space"), [Request::Do(Deed::Resume)]);
}

#[test]
fn the_mode_goes_round_and_asks_before_autopilot() {
    let mut model = model(80, 24);
    assert_eq!(press(&mut model, "m"), []);
    assert_eq!(press(&mut model, "Enter"), [Request::Do(Deed::Mode(Mode::Autopilot))]);
    for (now, next) in [(Mode::Autopilot, Mode::SemiAuto), (Mode::SemiAuto, Mode::Review)] {
        model.seen.session.mode = now;
        assert_eq!(press(&mut model, "m"), [Request::Do(Deed::Mode(next))]);
    }
}

#[test]
fn quit_asks_where_agents_run_and_else_closes() {
    let mut model = model(80, 24);
    let requests = press(&mut model, "q");
    assert_eq!(asked(&requests), Some(&Question::AtWork));
    answer(&mut model, &requests, Answer::Text(vec!["2 agents are running".into()]));
    assert_eq!(press(&mut model, "l"), [Request::Close(Closing::Done)]);
    let requests = press(&mut model, "q");
    answer(&mut model, &requests, Answer::Text(Vec::new()));
    assert_eq!(press(&mut model, "s"), [Request::Do(Deed::CheckpointAndQuit)]);
    let done = update(&mut model, Event::Done(Deed::CheckpointAndQuit, Ok(vec!["Quitting".into()])));
    assert_eq!(done, [Request::Close(Closing::Done)]);
    model.seen.session.supervised = false;
    assert_eq!(press(&mut model, "q"), [Request::Close(Closing::Done)]);
}

#[test]
fn a_question_is_answered_in_place() {
    let mut model = model(80, 24);
    press(&mut model, "3");
    let requests = press(&mut model, "Enter");
    assert_eq!(asked(&requests), Some(&Question::Gate("question-ch-006".into())));
    answer(&mut model, &requests, Answer::Text(vec!["Which database?".into()]));
    assert_eq!(
        press(&mut model, "a s q l Enter"),
        [Request::Do(Deed::Answer { gate: "question-ch-006".into(), text: "sql".into() })]
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
    assert_eq!(press(&mut model, "2 g j j j j u"), [Request::Do(Deed::Unblock("ch-007".into()))]);
}

#[test]
fn the_selection_stays_by_name_and_output_follows_it() {
    let mut model = model(80, 24);
    assert_eq!(press(&mut model, "j"), [Request::Follow(Some("ed-002".into()))]);
    let mut fewer = seen();
    fewer.agents.remove(0);
    assert_eq!(update(&mut model, Event::Seen(Box::new(fewer.clone()))), []);
    assert_eq!(model.agent.as_deref(), Some("ed-002"));
    fewer.agents.remove(0);
    assert_eq!(update(&mut model, Event::Seen(Box::new(fewer))), [Request::Follow(Some("ed-003".into()))]);
}

#[test]
fn a_filter_shows_what_contains_a_text_and_escape_shows_all_again() {
    let mut model = model(80, 24);
    press(&mut model, "2 / R E G I S T E R Enter");
    assert_eq!(model.names(View::Tasks), ["ch-004"]);
    assert_eq!(model.task.as_deref(), Some("ch-004"), "what is shown is selected");
    assert_eq!(model.names(View::Agents).len(), 4, "other views are as they were");
    press(&mut model, "Esc");
    assert_eq!(model.names(View::Tasks).len(), 6);
    press(&mut model, "/ n o t h i n g Enter");
    assert_eq!((model.names(View::Tasks).len(), press(&mut model, "R")), (0, Vec::new()));
    press(&mut model, "/ Ctrl+U Enter");
    assert_eq!(model.names(View::Tasks).len(), 6, "no text: no filter");
}

#[test]
fn editors_and_verbs_get_the_terminal() {
    use crate::panel::request::Editing;
    let mut model = model(80, 24);
    assert_eq!(press(&mut model, "e"), [Request::Edit(Editing::Body("ch-004".into()))]);
    assert_eq!(press(&mut model, "d"), [], "it has no workspace here");
    model.seen.tasks[2].workspace = Some("/repo/.worktrees/ed-001-ch-004".into());
    assert_eq!(press(&mut model, "d"), [Request::Edit(Editing::Workspace("ch-004".into()))]);
    assert_eq!(press(&mut model, ": Enter"), [], "a verb is needed");
    assert_eq!(press(&mut model, "l o g Enter"), [Request::Run("log".into())]);
    assert!(model.dialogs.is_empty());
}

#[test]
fn at_a_checkpoint_one_file_comes_back_after_its_plan() {
    let mut model = model(80, 24);
    let requests = press(&mut model, "5");
    answer(&mut model, &requests, Answer::Timeline(moments()));
    assert_eq!(press(&mut model, "j Enter"), []);
    let restore = Deed::RestoreFile { checkpoint: "before-merge-1".into(), path: "a".into() };
    let requests = press(&mut model, "o a Enter");
    assert_eq!(asked(&requests), Some(&Question::Plan(restore.clone())));
    answer(&mut model, &requests, Answer::Plan(Plan { lines: Vec::new(), deed: Some(restore.clone()) }));
    assert_eq!(press(&mut model, "Enter"), [Request::Do(restore)]);
    assert_eq!(asked(&press(&mut model, "D")), Some(&Question::Since("before-merge-1".into())));
}

#[test]
fn pasted_text_is_no_command_and_goes_into_a_line_that_is_typed() {
    let mut model = model(80, 24);
    assert_eq!(update(&mut model, Event::Input(Input::Paste("sx\r".into()))), []);
    assert!(model.dialogs.is_empty());
    press(&mut model, "b");
    update(&mut model, Event::Input(Input::Paste("one\ntwo".into())));
    assert_eq!(press(&mut model, "Enter"), [Request::Do(Deed::Block { task: "ch-004".into(), reason: "one two".into() })]);
}

#[test]
fn failures_are_shown_whole() {
    let mut model = model(80, 24);
    press(&mut model, "c");
    let failure = Failure { code: "DISK_FULL", lines: vec!["DISK_FULL: no".into(), "hint: git axiom disk".into()] };
    update(&mut model, Event::Done(Deed::Checkpoint(None), Err(failure)));
    assert!(matches!(model.dialogs.as_slice(), [Dialog::Text { body: Body::Failed(lines), .. }] if lines.len() == 2));
    assert!(model.doing.is_empty());
}

/// What a human could press, answers that come, and changes on disk.
fn anything() -> impl Strategy<Value = Event> {
    let keys: Vec<Key> = TABLE.iter().flat_map(|row| row.keys.iter().copied()).collect();
    let common = prop::sample::select(vec![Key::Enter, Key::Escape, Key::Char('y'), Key::Char('a'), Key::Ctrl('c'), Key::Tab]);
    let key = prop_oneof![prop::sample::select(keys), common];
    prop_oneof![
        20 => key.prop_map(|key| Event::Input(Input::Key(key))),
        1 => "[a-z\\r\\n]{0,5}".prop_map(|text| Event::Input(Input::Paste(text))),
        1 => prop_oneof![Just(Way::Up), Just(Way::Down)].prop_map(|way| Event::Input(Input::Wheel(way))),
        1 => (0..90_u16, 0..30_u16).prop_map(|(column, row)| Event::Input(Input::Click { column, row })),
        2 => (0..4_usize, prop::sample::select(vec![SessionNow::Running, SessionNow::Paused, SessionNow::Pausing, SessionNow::Idle]))
            .prop_map(|(agents, now)| {
                let mut seen = seen();
                seen.agents.truncate(agents);
                seen.session.now = now;
                Event::Seen(Box::new(seen))
            }),
        1 => (1..250_u16, 1..70_u16).prop_map(|(width, height)| Event::Resized { width, height }),
    ]
}

/// What could be found out.
pub fn any_answer(question: &Question) -> Answer {
    let plan = |deed: &Deed| Answer::Plan(Plan { lines: vec!["plan".into()], deed: Some(deed.clone()) });
    match question {
        Question::Plan(deed) => plan(deed),
        Question::PlanUndo(_) | Question::PlanSession | Question::Older(_) => plan(&Deed::Undo("t9".into())),
        Question::Choices(_) => Answer::Choices { before: Vec::new(), items: vec![("ch-009".into(), "ch-009".into())] },
        Question::Timeline => Answer::Timeline(moments()),
        Question::Checkpoints => Answer::Checkpoints {
            heading: "#".into(),
            rows: vec![CheckpointRow { name: "one".into(), line: "1 one".into() }],
            summary: "1/50".into(),
        },
        Question::Recovery => Answer::Recovery { lines: vec!["text".into()], choices: Remedies::OfTasks },
        Question::Trust => Answer::Trust { lines: vec!["text".into()], digest: Some("0a1b".into()) },
        Question::Abandoned => plan(&Deed::Abandon(vec![CaseId::new("ch-004").unwrap()])),
        Question::CutOff
        | Question::AtWork
        | Question::Gate(_)
        | Question::Diff(_)
        | Question::Since(_)
        | Question::Learnings => Answer::Text(vec!["text".into()]),
    }
}

/// Whether the open dialog, as it was before a key, offers this deed.
fn offered(dialog: Option<&Dialog>, deed: &Deed) -> bool {
    match dialog {
        Some(Dialog::Plan { body: Body::Ready(_), deed: Some(shown), .. }) => shown == deed,
        Some(Dialog::Choose { items, .. }) => items.iter().any(|item| item.then == Chosen::Do(deed.clone())),
        Some(Dialog::Typed(typed)) => typed.then.with(&typed.text) == Some(Outcome::Do(deed.clone())),
        Some(Dialog::Pausing) => *deed == Deed::PauseAtOnce,
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
                    Request::Do(deed) => prop_assert!(deed.needs_no_question() || offered(before.as_ref(), deed), "{deed:?}"),
                    Request::Ask(ticket, question) => {
                        let answered = any_answer(question);
                        update(&mut model, Event::Answered(*ticket, Ok(answered)));
                    }
                    Request::Follow(_) | Request::Edit(_) | Request::Run(_) => {}
                    Request::Suspend | Request::Redraw | Request::Close(_) => {}
                }
            }
            for deed in model.doing.clone() {
                update(&mut model, Event::Done(deed, Ok(vec!["done".into()])));
            }
            prop_assert!(model.dialogs.len() < 20, "dialogs pile up");
            crate::panel::view::tests::drawn(&model);
        }
    }
}
