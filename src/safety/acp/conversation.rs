//! The lines of both sides, as one conversation.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use super::pass_on::LineListener;
use super::saver::{AcpSaver, AwaitedSave};
use axiom_model::acp::line::AcpLine;
use axiom_model::acp::told::with_block;
use axiom_model::attach::acp::watcher::AcpWatcher;

/// Who sends the lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AcpSide {
    /// The editor.
    Editor,
    /// The agent.
    Agent,
}

/// One side of the conversation.
pub(super) struct AcpConversation {
    pub side: AcpSide,
    pub watcher: Arc<Mutex<AcpWatcher>>,
    pub saver: AcpSaver,
    /// Whether the agent is told what a human took back.
    pub tells: bool,
    /// Whether the agent has ended.
    pub has_ended: Arc<AtomicBool>,
}

/// What a line waits for.
pub(super) struct AwaitedLine {
    save: AwaitedSave,
    tells: bool,
}

impl LineListener for AcpConversation {
    type Wait = AwaitedLine;

    fn look(&mut self, line: &[u8]) -> Option<AwaitedLine> {
        let text = String::from_utf8_lossy(line);
        let line = AcpLine::of(&text);
        let step = {
            let mut watcher = self.watcher.lock().unwrap_or_else(PoisonError::into_inner);
            match self.side {
                AcpSide::Editor => watcher.from_editor(&line),
                AcpSide::Agent => watcher.from_agent(&line),
            }
        };
        let call = step.call?;
        if step.waits {
            return Some(AwaitedLine { save: self.saver.now(call), tells: step.tells && self.tells });
        }
        self.saver.later(call);
        None
    }

    fn wait(&mut self, wait: AwaitedLine, whole: Option<&[u8]>) -> Option<Vec<u8>> {
        let fact = wait.save.wait(&self.has_ended).filter(|_| wait.tells)?;
        // Of a line that is no text nothing is changed.
        with_block(std::str::from_utf8(whole?).ok()?, &fact).map(String::into_bytes)
    }
}
