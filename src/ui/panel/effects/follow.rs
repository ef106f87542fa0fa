//! Follows the output of the selected agent: its newest task's log, from near its end on.

use std::path::PathBuf;

use crate::cli::words::time;
use crate::panel::event::PanelOutputBatch;
use crate::panel::model::MOST_OUTPUT;
use crate::panel::snapshot::{OutputRow, OutputRowKind};
use axiom_base::error::Result;
use axiom_model::agent::stream::readable::{ReadableLine, ReadableLineKind};
use axiom_safety::context::handle::Context;
use axiom_safety::running::output::logs;
use axiom_safety::running::output::logs::LogLine;
use axiom_safety::running::output::readable::{AgentLogReader, ReadablePiece};

/// How much of the end of a log is read at first, and where more than that has come since the last look.
const WINDOW: u64 = 256 * 1024;
/// The longest line that is kept.
const LONGEST: usize = 4_000;

/// Follows one agent or task.
#[derive(Debug, Default)]
pub struct OutputFollower {
    of: Option<String>,
    log: Option<PathBuf>,
    offset: u64,
    reader: AgentLogReader,
    /// The begun line of a program without rules.
    begun: Vec<u8>,
}

impl OutputFollower {
    /// From now on follows this one.
    pub fn begin(&mut self, of: Option<String>) {
        *self = Self { of, ..Self::default() };
    }

    /// The folders in which its output comes.
    pub fn folders(&self, ctx: &Context) -> Vec<PathBuf> {
        let of = self.of.as_deref().and_then(|of| logs::find(ctx, of).ok());
        of.map(|task| logs::log_folders(ctx, &task)).unwrap_or_default()
    }

    /// What came since the last look. Not all of it, where that is much: the rest at the next one.
    pub fn look(&mut self, ctx: &Context) -> Result<Option<PanelOutputBatch>> {
        let Some(of) = self.of.clone() else { return Ok(None) };
        let Ok(task) = logs::find(ctx, &of) else { return Ok(None) };
        let Some(log) = logs::logs(ctx, &task).pop() else { return Ok(None) };
        let length = logs::length(&log).unwrap_or_default();
        let anew = self.log.as_ref() != Some(&log) || length < self.offset;
        if !anew && length == self.offset {
            return Ok(None);
        }
        if anew || length - self.offset > 4 * WINDOW {
            let offset = logs::line_start(&log, WINDOW)?;
            *self = Self { of: Some(of.clone()), log: Some(log.clone()), offset, ..Self::default() };
        }
        let part = logs::read_soon(&log, self.offset)?;
        self.offset = part.next;
        let mut lines: Vec<OutputRow> = part.lines.iter().flat_map(|line| self.readable(line, ctx)).collect();
        lines.drain(..lines.len().saturating_sub(MOST_OUTPUT));
        Ok((anew || !lines.is_empty()).then_some(PanelOutputBatch { of, anew, lines }))
    }

    fn readable(&mut self, line: &LogLine, ctx: &Context) -> Vec<OutputRow> {
        let printed = self.reader.take(line, &ctx.config);
        printed.into_iter().flat_map(|one| self.lines(one)).collect()
    }

    fn lines(&mut self, printed: ReadablePiece) -> Vec<OutputRow> {
        match printed {
            ReadablePiece::Begins { iteration, program, at } => {
                vec![OutputRow { kind: OutputRowKind::Heading, text: format!("Iteration {iteration}, {program}, {}", time(at)) }]
            }
            ReadablePiece::Line(line) => vec![said(&line)],
            ReadablePiece::Bytes(bytes) => {
                self.begun.extend(bytes);
                let Some(end) = self.begun.iter().rposition(|byte| *byte == b'\n') else {
                    self.begun.truncate(LONGEST);
                    return Vec::new();
                };
                let rest = self.begun.split_off(end + 1);
                let whole = std::mem::replace(&mut self.begun, rest);
                let text = String::from_utf8_lossy(&whole).into_owned();
                text.lines().map(|line| OutputRow { kind: OutputRowKind::Said, text: cut(line) }).collect()
            }
        }
    }
}

fn cut(text: &str) -> String {
    text.chars().take(LONGEST).collect::<String>().replace('\t', "    ")
}

fn said(line: &ReadableLine) -> OutputRow {
    let kind = match line.part {
        ReadableLineKind::Said => OutputRowKind::Said,
        ReadableLineKind::Call => OutputRowKind::Call,
        ReadableLineKind::Result => OutputRowKind::Result,
        ReadableLineKind::Removed => OutputRowKind::Removed,
        ReadableLineKind::Added => OutputRowKind::Added,
        ReadableLineKind::Trouble => OutputRowKind::Trouble,
        ReadableLineKind::Remark => OutputRowKind::Remark,
        ReadableLineKind::Other => OutputRowKind::Other,
    };
    OutputRow { kind, text: cut(&line.text) }
}
