//! Work that must not be interrupted: while it is in progress, a signal that asks this process to end is deferred.
//!
//! The first SIGINT, SIGTERM or SIGHUP is only recorded, and a message is printed. The second one ends the process at once;
//! then the journal has what must be finished or reversed. A session has handlers of its own, and a question restores the
//! terminal first.

use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Instant;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

pub use crate::platform::is_ignored;

/// How many pieces of work in progress defer signals.
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);
/// The signal that was deferred; 0 where none was.
static CAME: AtomicI32 = AtomicI32::new(0);
/// Whether a session handles signals itself.
static OF_A_SESSION: AtomicBool = AtomicBool::new(false);
/// How many questions are being asked, and the signal that was received meanwhile.
static ASKING: AtomicUsize = AtomicUsize::new(0);
static CAME_WHILE_ASKING: AtomicI32 = AtomicI32::new(0);
static LISTENS: OnceLock<bool> = OnceLock::new();

/// How many pieces of work in progress react to a deferred signal themselves.
static CAN_END: AtomicUsize = AtomicUsize::new(0);

/// When git in a folder of an agent's is waited for no longer; `None` as long as nothing ends.
static GIT_UNTIL: Mutex<Option<Instant>> = Mutex::new(None);

/// This process ends: from then on no call of git that has a limit is waited for, whatever it has started.
pub fn wait_for_git_until(then: Instant) {
    *GIT_UNTIL.lock().unwrap_or_else(PoisonError::into_inner) = Some(then);
}

/// Whether calls of git that have a limit are to be ended now.
pub fn is_too_late_for_git() -> bool {
    GIT_UNTIL.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|until| Instant::now() >= until)
}

/// Signals are deferred as long as this value exists.
#[derive(Debug)]
pub struct DeferredSignals(());

/// Defers signals that ask this process to end, until the result is dropped.
pub fn finish_first() -> DeferredSignals {
    UNDER_WAY.fetch_add(1, Ordering::SeqCst);
    if !OF_A_SESSION.load(Ordering::SeqCst) {
        LISTENS.get_or_init(listen);
    }
    DeferredSignals(())
}

/// Signals are deferred as long as this value exists. Its owner checks for them ([`signal_that_waited`]), stops its work and
/// cleans up.
#[derive(Debug)]
pub struct CheckedSignals(DeferredSignals);

/// Defers signals until the result is dropped. The caller has to check for them.
pub fn can_end() -> CheckedSignals {
    CAN_END.fetch_add(1, Ordering::SeqCst);
    CheckedSignals(finish_first())
}

impl Drop for CheckedSignals {
    fn drop(&mut self) {
        CAN_END.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Drop for DeferredSignals {
    fn drop(&mut self) {
        UNDER_WAY.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The name of the signal that was deferred, if any.
pub fn signal_that_waited() -> Option<&'static str> {
    name(CAME.load(Ordering::SeqCst))
}

/// From now on, the session handles the signals.
pub fn leave_signals_to_session() {
    OF_A_SESSION.store(true, Ordering::SeqCst);
}

/// As long as this value exists, a signal that asks this process to end is only recorded, because a question has changed the
/// mode of the terminal.
#[derive(Debug)]
pub struct QuestionSignals(());

/// Until the result is dropped, the code that asks the question has to end this process when there was a signal.
pub fn leave_signals_to_question() -> QuestionSignals {
    ASKING.fetch_add(1, Ordering::SeqCst);
    LISTENS.get_or_init(listen);
    QuestionSignals(())
}

impl QuestionSignals {
    /// The signal that came, if any.
    pub fn came(&self) -> Option<i32> {
        Some(CAME_WHILE_ASKING.load(Ordering::SeqCst)).filter(|signal| *signal != 0)
    }

    /// If there was a signal, calls `put_back` to restore the terminal, and ends this process.
    pub fn obey(&self, put_back: impl FnOnce()) {
        let signal = CAME_WHILE_ASKING.load(Ordering::SeqCst);
        if signal != 0 {
            put_back();
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    }
}

/// Ends this process as a signal does that nobody handles.
pub fn end_by(signal: i32) {
    let _ = signal_hook::low_level::emulate_default_handler(signal);
}

impl Drop for QuestionSignals {
    fn drop(&mut self) {
        ASKING.fetch_sub(1, Ordering::SeqCst);
    }
}

fn name(signal: i32) -> Option<&'static str> {
    match signal {
        SIGINT => Some("SIGINT"),
        SIGTERM => Some("SIGTERM"),
        SIGHUP => Some("SIGHUP"),
        _ => None,
    }
}

/// Starts the thread that receives signals. If that fails, the journal still has the work that a signal interrupts.
fn listen() -> bool {
    // Signals that the parent process has set to be ignored (`nohup`) stay ignored.
    let taken = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| !is_ignored(*signal));
    let Ok(mut signals) = Signals::new(taken) else { return false };
    let work = move || signals.forever().for_each(take);
    std::thread::Builder::new().name("signals".into()).spawn(work).is_ok()
}

fn take(signal: i32) {
    if OF_A_SESSION.load(Ordering::SeqCst) {
        return;
    }
    if ASKING.load(Ordering::SeqCst) > 0 {
        CAME_WHILE_ASKING.store(signal, Ordering::SeqCst);
        return;
    }
    let is_first = UNDER_WAY.load(Ordering::SeqCst) > 0 && CAME.swap(signal, Ordering::SeqCst) == 0;
    if !is_first {
        // Ends the process, as the default handler would.
        let _ = signal_hook::low_level::emulate_default_handler(signal);
        return;
    }
    if CAN_END.load(Ordering::SeqCst) > 0 {
        return;
    }
    let words = "git axiom finishes what it is doing, so that nothing is left half-done; a second signal leaves at once, \
                 then: git axiom rollback --continue or --abort\n";
    // The terminal may be closed.
    let _ = std::io::stderr().write_all(words.as_bytes());
}
