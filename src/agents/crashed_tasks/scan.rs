//! Looking at what a crash left of a task: where its program was, what is in its workspace.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use walkdir::WalkDir;

use crate::repair::work_places;
use axiom_base::error::Result;
use axiom_base::files;
use axiom_base::files::SmallFile;
use axiom_git::{LoggedCommit, StatusEntry, StatusKind, TreeChange};
use axiom_model::agent::stream::decode::StreamDecoder;
use axiom_model::agent::stream::stream_event::StreamEvent;
use axiom_model::agent::stream::tool_call::{about, replaced};
use axiom_model::agent::tool_kind::ToolKind;
use axiom_model::base::ids::TaskId;
use axiom_model::base::names::Oid;
use axiom_model::queries::task_standing::TaskPartCounts;
use axiom_model::recovery::decide::{ChangedWork, CrashFacts, CutOffProgram, IterationCounters};
use axiom_model::recovery::files::{FileState, recent_since};
use axiom_model::recovery::last_signals::CrashedIterationSignals;
use axiom_model::state::current_state::State;
use axiom_model::work::agent::Workspace;
use axiom_model::work::iteration_marker::{
    CutOffPoint, IterationMarker, IterationRecordState, LastHeard, MarkerKind, ToolCallEffect, effect,
};
use axiom_model::work::signals::reports::TaskReports;
use axiom_model::work::tasks::wip;
use axiom_model::work::verifying::kept_results;
use axiom_process::keeper::output::LogLineSource;
use axiom_process::run_folder::record_files::read_record;
use axiom_process::run_folder::records::KeeperRecord;
use axiom_process::run_folder::spec::{KEEPER, KeeperSpec, SPEC};
use axiom_safety::context::handle::Context;
use axiom_safety::running::output::logs;

/// How many entries of a worktree are looked at.
const MOST_ENTRIES: usize = 200_000;
/// How many of the agent's own commits are counted.
const MOST_COMMITS: usize = 100;
/// How much of the end of a log is searched for a call.
const TAIL: u64 = 1024 * 1024;
/// The largest file that a call is compared with.
const LARGEST: u64 = 4 * 1024 * 1024;
/// The empty blob, in both kinds of repositories.
const EMPTY: [&str; 2] =
    ["e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813"];

/// Where an iteration was when it was cut off. `run` is its keeper's folder, `log` the log of its output.
pub fn cut_off(run: &Path, log: &Path, workspace: Option<&Workspace>, heard: LastHeard) -> CutOffPoint {
    let LastHeard { marker, saved_at, progress_at } = heard;
    let spec = KeeperSpec::read(&run.join(SPEC)).ok();
    let tells_markers = spec.as_ref().is_some_and(|spec| spec.reading.finds_texts());
    let found = match (&spec, &marker, workspace) {
        (Some(spec), Some(marker), Some(workspace)) => effect_of(spec, log, workspace, marker),
        (_, _, _) => None,
    };
    CutOffPoint {
        marker,
        tells_markers,
        effect: found.unwrap_or(ToolCallEffect::Unknown),
        saved_at,
        recorded: recorded(run),
        progress_at,
    }
}

/// What is left of what the keeper of a run had recorded.
fn recorded(run: &Path) -> IterationRecordState {
    let spec = read_record::<KeeperSpec>(&run.join(SPEC)).map(|spec| spec.is_some());
    let keeper = read_record::<KeeperRecord>(&run.join(KEEPER)).map(|record| record.is_some());
    match (spec, keeper) {
        (Err(_), _) | (_, Err(_)) => IterationRecordState::Damaged,
        (Ok(true), Ok(true)) => IterationRecordState::Whole,
        (Ok(_), Ok(_)) => IterationRecordState::Nothing,
    }
}

/// What the file says that a begun call was to write.
fn effect_of(spec: &KeeperSpec, log: &Path, workspace: &Workspace, marker: &IterationMarker) -> Option<ToolCallEffect> {
    let writes = matches!(marker.tool_kind, Some(ToolKind::Write | ToolKind::Edit));
    if marker.kind != MarkerKind::ToolStarted || !writes {
        return None;
    }
    let length = logs::length(log).ok()?;
    let part = logs::read(log, logs::line_start(log, TAIL.min(length)).ok()?).ok()?;
    let mut decoder = StreamDecoder::new(&spec.reading.rules, &spec.reading.tools);
    let lines = part.lines.iter().filter(|line| line.stream == LogLineSource::Stdout);
    let said = lines.flat_map(|line| decoder.feed(&line.bytes())).filter_map(|seen| match seen {
        StreamEvent::ToolStarted(call) => Some(call),
        StreamEvent::Session { .. }
        | StreamEvent::Text { .. }
        | StreamEvent::RequestSent(_)
        | StreamEvent::ResponseReceived(_)
        | StreamEvent::ToolCompleted(_)
        | StreamEvent::Denied(_)
        | StreamEvent::Waits(_)
        | StreamEvent::Usage(_)
        | StreamEvent::Ended(_)
        | StreamEvent::Failed(_) => None,
    });
    let call = said.filter(|call| Some(&call.hash) == marker.hash.as_ref()).last()?;
    let place = about(&call.input)?;
    let content = match files::read_small(&beneath(&workspace.path, &place)?, LARGEST).ok()? {
        SmallFile::Content(bytes) => Some(String::from_utf8(bytes).ok()?),
        SmallFile::Nothing => None,
        SmallFile::Odd(_) => return None,
    };
    Some(effect(&replaced(&call.input), content.as_deref()))
}

