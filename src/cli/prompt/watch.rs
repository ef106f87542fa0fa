//! Waiting while a verb shows changing output: `q` or Ctrl+C ends it.

use std::io::IsTerminal;
use std::time::Duration;

use super::terminal::{Came, Terminal};
use crate::cli::keys::Key;

/// How a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waited {
    /// The time has passed.
    Elapsed,
    /// The screen has to be drawn again.
    Redraw,
    /// `q` or Escape.
    Quit,
    /// Ctrl+C.
    Interrupted,
}

/// Reads keys while output is shown.
#[derive(Debug)]
pub struct Watching {
    terminal: Option<Terminal>,
}

impl Watching {
    /// Starts reading keys if a user is at this terminal and the process is in the foreground; otherwise no keys are read.
    pub fn begin() -> Self {
        let sits_there = std::io::stdin().is_terminal() && std::io::stdout().is_terminal() && is_in_foreground();
        Self { terminal: if sits_there { Terminal::begin().ok() } else { None } }
    }

    /// The line that explains how to end it; empty where no keys are read.
    pub fn way_out(&self) -> &'static str {
        if self.terminal.is_some() { "\nq ends this.\n" } else { "" }
    }

    /// Waits for a key that has an effect, or for the time to pass.
    pub fn wait(&mut self, time: Duration) -> Waited {
        let Some(terminal) = &mut self.terminal else {
            std::thread::sleep(time);
            return Waited::Elapsed;
        };
        let keys = match terminal.wait(Some(time)) {
            Ok(Came::Keys(keys)) => keys,
            Ok(Came::Redraw) => return Waited::Redraw,
            Ok(Came::Nothing) => return Waited::Elapsed,
            Err(_) => return Waited::Quit,
        };
        for key in keys {
            match key {
                Key::Char('q' | 'Q') | Key::Escape | Key::EndOfInput => return Waited::Quit,
                Key::Interrupt => return Waited::Interrupted,
                Key::Suspend => {
                    return if terminal.suspend().is_ok() { Waited::Redraw } else { Waited::Quit };
                }
                Key::Char(_) | Key::Enter | Key::Up | Key::Down | Key::PageUp | Key::PageDown | Key::Home | Key::End => {}
                Key::Backspace | Key::ClearLine | Key::Pasted(_) | Key::Other(_) => {}
            }
        }
        Waited::Elapsed
    }
}

/// A background job would be stopped if it read from the terminal.
fn is_in_foreground() -> bool {
    let ours = rustix::process::getpgrp();
    // A terminal that does not control this process has no foreground group.
    rustix::termios::tcgetpgrp(rustix::stdio::stdin()).map_or(true, |group| group == ours)
}
