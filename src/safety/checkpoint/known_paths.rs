//! Captures of known paths: the caller names the paths that may have changed, and only these are examined.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::captured::{CapturedWorktree, CheckpointCaptures};
use super::captures::capturable::{CapturableWorktrees, there};
use super::captures::{beside, capture_all_with, together};
use super::checkpoint_list::document_of;
use super::session_worktree::main_then;
use super::suspend_agents::SuspendedAgents;
use super::{excluded, submodules};
use crate::context::handle::Context;
use axiom_base::error::{Code, Error, Result};
use axiom_git::{CaptureOptions, EarlierCapture, KeptFile, Worktree};
use axiom_model::base::ids::CheckpointName;
use axiom_model::base::names::{Oid, RepoPath, without_dots};
use axiom_model::base::own_names::capture_ref;
use axiom_model::checkpoint::coverage::CaptureCoverage;
use axiom_model::checkpoint::document::{CheckpointDocument, WorkspaceState};
use axiom_model::queries::known_paths;

/// The complete checkpoint that the contents of all other paths are taken from.
struct CompleteCheckpoint {
    name: CheckpointName,
    capture: Oid,
    document: CheckpointDocument,
    /// By worktree, the paths that were examined since.
    since: BTreeMap<String, Vec<RepoPath>>,
}

/// Captures, examining only `paths`, in whichever worktrees they are. Where that is not enough, captures everything and
/// returns why. In a worktree without a named path, only HEAD is examined, and the index where HEAD has changed.
pub(super) fn capture(ctx: &Context, options: &CaptureOptions, paths: &[PathBuf]) -> Result<CheckpointCaptures> {
    let CapturableWorktrees { worktrees, coverage, linked } = there(ctx)?;
    let options = &beside(options, &linked);
    let named = by_worktree(&worktrees, paths)?;
    let asked: BTreeMap<PathBuf, Vec<RepoPath>> = worktrees.iter().map(|one| one.path().to_owned()).zip(named.clone()).collect();
    let why = match complete(ctx) {
        Ok(complete) => match of_all(ctx, options, &complete, (worktrees, named)) {
            Ok(Ok(mut captured)) => {
                if let Some((main, _)) = captured.first_mut() {
                    let coverage = &mut main.capture.coverage;
                    excluded::name_again(ctx, (&main.worktree, &linked), coverage)?;
                }
                let nowhere = nowhere(ctx, &complete, &captured, &asked)?;
                let stays = |worktree: &Worktree| {
                    let is_named = asked.get(worktree.path()).is_some_and(|paths| !paths.is_empty());
                    !is_named && worktree.path_text().is_ok_and(|path| complete.stays_earlier(&path))
                };
                let main_stays = captured.first().is_some_and(|(main, _)| stays(&main.worktree));
                let main_captured_at = complete.document.main_captured_at.filter(|_| main_stays);
                let earlier = complete.earlier(&linked, &asked);
                let mut coverage = coverage;
                coverage.extend(
                    earlier.iter().filter_map(|one| Some((one.path.clone(), complete.document.coverage.get(&one.path)?.clone()))),
                );
                let submodules = submodules::still_held(ctx, &complete.document);
                return Ok(CheckpointCaptures {
                    nowhere,
                    submodules,
                    earlier,
                    main_captured_at,
                    ..together(ctx, captured, coverage)?
                });
            }
            Ok(Err(why)) => why,
            // The cause may be one agent's folder: the full capture can leave that one out and capture the others.
            Err(error) if !error.is_everybodys() => error.to_string(),
            Err(error) => return Err(error),
        },
        Err(why) => why,
    };
    Ok(CheckpointCaptures { looked_at_all: Some(why), ..capture_all_with(ctx, options)? })
}

type WorktreeCaptureCommits = Vec<(CapturedWorktree, Option<Oid>)>;

