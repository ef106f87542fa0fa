//! Our own files: the log, its copies, what agents printed, and the trash.

use std::collections::BTreeSet;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::lfs;
use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_base::files::{FileLock, LockAttempt};
use axiom_model::base::names::Oid;
use axiom_model::base::sealed;
use axiom_model::checkpoint::purge::TextMasks;
use axiom_safety::context::handle::Context;

use axiom_safety::folders::trash;
use axiom_store::layout::StoreLayout;
use axiom_store::log_files::line;
use axiom_store::states::snapshot;

/// How long to wait for a process that appends to the log.
const PATIENCE: Duration = Duration::from_secs(5);

/// Larger files are read in no memory: they are named, and stay.
const LARGEST: u64 = 512 * 1024 * 1024;

/// The largest file that is read as one JSON document.
const WHOLE: usize = 16 * 1024 * 1024;

/// What is known of our files.
#[derive(Debug, Default)]
pub(super) struct PurgeFileScan {
    /// Those that have it, or had it.
    pub paths: Vec<PathBuf>,
    /// Those that could not be looked through, and those of the user's that have it, in words.
    pub left: Vec<String>,
}

/// Which of our files have it.
pub(super) fn look(ctx: &Context, masks: &TextMasks, secrets: &BTreeSet<Oid>) -> Result<PurgeFileScan> {
    let (mut found, by_kind) = (PurgeFileScan::default(), MasksByFileKind::of(masks));
    for (path, kind) in ours(ctx)? {
        match content(&path, kind)? {
            PurgeFileContent::Bytes(bytes) if !has(ctx, by_kind.masks(kind), secrets, &bytes) => {}
            PurgeFileContent::Bytes(_) => match kind.users(&path) {
                Some(why) => found.left.push(why),
                None => found.paths.push(path),
            },
            PurgeFileContent::Unread(why) => found.left.push(why),
            PurgeFileContent::Nothing => {}
        }
    }
    Ok(found)
}

/// What is looked for in which files.
struct MasksByFileKind<'m> {
    all: &'m TextMasks,
    sure: TextMasks,
    telling: TextMasks,
}

impl<'m> MasksByFileKind<'m> {
    fn of(all: &'m TextMasks) -> Self {
        Self { all, sure: all.sure(), telling: all.telling() }
    }

    fn masks(&self, kind: PurgeFileKind) -> &TextMasks {
        match kind {
            PurgeFileKind::Log | PurgeFileKind::Copy | PurgeFileKind::Options | PurgeFileKind::Text | PurgeFileKind::Packed => {
                self.all
            }
            PurgeFileKind::Trash => &self.sure,
            PurgeFileKind::Users(_) => &self.telling,
        }
    }
}

fn has(ctx: &Context, masks: &TextMasks, secrets: &BTreeSet<Oid>, bytes: &[u8]) -> bool {
    masks.find_in(bytes) || ctx.repo.forgotten().id_of_blob(bytes).is_ok_and(|id| secrets.contains(&id))
}

/// Masks it in all our files, and deletes what has it from the trash; returns what had it. What is the user's stays as it is. The log's lines get new sums; the
/// snapshot, its copies and the backups are made again from the log.
pub(super) fn mask(ctx: &mut Context, masks: &TextMasks, secrets: &BTreeSet<Oid>) -> Result<PurgeFileScan> {
    let (mut changed, by_kind) = (PurgeFileScan::default(), MasksByFileKind::of(masks));
    // Nobody appends to a file of the log while it is replaced.
    let LockAttempt::Taken(lock) = FileLock::take(&ctx.layout().locks().state(), PATIENCE)? else {
        return Err(Error::new(Code::Busy, "another process writes to the event log"));
    };
    for (path, kind) in ours(ctx)? {
        let bytes = match content(&path, kind)? {
            PurgeFileContent::Bytes(bytes) if has(ctx, by_kind.masks(kind), secrets, &bytes) => bytes,
            PurgeFileContent::Bytes(_) | PurgeFileContent::Nothing => continue,
            PurgeFileContent::Unread(why) => {
                changed.left.push(why);
                continue;
            }
        };
        if let Some(why) = kind.users(&path) {
            changed.left.push(why);
            continue;
        }
        match kind {
            PurgeFileKind::Trash | PurgeFileKind::Copy | PurgeFileKind::Options => files::remove_file(&path)?,
            PurgeFileKind::Log | PurgeFileKind::Text => files::write_atomic(&path, &masked(&bytes, masks))?,
            PurgeFileKind::Packed => files::write_atomic(&path, &files::packed(&masked(&bytes, masks))?)?,
            PurgeFileKind::Users(_) => continue,
        }
        changed.paths.push(path);
    }
    drop(lock);
    if !changed.paths.is_empty() {
        snapshot::forget(ctx.layout())?;
        ctx.store.read_anew()?;
        ctx.store.save_snapshot()?;
    }
    Ok(changed)
}

