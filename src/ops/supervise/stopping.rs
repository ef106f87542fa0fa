//! Ctrl+C, SIGTERM and requests to quit: pause, wait until iterations end, stop what still runs.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::notice::Notice;
use super::{Supervisor, Then, Until};
use crate::domain::work::outcome::Halt;
use crate::domain::work::session::SessionState;
use crate::error::{Code, Error, Result};
use crate::own_process::end_signals;
use crate::process::keeper::spec::KeeperState;
use crate::process::keeper_state;
use crate::process::os::bell::Rope;

/// How long running iterations may take to end by themselves.
const BOUNDARY: Duration = Duration::from_secs(5);

/// A SIGINT so soon after another one belongs to the same Ctrl+C: the terminal sends it to this process and to the git that
/// called it, which forwards it.
const SAME: Duration = Duration::from_millis(250);

/// Counts the signals that ask this process to end. A second Ctrl+C ends the process at once; SIGTERM and SIGHUP never do,
/// however often they come: a program or a closed terminal may send them to the whole group and more than once.
#[derive(Debug, Clone, Default)]
pub struct Interrupts {
    count: Arc<AtomicUsize>,
    /// The agents that still run, to be named when the process ends at once.
    running: Arc<Mutex<Vec<String>>>,
    /// Wakes the loop.
    rope: Arc<OnceLock<Rope>>,
}

impl Interrupts {
    /// Handles SIGINT, SIGTERM and SIGHUP in this process. `leave` is called at the second Ctrl+C, with the names of the
    /// agents that still run: it ends the process, or lets the session go on ending.
    ///
    /// # Errors
    /// `INTERNAL` where the signals cannot be handled; `IO_FAILED` where no thread can be started.
    pub fn install(leave: impl Fn(&[String]) + Send + 'static) -> Result<Self> {
        let interrupts = Self::default();
        end_signals::leave_signals_to_session();
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])
            .map_err(|e| Error::new(Code::Internal, "signals cannot be handled").because(e))?;
        let (count, running, rope) =
            (Arc::clone(&interrupts.count), Arc::clone(&interrupts.running), Arc::clone(&interrupts.rope));
        let wait = move || {
            let mut pressed: Option<Instant> = None;
            for signal in signals.forever() {
                count.fetch_add(1, Ordering::SeqCst);
                rope.get().into_iter().for_each(Rope::ring);
                if signal != SIGINT {
                    continue;
                }
                match pressed {
                    Some(before) if before.elapsed() < SAME => {}
                    Some(_) => leave(&running.lock().unwrap_or_else(PoisonError::into_inner)),
                    None => pressed = Some(Instant::now()),
                }
            }
        };
        std::thread::Builder::new().spawn(wait).map_err(|e| Error::cannot_start("a thread that waits for signals", e))?;
        Ok(interrupts)
    }

    /// From now on a signal wakes whoever waits at the bell that `rope` belongs to. The first one counts.
    pub(super) fn ring(&self, rope: Rope) {
        let _ = self.rope.set(rope);
    }

    /// Asks the session to end, as a signal would.
    pub fn request(&self) {
        self.count.fetch_add(1, Ordering::SeqCst);
        self.rope.get().into_iter().for_each(Rope::ring);
    }

    /// How many signals have come, and requests.
    pub fn count(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }

    fn set_running(&self, names: Vec<String>) {
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = names;
    }
}

impl Supervisor<'_> {
    /// Ends the session's work: no new tasks, five seconds for iterations to end, then running ones are stopped. A stopped
    /// agent's work is committed at the end of its iteration; its task becomes pending without a retry counted, or gets the
    /// status that the agent has reported by then.
    ///
    /// # Errors
    /// Those of the log. Whoever asked for the end gets it: where the log cannot be written, programs are ended all the same,
    /// and the next session takes up what they left.
    pub(super) fn shut_down(&mut self) -> Result<()> {
        self.tell(Notice::Pausing { why: "shutting down".into() });
        self.abandon_merge_check();
        self.abandon_asking();
        let Err(error) = self.wind_down() else { return Ok(()) };
        self.warn(format!("agents are stopped without a record: {}: {error}", error.code()));
        self.stop_programs(&Then::Free);
        self.wait_for_programs(self.patience());
        // By now there may be space again.
        self.wind_down()
    }

    fn wind_down(&mut self) -> Result<()> {
        self.name_running();
        self.ctx.store.refresh()?;
        if self.session_state() != SessionState::Ending {
            self.change_session(SessionState::Ending, "shutting down")?;
        }
        self.wait_for_boundary(BOUNDARY)?;
        if !self.running_agents().is_empty() {
            self.stop_running(&Then::Free)?;
            self.wait_for_boundary(self.patience())?;
        }
        let idle: Vec<_> = self.ctx.state().busy_agents().map(|agent| agent.id.clone()).collect();
        for agent in idle {
            if !self.running_agents().contains(&agent) {
                self.halt(&agent, Halt::Stop, Then::Free)?;
            }
        }
        let left = self.running_agents();
        if !left.is_empty() {
            let names: Vec<String> = left.iter().map(ToString::to_string).collect();
            self.warn(format!("still running: {}; 'git axiom kill --all' ends them", names.join(", ")));
        }
        Ok(())
    }

    /// How long agents that were asked to end may take.
    fn patience(&self) -> Duration {
        Duration::from_secs(self.ctx.config.agents.grace_seconds + 30)
    }

    /// Whoever ends this process at once is told which agents still run.
    fn name_running(&self) {
        self.interrupts.set_running(self.running_agents().iter().map(ToString::to_string).collect());
    }

    /// Waits until no keeper runs a program any more, or `patience` has passed. Records nothing.
    fn wait_for_programs(&mut self, patience: Duration) {
        let started = Instant::now();
        while self.programs_run() && started.elapsed() < patience {
            // A keeper that was just starting can be asked by now.
            self.stop_programs(&Then::Free);
            self.wait_at_most(patience.saturating_sub(started.elapsed()));
        }
    }

    fn programs_run(&self) -> bool {
        let mut tokens = self.ctx.state().busy_agents().filter_map(|agent| Some((&agent.id, agent.token()?)));
        tokens.any(|(agent, token)| {
            let state = keeper_state(&self.ctx.layout().run_dir(agent, token));
            matches!(state, Ok(KeeperState::Starting | KeeperState::Alive(_)))
        })
    }

    /// Looks after the agents until none runs any more, or `patience` has passed.
    fn wait_for_boundary(&mut self, patience: Duration) -> Result<()> {
        let started = Instant::now();
        loop {
            self.ctx.store.refresh()?;
            let busy = self.look_after_agents(Until::AllWere)?;
            self.name_running();
            if self.running_agents().is_empty() || started.elapsed() > patience {
                return Ok(());
            }
            if !busy {
                self.wait_at_most(patience.saturating_sub(started.elapsed()));
            }
        }
    }
}