/// A place in the workspace, as a program names it: relative or absolute.
fn beneath(workspace: &str, place: &str) -> Option<PathBuf> {
    let within = Path::new(place).strip_prefix(workspace).unwrap_or(Path::new(place));
    let plain = within.components().all(|part| matches!(part, std::path::Component::Normal(_)));
    plain.then(|| Path::new(workspace).join(within))
}

/// The iterations of a task, what they used, and what its agents reported.
#[derive(Debug, Default)]
pub struct TaskIterationTotals {
    counted: IterationCounters,
    reports: TaskReports,
}

impl TaskIterationTotals {
    /// As recorded.
    pub fn of(state: &State, task: &TaskId) -> Self {
        let record = state.record.tasks.get(task);
        Self {
            counted: IterationCounters {
                iterations: record.map_or(0, |record| record.iterations),
                tokens: record.and_then(|record| record.tokens_used),
            },
            reports: state.reports(task).cloned().unwrap_or_default(),
        }
    }

    /// As it will be recorded once the iteration is that was cut off, of which this was heard.
    pub fn with(state: &State, task: &TaskId, heard: &CrashedIterationSignals) -> Self {
        let recorded = Self::of(state, task).counted;
        let tokens = match (recorded.tokens, heard.told.usage.tokens()) {
            (Some(before), Some(more)) => Some(before.saturating_add(more)),
            (before, more) => more.or(before),
        };
        Self {
            counted: IterationCounters { iterations: recorded.iterations.saturating_add(1), tokens },
            reports: heard.reports.clone(),
        }
    }
}

/// What is known of a task that was cut off. Changes nothing.
pub fn facts(
    ctx: &Context,
    task: &TaskId,
    run: (IterationRecordState, Option<&CutOffPoint>),
    totals: &TaskIterationTotals,
) -> Result<CrashFacts> {
    let ((recorded, cut), state, reports) = (run, ctx.state(), &totals.reports);
    let record = state.record.tasks.get(task);
    let is_paused = state.record.session.as_ref().is_some_and(|session| session.paused_at.is_some());
    let mut facts = CrashFacts {
        recorded,
        program: CutOffProgram {
            marker: cut.and_then(|cut| cut.marker.clone()),
            tells_markers: cut.is_some_and(|cut| cut.tells_markers),
            effect: cut.map_or(ToolCallEffect::Unknown, |cut| cut.effect),
        },
        saved_at: cut.map(|cut| cut.saved_at).or(record.and_then(|record| record.set_aside)),
        paused: is_paused || record.is_some_and(|record| record.set_aside.is_some()),
        counted: totals.counted,
        progress: reports.progress.or_else(|| TaskPartCounts::of_reports(reports).percent()),
        said_of_this: false,
        given_back: reports.given_back,
        place: work_places::place(ctx, task)?,
        tests_pass: None,
        has_steps: state.restorable.tasks.get(task).is_some_and(|case| !case.verify.is_empty()),
        work: ChangedWork::default(),
    };
    let Some(workspace) = state.restorable.workspaces.get(task) else { return Ok(facts) };
    let found = scan_work(ctx, (task, workspace), facts.saved_at)?;
    facts.work = found.work;
    let said_at = cut.and_then(|cut| cut.progress_at);
    facts.said_of_this = said_at.is_some_and(|said| found.newest.is_none_or(|newest| newest <= said));
    if let (Some(case), Some(tip)) = (state.restorable.tasks.get(task), found.clean_at) {
        let known = record.map_or(&[][..], |record| &record.verified);
        let passed = || (facts.has_steps && kept_results::still_to_run(known, &case.verify, &tip).is_empty()).then_some(true);
        facts.tests_pass = kept_results::failed_on(known, &tip).map(|_| false).or_else(passed);
    }
    Ok(facts)
}

/// What was found in a workspace.
#[derive(Debug, Default)]
struct WorkspaceScan {
    work: ChangedWork,
    /// The branch's commit, where nothing is uncommitted.
    clean_at: Option<Oid>,
    /// When a changed file was changed last.
    newest: Option<Timestamp>,
}

/// What is in the workspace of a task, nothing where it has none. It reads the whole workspace, so only who needs it asks.
pub fn file_state(ctx: &Context, task: &TaskId, saved_at: Option<Timestamp>) -> FileState {
    let state = ctx.state();
    let Some(workspace) = state.restorable.workspaces.get(task) else { return FileState::default() };
    let begun = state.reports(task).and_then(|reports| reports.started_at);
    scan(ctx, Path::new(&workspace.path), recent_since(saved_at.unwrap_or(Timestamp::MAX), begun))
}

