//! `git axiom checkpoint …`: `create`, and the texts that the verbs share. The other verbs are in the files of this folder.
//! Making and deleting checkpoints is not here but in `safety::checkpoint`. Begin reading with [`run`].

pub(in crate::commands) mod list;
mod manage;
mod remove;
mod verify;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use jiff::Timestamp;
use serde::Serialize;

use super::foreground::tell_hooks;
use super::{open_with_usable_config, working_dir};
use crate::cli::screen::Screen;
use crate::cli::words;
use crate::commands::grammar::arguments::GlobalArgs;
use crate::wording::checkpoints::{only_text, over_the_count, over_the_total, since_deleted, size_text};
use axiom_base::error::{Code, Error, Exit, Result, some_of};
use axiom_model::base::ids::CheckpointName;
use axiom_model::base::names::{Oid, RefName, RepoPath};
use axiom_model::base::own_names::checkpoint_tag;
use axiom_model::checkpoint::coverage::{CaptureCoverage, PathSample};
use axiom_model::checkpoint::known_scope::KnownPathsCount;
use axiom_model::checkpoint::record::CheckpointRecord;
use axiom_model::checkpoint::trigger::{CheckpointTrigger, CheckpointType};
use axiom_model::operation::change_json;
use axiom_safety::checkpoint;
use axiom_safety::checkpoint::CheckpointRequest;
use axiom_safety::context::handle::Context;
use axiom_safety::context::placement::VerbPurpose;

/// Verbs on checkpoints.
#[derive(Debug, Subcommand)]
#[allow(missing_docs)] // what each does is in the table of verbs
pub enum CheckpointVerb {
    Create(CheckpointCreateArgs),
    List(list::CheckpointListArgs),
    Show(list::CheckpointShowArgs),
    Diff(verify::CheckpointDiffArgs),
    Verify(verify::CheckpointVerifyArgs),
    Delete(remove::CheckpointDeleteArgs),
    Cleanup(remove::CheckpointCleanupArgs),
    Compact {},
    Manage {},
}

/// Arguments of `checkpoint create`.
#[derive(Debug, Args)]
#[command(after_help = "\
The files of a checkpoint can be read with plain git:
  git diff axiom/captures/NAME             what has changed since
  git restore --source=axiom/captures/NAME --worktree -- :/

--only checks the named files and folders, and what was staged or committed since the newest
complete checkpoint; the rest is taken from that one, in the other worktrees too. It is quick in
a large repository, for an editor or the hook that an agent calls after each edit. Such a
checkpoint says which paths were checked, and so does a rollback to it. If there is no complete
checkpoint yet, or only a full check is safe, everything is checked.")]
pub struct CheckpointCreateArgs {
    /// Its name: letters, digits, '-' and '_'; by default made up from the time
    name: Option<CheckpointName>,
    /// Check only these files and folders, and take the rest from the newest complete checkpoint
    #[arg(long, value_name = "PATH", num_args = 0..)]
    only: Option<Vec<PathBuf>>,
    /// The paths of --only
    #[arg(last = true, value_name = "PATH", requires = "only")]
    paths: Vec<PathBuf>,
}

/// A checkpoint.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CheckpointJson<'a> {
    name: &'a CheckpointName,
    #[serde(rename = "type")]
    kind: CheckpointType,
    trigger: CheckpointTrigger,
    created_at: Timestamp,
    git_commit: Option<&'a Oid>,
    /// What `refs/axiom/captures/NAME` names.
    capture: &'a Oid,
    /// Null where it has none: `checkpoints.tags`, and attached sessions.
    tag: Option<RefName>,
    tag_id: Option<&'a Oid>,
    /// Bytes that it added.
    size: Option<u64>,
    /// Where only known paths were looked at.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "change_json::only")]
    only: Option<KnownPathsCount>,
}

impl<'a> CheckpointJson<'a> {
    fn of(record: &'a CheckpointRecord) -> Self {
        let CheckpointRecord { name, kind, trigger, created_at, git_commit, capture, tag: tag_id, .. } = record;
        let has_tag = record.marks().has_tag();
        let (tag, tag_id) = (has_tag.then(|| checkpoint_tag(name)), has_tag.then_some(tag_id));
        let (size, only) = (record.size, record.only.clone());
        let git_commit = git_commit.as_ref();
        Self { name, kind: *kind, trigger: *trigger, created_at: *created_at, git_commit, capture, tag, tag_id, size, only }
    }
}

