//! What must not be ended half-way: while it is under way, a signal that asks us to end waits until it is finished.
//!
//! The first SIGINT, SIGTERM or SIGHUP is only written down, and said; a second one ends the process at once, and the journal
//! holds what is to be finished or put back then. A session has handlers of its own, and a question puts the terminal back first.

use std::io::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// How many things are under way that are finished first.
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);
/// The signal that came meanwhile; 0 where none did.
static CAME: AtomicI32 = AtomicI32::new(0);
/// Whether a session handles signals itself.
static OF_A_SESSION: AtomicBool = AtomicBool::new(false);
/// How many questions are being asked, and the signal that came meanwhile.
static ASKING: AtomicUsize = AtomicUsize::new(0);
static CAME_WHILE_ASKING: AtomicI32 = AtomicI32::new(0);
static LISTENS: OnceLock<bool> = OnceLock::new();

/// How many things are under way that end by themselves when a signal has come.
static CAN_END: AtomicUsize = AtomicUsize::new(0);

/// While this lives, a signal waits.
#[derive(Debug)]
pub struct FinishFirst(());

/// From here on until the result is dropped, a signal that asks us to end waits.
pub fn finish_first() -> FinishFirst {
    UNDER_WAY.fetch_add(1, Ordering::SeqCst);
    if !OF_A_SESSION.load(Ordering::SeqCst) {
        LISTENS.get_or_init(listen);
    }
    FinishFirst(())
}

/// While this lives, a signal waits for whoever holds it, who looks for it ([`signal_that_waited`]), ends what it does and
/// clears up.
#[derive(Debug)]
pub struct CanEnd(FinishFirst);

/// From here on until the result is dropped, a signal is the caller's to look for.
pub fn can_end() -> CanEnd {
    CAN_END.fetch_add(1, Ordering::SeqCst);
    CanEnd(finish_first())
}

impl Drop for CanEnd {
    fn drop(&mut self) {
        CAN_END.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Drop for FinishFirst {
    fn drop(&mut self) {
        UNDER_WAY.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The name of the signal that came while something was finished first.
pub fn signal_that_waited() -> Option<&'static str> {
    name(CAME.load(Ordering::SeqCst))
}

/// From now on a session handles the signals.
pub fn leave_signals_to_session() {
    OF_A_SESSION.store(true, Ordering::SeqCst);
}

/// While this lives, a signal that asks us to end is only noted: whoever asks has changed how the terminal works.
#[derive(Debug)]
pub struct LeftToQuestion(());

/// From here on until the result is dropped, whoever asks a question ends us when a signal wants it.
pub fn leave_signals_to_question() -> LeftToQuestion {
    ASKING.fetch_add(1, Ordering::SeqCst);
    LISTENS.get_or_init(listen);
    LeftToQuestion(())
}

impl LeftToQuestion {
    /// Ends us, where a signal wanted that, once `put_back` has put the terminal back.
    pub fn obey(&self, put_back: impl FnOnce()) {
        let signal = CAME_WHILE_ASKING.load(Ordering::SeqCst);
        if signal != 0 {
            put_back();
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    }
}

impl Drop for LeftToQuestion {
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

/// Where signals cannot be taken, what they end is in the journal all the same.
fn listen() -> bool {
    // What whoever started us wants ignored (`nohup`) stays ignored.
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
        // Ends the process, as if nobody had asked for the signal.
        let _ = signal_hook::low_level::emulate_default_handler(signal);
        return;
    }
    if CAN_END.load(Ordering::SeqCst) > 0 {
        return;
    }
    let words = "git axiom finishes what it is doing, so that nothing is left half-way; once more leaves at once, \
                 then: git axiom rollback --continue or --abort\n";
    // The terminal may be gone.
    let _ = std::io::stderr().write_all(words.as_bytes());
}

/// Whether a signal was ignored when we were started; where the system does not show it, none was.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).unwrap_or(0);
    mask & (1 << (signal - 1)) != 0
}
