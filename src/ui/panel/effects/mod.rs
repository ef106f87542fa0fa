//! The half of the panel that does something: it owns the terminal, waits for the log, keys and answers, and carries out what the
//! model asks for. What takes long (a dry run, a rollback, waiting for the supervisor) is done by threads with a context of
//! their own, so the panel never stands still. Begin reading with [`run`].

mod actions;
mod answers;
mod follow;
mod foreground;
mod idle_report;
mod read_snapshot;
mod recovery_and_trust;
mod rollback_requests;
mod silent_watch;
mod terminal;
mod threads;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGWINCH};

use self::follow::OutputFollower;
use self::idle_report::PanelIdleReport;
use self::recovery_and_trust::PanelTrustCheck;
pub use self::terminal::PanelPlacement;
use self::terminal::PanelTerminal;
use self::threads::PanelThreads;
use super::event::PanelEvent;
use super::input::PanelInput;
use super::keys::PanelKeyBindings;
use super::model::{PanelModel, PanelNotice, update};
use super::request::{PanelExit, PanelFailure, PanelRequest};
use super::view::{self, PanelColours};
use crate::cli::screen::Screen;
use axiom_agents::open_panels;
use axiom_agents::supervise::status;
use axiom_base::env;
use axiom_base::error::{Error, Exit, Result};
use axiom_base::own_process::end_signals;
use axiom_base::own_process::end_signals::QuestionSignals;
use axiom_model::queries::project::LiveSessionStatus;
use axiom_safety::context::event_waiter::{LogEventWaiter, TerminalInput};
use axiom_safety::context::handle::Context;

/// How long to wait for the rest of a key's sequence.
const SEQUENCE: Duration = Duration::from_millis(40);
/// The least time between two looks at what is on disk, however much comes.
const LOOK: Duration = Duration::from_millis(40);
/// How often is looked while agents work, or a human is waited for: durations, what is printed, who lives.
const WORKING: Duration = Duration::from_secs(1);
/// How often where nobody works.
const IDLE: Duration = Duration::from_secs(5);

/// How the panel is shown.
#[derive(Debug, Clone)]
pub struct PanelOptions {
    /// Whether colours are used.
    pub colours: PanelColours,
    /// Which key does what.
    pub keys: PanelKeyBindings,
    /// Where it is drawn.
    pub place: PanelPlacement,
}

/// Shows the panel until it is closed. Agents and session go on.
pub fn run(mut ctx: Context, options: PanelOptions) -> Result<Exit> {
    let main = ctx.repo.worktrees().main_worktree()?.path().to_owned();
    // What comes while the screen is being set up is not missed.
    ctx.store.refresh()?;
    let killed = if ctx.layout().exists() { open_panels::begin(&ctx.layout().panels()) } else { 0 };
    let signals = end_signals::leave_signals_to_question();
    let closing = {
        let terminal = PanelTerminal::begin(options.colours, options.place)?;
        let mut panel = Panel::begin(ctx, terminal, options.keys, main)?;
        panel.model.notice = was_killed(killed);
        let closing = panel.until_closed(&signals);
        terminal::give_back();
        panel.threads.finish();
        if let Some(text) = goes_on(&mut panel.ctx) {
            Screen::for_people().note(text);
        }
        closing?
    };
    if let Some(signal) = signals.came() {
        drop(signals);
        end_signals::end_by(signal);
    }
    Ok(match closing {
        PanelExit::Done => Exit::Done,
        PanelExit::Interrupted => Exit::Interrupted,
    })
}

/// What goes on without the panel.
fn goes_on(ctx: &mut Context) -> Option<&'static str> {
    ctx.store.refresh().ok()?;
    let session = status::status(ctx, env::now()).ok()?;
    match session.session.state {
        _ if !session.supervisor.alive => None,
        LiveSessionStatus::Ending => Some("The session is ending: agents get 5 seconds, and what they did is committed."),
        LiveSessionStatus::Running | LiveSessionStatus::Pausing | LiveSessionStatus::Paused => {
            Some("The session goes on: git axiom panel shows it, git axiom quit ends it.")
        }
        LiveSessionStatus::Idle | LiveSessionStatus::Crashed => None,
    }
}

