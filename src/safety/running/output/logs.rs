//! The keepers' logs of a task: where they are, and their lines from any place on.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::beside_log::step_files::{LOG_OF_LINES, RUNS_OF_PLANNER};
use crate::context::handle::Context;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files::MaybePackedFile;
use axiom_model::base::ids::{AgentId, TaskId};
use axiom_model::planning::plan::{PLANNER_AGENT, PlanningPhase};
use axiom_model::state::known_ids::{self, IdKind};
pub use axiom_process::keeper::output::{LogLine, LogLineSource};
use axiom_store::beside::agent_logs;
pub use axiom_store::beside::agent_logs::put_aside;

/// How many bytes are read at once.
const CHUNK: u64 = 1024 * 1024;
/// How many where somebody waits for the first line.
const FIRST: u64 = 64 * 1024;
/// The longest line of a log: a piece of 1 MiB in which each byte has become six.
const LONGEST_LINE: u64 = 8 * 1024 * 1024;
/// How a line of the log ends that the next one of its stream continues.
const GOES_ON: &[u8] = b"\"cont\":true}\n";

/// How many bytes at the end of the log are searched for the last lines.
const TAIL: u64 = 64 * 1024;

/// A part of a log.
#[derive(Debug, Default)]
pub struct AgentLogPart {
    /// The lines of the log.
    pub lines: Vec<LogLine>,
    /// The offset from which to continue.
    pub next: u64,
}

/// The task that `name` means: its own id, or an agent's, which means the agent's newest task; the planner's means what its plan becomes.
pub fn find(ctx: &Context, name: &str) -> Result<TaskId> {
    let state = ctx.state();
    let plan = state.record.plan.as_ref().map(|plan| &plan.goal.id);
    if let Some(goal) = plan.filter(|goal| name == PLANNER_AGENT || name == goal.as_str())
        && (name == PLANNER_AGENT || !logs(ctx, goal).is_empty())
    {
        return Ok(goal.clone());
    }
    let agent = state.restorable.agents.get(name);
    let task = match (newest_task_of(ctx, name), agent) {
        (Some(task), _) => task,
        (None, Some(_)) => return Err(Error::new(Code::UnknownTask, format!("'{name}' has printed nothing yet"))),
        (None, None) => {
            let task = TaskId::new(name)?;
            let known = state.restorable.tasks.get(&task).map(|task| task.id.clone());
            known.ok_or_else(|| {
                let error = Error::new(Code::UnknownTask, format!("there is no agent and no task '{name}'"));
                let kinds = [IdKind::Agent, IdKind::Task];
                known_ids::hinted(state, error, name, &kinds, "see 'git axiom status' and 'git axiom task list'")
            })?
        }
    };
    if logs(ctx, &task).is_empty() && agent.is_none() && state.agent_on(&task).is_none() {
        let has_run = state.record.tasks.get(&task).is_some_and(|record| record.iterations > 0);
        let why = match has_run {
            true => "its log is gone: the oldest are deleted where all have more than agents.logLimit",
            false => "no agent has worked on it yet",
        };
        return Err(Error::new(Code::UnknownTask, format!("nothing was printed for '{task}'")).hint(why));
    }
    Ok(task)
}

/// The task on which an agent works, or did last; `None` where `name` is no agent's, or it has worked on none.
pub fn newest_task_of(ctx: &Context, name: &str) -> Option<TaskId> {
    let agent = ctx.state().restorable.agents.get(name)?;
    match &agent.work {
        Some(work) => Some(work.task.clone()),
        None => newest_log(ctx, &agent.id),
    }
}

/// The logs of all agents that worked on a task, the most recently written one last. A working agent may append more to that. What was
/// put aside and compressed is a log of its own.
pub fn logs(ctx: &Context, task: &TaskId) -> Vec<PathBuf> {
    let agents = ctx.state().restorable.agents.keys();
    let of_agent = |agent| agent_logs::of_task(ctx.layout(), agent, task).unwrap_or_default();
    let mut files: Vec<PathBuf> = agents.flat_map(of_agent).map(|log| log.path).chain(of_planner(ctx, task)).collect();
    files.sort_by_key(|path| path.metadata().and_then(|meta| meta.modified()).ok());
    files
}