/// Captures one worktree after the other: each takes very little time.
fn of_all(
    ctx: &Context,
    options: &CaptureOptions,
    complete: &CompleteCheckpoint,
    (worktrees, named): (Vec<Worktree>, Vec<Vec<RepoPath>>),
) -> Result<std::result::Result<WorktreeCaptureCommits, String>> {
    let still = SuspendedAgents::hold(ctx);
    let mut all = Vec::with_capacity(worktrees.len());
    for (worktree, named) in worktrees.into_iter().zip(named) {
        let path = worktree.path_text()?;
        if named.is_empty() && complete.stays_earlier(&path) {
            if worktree.is_main() {
                let Some(capture) = main_then(ctx, &complete.capture, &complete.document) else {
                    return Ok(Err(format!("the newest complete checkpoint, {}, does not hold '{path}'", complete.name)));
                };
                all.push((CapturedWorktree { worktree, capture, submodules: Vec::new() }, None));
            }
            // Of a linked one the earlier capture stays.
            continue;
        }
        let Some((capture, coverage)) = complete.of(&worktree) else {
            let (path, name) = (worktree.path().display(), &complete.name);
            return Ok(Err(format!("the newest complete checkpoint, {name}, does not hold '{path}'")));
        };
        let earlier = EarlierCapture { checkpoint: &complete.name, main: &complete.capture, capture, coverage };
        let mut paths = complete.since.get(&worktree.path_text()?).cloned().unwrap_or_default();
        paths.extend(named);
        if submodules::holds_one_of(&complete.document.submodules, &worktree.path_text()?, &paths) {
            return Ok(Err(format!("a path is in a submodule of '{}'", worktree.path().display())));
        }
        let head = ctx.repo.refs().head(&worktree)?;
        if !worktree.is_main() && paths.is_empty() && complete.had(&worktree, &head) {
            worktree.verify()?;
            let capture_then = capture.clone();
            let capture = ctx.repo.quick_captures().capture_again(head, earlier)?;
            all.push((CapturedWorktree { worktree, capture, submodules: Vec::new() }, Some(capture_then)));
            continue;
        }
        match ctx.repo.quick_captures().capture_named(&worktree, options, earlier, &paths)? {
            Some(capture) => all.push((CapturedWorktree { worktree, capture, submodules: Vec::new() }, None)),
            None => return Ok(Err(format!("the worktree '{}' has to be checked completely", worktree.path().display()))),
        }
    }
    still.release();
    Ok(Ok(all))
}

/// A file as it was at an earlier moment.
#[derive(Debug, Clone)]
pub struct EarlierFile {
    /// Its absolute path.
    pub path: PathBuf,
    /// Its bytes; of a link, where it pointed to.
    pub bytes: Vec<u8>,
    /// Its mode in a tree.
    pub mode: u32,
}

/// Whether everything else than files whose bytes were kept can be taken from the newest checkpoint: it holds all worktrees, and none of
/// them has another HEAD since. Else a complete one has to be made first.
pub fn can_build_on_newest(ctx: &Context) -> Result<bool> {
    let CapturableWorktrees { worktrees, .. } = there(ctx)?;
    Ok(newest(ctx).and_then(|newest| newest.all(ctx, &worktrees)).is_some())
}

/// Captures the moment before files were changed whose bytes were kept: everything else is as the newest checkpoint has it. Files in no
/// worktree are left out.
pub(super) fn capture_kept(ctx: &Context, options: &CaptureOptions, kept: &[EarlierFile]) -> Result<CheckpointCaptures> {
    let CapturableWorktrees { worktrees, coverage, .. } = there(ctx)?;
    let mut by_tree: Vec<Vec<KeptFile>> = vec![Vec::new(); worktrees.len()];
    for file in kept {
        // Outside of all worktrees there is nothing to keep.
        let Ok(places) = by_worktree(&worktrees, std::slice::from_ref(&file.path)) else { continue };
        for (files, paths) in by_tree.iter_mut().zip(places) {
            files.extend(paths.into_iter().take(1).map(|path| KeptFile { path, bytes: file.bytes.clone(), mode: file.mode }));
        }
    }
    let newest = newest(ctx);
    let all = newest.as_ref().and_then(|newest| newest.all(ctx, &worktrees));
    let Some((newest, captured)) = newest.zip(all) else {
        return Err(Error::new(Code::Internal, "there is no checkpoint to which files that were kept could be added"));
    };
    let mut captured = together(ctx, captured, coverage)?;
    // What is of an earlier moment stays that.
    captured.main_captured_at = newest.document.main_captured_at;
    for one in &mut captured.workspaces {
        one.state.captured_at = newest.document.captured_before(&one.state.path);
    }
    captured.submodules = submodules::still_held(ctx, &newest.document);
    let files_of =
        |one: &Worktree| worktrees.iter().position(|worktree| worktree.path() == one.path()).map(|at| by_tree[at].as_slice());
    let with_kept = |one: &mut CapturedWorktree| -> Result<bool> {
        let files = files_of(&one.worktree).unwrap_or_default();
        if files.is_empty() {
            return Ok(false);
        }
        one.capture = ctx.repo.captures().with_kept(&one.worktree, one.capture.clone(), options, files)?;
        // The next checkpoint of known paths looks at them again, so that they do not go back to what was before.
        if let Some(only) = &mut one.capture.coverage.only {
            only.paths.extend(files.iter().map(|file| file.path.clone()));
            only.paths.sort();
            only.paths.dedup();
        }
        Ok(true)
    };
    with_kept(&mut captured.main)?;
    captured.coverage.insert(captured.main.worktree.path_text()?, captured.main.capture.coverage.clone());
    for one in &mut captured.workspaces {
        if with_kept(&mut one.captured)? {
            captured.coverage.insert(one.state.path.clone(), one.captured.capture.coverage.clone());
            let message = format!("capture of {}", one.state.path);
            one.state.capture = ctx.repo.captures().commit_capture(&one.captured.capture, &message, &[])?.commit;
        }
    }
    Ok(captured)
}