/// A file, masked. What is JSON as a whole stays that; else each line counts by itself.
fn masked(bytes: &[u8], masks: &TextMasks) -> Vec<u8> {
    if bytes.len() <= WHOLE && is_json(bytes) {
        return masks.applied_where(bytes, is_json).unwrap_or_else(|| bytes.to_vec());
    }
    lines_with_sums(bytes, masks)
}

fn is_json(text: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(text).is_ok()
}

/// Masks each line; one that ended in its right sum gets the sum of what it is now. An event stays one: a word that is also one of the
/// log's own is left where the line could not be read without it.
fn lines_with_sums(bytes: &[u8], masks: &TextMasks) -> Vec<u8> {
    let mut new = Vec::with_capacity(bytes.len());
    for whole in bytes.split_inclusive(|byte| *byte == b'\n') {
        let line = whole.strip_suffix(b"\n").unwrap_or(whole);
        let masked = match sealed::opened(line, &[]) {
            Ok(body) => {
                let is_event = line::decode(line).is_ok();
                let readable = |body: &[u8]| !is_event || line::decode(sealed_again(body).trim_ascii_end()).is_ok();
                masks.applied_where(body, readable).map(|body| sealed_again(&body))
            }
            Err(_) => {
                let was_json = is_json(line);
                masks.applied_where(line, |new| !was_json || is_json(new))
            }
        };
        match masked {
            None => new.extend_from_slice(whole),
            Some(masked) => {
                new.extend_from_slice(masked.strip_suffix(b"\n").unwrap_or(&masked));
                new.extend_from_slice(whole.get(line.len()..).unwrap_or_default());
            }
        }
    }
    new
}

fn sealed_again(body: &[u8]) -> Vec<u8> {
    let mut object = body.to_vec();
    object.push(b'}');
    sealed::seal(object, &[])
}

/// What becomes of a file that has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PurgeFileKind {
    /// A file of the event log.
    Log,
    /// A copy of the state, which is made again.
    Copy,
    /// The options of the last session: with words that are masked it must not be run again.
    Options,
    /// Text, which is masked.
    Text,
    /// Text that is compressed.
    Packed,
    /// A file that was put aside, which goes.
    Trash,
    /// The user's, or what is put back for the user: it is named, and never changed.
    Users(&'static str),
}

impl PurgeFileKind {
    /// Whether all else goes on where it cannot be read: what agents and users closed is put aside closed.
    fn may_be_unread(self) -> bool {
        match self {
            Self::Trash | Self::Users(_) | Self::Text | Self::Packed => true,
            Self::Log | Self::Copy | Self::Options => false,
        }
    }

    /// What is said of a file of the user's that has it.
    fn users(self, path: &Path) -> Option<String> {
        match self {
            Self::Users(what) => Some(format!("'{}' has it: {what}", path.display())),
            Self::Log | Self::Copy | Self::Options | Self::Text | Self::Packed | Self::Trash => None,
        }
    }
}

/// What of the user's is in our folder.
const HOOK: &str = "a hook of yours, which stays as it is";
const PUT_BACK: &str = "what 'git axiom detach' puts back, which stays as it was";
const APPROVAL: &str = "what you approved, which counts only as it is; 'git axiom trust --revoke' takes it away";
const OF_USER: &str = "a file of all your repositories, which stays as it is";
const CONFIGURATION: &str = "the configuration that 'git axiom config restore' puts back; 'config edit' and a change replace it";

fn kind(ctx: &Context, path: &Path) -> PurgeFileKind {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let in_state = path.parent() == Some(&ctx.layout().state_dir());
    let below = |name: &str| path.starts_with(ctx.layout().root().join(name));
    if in_state && name.starts_with("events") && name.ends_with(".jsonl") {
        PurgeFileKind::Log
    } else if below("hooks") {
        PurgeFileKind::Users(HOOK)
    } else if below("attach/kept") {
        PurgeFileKind::Users(PUT_BACK)
    } else if path.parent() == Some(ctx.layout().root()) && name.starts_with("config.toml.backup") {
        PurgeFileKind::Users(CONFIGURATION)
    } else if *path == ctx.layout().last_options() {
        PurgeFileKind::Options
    } else if path.starts_with(ctx.layout().damaged_dir()) || below("quarantine") || below("trash") || below("tmp") {
        PurgeFileKind::Trash
    } else if in_state && name != "planning-state.json" {
        PurgeFileKind::Copy
    } else if below("agents") && name.starts_with(".tmp-") {
        // What a crash left of compressing a log.
        PurgeFileKind::Trash
    } else if below("agents") && files::is_packed(path) {
        PurgeFileKind::Packed
    } else {
        PurgeFileKind::Text
    }
}