/// What is told where panels were killed: nothing gave their terminals back.
fn was_killed(many: usize) -> Option<PanelNotice> {
    let text = "a panel was killed here; if its terminal is odd, close this and type: reset";
    (many > 0).then(|| PanelNotice { bad: true, text: text.to_owned(), at: env::now() })
}

struct Panel {
    ctx: Context,
    terminal: PanelTerminal,
    model: PanelModel,
    follower: OutputFollower,
    files: PanelTrustCheck,
    threads: PanelThreads,
    waiting: LogEventWaiter,
    looked: Instant,
    /// Whether the next look is due, whatever the log says.
    overdue: bool,
    changed: bool,
    /// The process was stopped, and goes on.
    continued: Arc<AtomicBool>,
    rest: PanelIdleReport,
}

impl Panel {
    fn begin(ctx: Context, terminal: PanelTerminal, keys: PanelKeyBindings, main: PathBuf) -> Result<Self> {
        let now = env::now();
        let mut files = PanelTrustCheck::default();
        let seen = read_snapshot::seen(&ctx, now, None, &mut files)?;
        let size = terminal.size()?;
        let model = PanelModel::new(seen, keys, size, now);
        let waiting = LogEventWaiter::begin();
        for signal in [SIGTERM, SIGHUP, SIGINT, SIGCONT, SIGWINCH] {
            waiting.also_for(signal);
        }
        let threads = PanelThreads::new(main, &waiting);
        let follower = OutputFollower::default();
        let continued = Arc::new(AtomicBool::new(false));
        // Where it cannot be noticed, Ctrl+L draws everything again.
        let _ = signal_hook::flag::register(SIGCONT, Arc::clone(&continued));
        let (looked, rest) = (Instant::now(), PanelIdleReport::begin());
        Ok(Self {
            ctx,
            terminal,
            model,
            follower,
            files,
            threads,
            waiting,
            looked,
            overdue: false,
            changed: true,
            continued,
            rest,
        })
    }

    fn until_closed(&mut self, signals: &QuestionSignals) -> Result<PanelExit> {
        // The first event makes the output of the first agent be followed.
        if let Some(closing) = self.happen(PanelEvent::Now(env::now()))? {
            return Ok(closing);
        }
        loop {
            if self.changed {
                self.terminal.draw(&self.model)?;
                self.changed = false;
                if !self.threads.is_busy() && !self.terminal.waits_for_more() {
                    self.rest.say(self.terminal.taken());
                }
            }
            let heard = self.wait();
            if signals.came().is_some() {
                return Ok(PanelExit::Interrupted);
            }
            if self.continued.swap(false, Ordering::SeqCst) {
                self.terminal.enter_again()?;
                self.changed = true;
            }
            let Some(events) = self.events(heard)? else { return Ok(PanelExit::Interrupted) };
            for event in events {
                if let Some(closing) = self.happen(event)? {
                    return Ok(closing);
                }
            }
        }
    }

    fn wait(&mut self) -> TerminalInput {
        let folders = self.follower.folders(&self.ctx);
        let most = if self.terminal.waits_for_more() { self.rest.sequence(SEQUENCE) } else { WORKING };
        self.waiting.for_the_log_or_keys(&self.ctx, folders, self.terminal.input(), most).input
    }