/// The newest checkpoint, whatever was looked at for it.
struct NewestCheckpoint {
    name: CheckpointName,
    capture: Oid,
    document: CheckpointDocument,
}

/// `None` where there is none that can be read, or where git axiom itself changed files after it.
fn newest(ctx: &Context) -> Option<NewestCheckpoint> {
    known_paths::base(ctx.state()).ok()?;
    let newest = ctx.state().record.checkpoints.newest(1).ok()?;
    let record = newest.first()?;
    let (_, document) = document_of(ctx, &record.capture).ok()?;
    Some(NewestCheckpoint { name: record.name.clone(), capture: record.capture.clone(), document })
}

impl NewestCheckpoint {
    /// Its captures of all these worktrees, where all of them have the same HEAD as then.
    fn all(&self, ctx: &Context, worktrees: &[Worktree]) -> Option<WorktreeCaptureCommits> {
        worktrees.iter().map(|worktree| self.of(ctx, worktree)).collect()
    }

    fn of(&self, ctx: &Context, worktree: &Worktree) -> Option<(CapturedWorktree, Option<Oid>)> {
        let head = ctx.repo.refs().head(worktree).ok()?;
        let path = worktree.path_text().ok()?;
        let linked = self.document.workspaces.iter().find(|then| then.path == path);
        let (then, branch, commit) = match linked {
            Some(then) => (&then.capture, then.branch.as_ref(), then.head.as_ref()),
            None if worktree.is_main() => (&self.capture, self.document.branch.as_ref(), self.document.git_commit.as_ref()),
            None => return None,
        };
        let coverage = self.document.coverage.get(&path)?;
        if (head.branch(), head.commit()) != (branch, commit) || worktree.verify().is_err() {
            return None;
        }
        // What it was built on is what this one is built on.
        let (checkpoint, main) = match &coverage.only {
            Some(only) => (&only.all_else_as_of, &only.all_else_capture),
            None => (&self.name, &self.capture),
        };
        let earlier = EarlierCapture { checkpoint, main, capture: then, coverage };
        let mut capture = ctx.repo.quick_captures().capture_again(head, earlier).ok()?;
        if let (Some(only), Some(known)) = (&mut capture.coverage.only, &coverage.only) {
            only.paths.clone_from(&known.paths);
        }
        let commit = (!worktree.is_main()).then(|| then.clone());
        Some((CapturedWorktree { worktree: worktree.clone(), capture, submodules: Vec::new() }, commit))
    }
}

/// The named paths that exist nowhere: not in the worktree, not in the index, not in the earlier checkpoint. The user may
/// have mistyped a name.
fn nowhere(
    ctx: &Context,
    complete: &CompleteCheckpoint,
    captured: &WorktreeCaptureCommits,
    asked: &BTreeMap<PathBuf, Vec<RepoPath>>,
) -> Result<Vec<PathBuf>> {
    let mut nowhere = Vec::new();
    for (CapturedWorktree { worktree, capture, .. }, _) in captured {
        for path in asked.get(worktree.path()).into_iter().flatten() {
            let place = worktree.path().join(path.to_path());
            if place.symlink_metadata().is_ok() || ctx.repo.trees().is_in_tree(&capture.index_tree, path)? {
                continue;
            }
            let then = complete.of(worktree).map(|(then, _)| ctx.repo.objects().read_commit(then)).transpose()?;
            if !then.is_some_and(|then| ctx.repo.trees().is_in_tree(&then.tree, path).unwrap_or(true)) {
                nowhere.push(place);
            }
        }
    }
    Ok(nowhere)
}