/// The checkpoint that was made, and what it does not hold.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CheckpointCreateJson<'a> {
    checkpoint: CheckpointJson<'a>,
    /// What is not held, by the path of the worktree.
    coverage: &'a BTreeMap<String, CaptureCoverage>,
    /// Local refs that name what is not here, or that cannot be read.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    refs_not_held: &'a [RefName],
    /// Why everything was looked at although only some paths were named.
    #[serde(skip_serializing_if = "Option::is_none")]
    looked_at_all: Option<String>,
    /// Named paths that exist neither in the worktree, nor in the index, nor in the base checkpoint.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    nowhere: Vec<String>,
}

/// Runs a verb on checkpoints.
pub fn run(args: &CheckpointVerb, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    match args {
        CheckpointVerb::Create(args) => create(args, global, screen),
        CheckpointVerb::List(args) => list::list(args, global, screen),
        CheckpointVerb::Show(args) => list::show(args, global, screen),
        CheckpointVerb::Diff(args) => verify::diff(args, global, screen),
        CheckpointVerb::Verify(args) => verify::verify(args, global, screen),
        CheckpointVerb::Delete(args) => remove::delete(args, global, screen),
        CheckpointVerb::Cleanup(args) => remove::cleanup(args, global, screen),
        CheckpointVerb::Compact {} => verify::compact(global, screen),
        CheckpointVerb::Manage {} => manage::manage(global, screen),
    }
}

fn create(args: &CheckpointCreateArgs, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    let mut ctx = open_with_usable_config(VerbPurpose::Write, global, screen)?;
    let ended = create_in(args, &mut ctx, global, screen);
    tell_hooks(&mut ctx, screen);
    ended
}

fn create_in(args: &CheckpointCreateArgs, ctx: &mut Context, global: &GlobalArgs, screen: &mut Screen) -> Result<Exit> {
    ctx.repo.require_git_version()?;
    let only = only(args, global)?;
    let wanted = CheckpointRequest { name: args.name.clone(), only, ..CheckpointRequest::by(CheckpointTrigger::Manual) };
    let (record, checkpoint::PartialCheckpointReport { looked_at_all, nowhere, all_read: _ }) =
        checkpoint::create_and_tell(ctx, &wanted)?;
    let document = checkpoint::read_document(ctx, &record)?;
    if let Some(why) = &looked_at_all {
        screen.note(&format!("--only was ignored and everything was checked: {why}"));
    }
    if let Some(only) = &record.only {
        screen.note(&only_text(only));
    }
    let nowhere: Vec<String> = nowhere.iter().map(|path| path.display().to_string()).collect();
    for path in &nowhere {
        screen.note(&format!(
            "'{path}' exists neither here nor in the base checkpoint; if it is the checkpoint's name, put it before --only"
        ));
    }
    let held = document.coverage_with_submodules();
    if let Some(line) = included(&held, !ctx.config.checkpoints.include.is_empty()) {
        screen.note(&line);
    }
    if let Some(line) = unfiltered(&held) {
        screen.note(&line);
    }
    if let Some(line) = summary(&held) {
        screen.note(&line);
    }
    if let Some(line) = read_by_others(&held) {
        screen.note(&line);
    }
    for line in over_the_total(ctx).into_iter().chain(args.name.as_ref().and_then(|_| over_the_count(ctx))) {
        screen.note(&line);
    }
    if let Some(line) = refs_not_held(&document.refs_not_held) {
        screen.note(&line);
    }
    let (coverage, refs_not_held) = (&held, &document.refs_not_held);
    let answer =
        CheckpointCreateJson { checkpoint: CheckpointJson::of(&record), coverage, refs_not_held, looked_at_all, nowhere };
    screen.answer(&answer, || format!("{}\n", record.name))?;
    Ok(Exit::Done)
}

/// The absolute paths of `--only`; `None` for everything.
fn only(args: &CheckpointCreateArgs, global: &GlobalArgs) -> Result<Option<Vec<PathBuf>>> {
    let Some(only) = &args.only else { return Ok(None) };
    let here = working_dir(global)?;
    let all: Vec<PathBuf> = only.iter().chain(&args.paths).map(|path| here.join(path)).collect();
    if all.is_empty() {
        return Err(Error::new(Code::Usage, "--only names no path").hint("git axiom checkpoint create --only src/main.rs"));
    }
    Ok(Some(all))
}

