//! The half of the panel that does something: it owns the terminal, waits for the log, keys and answers, and carries out what the
//! model asks for. What takes long (a dry run, a rollback, waiting for the supervisor) is done by threads with a context of
//! their own, so the panel never stands still. Begin reading with [`run`].

mod answers;
mod deeds;
mod follow;
mod foreground;
mod look;
mod rest;
mod terminal;
mod threads;
mod waiting;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGWINCH};

use self::follow::Follower;
use self::rest::Rest;
pub use self::terminal::Place;
use self::terminal::Terminal;
use self::threads::Threads;
use self::waiting::ProjectsFiles;
use super::event::Event;
use super::keys::Keys;
use super::model::{Model, Notice, update};
use super::request::{Closing, Failure, Request};
use super::view::Colours;
use crate::env;
use crate::error::{Error, Exit, Result};
use crate::ops::context::handle::Context;
use crate::ops::context::waiting::{Input, Waiting};
use crate::ops::open_panels;
use crate::own_process::end_signals::{self, LeftToQuestion};

/// How long to wait for the rest of a key's sequence.
const SEQUENCE: Duration = Duration::from_millis(40);
/// The least time between two looks at what is on disk, however much comes.
const LOOK: Duration = Duration::from_millis(40);
/// How often is looked while agents work: durations, what they print, whether they live.
const WORKING: Duration = Duration::from_secs(1);
/// How often where nobody works.
const IDLE: Duration = Duration::from_secs(5);

/// How the panel is shown.
#[derive(Debug, Clone)]
pub struct Options {
    /// Whether colours are used.
    pub colours: Colours,
    /// Which key does what.
    pub keys: Keys,
    /// Where it is drawn.
    pub place: Place,
}

/// Shows the panel until it is closed. Agents and session go on.
///
/// # Errors
/// `USAGE` where there is no terminal; those of reading the state; `IO_FAILED`.
pub fn run(mut ctx: Context, options: Options) -> Result<Exit> {
    let main = ctx.repo.worktrees().main_worktree()?.path().to_owned();
    // What comes while the screen is being set up is not missed.
    ctx.store.refresh()?;
    let killed = if ctx.layout().exists() { open_panels::begin(&ctx.layout().panels()) } else { 0 };
    let signals = end_signals::leave_signals_to_question();
    let closing = {
        let terminal = Terminal::begin(options.colours, options.place)?;
        let mut panel = Panel::begin(ctx, terminal, options.keys, main)?;
        panel.model.notice = was_killed(killed);
        let closing = panel.until_closed(&signals);
        terminal::give_back();
        panel.threads.finish();
        closing?
    };
    if let Some(signal) = signals.came() {
        drop(signals);
        end_signals::end_by(signal);
    }
    Ok(match closing {
        Closing::Done => Exit::Done,
        Closing::Interrupted => Exit::Interrupted,
    })
}

/// What is told where panels were killed: nothing gave their terminals back.
fn was_killed(many: usize) -> Option<Notice> {
    let text = "a panel was killed here; if its terminal is odd, close this and type: reset";
    (many > 0).then(|| Notice { bad: true, text: text.to_owned() })
}

struct Panel {
    ctx: Context,
    main: PathBuf,
    terminal: Terminal,
    model: Model,
    follower: Follower,
    files: ProjectsFiles,
    threads: Threads,
    waiting: Waiting,
    looked: Instant,
    /// Whether the next look is due, whatever the log says.
    overdue: bool,
    changed: bool,
    /// The process was stopped, and goes on.
    continued: Arc<AtomicBool>,
    rest: Rest,
}