/// Reads the checkpoint to build on; an error says in words why there is none.
fn complete(ctx: &Context) -> std::result::Result<CompleteCheckpoint, String> {
    let base = known_paths::base(ctx.state())?;
    let record = base.complete;
    let unreadable = |error: Error| format!("checkpoint {} cannot be read: {error}", record.name);
    let capture = ctx.repo.refs().read_ref(&capture_ref(&record.name)).map_err(unreadable)?;
    if capture.as_ref() != Some(&record.capture) {
        return Err(format!("the files of the newest complete checkpoint, {}, are gone", record.name));
    }
    let (_, document) = document_of(ctx, &record.capture).map_err(unreadable)?;
    let mut since = BTreeMap::new();
    if let Some(last) = base.last {
        let (_, document) = document_of(ctx, &last.capture).map_err(unreadable)?;
        let looked_at = |path: &String| document.captured_before(path).is_none();
        let only = document.coverage.iter().filter(|(path, _)| looked_at(path));
        since = only.filter_map(|(path, of)| Some((path.clone(), of.only.as_ref()?.paths.clone()))).collect();
    }
    Ok(CompleteCheckpoint { name: record.name.clone(), capture: record.capture.clone(), document, since })
}

impl CompleteCheckpoint {
    /// Whether it has an earlier moment of a worktree, of which nothing was looked at since.
    fn stays_earlier(&self, path: &str) -> bool {
        let looked_at = self.since.get(path).is_some_and(|paths| !paths.is_empty());
        self.document.captured_before(path).is_some() && !looked_at
    }

    /// The linked worktrees of which that moment stays.
    fn earlier(&self, linked: &[PathBuf], asked: &BTreeMap<PathBuf, Vec<RepoPath>>) -> Vec<WorkspaceState> {
        let stays = |state: &&WorkspaceState| {
            let path = Path::new(&state.path);
            let is_named = asked.get(path).is_some_and(|paths| !paths.is_empty());
            linked.iter().any(|one| one == path) && !is_named && self.stays_earlier(&state.path)
        };
        self.document.workspaces.iter().filter(stays).cloned().collect()
    }

    /// The capture of a worktree, and what the capture does not hold.
    fn of(&self, worktree: &Worktree) -> Option<(&Oid, &CaptureCoverage)> {
        if worktree.is_main() {
            return Some((&self.capture, self.document.main_coverage()?));
        }
        let path = worktree.path_text().ok()?;
        let then = self.document.workspaces.iter().find(|then| then.path == path)?;
        Some((&then.capture, self.document.coverage.get(&path)?))
    }

    /// Whether a linked worktree had this HEAD at the checkpoint.
    fn had(&self, worktree: &Worktree, head: &axiom_git::Head) -> bool {
        let Ok(path) = worktree.path_text() else { return false };
        let then = self.document.workspaces.iter().find(|then| then.path == path);
        then.is_some_and(|then| then.branch.as_ref() == head.branch() && then.head.as_ref() == head.commit())
    }
}

/// Sorts paths by worktree, each relative to its worktree.
pub fn by_worktree(worktrees: &[Worktree], paths: &[PathBuf]) -> Result<Vec<Vec<RepoPath>>> {
    let mut all = vec![Vec::new(); worktrees.len()];
    for path in paths {
        let plain = without_dots(path);
        // A symbolic link in the path may lead to another place in a worktree: then both places are examined.
        let real = match path.file_name() {
            Some(name) => path.parent().and_then(deepest).map(|above| above.join(name)),
            None => deepest(path),
        };
        let mut found = false;
        for place in std::iter::once(plain.clone()).chain(real.filter(|real| *real != plain)) {
            if let Some((number, inside)) = inside(worktrees, &place) {
                all[number].push(inside);
                found = true;
            }
        }
        if !found {
            return Err(Error::new(Code::InvalidInput, format!("'{}' is in no worktree of this repository", path.display()))
                .hint("git worktree list    shows them"));
        }
    }
    Ok(all)
}

/// The innermost worktree that a path is in, and the path relative to it; empty for the worktree itself. `None` for paths in
/// a `.git`.
fn inside(worktrees: &[Worktree], place: &Path) -> Option<(usize, RepoPath)> {
    use std::os::unix::ffi::OsStrExt;
    let all = worktrees.iter().enumerate();
    let within = all.filter_map(|(number, worktree)| Some((number, place.strip_prefix(worktree.path()).ok()?)));
    let (number, inside) = within.min_by_key(|(_, inside)| inside.as_os_str().len())?;
    let is_gits = inside.components().any(|part| part.as_os_str().eq_ignore_ascii_case(".git"));
    (!is_gits).then(|| (number, RepoPath::new(inside.as_os_str().as_bytes())))
}

/// A folder with its symbolic links resolved, for the part of the path that exists.
fn deepest(folder: &Path) -> Option<PathBuf> {
    let mut rest = Vec::new();
    let mut place = folder;
    loop {
        if let Ok(real) = place.canonicalize() {
            return Some(rest.iter().rev().fold(real, |real, name| real.join(name)));
        }
        rest.push(place.file_name()?);
        place = place.parent()?;
    }
}
