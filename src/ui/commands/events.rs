//! `git axiom events`.

use clap::Args;
use serde::Serialize;
use serde_json::value::RawValue;

use super::look;
use crate::cli::screen::Screen;
use crate::cli::{visible, words};
use crate::commands::grammar::arguments::GlobalArgs;
use axiom_base::error::{Code, Error, Exit, Result};
use axiom_model::base::ids::OperationId;
use axiom_model::state::audit::describe;
use axiom_model::state::current_state::State;
use axiom_model::state::event_envelope::EventEnvelope;
use axiom_safety::context::event_waiter::LogEventWaiter;
use axiom_safety::context::handle::Context;
use axiom_safety::history;

/// Arguments of `events`.
#[derive(Debug, Args)]
#[command(after_help = "\
The event log is the source of the whole state. With --json and --follow, each event is a
document on a line of its own; with --json alone, there is one document with the key events.")]
pub struct EventsArgs {
    /// Keep printing new ones, until interrupted
    #[arg(long)]
    follow: bool,
    /// Only events with a higher number
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    after: u64,
}

/// The events of the log.
#[derive(Serialize)]
struct EventListJson {
    /// Oldest first.
    events: Vec<EventJson>,
}

/// An event: with `--follow`, each is a document.
#[derive(Serialize)]
struct EventJson {
    seq: u64,
    at: jiff::Timestamp,
    operation: OperationId,
    /// `user`, `supervisor`, `attached` (what saves by itself beside an agent that you run), `recovery`, or the id of an agent.
    by: String,
    /// Its name.
    event: &'static str,
    /// What the log stores of it, with the names of the log.
    data: Box<RawValue>,
}

impl EventJson {
    fn of(envelope: &EventEnvelope) -> Result<Self> {
        let EventEnvelope { seq, at, txn, by, event } = envelope;
        let broken = |e| Error::new(Code::Internal, "an event cannot be written as JSON").because(e);
        // An event is stored as an object with one key, its name.
        let stored = serde_json::to_string(event).map_err(broken)?;
        let inner = stored.split_once(':').and_then(|(_, rest)| rest.strip_suffix('}')).unwrap_or("{}");
        let data = RawValue::from_string(inner.to_owned()).map_err(broken)?;
        Ok(Self { seq: *seq, at: *at, operation: txn.clone(), by: by.to_string(), event: event.name(), data })
    }
}

fn in_words(envelope: &EventEnvelope) -> String {
    // The log's words for some events need the state; this verb shows them without it.
    let (_, words) = describe(&envelope.event, &State::default());
    format!(
        "{:>6}  {}  {}  {}  {}\n",
        envelope.seq,
        words::time(envelope.happened_at()),
        envelope.by,
        envelope.event.name(),
        visible::line(&words)
    )
}

/// Prints events.
pub fn run(args: &EventsArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let ctx = look(global, screen)?;
    if !args.follow {
        return list(&ctx, args.after, screen).map(|()| Exit::Done);
    }
    let mut last = args.after;
    history::each_event(ctx.layout(), |envelope| {
        if envelope.seq > args.after {
            last = envelope.seq;
            print(&envelope, screen)?;
        }
        Ok(())
    })?;
    let (mut position, mut waiting) = (None, LogEventWaiter::begin());
    while !screen.reader_is_gone() {
        waiting.for_the_log(&ctx);
        position = Some(history::events_after(ctx.layout(), last, position, |envelope| {
            last = envelope.seq;
            print(&envelope, screen)
        })?);
    }
    Ok(Exit::Done)
}

fn print(envelope: &EventEnvelope, screen: &mut Screen) -> Result<()> {
    let view = EventJson::of(envelope)?;
    screen.answer(&view, || in_words(envelope))
}

/// Prints the events that there are, each as it is read.
fn list(ctx: &Context, after: u64, screen: &mut Screen) -> Result<()> {
    if screen.wants_json() {
        // A damaged log is an error, not half a document.
        history::each_event(ctx.layout(), |_| Ok(()))?;
    }
    let mut list = screen.begin_list(&EventListJson { events: Vec::new() })?;
    let mut is_enough = false;
    let read = history::each_event(ctx.layout(), |envelope| {
        if envelope.seq > after {
            list.push(|| EventJson::of(&envelope), || in_words(&envelope))?;
        }
        is_enough = list.reader_is_gone();
        if is_enough { Err(Error::new(Code::Interrupted, "nobody reads any more")) } else { Ok(()) }
    });
    match read {
        Err(_) if is_enough => Ok(()),
        Ok(()) => list.end(),
        // What comes before the damage is worth seeing.
        Err(error) => list.end().and(Err(error)),
    }
}
