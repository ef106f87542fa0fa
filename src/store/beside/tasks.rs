//! `cases.jsonl`: the latest version of every task, a source for recovery that does not depend on the event log.
//!
//! One line per change: `{"seq":…,"task":{…},"sum":"…"}`; later lines replace earlier ones. The file is rewritten when most
//! of it is outdated.
//!
//! The number of the last line shows how far the file goes: nothing is appended while an earlier change is missing. The next
//! process that appends or writes a snapshot detects changes that could not be written (a full disk), and writes them: see
//! [`TasksFileProgress`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::layout::StoreLayout;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_base::files::AppendFile;
use axiom_model::base::ids::TaskId;
use axiom_model::base::sealed;
use axiom_model::state::current_state::State;
use axiom_model::work::tasks::task::Task;

const MAX_FILE: u64 = 1024 * 1024 * 1024;

/// How much of the file's end is searched for its last line. If the last line is longer, the file is rewritten: that costs
/// time and nothing else.
const LAST_LINE: u64 = 64 * 1024;

#[derive(Serialize)]
struct TaskLineOut<'a> {
    seq: u64,
    task: &'a Task,
}

#[derive(Deserialize)]
struct TaskLineIn {
    seq: u64,
    task: Task,
}

fn encode(seq: u64, task: &Task) -> Result<Vec<u8>> {
    let json = serde_json::to_vec(&TaskLineOut { seq, task })
        .map_err(|e| Error::new(Code::Internal, "a task cannot be written as JSON").because(e))?;
    Ok(sealed::seal(json, &[]))
}

fn decode(line: &[u8]) -> Option<TaskLineIn> {
    sealed::opened(line, &[]).ok()?;
    serde_json::from_slice(line).ok()
}

/// The contents of the file.
#[derive(Debug, Default)]
pub struct StoredTasks {
    /// The latest version of every task.
    pub tasks: BTreeMap<TaskId, Task>,
    /// Lines that could not be used.
    pub damaged: u64,
    /// The highest event number of a good line.
    pub seq: u64,
}

/// Reads the file; damaged lines are counted and skipped.
pub fn load(layout: &StoreLayout) -> Result<StoredTasks> {
    let mut found = StoredTasks::default();
    let Some(bytes) = files::read_optional(&layout.tasks(), MAX_FILE)? else { return Ok(found) };
    for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        match decode(line) {
            Some(TaskLineIn { seq, task }) => {
                found.seq = found.seq.max(seq);
                found.tasks.insert(task.id.clone(), task);
            }
            None => found.damaged += 1,
        }
    }
    Ok(found)
}

/// The event number up to which the file goes, from its last good line.
fn recorded(layout: &StoreLayout) -> Result<u64> {
    let Some(end) = files::read_end(&layout.tasks(), LAST_LINE)? else { return Ok(0) };
    let good = end.rsplit(|byte| *byte == b'\n').find_map(decode);
    Ok(good.map_or(0, |line| line.seq))
}

/// How far the file has to go, and how far it is known to go.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TasksFileProgress {
    /// The number of the last event that changed a task.
    changed: u64,
    /// The number of an event up to which the file is known to be complete.
    recorded: u64,
}

impl TasksFileProgress {
    /// For a loaded state, given the last event that changed a task.
    pub fn loaded(changed: u64) -> Self {
        Self { changed, recorded: 0 }
    }

    /// The number of the last event that changed a task.
    pub fn changed(self) -> u64 {
        self.changed
    }

    /// Records that a newer event in the log changed a task.
    pub fn heard(&mut self, seq: u64) {
        self.changed = seq;
    }

    /// Whether changes are missing in the file.
    pub fn is_behind(&mut self, layout: &StoreLayout, state: &State) -> Result<bool> {
        if self.recorded < self.changed {
            // Other processes may have recorded their changes.
            self.recorded = self.recorded.max(recorded(layout)?);
        }
        Ok(self.recorded < self.changed && !state.restorable.tasks.is_empty())
    }

    /// Brings the file up to date: appends the new versions of the tasks `touched`, or rewrites the file if earlier changes
    /// are missing. The caller holds the state lock, and `state` is the newest.
    pub fn catch_up(&mut self, layout: &StoreLayout, state: &State, touched: &[TaskId]) -> Result<()> {
        let behind = self.is_behind(layout, state);
        if !touched.is_empty() {
            self.changed = state.seq;
        }
        if behind? {
            rewrite(layout, state)?;
        } else if !touched.is_empty() {
            record(layout, state, touched)?;
        } else {
            return Ok(());
        }
        self.recorded = state.seq;
        Ok(())
    }
}

/// Appends the new versions of the tasks `ids`. The caller holds the state lock. Not synced: the event log is synced, and
/// decides. Rewrites a file that has grown to several times the size that it needs.
fn record(layout: &StoreLayout, state: &State, ids: &[TaskId]) -> Result<()> {
    let mut bytes = Vec::new();
    for task in ids.iter().filter_map(|id| state.restorable.tasks.get(id)) {
        bytes.extend(encode(state.seq, task)?);
    }
    let mut file = AppendFile::open(&layout.tasks())?;
    // If a crash left an incomplete line, the next one must not be appended to it.
    let length = file.len()?;
    if length > 0 {
        bytes.insert(0, b'\n');
    }
    file.append(&bytes)?;
    let live = state.restorable.tasks.len() as u64 * 1024 + 64 * 1024;
    if length > live * 4 { rewrite(layout, state) } else { Ok(()) }
}

/// Rewrites the file with all tasks. A crash leaves the old or the new file.
pub fn rewrite(layout: &StoreLayout, state: &State) -> Result<()> {
    let mut bytes = Vec::new();
    for task in state.restorable.tasks.values() {
        bytes.extend(encode(state.seq, task)?);
    }
    files::write_atomic(&layout.tasks(), &bytes)
}
