//! Threads that find something out or carry something out, each with a context of its own, and their answers.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use super::{actions, answers, failure};
use crate::panel::event::PanelEvent;
use crate::panel::request::{PanelAction, PanelQuestion, PanelTicket};
use axiom_base::error::{Error, Result};
use axiom_safety::context::event_waiter::{LogEventWaiter, WakeSender};
use axiom_safety::context::handle::Context;
use axiom_safety::context::placement::VerbPurpose;
use axiom_safety::opening;

/// The threads.
pub struct PanelThreads {
    main: PathBuf,
    rope: Option<WakeSender>,
    sender: Sender<PanelEvent>,
    receiver: Receiver<PanelEvent>,
    deeds: Vec<JoinHandle<()>>,
    /// How many answers are still to come.
    open: usize,
}

impl PanelThreads {
    /// None yet. `main` is the main worktree; an answer ends the wait of `waiting`.
    pub fn new(main: PathBuf, waiting: &LogEventWaiter) -> Self {
        let (sender, receiver) = channel();
        Self { main, rope: waiting.rope(), sender, receiver, deeds: Vec::new(), open: 0 }
    }

    /// The main worktree.
    pub fn main(&self) -> &Path {
        &self.main
    }

    /// What came since the last call.
    pub fn answers(&mut self) -> Vec<PanelEvent> {
        self.deeds.retain(|thread| !thread.is_finished());
        let came: Vec<PanelEvent> = self.receiver.try_iter().collect();
        self.open = self.open.saturating_sub(came.len());
        came
    }

    /// Whether something is being done or found out.
    pub fn is_busy(&self) -> bool {
        self.open > 0
    }

    /// Finds something out.
    pub fn ask(&mut self, ticket: PanelTicket, question: PanelQuestion) {
        self.open += 1;
        let answer = move |main: &Path| {
            let answer = open(main, VerbPurpose::Look).and_then(|mut ctx| answers::answer(&mut ctx, &question));
            PanelEvent::Answered(ticket, answer.map_err(|error| failure(&error)))
        };
        let started = self.start("panel asks", answer);
        if let Err(error) = started {
            let _ = self.sender.send(PanelEvent::Answered(ticket, Err(failure(&error))));
        }
    }

    /// Carries something out.
    pub fn carry_out(&mut self, deed: PanelAction) {
        self.open += 1;
        let wanted = deed.clone();
        let outcome = move |main: &Path| {
            let outcome = open(main, VerbPurpose::Write).and_then(|mut ctx| {
                let repaired = ctx.mend_log();
                let lines = actions::carry_out(&mut ctx, &deed)?;
                Ok(lines.into_iter().chain(repaired.iter().map(|warning| format!("warning: {warning}"))).collect())
            });
            PanelEvent::Done(deed, outcome.map_err(|error| failure(&error)))
        };
        match self.start("panel does", outcome) {
            Ok(thread) => self.deeds.push(thread),
            Err(error) => drop(self.sender.send(PanelEvent::Done(wanted, Err(failure(&error))))),
        }
    }

    fn start(&self, name: &str, work: impl FnOnce(&Path) -> PanelEvent + Send + 'static) -> Result<JoinHandle<()>> {
        let (main, sender, rope) = (self.main.clone(), self.sender.clone(), self.rope.as_ref().and_then(WakeSender::another));
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(move || {
            let event = work(&main);
            // Where the panel has ended, nobody wants to know.
            let _ = sender.send(event);
            if let Some(rope) = rope {
                rope.ring();
            }
        });
        thread.map_err(|e| Error::cannot_start("a thread of the panel", e))
    }

    /// Waits until everything that was begun is done: nothing is left half-way because the panel ends.
    pub fn finish(&mut self) {
        for thread in self.deeds.drain(..) {
            let _ = thread.join();
        }
    }
}

fn open(main: &Path, purpose: VerbPurpose) -> Result<Context> {
    let mut ctx = opening::open(main, purpose)?;
    ctx.load_usable_config()?;
    Ok(ctx)
}