    /// What has happened since the last wait; `None` where the terminal is gone.
    fn events(&mut self, heard: TerminalInput) -> Result<Option<Vec<PanelEvent>>> {
        let mut events = match heard {
            TerminalInput::Gone => return Ok(None),
            TerminalInput::Ready => match self.terminal.read() {
                Some(events) => events,
                None => return Ok(None),
            },
            TerminalInput::Nothing if self.terminal.waits_for_more() => self.terminal.give_up_waiting(),
            TerminalInput::Nothing => Vec::new(),
        };
        let (width, height) = self.terminal.size()?;
        if (width, height) != self.model.size {
            events.push(PanelEvent::Resized { width, height });
        }
        let answers = self.threads.answers();
        if answers.iter().any(|answer| matches!(answer, PanelEvent::Done(..))) {
            self.look_at_all();
        }
        events.extend(answers);
        events.extend(self.look()?);
        Ok(Some(events))
    }

    /// Something was done: also what no event tells of may have changed.
    fn look_at_all(&mut self) {
        self.files.look_again();
        self.overdue = true;
    }

    /// What is new on disk.
    fn look(&mut self) -> Result<Vec<PanelEvent>> {
        let since = self.looked.elapsed();
        if since < LOOK {
            // A key is not held up by this; what comes without one is looked at in time.
            std::thread::sleep(LOOK.saturating_sub(since).min(Duration::from_millis(15)));
        }
        let came = self.ctx.store.refresh()?;
        let mut events = Vec::new();
        let seen = &self.model.seen;
        // What is done without a session ends without a line in the log, and what waits grows older.
        let changes = !seen.session.doing.is_empty() || !seen.waiting.is_empty();
        let often = if self.model.working() > 0 || seen.session.supervised || changes { WORKING } else { IDLE };
        if came || since >= often || self.overdue {
            self.overdue = false;
            let now = env::now();
            events.push(PanelEvent::Now(now));
            let seen = read_snapshot::seen(&self.ctx, now, Some(self.model.seen.clone()), &mut self.files)?;
            events.push(PanelEvent::Seen(Box::new(seen)));
            self.looked = Instant::now();
        }
        events.extend(self.follower.look(&self.ctx)?.map(PanelEvent::Output));
        Ok(events)
    }

    /// Lets an event happen, and does what the model asks for.
    fn happen(&mut self, event: PanelEvent) -> Result<Option<PanelExit>> {
        self.changed = true;
        if matches!(event, PanelEvent::Input(_)) {
            env::panic_point("panel.input");
        }
        let place = if let PanelEvent::Input(PanelInput::Click { column, row }) = event {
            view::clicked(&self.model, column, row)
        } else {
            None
        };
        let mut requests = update(&mut self.model, place.map_or(event, PanelEvent::Clicked));
        while let Some(request) = (!requests.is_empty()).then(|| requests.remove(0)) {
            match request {
                PanelRequest::Close(closing) => return Ok(Some(closing)),
                PanelRequest::Do(deed) => self.threads.carry_out(deed),
                PanelRequest::Ask(ticket, question) => self.threads.ask(ticket, question),
                PanelRequest::Follow(of) => {
                    self.follower.begin(of);
                    if let Some(printed) = self.follower.look(&self.ctx)? {
                        requests.extend(update(&mut self.model, PanelEvent::Output(printed)));
                    }
                }
                PanelRequest::Edit(what) => {
                    let (ctx, main) = (&mut self.ctx, self.threads.main());
                    let event = self.terminal.without(|| foreground::edit(ctx, main, &what))?;
                    self.look_at_all();
                    requests.extend(update(&mut self.model, event));
                }
                PanelRequest::Run(line) => {
                    let main = self.threads.main();
                    let event = self.terminal.without(|| foreground::run(main, &line))?;
                    self.look_at_all();
                    requests.extend(update(&mut self.model, event));
                }
                PanelRequest::Suspend => self.terminal.suspend()?,
                PanelRequest::Redraw => self.terminal.redraw()?,
            }
        }
        Ok(None)
    }
}

/// An error as the panel shows it.
fn failure(error: &Error) -> PanelFailure {
    let first = format!("{}: {error}", error.code());
    let hints = error.hints().iter().map(|hint| format!("hint: {hint}"));
    let lines = first.lines().map(str::to_owned).chain(hints).collect();
    PanelFailure { code: error.code().as_str(), lines }
}
