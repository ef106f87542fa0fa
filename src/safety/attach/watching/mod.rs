//! The watch of a worktree, for everything that has no hooks: when files have settled, they are handed over to the joiner, which makes
//! a checkpoint of known paths. It ends with the worktree, and when its file is gone.
//!
//! | file | what lives there |
//! | --- | --- |
//! | `tree` | the folders that are watched and scanned |
//! | `scan` | looks at folders that the system does not watch |
//! | `watch_record` | which watches there are, and ending one |

mod scan;
mod tree;
pub mod watch_record;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::join;
use crate::attach::join::joiner_line::JoinerLine;
use crate::context::handle::Context;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files::{FileLock, LockAttempt};
use axiom_base::own_process::end_signals;
use axiom_base::platform::watches_of_user;
use axiom_base::{env, files};
use axiom_git::{Repository, Worktree};
use axiom_model::attach::act::DeferredSave;
use axiom_model::attach::watching::{PendingWatchChanges, allowance, pause};
use axiom_model::base::names::RepoPath;
use axiom_process::os::changes::{FolderWatcher, WakeReason};
use axiom_store::beside::attach::AttachFiles;
use tree::WatchedFolders;
use watch_record::WatchRecord;

/// How often is looked whether the watch is to end.
const LOOK: Duration = Duration::from_secs(1);
/// How long lines wait for the joiner before it is started again.
const STALLED: Duration = Duration::from_secs(60);

/// Why a watch has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchEndReason {
    /// Its worktree, or what git axiom keeps of the repository, is gone.
    WithTheWorktree,
    /// Somebody ended it.
    Stopped,
    /// A signal came.
    Signal,
}

/// Watches the worktree that we were called in until it ends; `begun` is called when all folders are looked after. What changes before that is saved too.
///
/// # Errors
/// `BUSY` where it is watched already; `GIT_FAILED`, `IO_FAILED`, `DISK_FULL` before it has begun.
pub fn run(ctx: &Context, begun: impl FnOnce(&WatchRecord) -> Result<()>) -> Result<WatchEndReason> {
    let worktree = &ctx.repo.worktrees().current_worktree()?;
    let files = AttachFiles::of(ctx.layout());
    files.ensure()?;
    let path = worktree.path_text()?;
    let LockAttempt::Taken(_lock) = FileLock::try_take(&files.watches().lock(&path))? else {
        return Err(Error::new(Code::Busy, format!("'{path}' is watched already")).hint("git axiom sessions    shows it"));
    };
    let changes = FolderWatcher::new()?;
    for signal in [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| !end_signals::is_ignored(*signal)) {
        changes.wake_on(signal)?;
    }
    let others = watch_record::list(ctx).into_iter().filter(|one| one.alive && one.watcher.worktree != path);
    let allowance = allowance(watches_of_user(), others.map(|one| one.watcher.watched).sum());
    let mut excluded = crate::checkpoint::capture_options(ctx).excluded;
    excluded.extend(ctx.repo.captures().git_directories_in(worktree));
    let tree = WatchedFolders::new((&ctx.repo, worktree), &changes, excluded, allowance);
    let watcher = WatchRecord {
        worktree: path,
        pid: std::process::id(),
        since: env::now(),
        watched: 0,
        scanned: 0,
        last_change: None,
        unsaved: None,
    };
    let mut watch = WorktreeWatch {
        repo: &ctx.repo,
        worktree,
        files,
        tree,
        watcher,
        pending: PendingWatchChanges::default(),
        began: Instant::now(),
        scan_at: Duration::ZERO,
        handed: None,
        rules: None,
    };
    watch.tree.catch_up()?;
    watch.rules = watch.rules_changed_at();
    watch.hand(DeferredSave::Start)?;
    watch.write_down()?;
    begun(&watch.watcher)?;
    let ended = watch.until_it_ends(&changes);
    watch.at_the_end();
    Ok(ended)
}

struct WorktreeWatch<'r> {
    repo: &'r Repository,
    worktree: &'r Worktree,
    files: AttachFiles,
    tree: WatchedFolders<'r>,
    watcher: WatchRecord,
    pending: PendingWatchChanges,
    began: Instant,
    /// When the folders that are not watched are scanned next.
    scan_at: Duration,
    /// When the joiner was given something last.
    handed: Option<Duration>,
    /// When the rules of what is ignored changed last, as far as they are outside of the worktree.
    rules: Option<SystemTime>,
}

