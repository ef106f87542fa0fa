//! Reading agents' output, from the keepers' logs.

use std::collections::BTreeSet;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::domain::base::ids::CaseId;
use crate::error::{Code, Error, Result};
use crate::files;
use crate::ops::context::handle::Context;
use crate::process::keeper::output::{LogLine, Stream};

/// How many bytes are read at once.
const CHUNK: u64 = 4 * 1024 * 1024;

/// How many bytes at the end of the log are searched for the last lines.
const TAIL: u64 = 64 * 1024;

/// A part of a log.
#[derive(Debug, Default)]
pub struct Part {
    /// The output.
    pub bytes: Vec<u8>,
    /// The lines of the log.
    pub lines: Vec<LogLine>,
    /// The offset from which to continue.
    pub next: u64,
}

/// The task that `name` means: its own id, or an agent's, which means the agent's newest task.
///
/// # Errors
/// `UNKNOWN_TASK`.
pub fn find(ctx: &Context, name: &str) -> Result<CaseId> {
    let state = ctx.state();
    let agent = state.restorable.agents.get(name);
    let newest = agent.and_then(|agent| match &agent.work {
        Some(work) => Some(work.task.clone()),
        None => newest_log(&ctx.layout().agents_dir().join(name).join("logs")),
    });
    let task = match (newest, agent) {
        (Some(task), _) => task,
        (None, Some(_)) => return Err(Error::new(Code::UnknownTask, format!("'{name}' has printed nothing yet"))),
        (None, None) => state.case(&CaseId::new(name)?)?.id.clone(),
    };
    if logs(ctx, &task).is_empty() && agent.is_none() && state.agent_on(&task).is_none() {
        return Err(
            Error::new(Code::UnknownTask, format!("nothing was printed for '{task}'")).hint("no agent has worked on it yet")
        );
    }
    Ok(task)
}

/// The logs of all agents that worked on a task, the most recently written one last. A working agent may append more.
pub fn logs(ctx: &Context, task: &CaseId) -> Vec<PathBuf> {
    let agents = ctx.state().restorable.agents.keys();
    let mut files: Vec<PathBuf> = agents.map(|agent| ctx.layout().agent_log(agent, task)).filter(|path| path.is_file()).collect();
    files.sort_by_key(|path| path.metadata().and_then(|meta| meta.modified()).ok());
    files
}

/// The folders in which output for a task appears: of the agents that worked on it, and of the one that works on it now.
pub fn log_folders(ctx: &Context, task: &CaseId) -> Vec<PathBuf> {
    let mut logs = logs(ctx, task);
    logs.extend(ctx.state().agent_on(task).map(|agent| ctx.layout().agent_log(&agent.id, task)));
    let folders: BTreeSet<PathBuf> = logs.iter().filter_map(|log| log.parent()).map(Path::to_owned).collect();
    folders.into_iter().collect()
}

fn newest_log(folder: &Path) -> Option<CaseId> {
    let entries = std::fs::read_dir(folder).ok()?.flatten();
    let newest = entries.max_by_key(|entry| entry.metadata().and_then(|meta| meta.modified()).ok())?;
    CaseId::new(newest.path().file_stem()?.to_str()?).ok()
}

/// The last non-empty lines that were printed since a moment: at most `most` of standard output, then of standard error. The
/// order between the two streams is not known.
///
/// # Errors
/// `IO_FAILED` with the path.
pub fn last_lines(path: &Path, since: Timestamp, most: usize) -> Result<Vec<String>> {
    let length = path.metadata().map_or(0, |meta| meta.len());
    let part = read(path, length.saturating_sub(TAIL))?;
    let logged: Vec<LogLine> = part.lines.into_iter().filter(|line| line.at >= since).collect();
    let of = |stream: Stream| {
        let bytes: Vec<u8> = logged.iter().filter(|line| line.stream == stream).flat_map(LogLine::bytes).collect();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let lines: Vec<String> = text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect();
        lines[lines.len().saturating_sub(most)..].to_vec()
    };
    Ok([of(Stream::Stdout), of(Stream::Stderr)].concat())
}

/// Reads complete lines of a log, starting at `offset`; a few MiB at most.
///
/// # Errors
/// `IO_FAILED` with the path.
pub fn read(path: &Path, offset: u64) -> Result<Part> {
    let mut part = Part { next: offset, ..Part::default() };
    let Some(mut file) = files::open_optional(path)? else { return Ok(part) };
    let mut buffer = Vec::new();
    file.seek(SeekFrom::Start(offset))
        .and_then(|_| file.take(CHUNK).read_to_end(&mut buffer))
        .map_err(|e| Error::io("read", path, e))?;
    let whole = buffer.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    for line in buffer[..whole].split_inclusive(|byte| *byte == b'\n') {
        // A line that a crash left incomplete has nothing to show.
        if let Ok(logged) = serde_json::from_slice::<LogLine>(line) {
            part.bytes.extend(logged.bytes());
            part.lines.push(logged);
        }
    }
    part.next = offset + whole as u64;
    Ok(part)
}
