//! The terminal while somebody is asked: keys come one by one and are not shown, and whatever ends the asking, the terminal is as
//! it was. Nothing else changes its modes.

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

use super::keys::{Key, Keys};
use crate::own_process::end_signals;

/// How long the rest of a sequence may take to come.
const SEQUENCE: Duration = Duration::from_millis(40);
/// How often is looked whether a signal came, where no key does.
const LOOK: Duration = Duration::from_millis(250);
/// Pasted text comes without such a pause.
const PASTE_PAUSE: Duration = Duration::from_millis(60);
/// Pasted text is told apart from typed keys; and back.
const TELL_PASTES: &[u8] = b"\x1b[?2004h";
const AS_BEFORE: &[u8] = b"\x1b[?2004l\x1b[?25h";

/// What came.
#[derive(Debug, PartialEq, Eq)]
pub enum Came {
    /// Keys, all that came at once.
    Keys(Vec<Key>),
    /// The screen has to be drawn again: it has another size, or we were stopped meanwhile.
    Redraw,
    /// Nothing, in the time that was given.
    Nothing,
}

/// The terminal, in the modes in which keys can be read; dropped, it is as it was.
#[derive(Debug)]
pub struct Terminal {
    before: Termios,
    keys: Keys,
    redraw: Arc<AtomicBool>,
    listening: Vec<SigId>,
    signals: end_signals::LeftToQuestion,
}

impl Terminal {
    /// Begins to read keys. What was typed before is forgotten: it was typed to something else.
    ///
    /// # Errors
    /// Where standard input is no terminal.
    pub fn begin() -> std::io::Result<Self> {
        let before = rustix::termios::tcgetattr(standard_input())?;
        let redraw = Arc::new(AtomicBool::new(false));
        // Without these, only a changed size is not noticed.
        let listening =
            [SIGWINCH, SIGCONT].into_iter().filter_map(|signal| signal_hook::flag::register(signal, Arc::clone(&redraw)).ok());
        let listening = listening.collect();
        let signals = end_signals::leave_signals_to_question();
        let terminal = Self { before, keys: Keys::default(), redraw, listening, signals };
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
        // What was typed and not read is not for whoever comes next: it was typed to a question.
        let _ = rustix::termios::tcsetattr(standard_input(), OptionalActions::Flush, &self.before);
    }

    /// Waits for keys. A signal that asks us to end does so here, with the terminal put back.
    ///
    /// # Errors
    /// Where the terminal is gone.
    pub fn wait(&mut self, patience: Option<Duration>) -> std::io::Result<Came> {
        let waits_until = patience.map(|patience| Instant::now() + patience);
        loop {
            self.signals.obey(|| {
                self.leave();
                say(b"\n");
            });
            if self.redraw.swap(false, Ordering::SeqCst) {
                // Whoever went on with us may have set the terminal up for itself.
                self.enter_again()?;
                return Ok(Came::Redraw);
            }
            let timeout = if self.keys.is_waiting() { SEQUENCE } else { LOOK };
            let left = waits_until.map(|until| until.saturating_duration_since(Instant::now()));
            let timeout = left.map_or(timeout, |left| left.min(timeout));
            let keys = match self.read(timeout)? {
                Some(bytes) => self.keys.take(&bytes),
                None => self.keys.give_up_waiting().into_iter().collect(),
            };
            if !keys.is_empty() {
                return Ok(Came::Keys(keys));
            }
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(Came::Nothing);
            }
        }
    }

    /// The bytes that came; `None` where none came in time, or a signal did.
    fn read(&self, timeout: Duration) -> std::io::Result<Option<Vec<u8>>> {
        // Never long: it fits.
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

    /// Forgets what goes on coming: the rest of what was pasted.
    ///
    /// # Errors
    /// As [`Terminal::wait`].
    pub fn forget_the_rest(&mut self) -> std::io::Result<()> {
        while self.read(PASTE_PAUSE)?.is_some() {}
        self.keys = Keys::default();
        let _ = rustix::termios::tcflush(standard_input(), QueueSelector::IFlush);
        Ok(())
    }

    /// Stops, as Ctrl+Z asks, with the terminal as it was; comes back when somebody lets us go on.
    ///
    /// # Errors
    /// Where the terminal is gone.
    pub fn suspend(&mut self) -> std::io::Result<()> {
        self.leave();
        say(b"\n");
        // All of us, as the terminal itself would: `git`, which started us, too.
        let _ = rustix::process::kill_current_process_group(Signal::TSTP);
        self.redraw.store(false, Ordering::SeqCst);
        self.enter_again()
    }

    fn enter_again(&mut self) -> std::io::Result<()> {
        self.keys = Keys::default();
        self.enter()
    }
}

impl Drop for Terminal {
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

/// On standard error, where questions are; a terminal that is gone is noticed when it is read.
pub(super) fn say(bytes: &[u8]) {
    let mut err = std::io::stderr().lock();
    let _ = err.write_all(bytes).and_then(|()| err.flush());
}