/// The logs of a planner's runs, one for each phase: where the plan is to become this task.
fn of_planner(ctx: &Context, goal: &TaskId) -> Vec<PathBuf> {
    let runs = ctx.layout().checks_dir().join(goal.as_str()).join(RUNS_OF_PLANNER);
    PlanningPhase::ALL.iter().map(|phase| runs.join(phase.as_str()).join(LOG_OF_LINES)).filter(|log| log.is_file()).collect()
}

/// The folders in which output for a task appears: of the agents that worked on it, and of the one that works on it now.
pub fn log_folders(ctx: &Context, task: &TaskId) -> Vec<PathBuf> {
    let mut logs = logs(ctx, task);
    logs.extend(ctx.state().agent_on(task).map(|agent| ctx.layout().agents().log(&agent.id, task)));
    let folders: BTreeSet<PathBuf> = logs.iter().filter_map(|log| log.parent()).map(Path::to_owned).collect();
    folders.into_iter().collect()
}

fn newest_log(ctx: &Context, agent: &AgentId) -> Option<TaskId> {
    let logs = agent_logs::all(ctx.layout(), agent).ok()?;
    Some(logs.into_iter().max_by_key(|log| log.path.metadata().and_then(|meta| meta.modified()).ok())?.task)
}

/// The last non-empty lines that were printed since a moment: at most `most` of standard output, then of standard error. The
/// order between the two streams is not known.
pub fn last_lines(path: &Path, since: Timestamp, most: usize) -> Result<Vec<String>> {
    let length = length(path)?;
    let part = read(path, length.saturating_sub(TAIL))?;
    let logged: Vec<LogLine> = part.lines.into_iter().filter(|line| line.at >= since).collect();
    let of = |stream: LogLineSource| {
        let bytes: Vec<u8> = logged.iter().filter(|line| line.stream == stream).flat_map(LogLine::bytes).collect();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let lines: Vec<String> = text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect();
        lines[lines.len().saturating_sub(most)..].to_vec()
    };
    Ok([of(LogLineSource::Stdout), of(LogLineSource::Stderr)].concat())
}

/// Reads complete lines of a log, starting at `offset`; a few MiB at most.
pub fn read(path: &Path, offset: u64) -> Result<AgentLogPart> {
    read_at_once(path, offset, CHUNK)
}

/// As [`read`], and not much at once within the beginning of a log: somebody waits for its first line.
pub fn read_soon(path: &Path, offset: u64) -> Result<AgentLogPart> {
    read_at_once(path, offset, if offset < CHUNK { FIRST } else { CHUNK })
}

fn read_at_once(path: &Path, offset: u64, chunk: u64) -> Result<AgentLogPart> {
    let mut part = AgentLogPart { next: offset, ..AgentLogPart::default() };
    let Some(mut file) = MaybePackedFile::open(path)? else { return Ok(part) };
    let failed = |e| Error::io("read", path, e);
    let mut buffer = Vec::new();
    file.seek(SeekFrom::Start(offset)).and_then(|_| file.by_ref().take(chunk).read_to_end(&mut buffer)).map_err(failed)?;
    let mut whole = buffer.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    if whole == 0 && buffer.len() as u64 == chunk {
        let mut rest = BufReader::new(file.take(LONGEST_LINE - chunk));
        rest.read_until(b'\n', &mut buffer).map_err(failed)?;
        // What is longer is damaged, and passed over.
        let is_ended = buffer.ends_with(b"\n") || buffer.len() as u64 == LONGEST_LINE;
        whole = if is_ended { buffer.len() } else { 0 };
    }
    // A line that a crash left incomplete has nothing to show.
    let lines = buffer[..whole].split_inclusive(|byte| *byte == b'\n');
    part.lines.extend(lines.filter_map(|line| serde_json::from_slice::<LogLine>(line).ok()));
    part.next = offset + whole as u64;
    Ok(part)
}