impl Panel {
    fn begin(ctx: Context, terminal: Terminal, keys: Keys, main: PathBuf) -> Result<Self> {
        let now = env::now();
        let mut files = ProjectsFiles::default();
        let seen = look::seen(&ctx, now, None, &mut files)?;
        let size = terminal.size()?;
        let model = Model::new(seen, keys, size, now);
        let waiting = Waiting::begin();
        for signal in [SIGTERM, SIGHUP, SIGINT, SIGCONT, SIGWINCH] {
            waiting.also_for(signal);
        }
        let threads = Threads::new(main.clone(), &waiting);
        let follower = Follower::default();
        let continued = Arc::new(AtomicBool::new(false));
        // Where it cannot be noticed, Ctrl+L draws everything again.
        let _ = signal_hook::flag::register(SIGCONT, Arc::clone(&continued));
        let (looked, rest) = (Instant::now(), Rest::begin());
        Ok(Self {
            ctx,
            main,
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

    fn until_closed(&mut self, signals: &LeftToQuestion) -> Result<Closing> {
        // The first event makes the output of the first agent be followed.
        if let Some(closing) = self.happen(Event::Now(env::now()))? {
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
                return Ok(Closing::Interrupted);
            }
            if self.continued.swap(false, Ordering::SeqCst) {
                self.terminal.enter_again()?;
                self.changed = true;
            }
            let Some(events) = self.events(heard)? else { return Ok(Closing::Interrupted) };
            for event in events {
                if let Some(closing) = self.happen(event)? {
                    return Ok(closing);
                }
            }
        }
    }

    fn wait(&mut self) -> Input {
        let folders = self.follower.folders(&self.ctx);
        let most = if self.terminal.waits_for_more() { self.rest.sequence(SEQUENCE) } else { WORKING };
        self.waiting.for_the_log_or_keys(&self.ctx, folders, self.terminal.input(), most).input
    }

    /// What has happened since the last wait; `None` where the terminal is gone.
    fn events(&mut self, heard: Input) -> Result<Option<Vec<Event>>> {
        let mut events = match heard {
            Input::Gone => return Ok(None),
            Input::Ready => match self.terminal.read() {
                Some(events) => events,
                None => return Ok(None),
            },
            Input::Nothing if self.terminal.waits_for_more() => self.terminal.give_up_waiting(),
            Input::Nothing => Vec::new(),
        };
        let (width, height) = self.terminal.size()?;
        if (width, height) != self.model.size {
            events.push(Event::Resized { width, height });
        }
        let answers = self.threads.answers();
        if answers.iter().any(|answer| matches!(answer, Event::Done(..))) {
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
    fn look(&mut self) -> Result<Vec<Event>> {
        let since = self.looked.elapsed();
        if since < LOOK {
            // A key is not held up by this; what comes without one is looked at in time.
            std::thread::sleep(LOOK.saturating_sub(since).min(Duration::from_millis(15)));
        }
        let came = self.ctx.store.refresh()?;
        let mut events = Vec::new();
        let often = if self.model.working() > 0 || self.model.seen.session.supervised { WORKING } else { IDLE };
        if came || since >= often || self.overdue {
            self.overdue = false;
            let now = env::now();
            events.push(Event::Now(now));
            let seen = look::seen(&self.ctx, now, Some(self.model.seen.clone()), &mut self.files)?;
            events.push(Event::Seen(Box::new(seen)));
            self.looked = Instant::now();
        }
        events.extend(self.follower.look(&self.ctx)?.map(Event::Output));
        Ok(events)
    }

    /// Lets an event happen, and does what the model asks for.
    fn happen(&mut self, event: Event) -> Result<Option<Closing>> {
        self.changed = true;
        if matches!(event, Event::Input(_)) {
            env::panic_point("panel.input");
        }
        let mut requests = update(&mut self.model, event);
        while let Some(request) = (!requests.is_empty()).then(|| requests.remove(0)) {
            match request {
                Request::Close(closing) => return Ok(Some(closing)),
                Request::Do(deed) => self.threads.carry_out(deed),
                Request::Ask(ticket, question) => self.threads.ask(ticket, question),
                Request::Follow(of) => {
                    self.follower.begin(of);
                    if let Some(printed) = self.follower.look(&self.ctx)? {
                        requests.extend(update(&mut self.model, Event::Output(printed)));
                    }
                }
                Request::Edit(what) => {
                    let (ctx, main) = (&mut self.ctx, &self.main);
                    let event = self.terminal.without(|| foreground::edit(ctx, main, &what))?;
                    self.look_at_all();
                    requests.extend(update(&mut self.model, event));
                }
                Request::Run(line) => {
                    let main = &self.main;
                    let event = self.terminal.without(|| foreground::run(main, &line))?;
                    self.look_at_all();
                    requests.extend(update(&mut self.model, event));
                }
                Request::Suspend => self.terminal.suspend()?,
                Request::Redraw => self.terminal.redraw()?,
            }
        }
        Ok(None)
    }
}

/// An error as the panel shows it.
fn failure(error: &Error) -> Failure {
    let first = format!("{}: {error}", error.code());
    let hints = error.hints().iter().map(|hint| format!("hint: {hint}"));
    let lines = first.lines().map(str::to_owned).chain(hints).collect();
    Failure { code: error.code().as_str(), lines }
}
