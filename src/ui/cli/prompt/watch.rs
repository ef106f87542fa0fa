//! Waiting while a verb shows changing output: `q` or Ctrl+C ends it.

use std::io::IsTerminal;
use std::time::Duration;

use super::terminal::{PromptTerminal, PromptTerminalEvent};
use crate::cli::keys::KeyPress;

/// How a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyWaitEnd {
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
pub struct KeyWatcher {
    terminal: Option<PromptTerminal>,
}

impl KeyWatcher {
    /// Starts reading keys if a user is at this terminal and the process is in the foreground; otherwise no keys are read.
    pub fn begin() -> Self {
        let sits_there = std::io::stdin().is_terminal() && std::io::stdout().is_terminal() && is_in_foreground();
        Self { terminal: if sits_there { PromptTerminal::begin().ok() } else { None } }
    }

    /// The line that explains how to end it; empty where no keys are read.
    pub fn way_out(&self) -> &'static str {
        if self.terminal.is_some() { "\nq ends this.\n" } else { "" }
    }

    /// Waits for a key that has an effect, or for the time to pass.
    pub fn wait(&mut self, time: Duration) -> KeyWaitEnd {
        let Some(terminal) = &mut self.terminal else {
            std::thread::sleep(time);
            return KeyWaitEnd::Elapsed;
        };
        let keys = match terminal.wait(Some(time)) {
            Ok(PromptTerminalEvent::Keys(keys)) => keys,
            Ok(PromptTerminalEvent::Redraw) => return KeyWaitEnd::Redraw,
            Ok(PromptTerminalEvent::Nothing) => return KeyWaitEnd::Elapsed,
            Err(_) => return KeyWaitEnd::Quit,
        };
        for key in keys {
            match key {
                KeyPress::Char('q' | 'Q') | KeyPress::Escape | KeyPress::EndOfInput => return KeyWaitEnd::Quit,
                KeyPress::Interrupt => return KeyWaitEnd::Interrupted,
                KeyPress::Suspend => {
                    return if terminal.suspend().is_ok() { KeyWaitEnd::Redraw } else { KeyWaitEnd::Quit };
                }
                KeyPress::Char(_)
                | KeyPress::Enter
                | KeyPress::Up
                | KeyPress::Down
                | KeyPress::PageUp
                | KeyPress::PageDown
                | KeyPress::Home
                | KeyPress::End => {}
                KeyPress::Backspace | KeyPress::ClearLine | KeyPress::Pasted(_) | KeyPress::Other(_) => {}
            }
        }
        KeyWaitEnd::Elapsed
    }
}

/// A background job would be stopped if it read from the terminal.
fn is_in_foreground() -> bool {
    let ours = rustix::process::getpgrp();
    // A terminal that does not control this process has no foreground group.
    rustix::termios::tcgetpgrp(rustix::stdio::stdin()).map_or(true, |group| group == ours)
}