/// The refs that a checkpoint does not hold, in one line; `None` where it holds all.
fn refs_not_held(refs: &[RefName]) -> Option<String> {
    let named: Vec<&str> = refs.iter().take(5).map(RefName::as_str).collect();
    let more = if refs.len() > named.len() { format!(" and {} more", refs.len() - named.len()) } else { String::new() };
    let why = "their objects are missing, or they cannot be read";
    (!refs.is_empty()).then(|| format!("refs not held ({why}): {}{more}", named.join(", ")))
}

/// What a checkpoint leaves out, in one line that names the first of each kind; `None` where it holds everything.
fn summary(coverage: &BTreeMap<String, CaptureCoverage>) -> Option<String> {
    let mut parts = Vec::new();
    for NotHeldPathKind { of, one, many } in KINDS {
        let (count, named) = first_ones(coverage, *of);
        if count > 0 {
            parts.push(format!("{} ({named})", words::count_of(count, one, many)));
        }
    }
    let gone = coverage.values().filter(|coverage| coverage.missing).count() as u64;
    if gone > 0 {
        parts.push(words::count_of(gone, "worktree whose folder is gone", "worktrees whose folders are gone"));
    }
    let not_captured: Vec<&String> =
        coverage.iter().filter(|(_, one)| one.not_captured.is_some()).map(|(path, _)| path).collect();
    if !not_captured.is_empty() {
        let what =
            words::count_of(not_captured.len() as u64, "worktree that cannot be captured", "worktrees that cannot be captured");
        parts.push(format!("{what} ({}; see 'git axiom recover')", some_of(&not_captured, 3)));
    }
    (!parts.is_empty()).then(|| format!("not held: {}", parts.join(", ")))
}

/// How many files `checkpoints.include` adds, in one line; `None` where it is not set.
fn included(coverage: &BTreeMap<String, CaptureCoverage>, is_set: bool) -> Option<String> {
    let (count, named) = first_ones(coverage, |coverage| &coverage.included);
    match count {
        0 if is_set => Some("checkpoints.include: no ignored file matches".to_owned()),
        0 => None,
        count => {
            Some(format!("held by checkpoints.include: {} ({named})", words::count_of(count, "ignored file", "ignored files")))
        }
    }
}

/// How many files are held as they are because their filter did not run, in one line.
fn unfiltered(coverage: &BTreeMap<String, CaptureCoverage>) -> Option<String> {
    let (count, named) = first_ones(coverage, |coverage| &coverage.unfiltered);
    let what = words::count_of(count, "file", "files");
    let why = "whose filter is missing, fails or does not answer, or which are not in their encoding";
    (count > 0).then(|| format!("held as they are: {what} {why} ({named})"))
}

/// The files that only their owner may read and that others may read where checkpoints hold them, in one line.
fn read_by_others(coverage: &BTreeMap<String, CaptureCoverage>) -> Option<String> {
    let (count, named) = first_ones(coverage, |coverage| &coverage.others_may_read);
    let what = words::count_of(count, "file that only you may read", "files that only you may read");
    (count > 0)
        .then(|| format!("held where others may enter the git directory: {what} ({named}); 'chmod go-rwx .git' keeps them out"))
}

/// How many paths there are of one kind, and the first of them, relative to the worktree if there is only one.
fn first_ones(coverage: &BTreeMap<String, CaptureCoverage>, of: fn(&CaptureCoverage) -> &PathSample) -> (u64, String) {
    let count: u64 = coverage.values().map(|coverage| of(coverage).count).sum();
    let all = coverage.iter().flat_map(|(worktree, coverage)| of(coverage).paths.iter().map(move |path| (worktree, path)));
    let one = coverage.len() == 1;
    let text = |(worktree, path): (&String, &RepoPath)| match one {
        true => path.to_string(),
        false => Path::new(worktree).join(path.to_path()).display().to_string(),
    };
    let mut named: Vec<String> = all.take(NAMED).map(text).collect();
    if count > named.len() as u64 {
        named.push("…".to_owned());
    }
    (count, named.join(", "))
}

/// How many paths of each kind are named in one line.
const NAMED: usize = 3;

/// A kind of path that is not held.
struct NotHeldPathKind {
    of: fn(&CaptureCoverage) -> &PathSample,
    one: &'static str,
    many: &'static str,
}