/// All regular files of ours, and of the trash; no link is followed.
fn ours(ctx: &Context) -> Result<Vec<(PathBuf, PurgeFileKind)>> {
    let mut all: Vec<(PathBuf, PurgeFileKind)> = Vec::new();
    // What Git LFS keeps is the user's file by another name: see `lfs`.
    let large = lfs::ours(ctx);
    files_below(ctx.layout().root(), &mut |path| {
        let kind = kind(ctx, &path);
        all.extend((!path.starts_with(&large)).then_some((path, kind)));
    })?;
    // What is put back in a linked worktree is in git's folder for it.
    for entry in ctx.repo.worktrees().list()? {
        let of_it = StoreLayout::of_worktree(ctx.repo.common_dir(), entry.worktree.git_dir());
        if of_it.root() != ctx.layout().root() {
            files_below(&of_it.root().join("attach/kept"), &mut |path| all.push((path, PurgeFileKind::Users(PUT_BACK))))?;
        }
    }
    for place in trash::places(ctx)? {
        files_below(&place, &mut |path| all.push((path, PurgeFileKind::Trash)))?;
    }
    // For all repositories of this user: what is there is put back, or was approved.
    if let Some(state) = env::user_state_dir().map(|state| state.join("git-axiom")) {
        let what = |path: &Path| match path {
            _ if path.starts_with(state.join("trust")) => APPROVAL,
            _ if path.starts_with(state.join("attach/kept")) => PUT_BACK,
            _ => OF_USER,
        };
        files_below(&state, &mut |path| all.push((path.clone(), PurgeFileKind::Users(what(&path)))))?;
    }
    // The log first: what is made again is made from it.
    all.sort_by_key(|(_, kind)| *kind != PurgeFileKind::Log);
    Ok(all)
}

/// The files below a folder, and the folders that cannot be listed.
fn files_below(folder: &Path, each: &mut dyn FnMut(PathBuf)) -> Result<()> {
    if !files::metadata(folder)?.is_some_and(|meta| meta.is_dir()) {
        return Ok(());
    }
    let entries = match files::list(folder) {
        Ok(entries) => entries,
        Err(error) if error.io_cause().is_some_and(|cause| cause.kind() == ErrorKind::PermissionDenied) => {
            each(folder.to_owned());
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    for entry in entries {
        match files::metadata(&entry.path())? {
            Some(meta) if meta.is_dir() => files_below(&entry.path(), each)?,
            Some(meta) if meta.is_file() && meta.len() > 0 => each(entry.path()),
            Some(_) | None => {}
        }
    }
    Ok(())
}

/// What is in a file.
enum PurgeFileContent {
    Nothing,
    Bytes(Vec<u8>),
    /// It could not be looked through; why, and what to do.
    Unread(String),
}

fn content(path: &Path, kind: PurgeFileKind) -> Result<PurgeFileContent> {
    let too_large = || {
        PurgeFileContent::Unread(format!("'{}' is too large to be looked through: delete it if it may have it", path.display()))
    };
    if kind == PurgeFileKind::Packed {
        return Ok(match unpacked(path) {
            Ok(bytes) if bytes.len() as u64 > LARGEST => too_large(),
            Ok(bytes) => PurgeFileContent::Bytes(bytes),
            Err(error) => PurgeFileContent::Unread(format!("{error}; delete it if it may have it")),
        });
    }
    match files::metadata(path)? {
        Some(meta) if meta.len() > LARGEST => Ok(too_large()),
        Some(_) => match files::read_optional(path, LARGEST) {
            Ok(bytes) => Ok(bytes.map_or(PurgeFileContent::Nothing, PurgeFileContent::Bytes)),
            Err(error) if kind.may_be_unread() && error.io_cause().is_some() => Ok(PurgeFileContent::Unread(format!(
                "{error}; make it readable and call this again, or delete it, if it may have it"
            ))),
            Err(error) => Err(error),
        },
        None => Ok(PurgeFileContent::Nothing),
    }
}

/// The content of a compressed log.
fn unpacked(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(file) = files::MaybePackedFile::open(path)? {
        file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|e| Error::io("read", path, e))?;
    }
    Ok(bytes)
}