/// The bytes of a log, as they were before it was compressed.
pub fn length(path: &Path) -> Result<u64> {
    let Some(mut file) = MaybePackedFile::open(path)? else { return Ok(0) };
    file.seek(SeekFrom::End(0)).map_err(|e| Error::io("read", path, e))
}

/// The offset of the first line that begins within about the last `back` bytes of a log and does not continue another one; the
/// log's beginning where it is shorter, its end where no line begins there.
pub fn line_start(path: &Path, back: u64) -> Result<u64> {
    let Some(mut file) = MaybePackedFile::open(path)? else { return Ok(0) };
    let failed = |e| Error::io("read", path, e);
    let length = file.seek(SeekFrom::End(0)).map_err(failed)?;
    let Some(mut offset) = length.checked_sub(back).filter(|offset| *offset > 0) else { return Ok(0) };
    // From the end of the line before: a line that begins exactly here counts, unless it continues that one.
    offset = offset.saturating_sub(GOES_ON.len() as u64);
    file.seek(SeekFrom::Start(offset)).map_err(failed)?;
    let mut lines = BufReader::new(file.take(length - offset));
    loop {
        let mut line = Vec::new();
        let read = lines.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line).map_err(failed)?;
        offset += read as u64;
        if read == 0 || (line.ends_with(b"\n") && !line.ends_with(GOES_ON)) {
            return Ok(offset);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]
    use super::*;

    fn logged(text: &str, cont: bool) -> String {
        let (at, stream) = (Timestamp::UNIX_EPOCH, LogLineSource::Stdout);
        let text = Some(text.to_owned());
        let line = LogLine { at, iteration: 1, stream, program: None, text, hex: None, cont, no_eol: false, first: false };
        serde_json::to_string(&line).unwrap() + "\n"
    }

    fn texts(path: &Path, offset: u64) -> Vec<String> {
        let [soon, at_once] = [read_soon, read].map(|read| texts_by(read, path, offset));
        assert!(soon == at_once);
        soon
    }

    fn texts_by(read: impl Fn(&Path, u64) -> Result<AgentLogPart>, path: &Path, mut offset: u64) -> Vec<String> {
        let mut texts = Vec::new();
        loop {
            let part = read(path, offset).unwrap();
            if part.next == offset {
                return texts;
            }
            offset = part.next;
            texts.extend(part.lines.into_iter().filter_map(|line| line.text));
        }
    }

    #[test]
    fn a_line_that_is_longer_than_a_chunk_is_read_and_what_no_keeper_wrote_is_passed_over() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        // Control characters take six bytes in JSON.
        let long = "\u{1}".repeat(1024 * 1024);
        let endless = "x".repeat(usize::try_from(LONGEST_LINE).unwrap() * 2 + 7);
        let log =
            [logged("a", false), logged(&long, false), format!("{endless}\n"), logged("b", false), "{\"torn".into()].concat();
        std::fs::write(&path, log).unwrap();
        assert!(texts(&path, 0) == ["a".to_owned(), long, "b".to_owned()]);
        assert_eq!(texts(&dir.path().join("none"), 0), <Vec<String>>::new());
    }

    #[test]
    fn the_end_of_a_log_begins_with_a_whole_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let lines = [logged("a", false), logged("b", true), logged("c", false), logged("d", false)];
        std::fs::write(&path, lines.concat()).unwrap();
        let [_, b, c, d] = lines.map(|line| line.len() as u64);
        let from = |back: u64| texts(&path, line_start(&path, back).unwrap());
        assert_eq!(from(d), ["d"]);
        assert_eq!(from(d + 1), ["d"]);
        assert_eq!(from(d + c), ["d"], "it continues another line");
        assert_eq!(from(d + c + b), ["b", "c", "d"]);
        assert_eq!(from(d - 20), <Vec<String>>::new());
        assert_eq!(from(1_000_000), ["a", "b", "c", "d"]);
        assert_eq!(line_start(&dir.path().join("none"), 5).unwrap(), 0);
    }
}