const KINDS: &[NotHeldPathKind] = &[
    NotHeldPathKind { of: |c| &c.ignored, one: "ignored entry", many: "ignored entries" },
    NotHeldPathKind { of: |c| &c.nested_repositories, one: "nested repository", many: "nested repositories" },
    NotHeldPathKind { of: |c| &c.dirty_submodules, one: "submodule that cannot be held", many: "submodules that cannot be held" },
    NotHeldPathKind {
        of: |c| &c.too_large,
        one: "untracked file over checkpoints.maxFileSize",
        many: "untracked files over checkpoints.maxFileSize",
    },
    NotHeldPathKind { of: |c| &c.special, one: "socket, fifo or device", many: "sockets, fifos or devices" },
    NotHeldPathKind { of: |c| &c.unreadable, one: "entry that cannot be read", many: "entries that cannot be read" },
    NotHeldPathKind {
        of: |c| &c.not_in_time,
        one: "file that did not fit into attach.deadline",
        many: "files that did not fit into attach.deadline",
    },
    NotHeldPathKind {
        of: |c| &c.git_directories,
        one: "git directory in the worktree, which is never content",
        many: "git directories in the worktree, which are never content",
    },
    NotHeldPathKind { of: |c| &c.refused_names, one: "file whose name git refuses", many: "files whose names git refuses" },
    NotHeldPathKind {
        of: |c| &c.converted,
        one: "file held only as git stores it, not with its original bytes",
        many: "files held only as git stores them, not with their original bytes",
    },
    NotHeldPathKind {
        of: |c| &c.encrypted,
        one: "file whose filter encrypts and did not run",
        many: "files whose filter encrypts and did not run",
    },
    NotHeldPathKind {
        of: |c| &c.staged_not_held,
        one: "staged content that is lost (the file is held)",
        many: "staged contents that are lost (the files are held)",
    },
    NotHeldPathKind { of: |c| &c.purged, one: "purged path", many: "purged paths" },
    NotHeldPathKind {
        of: |c| &c.excluded,
        one: "entry excluded by checkpoints.exclude",
        many: "entries excluded by checkpoints.exclude",
    },
    NotHeldPathKind {
        of: |c| &c.over_include_limit,
        one: "ignored entry that is included or named, and too large",
        many: "ignored entries that are included or named, and too large",
    },
];

/// What a capture leaves out, line by line, with paths.
fn left_out(path_text: &str, coverage: &CaptureCoverage, sizes: &BTreeMap<String, u64>, base_gone: bool) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(only) = &coverage.only {
        let shown: Vec<String> =
            only.paths.iter().take(5).map(|path| Path::new(path_text).join(path.to_path()).display().to_string()).collect();
        let more = only.paths.len() - shown.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let what = if shown.is_empty() { format!("nothing in '{path_text}'") } else { format!("{}{more}", shown.join(", ")) };
        let since = since_deleted(base_gone);
        lines.push(format!("checked: {what}; the rest is taken from checkpoint {}{since}", only.all_else_as_of));
    }
    if coverage.missing {
        lines.push(format!("not held: '{path_text}', whose folder is gone"));
    }
    if let Some(why) = &coverage.not_captured {
        lines.push(format!("not held: '{path_text}', which cannot be captured: {why}"));
    }
    let some = |sample: &PathSample| {
        let shown: Vec<String> =
            sample.paths.iter().take(5).map(|inside| with_size(&Path::new(path_text).join(inside.to_path()), sizes)).collect();
        let more = sample.count - shown.len() as u64;
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("{}{more}", shown.join(", "))
    };
    if coverage.unfiltered.count > 0 {
        lines.push(format!(
            "held as they are, since their filter did not run or they are not in their encoding: {}",
            some(&coverage.unfiltered)
        ));
    }
    if coverage.others_may_read.count > 0 {
        let named = some(&coverage.others_may_read);
        lines.push(format!("held, though only you may read them and others may enter the git directory: {named}"));
    }
    for kind in KINDS {
        let sample = (kind.of)(coverage);
        if sample.count == 0 {
            continue;
        }
        let what = if sample.count == 1 { kind.one } else { kind.many };
        lines.push(format!("not held ({} {what}): {}", sample.count, some(sample)));
    }
    lines
}

/// A path with its current size.
fn with_size(path: &Path, sizes: &BTreeMap<String, u64>) -> String {
    let path = path.to_string_lossy().into_owned();
    match sizes.get(&path) {
        Some(size) => format!("{path} ({})", size_text(Some(*size))),
        None => path,
    }
}
