//! What is known after an agent program was tried: from the log, the files and the program's output.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::CHECK_LIMIT;
use axiom_base::env;
use axiom_base::error::Result;
use axiom_base::files;
use axiom_base::files::SmallFile;
use axiom_model::agent::adapter::AgentAdapter;
use axiom_model::agent::stream::summary::StreamSummary;
use axiom_model::base::ids::TaskId;
use axiom_model::state::event::Event;
use axiom_model::work::iteration::{IterationOutcome, IterationReport};
use axiom_model::work::signals::signal::AgentSignal;
use axiom_model::work::signals::signal_summary;
use axiom_model::work::verifying::agent_check::{ANSWER, AgentCheckFacts, FOUND, SAID};
use axiom_process::client::state;
use axiom_process::run_folder::records::KeeperState;
use axiom_safety::context::handle::Context;
use axiom_safety::history;
use axiom_safety::running::output::logs;

/// How many of the last lines of its output are looked at.
const LAST_LINES: usize = 5;
/// The largest file of the agent's that is read, in bytes.
const MOST_READ: u64 = 4096;
/// What is in the words of `git axiom signal`, or of git or a shell in its place, where no report came.
const SAYS_IT_FAILED: [&str; 3] = ["error", "not a git command", "not found"];

/// The folders of the runs.
pub(super) fn runs(agents: &Path) -> Vec<PathBuf> {
    let list = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    list(agents).flat_map(|agent| list(&agent.join("runs")).collect::<Vec<_>>()).collect()
}

/// Adds what the runs have said since the last call.
pub(super) fn hear(agents: &Path, read: &mut BTreeMap<PathBuf, u64>, sum: &mut StreamSummary) {
    for dir in runs(agents) {
        let from = read.entry(dir.clone()).or_default();
        let Ok(new) = state::read_signals(&dir, *from) else { continue };
        *from = new.next;
        new.signals.iter().for_each(|received| signal_summary::add(sum, &received.signal));
    }
}

/// Whether the last tag in what it printed says that the task is complete. Such a tag is in the record of the end, not in the log.
fn tagged_complete(dir: &Path) -> bool {
    match state::keeper_state(dir) {
        Ok(KeeperState::Ended(exit)) => exit.markers.last() == Some(&AgentSignal::Complete {}),
        Ok(
            KeeperState::Alive(_)
            | KeeperState::Starting
            | KeeperState::Dead(_)
            | KeeperState::Unproved(_)
            | KeeperState::NotStarted,
        )
        | Err(_) => false,
    }
}

/// What the log, the files and the output of the program say.
pub(super) fn facts(
    ctx: &Context,
    repo: &Path,
    task: &TaskId,
    adapter: &AgentAdapter,
) -> Result<(AgentCheckFacts, Option<IterationReport>)> {
    let (mut facts, mut report, mut log) = (AgentCheckFacts::default(), None, None);
    history::each_event(ctx.layout(), |envelope| {
        if let Event::TaskClaimed { agent, .. } = &envelope.event {
            log = Some(ctx.layout().agents().log(agent, task));
        }
        if let Event::Signalled { signal: AgentSignal::Complete {}, .. } = &envelope.event {
            facts.reported = true;
        }
        if let Event::IterationEnded { report: ended, .. } = envelope.event {
            report = Some(*ended);
        }
        Ok(())
    })?;
    hear(&ctx.layout().agents().folder(), &mut BTreeMap::new(), &mut facts.told);
    facts.reported |= runs(&ctx.layout().agents().folder()).iter().any(|dir| tagged_complete(dir));
    let workspace = ctx.state().restorable.workspaces.get(task).map(|workspace| PathBuf::from(&workspace.path));
    let wrote = |name: &str| {
        let places = [Some(repo.to_owned()), workspace.clone()].into_iter().flatten();
        places.map(|folder| folder.join(name)).find_map(|path| match files::read_small(&path, MOST_READ) {
            Ok(SmallFile::Content(bytes)) => Some(String::from_utf8_lossy(&bytes).trim().to_owned()),
            Ok(SmallFile::Nothing | SmallFile::Odd(_)) | Err(_) => None,
        })
    };
    facts.answered = wrote(ANSWER).is_some();
    facts.said = wrote(SAID).filter(|said| SAYS_IT_FAILED.iter().any(|part| said.contains(part)));
    let own = env::own_program()?.canonicalize().ok();
    facts.other = wrote(FOUND).filter(|found| !found.is_empty() && Some(Path::new(found)) != own.as_deref());
    facts.over_time = report.as_ref().is_some_and(|report| u128::from(report.duration_ms) >= CHECK_LIMIT.as_millis());
    facts.outcome = report.as_ref().map(|report| report.outcome.clone());
    facts.reported |= adapter.exit_completes && facts.outcome == Some(IterationOutcome::Complete);
    let lines = |log: PathBuf| logs::last_lines(&log, Timestamp::UNIX_EPOCH, LAST_LINES).unwrap_or_default();
    facts.last_lines = log.map(lines).unwrap_or_default();
    Ok((facts, report))
}
