//! Long logs, written straight into the stored form: what a busy repository has after months.

use std::io::Write;

use git_axiom::model::base::ids::{AgentId, OperationId, TaskId, Token};
use git_axiom::model::base::names::Oid;
use git_axiom::model::base::sealed;
use git_axiom::model::base::text::TextOrBlob;
use git_axiom::model::state::current_state::State;
use git_axiom::model::state::event::Event;
use git_axiom::model::state::event_envelope::{EventAuthor, EventEnvelope};
use git_axiom::model::work::iteration::{IterationOutcome, IterationReport};
use git_axiom::model::work::signals::signal::{AgentSignal, ToolReport};
use git_axiom::model::work::tasks::task::{Task, TaskKind, TaskStatus};
use git_axiom::store::layout::StoreLayout;
use git_axiom::store::log_files::log::LogPosition;
use git_axiom::store::log_files::{line, segments};
use git_axiom::store::states::handle::AppendAuthor;
use git_axiom::store::states::snapshot;

pub fn author() -> AppendAuthor {
    AppendAuthor { txn: OperationId::new("t0123456789abcdef").unwrap(), by: EventAuthor::Supervisor }
}

fn oid(number: u64) -> Oid {
    Oid::new(format!("{number:040x}")).unwrap()
}

/// A task with a body of 4 KB, which is stored as a blob.
pub fn task(number: u64) -> Task {
    Task {
        id: TaskId::new(format!("task-{number:06}")).unwrap(),
        kind: TaskKind::Task,
        title: format!("Make the part number {number} of it work as it should"),
        body: Some(TextOrBlob::Stored { blob: oid(number), size: 4096 }),
        parent: None,
        after: vec![],
        needs: vec![],
        start_early: false,
        persona: None,
        verify: vec!["cargo test".into()],
        limits: git_axiom::model::work::money::budget::BudgetLimits::default(),
        status: TaskStatus::Pending,
        merged: None,
        reason: None,
        created_at: "2026-01-13T10:00:00.123Z".parse().unwrap(),
    }
}

/// A task whose body is a script in the event itself.
pub fn script(number: u64, body: &str) -> Task {
    Task { body: Some(TextOrBlob::Inline(body.into())), verify: vec![], ..task(number) }
}

/// A log of so many events of tasks of 4 KB, with a snapshot as old as it gets: whoever appends writes one after 500 events. Of the
/// older ones, some stay as places to begin from: those of the last 4,000 events.
pub fn long_log(layout: StoreLayout, events: u64, tasks: Vec<Task>) {
    let mut writer = Writer::new(layout);
    writer.push(Event::TasksAdded { tasks });
    fill(&mut writer, events);
    writer.finish();
}

/// The same, with an agent that works on a task at its end. Says how many bytes that are.
pub fn long_log_at_work(layout: StoreLayout, events: u64, tasks: Vec<Task>) -> u64 {
    let mut writer = Writer::new(layout);
    writer.push(Event::TasksAdded { tasks });
    fill(&mut writer, events);
    let (agent, task) = (AgentId::new("ed-001").unwrap(), task(0).id);
    writer.push(Event::TaskClaimed { agent, task, complete: false });
    writer.finish();
    writer.bytes
}

fn fill(writer: &mut Writer, events: u64) {
    let mut next_snapshot = events.saturating_sub(4_000);
    for number in 0.. {
        if writer.state.seq >= events {
            break;
        }
        if writer.state.seq >= next_snapshot {
            writer.snapshot();
            next_snapshot += if next_snapshot + 1000 < events { 1000 } else { 500 };
        }
        iteration(writer, number);
    }
}

/// Only tasks, with a snapshot of them.
pub fn only_tasks(layout: StoreLayout, tasks: Vec<Task>) {
    let mut writer = Writer::new(layout);
    writer.push(Event::TasksAdded { tasks });
    writer.snapshot();
    writer.finish();
}

/// Writes events in order, into segments as the store would.
pub struct Writer {
    layout: StoreLayout,
    pub state: State,
    buffer: Vec<u8>,
    first: u64,
    pub bytes: u64,
    start: i64,
}

impl Writer {
    pub fn new(layout: StoreLayout) -> Self {
        layout.ensure().unwrap();
        Self { layout, state: State::default(), buffer: Vec::new(), first: 1, bytes: 0, start: 1_768_300_000_000 }
    }

