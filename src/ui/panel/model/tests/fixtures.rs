//! What tests of the panel begin with: what a repository shows, a model of it, and the keys that are pressed.

use jiff::{SignedDuration, Timestamp};

use crate::panel::event::{PanelEvent, PanelOutputBatch};
use crate::panel::input::PanelInput;
use crate::panel::model::*;
use crate::panel::request::{PanelAction, PanelAnswer, PanelPreview, PanelQuestion, PanelRemedies, PanelRequest};
use crate::panel::snapshot::{
    AgentRowRunner, HeardOfAgent, OutputRowKind, PanelSession, PanelTaskCounts, ShownUsage, ShownWorkspace, TaskRow,
    TaskRowStatus, TimelineRowKind, WaitingRow, WaitingRowKind,
};
use axiom_model::base::ids::TaskId;
use axiom_model::queries::displayed_status::DisplayedTaskStatus;
use axiom_model::queries::project::LiveSessionStatus;
use axiom_model::work::gates::gate::GateKind;
use axiom_model::work::sessions::session::SessionMode;
use axiom_model::work::tasks::task::{TaskKind, TaskStatus};

pub fn now() -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_hours(500_000)
}

fn ago(seconds: i64) -> Timestamp {
    now() - SignedDuration::from_secs(seconds)
}

pub(super) fn agent(id: &str, task: Option<(&str, &str)>, state: &str) -> AgentRow {
    let works = task.is_some();
    AgentRow {
        id: id.to_owned(),
        runner: AgentRowRunner::Agent,
        state: state.to_owned(),
        works,
        task: task.map(|(id, _)| id.to_owned()),
        title: task.map(|(_, title)| title.to_owned()).unwrap_or_default(),
        iteration: if works { (7, Some(50)) } else { (0, None) },
        since: works.then(|| ago(725)),
        until: None,
        used: ShownUsage { tokens: works.then_some(123_456), cost: works.then_some(1.5), budget: None },
        heard: HeardOfAgent {
            at: works.then(|| ago(3)),
            doing: works.then(|| "cargo test --lib 登録".to_owned()),
            phase: works.then(|| "writing tests".to_owned()),
            progress: works.then_some(50),
        },
        workspace: ShownWorkspace {
            path: task.map(|(task, _)| format!("/repo/.worktrees/{id}-{task}")),
            lines: works.then_some((120, 7)),
        },
    }
}

pub(super) fn task(id: &str, title: &str, depth: usize, (stored, shown): (TaskStatus, DisplayedTaskStatus)) -> TaskRow {
    TaskRow {
        id: id.to_owned(),
        title: title.to_owned(),
        kind: if depth == 0 { TaskKind::Group } else { TaskKind::Task },
        depth,
        status: TaskRowStatus { stored, shown, merged: false, is_lost: false },
        progress: 0,
        after: Vec::new(),
        unblocks: 0,
        agent: None,
        reason: None,
        workspace: None,
    }
}

/// Two agents at work, one idle, one that a human runs; tasks of every kind; a question.
pub fn seen() -> PanelSnapshot {
    let mut tasks = vec![
        task("m1-auth", "Authentication", 0, (TaskStatus::Pending, DisplayedTaskStatus::InProgress)),
        task("ch-001", "User model", 1, (TaskStatus::Done, DisplayedTaskStatus::Done)),
        task("ch-004", "Register endpoint", 1, (TaskStatus::Active, DisplayedTaskStatus::Active)),
        task("ch-006", "Evil \u{1b}[31mtitle\u{202e}", 1, (TaskStatus::Active, DisplayedTaskStatus::Active)),
        task("ch-007", "JWT token generation", 1, (TaskStatus::Blocked, DisplayedTaskStatus::Blocked)),
        task("ch-009", "Rate limiting", 1, (TaskStatus::Pending, DisplayedTaskStatus::Waiting)),
    ];
    tasks[1].status.merged = true;
    (tasks[2].agent, tasks[3].agent) = (Some("ed-001".into()), Some("ed-002".into()));
    (tasks[2].progress, tasks[2].unblocks) = (50, 2);
    tasks[4].reason = Some("needs the database password".into());
    tasks[5].after = vec!["ch-004".into(), "ch-007".into()];
    let mut human = agent("claude-code-a1b2c3", None, "UNPROTECTED");
    human.runner = AgentRowRunner::Human { unprotected: Some("the disk is full".into()) };
    human.title = "3 prompts in /repo".into();
    PanelSnapshot {
        seq: 41,
        session: PanelSession {
            now: LiveSessionStatus::Running,
            supervised: true,
            mode: SessionMode::Review,
            target: Some("main".into()),
            tokens: Some(223_456),
            cost: Some(3.25),
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
            what: WaitingRowKind::Gate(GateKind::Question),
            task: Some("ch-006".into()),
            reason: "Which database?".into(),
            details: vec!["postgres or sqlite".into()],
            since: Some(ago(65)),
            decided: None,
            asks: true,
            always: false,
        }],
        recovery: Vec::new(),
        counts: PanelTaskCounts { total: 5, merged: 1, blocked: 1, failed: 0 },
    }
}

