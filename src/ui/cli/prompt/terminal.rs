//! The terminal during a question: keys are read one by one and not echoed, and the old modes are restored however the
//! question ends. No other code changes the modes.

use std::io::Write;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::Signal;
use rustix::termios::{InputModes, LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios};
use signal_hook::SigId;
use signal_hook::consts::{SIGCONT, SIGWINCH};

use crate::cli::keys::{KeyPress, KeyPressParser};
use axiom_base::own_process::end_signals;

/// How long to wait for the rest of an escape sequence.
const SEQUENCE: Duration = Duration::from_millis(40);
/// How often to check for a signal while no key is pressed.
const LOOK: Duration = Duration::from_millis(250);
/// A pause that does not occur within pasted text.
const PASTE_PAUSE: Duration = Duration::from_millis(60);
/// Switches the marking of pasted text on, and off again.
const TELL_PASTES: &[u8] = b"\x1b[?2004h";
const AS_BEFORE: &[u8] = b"\x1b[?2004l\x1b[?25h";

/// The result of waiting.
#[derive(Debug, PartialEq, Eq)]
pub enum PromptTerminalEvent {
    /// Keys that arrived together.
    Keys(Vec<KeyPress>),
    /// The screen has to be drawn again: its size has changed, or the process was stopped and continued.
    Redraw,
    /// No input within the given time.
    Nothing,
}

/// The terminal in the modes for reading keys. Dropping it restores the old modes.
#[derive(Debug)]
pub struct PromptTerminal {
    before: Termios,
    keys: KeyPressParser,
    redraw: Arc<AtomicBool>,
    listening: Vec<SigId>,
    signals: end_signals::QuestionSignals,
}

impl PromptTerminal {
    /// Begins to read keys. Input typed before is discarded: it was not meant for this question.
    pub fn begin() -> std::io::Result<Self> {
        let before = rustix::termios::tcgetattr(standard_input())?;
        let redraw = Arc::new(AtomicBool::new(false));
        // If these fail, only a change of the size is not noticed.
        let listening =
            [SIGWINCH, SIGCONT].into_iter().filter_map(|signal| signal_hook::flag::register(signal, Arc::clone(&redraw)).ok());
        let listening = listening.collect();
        let signals = end_signals::leave_signals_to_question();
        let terminal = Self { before, keys: KeyPressParser::default(), redraw, listening, signals };
        terminal.enter()?;
        Ok(terminal)
    }

    fn enter(&self) -> std::io::Result<()> {
        let mut modes = self.before.clone();
        modes.local_modes -= LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG | LocalModes::IEXTEN;
        modes.input_modes -= InputModes::IXON;
        modes.special_codes[SpecialCodeIndex::VMIN] = 1;
        modes.special_codes[SpecialCodeIndex::VTIME] = 0;
        rustix::termios::tcsetattr(standard_input(), OptionalActions::Flush, &modes)?;
        say(TELL_PASTES);
        Ok(())
    }

    fn leave(&self) {
        say(AS_BEFORE);
        // Unread input is discarded: it was typed for this question, not for the next program.
        let _ = rustix::termios::tcsetattr(standard_input(), OptionalActions::Flush, &self.before);
    }

    /// Waits for keys. A signal that asks this process to end takes effect here, after the terminal is restored.
    pub fn wait(&mut self, patience: Option<Duration>) -> std::io::Result<PromptTerminalEvent> {
        let waits_until = patience.map(|patience| Instant::now() + patience);
        loop {
            self.signals.obey(|| {
                self.leave();
                say(b"\n");
            });
            if self.redraw.swap(false, Ordering::SeqCst) {
                // The shell may have changed the modes while this process was stopped.
                self.enter_again()?;
                return Ok(PromptTerminalEvent::Redraw);
            }
            let timeout = if self.keys.is_waiting() { SEQUENCE } else { LOOK };
            let left = waits_until.map(|until| until.saturating_duration_since(Instant::now()));
            let timeout = left.map_or(timeout, |left| left.min(timeout));
            let keys = match self.read(timeout)? {
                Some(bytes) => self.keys.take(&bytes),
                None => self.keys.give_up_waiting().into_iter().collect(),
            };
            if !keys.is_empty() {
                return Ok(PromptTerminalEvent::Keys(keys));
            }
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(PromptTerminalEvent::Nothing);
            }
        }
    }

    /// Reads the bytes that are available; `None` where there are none in time, or a signal interrupts.
    fn read(&self, timeout: Duration) -> std::io::Result<Option<Vec<u8>>> {
        // A short time, so that the conversion cannot overflow.
        let timeout = Timespec { tv_sec: timeout.as_secs() as i64, tv_nsec: i64::from(timeout.subsec_nanos()) };
        let input = standard_input();
        let mut polled = [PollFd::new(&input, PollFlags::IN)];
        match poll(&mut polled, Some(&timeout)) {
            Ok(0) | Err(Errno::INTR) => return Ok(None),
            Ok(_) => {}
            Err(e) => return Err(e.into()),
        }
        let mut bytes = [0; 4096];
        match rustix::io::read(input, &mut bytes) {
            Ok(0) => Err(std::io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => Ok(Some(bytes[..read].to_vec())),
            Err(Errno::INTR) => Ok(None),
            Err(e) => Err(e.into()),
        }
    }

    /// Discards input until there is a pause: the rest of pasted text.
    pub fn forget_the_rest(&mut self) -> std::io::Result<()> {
        while self.read(PASTE_PAUSE)?.is_some() {}
        self.keys = KeyPressParser::default();
        let _ = rustix::termios::tcflush(standard_input(), QueueSelector::IFlush);
        Ok(())
    }

    /// Stops this process, as Ctrl+Z does, after restoring the terminal. Returns when it is continued.
    pub fn suspend(&mut self) -> std::io::Result<()> {
        self.leave();
        say(b"\n");
        // The whole process group, as the terminal itself would do: the `git` that started this process too.
        let _ = rustix::process::kill_current_process_group(Signal::TSTP);
        self.redraw.store(false, Ordering::SeqCst);
        self.enter_again()
    }

    fn enter_again(&mut self) -> std::io::Result<()> {
        self.keys = KeyPressParser::default();
        self.enter()
    }
}

impl Drop for PromptTerminal {
    fn drop(&mut self) {
        self.leave();
        for id in self.listening.drain(..) {
            signal_hook::low_level::unregister(id);
        }
    }
}

fn standard_input() -> BorrowedFd<'static> {
    rustix::stdio::stdin()
}

/// Writes to standard error, where questions are shown. If the terminal was closed, the next read reports it.
pub(super) fn say(bytes: &[u8]) {
    let mut err = std::io::stderr().lock();
    let _ = err.write_all(bytes).and_then(|()| err.flush());
}