impl WorktreeWatch<'_> {
    fn until_it_ends(&mut self, changes: &FolderWatcher) -> WatchEndReason {
        let mut look_at = Duration::ZERO;
        loop {
            let now = self.began.elapsed();
            if now >= look_at {
                if let Some(ended) = self.look() {
                    return ended;
                }
                look_at = now + LOOK;
            }
            if self.tree.counts().1 > 0 && now >= self.scan_at {
                self.tree.scan(&mut self.pending, now);
                let after = self.began.elapsed();
                self.scan_at = after + pause(after - now);
            }
            if self.pending.due().is_some_and(|due| due <= now) {
                self.save();
            }
            let next = self.pending.due().map_or(look_at, |due| due.min(look_at));
            match changes.wait(next.saturating_sub(self.began.elapsed())) {
                WakeReason::Signal => return WatchEndReason::Signal,
                WakeReason::Changed => {
                    let now = self.began.elapsed();
                    changes.read().into_iter().for_each(|change| self.tree.told(change, &mut self.pending, now));
                    // Many writes of one program come one by one: a moment later they come together.
                    std::thread::sleep(Duration::from_millis(10));
                }
                WakeReason::Elapsed => {}
            }
        }
    }

    /// Whether the watch is to end; and what is looked at now and then.
    fn look(&mut self) -> Option<WatchEndReason> {
        let is_there = |path: &Path| std::fs::symlink_metadata(path).is_ok();
        // The git directory of a main worktree may be anywhere.
        let leads = self.worktree.path().join(".git");
        let leads = if self.worktree.is_main() { self.worktree.git_dir() } else { leads.as_path() };
        if self.tree.is_gone() || !is_there(leads) || !is_there(&self.files.spool()) {
            return Some(WatchEndReason::WithTheWorktree);
        }
        if !is_there(&self.files.watches().file(&self.watcher.worktree)) {
            return Some(WatchEndReason::Stopped);
        }
        let rules = self.rules_changed_at();
        if rules != self.rules {
            self.rules = rules;
            self.tree.make_stale();
            self.pending.everything(self.began.elapsed());
        }
        self.see_to_the_joiner();
        None
    }

    fn rules_changed_at(&self) -> Option<SystemTime> {
        let exclude = self.repo.common_dir().join("info/exclude");
        std::fs::metadata(exclude).and_then(|meta| meta.modified()).ok()
    }

    /// A joiner that failed left its lines: it is started again, and what it said is shown.
    fn see_to_the_joiner(&mut self) {
        let now = self.began.elapsed();
        let Some(handed) = self.handed else { return };
        let waits = !self.files.lines().is_empty();
        let unsaved = if waits { self.files.unsaved() } else { None };
        if waits && now >= handed + STALLED {
            self.handed = Some(now);
            if let Err(error) = join::start(&self.files, self.worktree.path()) {
                tracing::warn!(%error, "what has changed is not saved yet");
            }
        }
        if !waits {
            self.handed = None;
        }
        if unsaved != self.watcher.unsaved {
            self.watcher.unsaved = unsaved;
            let _ = self.write_down();
        }
    }

    /// Hands over what has changed. Where that fails, it is tried again when something is due again.
    fn save(&mut self) {
        let now = self.began.elapsed();
        let pending = std::mem::take(&mut self.pending);
        let handed = self.later(&pending).and_then(|later| later.map_or(Ok(()), |later| self.hand(later)));
        if let Err(error) = handed {
            tracing::warn!(%error, "what has changed is not saved yet");
            self.watcher.unsaved = Some(error.to_string());
            self.pending.everything(now);
        }
        let _ = self.write_down();
    }

    /// What is to be saved: ignored files are not.
    fn later(&mut self, pending: &PendingWatchChanges) -> Result<Option<DeferredSave>> {
        self.tree.catch_up()?;
        let path = |text: &str| RepoPath::new(text.as_bytes());
        let asked: Vec<RepoPath> = pending.paths().into_iter().flatten().map(|text| path(text)).collect();
        let ignored = self.repo.index(self.worktree).ignored(&asked)?;
        Ok(pending.later(|text| !ignored.contains(&path(text))))
    }

    fn hand(&mut self, later: DeferredSave) -> Result<()> {
        let folder = self.watcher.worktree.clone();
        let line = JoinerLine { stamp: None, worktree: folder.clone(), folder, later };
        self.files.hand_over(&serde_json::to_vec(&line).unwrap_or_default())?;
        self.handed = Some(self.began.elapsed());
        self.watcher.last_change = Some(env::now());
        self.watcher.unsaved = None;
        join::start(&self.files, self.worktree.path())
    }

    fn write_down(&mut self) -> Result<()> {
        (self.watcher.watched, self.watcher.scanned) = self.tree.counts();
        let json = serde_json::to_vec(&self.watcher).unwrap_or_default();
        self.files.watches().write(&self.watcher.worktree, &json)
    }

    /// What has not settled yet is handed over all the same; then nothing says any more that the worktree is watched.
    fn at_the_end(&mut self) {
        if self.worktree.verify().is_ok() && self.files.spool().is_dir() && self.pending.due().is_some() {
            self.save();
        }
        if let Err(error) = self.files.watches().forget(&self.watcher.worktree) {
            tracing::debug!(%error, "the file of the watch stays");
        }
    }
}

/// Starts a watch of the worktree that we were called in, in the background, and waits until it is at work.
///
/// # Errors
/// `BUSY` where the worktree is watched already; `IO_FAILED` where it ends at once.
pub fn detach(ctx: &Context) -> Result<WatchRecord> {
    let worktree = ctx.repo.worktrees().current_worktree()?;
    let path = worktree.path_text()?;
    if watch_record::of(ctx, &path).is_some() {
        return Err(Error::new(Code::Busy, format!("'{path}' is watched already")).hint("git axiom sessions    shows it"));
    }
    let arguments: Vec<std::ffi::OsString> = vec!["-C".into(), worktree.path().into(), "watch".into(), "--in-background".into()];
    let null = files::open_append(&PathBuf::from("/dev/null"))?;
    let mut child = axiom_process::os::detached::start_alone(&arguments, null)?;
    loop {
        if let Some(watcher) = watch_record::of(ctx, &path).filter(|watcher| watcher.pid == child.id()) {
            return Ok(watcher);
        }
        if child.try_wait().map_or(true, |ended| ended.is_some()) {
            return Err(Error::new(Code::IoFailed, format!("the watch of '{path}' has ended at once"))
                .hint("git axiom watch    says why"));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
