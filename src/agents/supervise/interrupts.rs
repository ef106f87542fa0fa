//! Signals that ask this process to end, and the watch over the end of its session.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use axiom_base::error::{Code, Error, Result};
use axiom_base::own_process::end_signals;
use axiom_model::base::ids::AgentId;
use axiom_model::work::sessions::supervisor_activity::{SupervisorActivity, SupervisorActivityKind};
use axiom_process::os::bell::WakeSender;

/// How long running iterations may take to end by themselves.
pub(crate) const BOUNDARY: Duration = Duration::from_secs(5);

/// A SIGINT so soon after another one belongs to the same Ctrl+C: the terminal sends it to this process and to the git that
/// called it, which forwards it.
const SAME: Duration = Duration::from_millis(250);

/// After how long is said what the end of a session waits for, where it is not over by then.
const SAYS_AFTER: Duration = Duration::from_millis(1500);

/// How much longer than its agents may take everything else may take until the session has ended.
const REST: Duration = Duration::from_secs(2);

/// How long the end of a session takes at most: its agents' boundary, their grace, and the rest.
pub fn longest_end(grace_seconds: u64) -> Duration {
    BOUNDARY + Duration::from_secs(grace_seconds) + REST
}

/// Counts the signals that ask this process to end. A second Ctrl+C ends the process at once; SIGTERM and SIGHUP never do,
/// however often they come: a program or a closed terminal may send them to the whole group and more than once. A SIGHUP that was
/// ignored when the process started (`nohup`) stays so.
#[derive(Debug, Clone, Default)]
pub struct InterruptCounter {
    count: Arc<AtomicUsize>,
    /// The agents that still run, to be named when the process ends at once.
    running: Arc<Mutex<Vec<String>>>,
    /// What is being done besides, in words.
    doing: Arc<Mutex<Vec<String>>>,
    /// When the first signal came, or the session began to end.
    since: Arc<OnceLock<Instant>>,
    /// Whether what the end waits for is told by whoever waits for it.
    is_told: Arc<AtomicBool>,
    /// Watches the end of the session, in a thread of its own.
    watch: Option<Arc<SessionEndWatchdog>>,
    /// Wakes the loop.
    rope: Arc<OnceLock<WakeSender>>,
}

/// Leaves, with what is waited for.
type LeaveCallback = Box<dyn Fn(&[String]) + Send + Sync>;

/// Watches that a session that ends comes to its end, whatever a child does, and says what it waits for.
struct SessionEndWatchdog {
    says: Box<dyn Fn(&str) + Send + Sync>,
    leaves: LeaveCallback,
    most: Duration,
}

fn listed(list: &Mutex<Vec<String>>) -> Vec<String> {
    list.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

impl InterruptCounter {
    /// Handles SIGINT, SIGTERM and SIGHUP in this process. `says` tells what the end waits for. `leaves` is called at the second Ctrl+C,
    /// and where the end takes longer than `most`, with the names of the agents that still run: it ends the process.
    pub fn install(
        says: impl Fn(&str) + Send + Sync + 'static,
        leaves: impl Fn(&[String]) + Send + Sync + 'static,
        most: Duration,
    ) -> Result<Self> {
        let watch = Arc::new(SessionEndWatchdog { says: Box::new(says), leaves: Box::new(leaves), most });
        let interrupts = Self { watch: Some(Arc::clone(&watch)), ..Self::default() };
        // A shell that starts a job in the background has it ignore SIGINT, and whoever sends that by hand means it.
        let is_left = |signal: &i32| *signal == SIGHUP && end_signals::is_ignored(*signal);
        let taken = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| !is_left(signal));
        end_signals::leave_signals_to_session();
        let mut signals = Signals::new(taken).map_err(|e| Error::new(Code::Internal, "signals cannot be handled").because(e))?;
        let told = interrupts.clone();
        let wait = move || {
            let mut pressed: Option<Instant> = None;
            for signal in signals.forever() {
                told.request();
                if signal != SIGINT {
                    continue;
                }
                match pressed {
                    Some(before) if before.elapsed() < SAME => {}
                    Some(_) => (watch.leaves)(&listed(&told.running)),
                    None => pressed = Some(Instant::now()),
                }
            }
        };
        std::thread::Builder::new().spawn(wait).map_err(|e| Error::cannot_start("a thread that waits for signals", e))?;
        Ok(interrupts)
    }

    /// From now on a signal wakes whoever waits at the bell that `rope` belongs to. The first one counts.
    pub(crate) fn ring(&self, rope: WakeSender) {
        let _ = self.rope.set(rope);
    }

    /// Asks the session to end, as a signal would.
    pub fn request(&self) {
        self.begin_to_end();
        self.count.fetch_add(1, Ordering::SeqCst);
        self.rope.get().into_iter().for_each(WakeSender::ring);
    }

    /// The session begins to end now, where it has not before; returns since when it does.
    pub(crate) fn begin_to_end(&self) -> Instant {
        let now = Instant::now();
        let since = *self.since.get_or_init(|| now);
        if since == now
            && let Some(watch) = self.watch.clone()
        {
            end_signals::wait_for_git_until(since + watch.most);
            let told = self.clone();
            let watched = move || told.watch_end(&watch, since);
            // Without the thread the session ends as its children let it.
            let _ = std::thread::Builder::new().name("end".into()).spawn(watched);
        }
        since
    }

    /// Where the session is not over by then, says what it waits for; and leaves at last.
    fn watch_end(&self, watch: &SessionEndWatchdog, since: Instant) {
        std::thread::sleep(SAYS_AFTER.saturating_sub(since.elapsed()));
        if !self.is_told.load(Ordering::SeqCst) {
            (watch.says)(&format!("waiting: {}", self.what_is_left()));
        }
        std::thread::sleep((watch.most + REST).saturating_sub(since.elapsed()));
        (watch.says)(&format!("the session does not come to its end: {}", self.what_is_left()));
        (watch.leaves)(&listed(&self.running));
    }

    fn what_is_left(&self) -> String {
        let agents = listed(&self.running);
        let agents = (!agents.is_empty()).then(|| format!("{} to end", agents.join(", ")));
        let all: Vec<String> = agents.into_iter().chain(listed(&self.doing)).collect();
        if all.is_empty() { "what agents left to be committed".to_owned() } else { all.join("; ") }
    }

    /// From now on whoever waits says for what.
    pub(crate) fn tells_itself(&self) {
        self.is_told.store(true, Ordering::SeqCst);
    }

    /// How many signals have come, and requests.
    pub fn count(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }

    /// Whoever ends this process at once is told that these agents still run.
    pub(crate) fn set_running(&self, agents: &[AgentId]) {
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = agents.iter().map(ToString::to_string).collect();
    }

    pub(crate) fn set_doing(&self, doing: &[SupervisorActivity]) {
        // Who is being ended is named by himself.
        let words = doing
            .iter()
            .filter(|doing| doing.what != SupervisorActivityKind::Ends)
            .map(SupervisorActivity::what_in_words)
            .collect();
        *self.doing.lock().unwrap_or_else(PoisonError::into_inner) = words;
    }
}

impl std::fmt::Debug for SessionEndWatchdog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WatchedEnd").field("most", &self.most).finish_non_exhaustive()
    }
}
