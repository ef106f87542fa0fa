//! The terminal while the panel has it: modes, the alternate screen, keys, and giving all of it back, whatever ends the panel. With
//! `panic = "abort"` no destructor runs, so the panic hook gives it back too.

use std::fs::File;
use std::io::{BufWriter, IsTerminal, Stdout, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use ratatui::layout::Rect;
use ratatui::{Terminal as Cells, TerminalOptions, Viewport};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;
use rustix::termios::{QueueSelector, tcflush};

use crate::cli::keys::{KeyPress, KeyPressParser, OtherKeyPress};
use crate::panel::event::PanelEvent;
use crate::panel::input::{PanelDirection, PanelInput, PanelKey};
use crate::panel::model::PanelModel;
use crate::panel::view;
use crate::panel::view::PanelColours;
use axiom_agents::open_panels;
use axiom_base::error::{Code, Error, Result};
use axiom_base::platform;

/// Marked pastes.
const ENTER: &[u8] = b"\x1b[?2004h";
/// A screen of its own, and back to the one before.
const ENTER_OTHER: &[u8] = b"\x1b[?1049h";
const LEAVE_OTHER: &[u8] = b"\x1b[?1049l";
/// The buttons and the wheel of the mouse, in their decimal form.
const ENTER_MOUSE: &[u8] = b"\x1b[?1000h\x1b[?1006h";
/// Everything as it was: mouse, pastes, colours, cursor.
const LEAVE: &[u8] = b"\x1b[?1006l\x1b[?1000l\x1b[?2004l\x1b[0m\x1b[?25h";
/// Below everything that is on the screen.
const TO_THE_END: &[u8] = b"\x1b[9999;1H\n";

/// Whether the terminal is not as it was.
static ENTERED: AtomicBool = AtomicBool::new(false);
/// Whether it is drawn on the screen of the shell.
static INLINE: AtomicBool = AtomicBool::new(false);
static HOOKED: Once = Once::new();

/// Where the panel is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PanelPlacement {
    /// On a screen of its own; what was there before comes back.
    OwnScreen,
    /// On the screen of the shell: what was there before is scrolled up, and the last picture stays.
    Inline,
}

/// The terminal.
pub struct PanelTerminal {
    tty: Option<File>,
    cells: Cells<CrosstermBackend<BufWriter<Stdout>>>,
    keys: KeyPressParser,
    colours: PanelColours,
    /// How many bytes were typed.
    taken: usize,
}

