//! The files that are an agent's log of a task, in the folder `agents/AGENT/logs`. `TASK.jsonl` is written to; what was put aside to be
//! compressed is `TASK.1.jsonl`, `TASK.2.jsonl` and so on, and then `TASK.1.jsonl.gz`. A crash may leave both forms of one: they
//! are the same, and the compressed one counts.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::layout::StoreLayout;
use axiom_base::error::Result;
use axiom_base::files;
use axiom_model::base::ids::{AgentId, TaskId};

/// A file of a log.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct AgentLogFile {
    /// Whose output it is.
    pub task: TaskId,
    /// Its number; the last one is that which is written to, and has none.
    pub number: Option<u32>,
    /// Where it is.
    pub path: PathBuf,
}

impl AgentLogFile {
    fn of(path: PathBuf) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        let (name, is_packed) = name.strip_suffix(".gz").map_or((name, false), |name| (name, true));
        let stem = name.strip_suffix(".jsonl")?;
        let (task, number) = match stem.split_once('.') {
            Some((task, number)) => (task, Some(number.parse().ok()?)),
            None if is_packed => return None,
            None => (stem, None),
        };
        Some(Self { task: TaskId::new(task).ok()?, number, path })
    }

    /// Whether it is compressed.
    pub fn is_packed(&self) -> bool {
        files::is_packed(&self.path)
    }

    /// Whether it is not compressed, and its compressed form is there, too.
    pub fn is_packed_already(&self) -> bool {
        self.number.is_some() && !self.is_packed() && files::packed_name(&self.path).is_file()
    }
}

/// The folder of an agent's logs, where it is there and no link: none is followed.
fn real_folder(layout: &StoreLayout, agent: &AgentId) -> Result<Option<PathBuf>> {
    let folder = layout.agents().logs(agent);
    Ok(files::metadata(&folder)?.is_some_and(|found| found.is_dir()).then_some(folder))
}

/// All files of an agent's logs, by task and number, the oldest first.
pub fn all(layout: &StoreLayout, agent: &AgentId) -> Result<Vec<AgentLogFile>> {
    let entries = real_folder(layout, agent)?.map_or_else(|| Ok(Vec::new()), |folder| files::list(&folder))?;
    let is_file = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_file());
    let mut found: Vec<AgentLogFile> =
        entries.iter().filter(|entry| is_file(entry)).filter_map(|entry| AgentLogFile::of(entry.path())).collect();
    found.sort_by_key(|log| (log.task.clone(), log.number.unwrap_or(u32::MAX), log.is_packed()));
    Ok(found)
}

/// Those of a task to be read, the oldest first, each content once.
pub fn of_task(layout: &StoreLayout, agent: &AgentId, task: &TaskId) -> Result<Vec<AgentLogFile>> {
    let mut found = all(layout, agent)?;
    found.retain(|log| log.task == *task && !log.is_packed_already());
    Ok(found)
}

/// For a file that was put aside: that which is written to instead, and its number. `None` for any other file.
pub fn put_aside(path: &Path) -> Option<(PathBuf, u32)> {
    let AgentLogFile { task, number, path } = AgentLogFile::of(path.to_owned())?;
    Some((path.with_file_name(format!("{task}.jsonl")), number?))
}

/// The path under which the log of a task is put aside.
pub fn next(layout: &StoreLayout, agent: &AgentId, task: &TaskId) -> Result<PathBuf> {
    let last = all(layout, agent)?.into_iter().filter(|log| log.task == *task).filter_map(|log| log.number).max();
    let number = last.map_or(1, |last| last.saturating_add(1));
    Ok(layout.agents().logs(agent).join(format!("{task}.{number}.jsonl")))
}

/// The agents that have a folder, whether they are known or not.
pub fn agents(layout: &StoreLayout) -> Result<Vec<AgentId>> {
    let mut found: Vec<AgentId> = files::list(&layout.agents().folder())?
        .iter()
        .filter_map(|entry| AgentId::new(entry.file_name().to_str()?).ok())
        .collect();
    found.sort();
    Ok(found)
}

/// Deletes what a crash left of compressing a log, and is at least this old.
pub fn clear_half_packed(layout: &StoreLayout, agent: &AgentId, age: Duration) -> Result<()> {
    let Some(folder) = real_folder(layout, agent)? else { return Ok(()) };
    files::temporaries_in(&folder, age)?.iter().try_for_each(|path| files::remove_file(path))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]
    use super::*;

    #[test]
    fn the_files_of_a_log_have_an_order_and_each_content_counts_once() {
        let dir = tempfile::tempdir().unwrap();
        let layout = StoreLayout::new(dir.path());
        let (agent, task) = (AgentId::new("ed-001").unwrap(), TaskId::new("t").unwrap());
        assert_eq!(next(&layout, &agent, &task).unwrap(), layout.agents().logs(&agent).join("t.1.jsonl"));
        std::fs::create_dir_all(layout.agents().logs(&agent)).unwrap();
        for name in [
            "t.jsonl",
            "t.10.jsonl.gz",
            "t.2.jsonl",
            "t.2.jsonl.gz",
            "t.9.jsonl",
            "u.jsonl",
            "t.jsonl.gz",
            "t.x.jsonl",
            ".tmp-1",
            "t.1.2.jsonl",
        ] {
            std::fs::write(layout.agents().logs(&agent).join(name), "x").unwrap();
        }
        let names = |found: Vec<AgentLogFile>| -> Vec<String> {
            found.iter().map(|log| log.path.file_name().unwrap().to_str().unwrap().to_owned()).collect()
        };
        assert_eq!(names(of_task(&layout, &agent, &task).unwrap()), ["t.2.jsonl.gz", "t.9.jsonl", "t.10.jsonl.gz", "t.jsonl"]);
        assert_eq!(names(all(&layout, &agent).unwrap()).len(), 6);
        assert_eq!(next(&layout, &agent, &task).unwrap(), layout.agents().logs(&agent).join("t.11.jsonl"));
        let aside = |name| put_aside(&layout.agents().logs(&agent).join(name));
        for name in ["t.10.jsonl", "t.10.jsonl.gz"] {
            assert_eq!(aside(name), Some((layout.agents().logs(&agent).join("t.jsonl"), 10)));
        }
        assert_eq!([aside("t.jsonl"), aside("t.x.jsonl"), aside("t")], [None, None, None]);
        assert_eq!(agents(&layout).unwrap(), [agent]);
    }
}