/// The files in which the branch differs from where it began, and those that are uncommitted.
fn scan_work(ctx: &Context, (task, workspace): (&TaskId, &Workspace), saved_at: Option<Timestamp>) -> Result<WorkspaceScan> {
    let Some(tip) = ctx.repo.refs().read_ref(&workspace.branch)? else { return Ok(WorkspaceScan::default()) };
    let (mut work, mut is_clean, mut left) = (ChangedWork::default(), false, Vec::new());
    let mut changed: HashSet<String> = HashSet::new();
    // A commit that the machine lost is a reason to recover, so it is none to fail.
    let all = if tip == workspace.base { Ok(Default::default()) } else { committed(ctx, &workspace.base, &tip) };
    let (changes, log) = all.unwrap_or_else(|error| {
        tracing::info!(%error, "what was committed on a task's branch is not known");
        Default::default()
    });
    for change in changes {
        work.empty += u64::from(change.new.as_ref().is_some_and(|new| EMPTY.contains(&new.oid.as_str())));
        changed.insert(change.path.to_string());
    }
    work.commits = log.iter().filter(|commit| !wip::is_wip(&commit.subject)).count() as u64;
    if let Some(entry) = ctx.repo.worktrees().worktree_at(Path::new(&workspace.path))? {
        // What cannot be listed is not known, and no reason to fail.
        let known = if ctx.repo.quick_captures().is_certainly_clean(&entry.worktree).unwrap_or_default() {
            Some(Vec::new())
        } else {
            ctx.repo.index(&entry.worktree).status(None).ok()
        };
        let is_left = |status: Vec<StatusEntry>| status.into_iter().filter(|entry| entry.kind != StatusKind::Ignored).collect();
        let known: Option<Vec<StatusEntry>> = known.map(is_left);
        is_clean = known.as_ref().is_some_and(Vec::is_empty);
        left = known.unwrap_or_default();
    } else if let Some((capture, _)) = work_places::capture_of(ctx, task, workspace)? {
        let files = ctx.repo.captures().capture_parts(&capture)?.files;
        changed.extend(ctx.repo.history().diff_trees(&workspace.base, &files)?.into_iter().map(|change| change.path.to_string()));
    }
    for entry in left {
        let place = Path::new(&workspace.path).join(entry.path.to_path());
        let is_empty = place.symlink_metadata().is_ok_and(|meta| meta.is_file() && meta.len() == 0);
        if changed.insert(entry.path.to_string()) {
            work.empty += u64::from(is_empty);
        }
    }
    work.changed = changed.len() as u64;
    let times = times_of(Path::new(&workspace.path), &changed);
    work.recent = recent_of(&times, saved_at.unwrap_or(Timestamp::MAX));
    Ok(WorkspaceScan { work, clean_at: is_clean.then_some(tip), newest: times.into_iter().max() })
}

/// The files in which a branch differs from where it began, and its newest commits since.
fn committed(ctx: &Context, base: &Oid, tip: &Oid) -> Result<(Vec<TreeChange>, Vec<LoggedCommit>)> {
    let history = ctx.repo.history();
    Ok((history.diff_trees(base, tip)?, history.newest(tip, std::slice::from_ref(base), MOST_COMMITS)?))
}

/// When those of these files were changed that are there.
fn times_of(root: &Path, changed: &HashSet<String>) -> Vec<Timestamp> {
    let times = changed.iter().filter_map(|path| root.join(path).symlink_metadata().ok()?.modified().ok());
    times.filter_map(|time| Timestamp::try_from(time).ok()).collect()
}

/// How many files were changed in the hour before the crash; `None` where none of them is there.
fn recent_of(times: &[Timestamp], crash: Timestamp) -> Option<u64> {
    let since = recent_since(crash, None);
    (!times.is_empty()).then(|| times.iter().filter(|time| **time > since).count() as u64)
}

/// The files of a worktree, without git's own and ignored ones.
fn scan(ctx: &Context, root: &Path, since: Timestamp) -> FileState {
    let mut state = FileState::default();
    let worktree = ctx.repo.worktrees().worktree_at(root).ok().flatten();
    let status = worktree.and_then(|entry| ctx.repo.index(&entry.worktree).status(None).ok()).unwrap_or_default();
    let ignored: HashSet<PathBuf> = status
        .into_iter()
        .filter(|entry| entry.kind == StatusKind::Ignored)
        .map(|entry| root.join(entry.path.to_path()))
        .collect();
    let walk = WalkDir::new(root).same_file_system(true).into_iter();
    let counts = walk.filter_entry(|entry| entry.file_name() != ".git" && !ignored.contains(entry.path()));
    for entry in counts.take(MOST_ENTRIES).flatten().filter(|entry| entry.file_type().is_file()) {
        let Ok(place) = entry.path().strip_prefix(root) else { continue };
        let modified = entry.metadata().ok().and_then(|meta| meta.modified().ok());
        let Some(modified) = modified.and_then(|time| Timestamp::try_from(time).ok()) else { continue };
        state.add(&place.to_string_lossy(), modified, since);
    }
    state
}