impl PanelTerminal {
    /// Takes the terminal.
    pub fn begin(colours: PanelColours, place: PanelPlacement) -> Result<Self> {
        if !std::io::stdout().is_terminal() {
            return Err(none("standard output is not a terminal"));
        }
        // Where something is piped in, the keys come from the terminal all the same.
        let tty = match std::io::stdin().is_terminal() {
            true => None,
            false => Some(platform::own_terminal().map_err(|e| none("standard input is not a terminal").because(e))?),
        };
        INLINE.store(place == PanelPlacement::Inline, Ordering::SeqCst);
        HOOKED.call_once(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |info| {
                give_back();
                before(info);
            }));
        });
        let backend = CrosstermBackend::new(BufWriter::with_capacity(1 << 16, std::io::stdout()));
        let options = TerminalOptions { viewport: Viewport::Fullscreen };
        let cells = Cells::with_options(backend, options).map_err(failed)?;
        let mut terminal = Self { tty, cells, keys: KeyPressParser::default(), colours, taken: 0 };
        terminal.enter()?;
        Ok(terminal)
    }

    /// Where keys come from.
    pub fn input(&self) -> BorrowedFd<'_> {
        match &self.tty {
            Some(tty) => tty.as_fd(),
            None => rustix::stdio::stdin(),
        }
    }

    fn enter(&mut self) -> Result<()> {
        if !ENTERED.swap(true, Ordering::SeqCst) {
            open_panels::set();
        }
        enable_raw_mode().map_err(failed)?;
        let mut out = std::io::stdout().lock();
        let screen = match INLINE.load(Ordering::SeqCst) {
            true => b"\n".repeat(usize::from(self.cells.size().map_err(failed)?.height)),
            false => ENTER_OTHER.to_vec(),
        };
        out.write_all(&screen)
            .and_then(|()| out.write_all(ENTER))
            .and_then(|()| out.write_all(ENTER_MOUSE))
            .and_then(|()| out.flush())
            .map_err(failed)?;
        drop(out);
        self.keys = KeyPressParser::default();
        self.redraw()
    }

    /// Gives it to another program, or to the shell, and takes it back afterwards.
    pub fn without<T>(&mut self, work: impl FnOnce() -> T) -> Result<T> {
        give_back();
        let outcome = work();
        // What was typed meanwhile was meant for the other program.
        let _ = tcflush(self.input(), QueueSelector::IFlush);
        self.enter()?;
        Ok(outcome)
    }

    /// Stops this process, as Ctrl+Z does, and the `git` that started it. Returns when it goes on.
    pub fn suspend(&mut self) -> Result<()> {
        self.without(|| {
            // Where the signal cannot be sent, the panel just goes on.
            let _ = rustix::process::kill_current_process_group(Signal::TSTP);
        })
    }

    /// After the process was stopped by somebody else: modes and screen may be anything.
    pub fn enter_again(&mut self) -> Result<()> {
        self.enter()
    }

    /// Forgets what is on the screen, so that all of it is drawn.
    pub fn redraw(&mut self) -> Result<()> {
        let size = self.cells.size().map_err(failed)?;
        // Not `clear`, which asks the terminal where its cursor is, and waits for the answer among the keys.
        self.cells.resize(Rect::new(0, 0, size.width, size.height)).map_err(failed)
    }

    /// The size in columns and rows.
    pub fn size(&self) -> Result<(u16, u16)> {
        let size = self.cells.size().map_err(failed)?;
        Ok((size.width, size.height))
    }

    /// Draws the model.
    pub fn draw(&mut self, model: &PanelModel) -> Result<()> {
        let colours = self.colours;
        let drawn = self.cells.draw(|frame| view::draw(model, colours, frame.area(), frame.buffer_mut()));
        drawn.map(drop).map_err(failed)
    }

    /// What was typed, where something was; `None` where the terminal is gone.
    pub fn read(&mut self) -> Option<Vec<PanelEvent>> {
        let mut bytes = [0; 4096];
        let mut polled = [PollFd::from_borrowed_fd(self.input(), PollFlags::IN)];
        let ready = poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).unwrap_or(0);
        let flags = polled[0].revents();
        if ready == 0 {
            return Some(Vec::new());
        }
        if !flags.contains(PollFlags::IN) {
            return None;
        }
        match rustix::io::read(self.input(), &mut bytes) {
            Ok(0) => None,
            Ok(read) => {
                self.taken += read;
                let keys = self.keys.take(&bytes[..read]);
                Some(inputs(keys))
            }
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => Some(Vec::new()),
            Err(_) => None,
        }
    }

    /// How many bytes were typed so far.
    pub fn taken(&self) -> usize {
        self.taken
    }

    /// Whether an Escape, or the beginning of a key's sequence, was read, and nothing after it yet.
    pub fn waits_for_more(&self) -> bool {
        self.keys.is_waiting()
    }

    /// Nothing more came.
    pub fn give_up_waiting(&mut self) -> Vec<PanelEvent> {
        inputs(self.keys.give_up_waiting().into_iter().collect())
    }
}

impl Drop for PanelTerminal {
    fn drop(&mut self) {
        give_back();
    }
}