    /// An event of the supervisor, eight to a transaction.
    pub fn push(&mut self, event: Event) {
        let began = ((self.state.seq + 1) / 8 * 8).saturating_sub(1);
        self.push_of(EventAuthor::Supervisor, began, event);
    }

    /// An event of a person, in a transaction of its own.
    fn push_by_user(&mut self, event: Event) {
        self.push_of(EventAuthor::User, self.state.seq, event);
    }

    fn push_of(&mut self, by: EventAuthor, began: u64, event: Event) {
        let seq = self.state.seq + 1;
        let at = jiff::Timestamp::from_millisecond(self.start + seq as i64 * 137).unwrap();
        let random = format!("{:016x}", (2 * began + u64::from(by == EventAuthor::User)).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let txn = OperationId::begun_after(began, &random).unwrap();
        let envelope = EventEnvelope { seq, at, txn, by, event };
        self.state.apply(&envelope).unwrap();
        let line = line::encode(&envelope).unwrap();
        self.bytes += line.len() as u64;
        self.buffer.extend(line);
        if self.buffer.len() as u64 > segments::SEAL_AT {
            self.write();
            segments::seal(&self.layout, self.first).unwrap();
            self.buffer.clear();
            self.first = seq + 1;
        }
    }

    fn write(&self) {
        let mut file = std::fs::File::create(self.layout.events()).unwrap();
        file.write_all(&self.buffer).unwrap();
    }

    /// Writes a snapshot of what was pushed so far.
    pub fn snapshot(&mut self) {
        let body = self.buffer.strip_suffix(b"\n").unwrap_or_default();
        let last = body.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
        let position = LogPosition { first: self.first, offset: self.buffer.len() as u64, sum: sealed::sum_of(last) };
        snapshot::save(&self.layout, &mut self.state, position, 0, &mut None).unwrap();
    }

    pub fn finish(&self) {
        self.write();
    }
}

/// The events of one iteration of one task: 25, most of them signals, the last two by a person.
pub fn iteration(writer: &mut Writer, number: u64) {
    let agent = AgentId::new(format!("ed-{:03}", number % 8 + 1)).unwrap();
    let task = task(number % 1000).id;
    let token = Token::new(format!("k{number:015x}")).unwrap();
    writer.push(Event::TaskClaimed { agent: agent.clone(), task: task.clone(), complete: false });
    writer.push(Event::IterationIntended {
        agent: agent.clone(),
        iteration: 1,
        token: token.clone(),
        from: Oid::new("1".repeat(40)).unwrap(),
        exit_completes: true,
        program: String::new(),
        resumes: None,
    });
    writer.push(Event::IterationStarted { agent: agent.clone(), token: token.clone(), pid: 4711 });
    for step in 0..18_u8 {
        let signal = match step % 3 {
            0 => AgentSignal::Progress { percent: step * 5 },
            1 => AgentSignal::ToolStarted(ToolReport { name: "Edit".into(), ..ToolReport::default() }),
            _ => AgentSignal::ToolCompleted(ToolReport { name: "Edit".into(), ..ToolReport::default() }),
        };
        writer.push(Event::Signalled {
            agent: agent.clone(),
            token: token.clone(),
            signal,
            said_at: Some(jiff::Timestamp::UNIX_EPOCH),
        });
    }
    let report = IterationReport {
        outcome: IterationOutcome::Unfinished { why: "exit status 1".into() },
        exit_code: Some(1),
        signal: None,
        from: oid(number),
        to: oid(number + 1),
        files: vec!["src/lib.rs".into(), "src/main.rs".into()],
        left_out: vec![],
        duration_ms: 61_234,
        ended_at: None,
        tokens: Some(12_345),
        cost_usd: Some(0.25),
        not_started: false,
        silent_end: None,
        denied: vec![],
        unfinished: vec![],
        cut: None,
        session: None,
        resumed: None,
        ran: String::new(),
        cut_off: false,
        conflict_round: None,
        discarded: false,
        end_unseen: false,
    };
    writer.push(Event::IterationEnded { agent: agent.clone(), token, report: Box::new(report) });
    writer.push(Event::WorkReleased {
        agent,
        status: TaskStatus::Pending,
        reason: "next".into(),
        retry: false,
        complete: None,
        gate: None,
        discarded: false,
    });
    for text in ["looked at the failing test", "the build needs a newer compiler"] {
        writer.push_by_user(Event::Audited { id: task.clone(), text: text.into() });
    }
}