/// Everything else that can wait, a prompt of the human's agent, and what [`seen`] has.
pub fn seen_with_questions() -> PanelSnapshot {
    let mut seen = seen();
    let row = |what: WaitingRowKind, reason: &str| WaitingRow {
        id: what.as_str().to_owned(),
        what,
        task: None,
        reason: reason.to_owned(),
        details: Vec::new(),
        since: None,
        decided: None,
        asks: false,
        always: false,
    };
    seen.session.supervised = false;
    seen.session.now = LiveSessionStatus::Crashed;
    seen.recovery = vec!["the last session ended unexpectedly".into(), "no supervisor attends to ed-001, ed-002".into()];
    let recovery = row(WaitingRowKind::Recovery, &seen.recovery.join("; "));
    let trust = row(WaitingRowKind::Trust, "the project's files have changed, so nothing of them is applied or run");
    let merge = WaitingRow {
        id: "merge-ch-004".into(),
        task: Some("ch-004".into()),
        since: Some(ago(3_700)),
        ..row(WaitingRowKind::Gate(GateKind::Merge), "ch-004 conflicted with main")
    };
    seen.waiting.splice(0..0, [recovery, merge]);
    seen.waiting.push(trust);
    let mut prompt = agent("  3", None, "prompt");
    prompt.runner = AgentRowRunner::Prompt { checkpoint: "prompt-0003".into() };
    prompt.title = "tidy up".into();
    seen.agents.push(prompt);
    seen
}

pub fn moments() -> Vec<TimelineRow> {
    let moment = |seconds, clock: &str, what, words: &str, by: &str| TimelineRow {
        at: ago(seconds),
        clock: clock.to_owned(),
        what,
        words: words.to_owned(),
        by: by.to_owned(),
    };
    let transaction = |id: &str, undoable| TimelineRowKind::Operation { id: id.to_owned(), undoable };
    vec![
        moment(5, "14:30:00", transaction("t9", true), "merge of ch-001", "supervisor"),
        moment(
            6,
            "14:29:59",
            TimelineRowKind::Checkpoint("before-merge-1".into()),
            "before-merge-1 (before-merge)",
            "checkpoint",
        ),
        moment(99, "14:00:00", transaction("t1", false), "mode review", "user"),
    ]
}

pub fn model(width: u16, height: u16) -> PanelModel {
    let mut model = PanelModel::new(seen(), PanelKeyBindings::default(), (width, height), now());
    update(&mut model, PanelEvent::Now(now()));
    let line = |kind, text: &str| OutputRow { kind, text: text.to_owned() };
    let lines = vec![
        line(OutputRowKind::Heading, "Iteration 7, claude"),
        line(OutputRowKind::Said, "I add the endpoint \u{1b}]0;evil\u{7}now."),
        line(OutputRowKind::Call, "Bash cargo test"),
        line(OutputRowKind::Trouble, "exit status 101"),
    ];
    update(&mut model, PanelEvent::Output(PanelOutputBatch { of: "ed-001".into(), anew: true, lines }));
    model
}

/// Presses keys by their names, separated by spaces. Returns what the last one asks for.
pub fn press(model: &mut PanelModel, keys: &str) -> Vec<PanelRequest> {
    let mut requests = Vec::new();
    for key in keys.split(' ') {
        requests = update(model, PanelEvent::Input(PanelInput::Key(key.parse().unwrap())));
    }
    requests
}

pub fn answer(model: &mut PanelModel, requests: &[PanelRequest], answer: PanelAnswer) {
    let ticket =
        requests.iter().find_map(|request| if let PanelRequest::Ask(ticket, _) = request { Some(*ticket) } else { None });
    update(model, PanelEvent::Answered(ticket.unwrap(), Ok(answer)));
}

pub fn asked(requests: &[PanelRequest]) -> Option<&PanelQuestion> {
    requests.iter().find_map(|request| if let PanelRequest::Ask(_, question) = request { Some(question) } else { None })
}

/// What could be found out.
pub fn any_answer(question: &PanelQuestion) -> PanelAnswer {
    let plan = |deed: &PanelAction| PanelAnswer::Plan(PanelPreview { lines: vec!["plan".into()], deed: Some(deed.clone()) });
    match question {
        PanelQuestion::Plan(deed) => plan(deed),
        PanelQuestion::PlanUndo(_) | PanelQuestion::PlanSession | PanelQuestion::Older(_) => {
            plan(&PanelAction::Undo("t9".into()))
        }
        PanelQuestion::Choices(_) => PanelAnswer::Choices { before: Vec::new(), items: vec![("ch-009".into(), "ch-009".into())] },
        PanelQuestion::Timeline => PanelAnswer::Timeline(moments()),
        PanelQuestion::Checkpoints => PanelAnswer::Checkpoints {
            heading: "#".into(),
            rows: vec![CheckpointRow { name: "one".into(), line: "1 one".into() }],
            summary: "1/50".into(),
        },
        PanelQuestion::Recovery => PanelAnswer::Recovery { lines: vec!["text".into()], choices: PanelRemedies::OfTasks },
        PanelQuestion::Trust => PanelAnswer::Trust { lines: vec!["text".into()], digest: Some("0a1b".into()) },
        PanelQuestion::Abandoned => plan(&PanelAction::Abandon(vec![TaskId::new("ch-004").unwrap()])),
        PanelQuestion::CutOff
        | PanelQuestion::AtWork
        | PanelQuestion::Gate(_)
        | PanelQuestion::Diff(_)
        | PanelQuestion::Since(_)
        | PanelQuestion::Learnings => PanelAnswer::Text(vec!["text".into()]),
    }
}