/// Gives the terminal back as it was; does nothing where that was done.
pub fn give_back() {
    if ENTERED.swap(false, Ordering::SeqCst) {
        let mut out = std::io::stdout();
        let last = if INLINE.load(Ordering::SeqCst) { TO_THE_END } else { LEAVE_OTHER };
        let _ = out.write_all(LEAVE).and_then(|()| out.write_all(last)).and_then(|()| out.flush());
        let _ = disable_raw_mode();
        open_panels::clear();
    }
}

fn none(why: &str) -> Error {
    Error::new(Code::Usage, "the panel needs a terminal").why(why).hint("git axiom status --watch    shows the same without one")
}

fn failed(error: std::io::Error) -> Error {
    Error::new(Code::IoFailed, "the terminal cannot be used").because(error).hint("reset    makes a terminal usable again")
}

/// Keys that came together. An Enter among others is no answer: then it is a paste of a terminal that does not mark them.
fn inputs(keys: Vec<KeyPress>) -> Vec<PanelEvent> {
    let is_paste = keys.len() > 1 && keys.contains(&KeyPress::Enter);
    if is_paste {
        let text = keys.into_iter().filter_map(|key| if let KeyPress::Char(letter) = key { Some(letter) } else { None });
        return vec![PanelEvent::Input(PanelInput::Paste(text.collect()))];
    }
    keys.into_iter().filter_map(input).map(PanelEvent::Input).collect()
}

fn input(key: KeyPress) -> Option<PanelInput> {
    let key = match key {
        KeyPress::Pasted(text) => return Some(PanelInput::Paste(text)),
        KeyPress::Other(OtherKeyPress::Click(column, row)) => return Some(PanelInput::Click { column, row }),
        KeyPress::Other(OtherKeyPress::WheelUp) => return Some(PanelInput::Wheel(PanelDirection::Up)),
        KeyPress::Other(OtherKeyPress::WheelDown) => return Some(PanelInput::Wheel(PanelDirection::Down)),
        KeyPress::Other(OtherKeyPress::Unknown) => return None,
        KeyPress::Other(OtherKeyPress::Tab) => PanelKey::Tab,
        KeyPress::Other(OtherKeyPress::BackTab) => PanelKey::BackTab,
        KeyPress::Other(OtherKeyPress::Left) => PanelKey::Left,
        KeyPress::Other(OtherKeyPress::Right) => PanelKey::Right,
        KeyPress::Other(OtherKeyPress::Delete) => PanelKey::Delete,
        KeyPress::Other(OtherKeyPress::Ctrl(letter)) => PanelKey::Ctrl(letter),
        KeyPress::Char(letter) => PanelKey::Char(letter),
        KeyPress::Enter => PanelKey::Enter,
        KeyPress::Escape => PanelKey::Escape,
        KeyPress::Up => PanelKey::Up,
        KeyPress::Down => PanelKey::Down,
        KeyPress::PageUp => PanelKey::PageUp,
        KeyPress::PageDown => PanelKey::PageDown,
        KeyPress::Home => PanelKey::Home,
        KeyPress::End => PanelKey::End,
        KeyPress::Backspace => PanelKey::Backspace,
        KeyPress::ClearLine => PanelKey::Ctrl('u'),
        KeyPress::Interrupt => PanelKey::Ctrl('c'),
        KeyPress::Suspend => PanelKey::Ctrl('z'),
        KeyPress::EndOfInput => PanelKey::Ctrl('d'),
    };
    Some(PanelInput::Key(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_enter_that_comes_with_other_keys_is_no_answer() {
        let of = |bytes: &[u8]| inputs(KeyPressParser::default().take(bytes));
        assert_eq!(of(b"\r"), [PanelEvent::Input(PanelInput::Key(PanelKey::Enter))]);
        assert_eq!(of(b"x\r"), [PanelEvent::Input(PanelInput::Paste("x".into()))]);
        assert_eq!(
            of(b"jj"),
            [PanelEvent::Input(PanelInput::Key(PanelKey::Char('j'))), PanelEvent::Input(PanelInput::Key(PanelKey::Char('j')))]
        );
    }
}
