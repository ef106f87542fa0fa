//! Agents' logs that nobody writes to: compressed after a while, and the oldest deleted where all together are too large. What is to
//! be done is decided in [`axiom_model::queries::old_logs`].

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::{SCRATCH_LASTS, TrashCleanupReport};
use crate::context::handle::Context;
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_base::files::{DeletionFolder, FileLock, LockAttempt};
use axiom_model::base::ids::{AgentId, TaskId};
use axiom_model::queries::old_logs::{OldAgentLog, beyond, need};
use axiom_model::work::sessions::disk::MB;
use axiom_store::beside::agent_logs;
use axiom_store::beside::agent_logs::AgentLogFile;

/// A file of a log, and what is known of it.
struct FoundAgentLog {
    agent: AgentId,
    file: AgentLogFile,
    log: OldAgentLog,
}

impl TrashCleanupReport {
    /// Compresses the logs that are older than `age` and that nobody writes to. One that is written to again becomes a new file first, so
    /// a crash at any moment leaves each line once: a log as it was, or its compressed form, which counts where both are there.
    pub(super) fn pack_logs(&mut self, ctx: &Context, age: SignedDuration) {
        let (all, troubles) = all(ctx);
        self.left.extend(troubles);
        for found in all {
            if self.has_enough() {
                break;
            }
            if found.file.is_packed_already() {
                self.tried(remove(ctx, &found.file.path));
            } else if found.log.is_to_pack(age) {
                let outcome = self.pack(ctx, &found);
                let is_full = matches!(&outcome, Err(error) if error.code() == Code::DiskFull);
                self.tried(outcome);
                // The next ones would not fit either.
                if is_full {
                    break;
                }
            }
        }
    }

    /// Deletes what crashes left of compressing.
    pub(super) fn clear_half_packed(&mut self, ctx: &Context) {
        let age = Duration::from_secs(SCRATCH_LASTS.as_secs().unsigned_abs());
        for agent in agent_logs::agents(ctx.layout()).unwrap_or_default() {
            self.tried(agent_logs::clear_half_packed(ctx.layout(), &agent, age));
        }
    }

    fn pack(&mut self, ctx: &Context, found: &FoundAgentLog) -> Result<()> {
        let Some(path) = put_aside(ctx, found)? else { return Ok(()) };
        if files::pack_file(&path, &|| !self.has_enough())? {
            env::fault_point("tidy.log-packed");
            remove(ctx, &path)?;
            self.packed += 1;
            self.most -= 1;
        }
        Ok(())
    }

    /// Deletes the oldest logs that nobody needs until all have at most `agents.logLimit`.
    pub(super) fn limit_logs(&mut self, ctx: &Context) {
        let (all, _) = all(ctx);
        let logs: Vec<OldAgentLog> = all.iter().map(|found| found.log).collect();
        let limit = ctx.config.agents.log_limit.saturating_mul(MB);
        for found in beyond(limit, self.at_least, &logs).into_iter().filter_map(|place| all.get(place)) {
            if self.has_enough() {
                break;
            }
            // Moved first, so a program that begins right now writes to a new file.
            match put_aside(ctx, found).and_then(|path| path.map(|path| remove(ctx, &path)).transpose()) {
                Ok(Some(())) => {
                    self.logs_gone += 1;
                    self.most -= 1;
                }
                Ok(None) => {}
                Err(error) => self.left.push(error),
            }
        }
    }

    fn tried(&mut self, outcome: Result<()>) {
        self.left.extend(outcome.err());
    }
}

/// The number of files of all logs, and their bytes.
pub fn total(ctx: &Context) -> (u64, u64) {
    all(ctx).0.iter().fold((0, 0), |(count, bytes), found| (count + 1, bytes + found.log.bytes))
}

/// All logs, and why those of an agent could not be looked at. No link is followed.
fn all(ctx: &Context) -> (Vec<FoundAgentLog>, Vec<Error>) {
    let (mut all, mut troubles) = (Vec::new(), Vec::new());
    match agent_logs::agents(ctx.layout()) {
        Ok(agents) => {
            for agent in agents {
                match of_agent(ctx, &agent) {
                    Ok(found) => all.extend(found),
                    Err(error) => troubles.push(error),
                }
            }
        }
        Err(error) => troubles.push(error),
    }
    (all, troubles)
}

fn of_agent(ctx: &Context, agent: &AgentId) -> Result<Vec<FoundAgentLog>> {
    let (now, mut all) = (env::now(), Vec::new());
    for file in agent_logs::all(ctx.layout(), agent)? {
        let Some(meta) = files::metadata(&file.path)?.filter(std::fs::Metadata::is_file) else { continue };
        let written = meta.modified().ok().and_then(|time| Timestamp::try_from(time).ok()).unwrap_or(now);
        let (age, need) = (now.duration_since(written), need(ctx.state(), &file.task));
        let log = OldAgentLog { bytes: meta.len(), age, is_packed: file.is_packed(), need };
        all.push(FoundAgentLog { agent: agent.clone(), file, log });
    }
    Ok(all)
}

/// Gives a log that may be written to again a name that nobody writes to; returns its path. `None` where a keeper works on the task: it
/// holds the lock for as long as it has the log open.
fn put_aside(ctx: &Context, found: &FoundAgentLog) -> Result<Option<PathBuf>> {
    let (path, task): (&Path, &TaskId) = (&found.file.path, &found.file.task);
    if found.file.number.is_some() {
        return Ok(Some(path.to_owned()));
    }
    let LockAttempt::Taken(lock) = FileLock::try_take(&ctx.layout().locks().workspace(task))? else { return Ok(None) };
    // A keeper may have been there since.
    let has_changed = files::metadata(path)?.is_none_or(|meta| meta.len() != found.log.bytes);
    if has_changed {
        return Ok(None);
    }
    let aside = agent_logs::next(ctx.layout(), &found.agent, task)?;
    if !files::rename_no_replace(path, &aside)? {
        return Ok(None);
    }
    if let Some(folder) = aside.parent() {
        files::sync_dir(folder)?;
    }
    drop(lock);
    env::fault_point("tidy.log-aside");
    Ok(Some(aside))
}

/// Deletes a file of ours; no link is followed on the way.
fn remove(ctx: &Context, path: &Path) -> Result<()> {
    let common = ctx.repo.common_dir();
    let folder = path.parent().and_then(|folder| folder.strip_prefix(common).ok());
    let (Some(folder), Some(name)) = (folder, path.file_name()) else {
        return Err(Error::new(Code::Internal, format!("'{}' is no log", path.display())));
    };
    match DeletionFolder::open(common, folder)? {
        Some(folder) => folder.remove(name),
        None => Ok(()),
    }
}
