//! Merged workspaces where space is short: they go to the trash, and from there the files that a commit or a capture holds at the same
//! path. Ignored files, and whatever else nothing holds, stay until the trash is emptied. So does all that transactions put into the
//! trash: an undo needs it.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::merge::cleanup;
use axiom_base::env;
use axiom_base::error::{Error, Result};
use axiom_base::files;
use axiom_base::files::{DeletionFolder, SmallFile};
use axiom_git::{TREE, TreeEntry};
use axiom_model::base::ids::TaskId;
use axiom_model::base::names::Oid;
use axiom_safety::checkpoint::live::live_ref;
use axiom_safety::context::handle::Context;
use axiom_safety::folders::trash;

/// Larger files are left alone: they would have to be read into memory.
const LARGEST: u64 = 256 * 1024 * 1024;
/// The deepest folder that is looked into.
const DEEPEST: usize = 200;
/// Mode bits of a regular file.
const REGULAR: u32 = 0o100_000;

/// What became of merged workspaces.
#[derive(Debug, Default)]
pub(super) struct WorkspaceThinReport {
    /// How many files were deleted.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
    /// What was left alone, and why.
    pub left: Vec<Error>,
}

/// Deletes what is held elsewhere. The caller holds the change lock, and no operation is open.
pub(super) fn merged_workspaces(ctx: &mut Context) -> WorkspaceThinReport {
    let mut done = WorkspaceThinReport::default();
    for task in cleanup::with_workspace(ctx) {
        done.left.extend(cleanup::close_saved(ctx, &task).err());
    }
    match in_trash(ctx) {
        Ok(found) => {
            for (place, trees) in found {
                let outcome = done.folder(ctx, &place, &trees, 0);
                done.left.extend(outcome.err());
            }
        }
        Err(error) => done.left.push(error),
    }
    done
}

/// The workspaces of merged tasks in the trash, each with the trees that hold what was in it. That a folder is another one than it seems
/// to be does no harm: only what is the same at the same path goes.
fn in_trash(ctx: &Context) -> Result<Vec<(PathBuf, Vec<Oid>)>> {
    let root = trash::root(ctx)?;
    if !files::metadata(&root)?.is_some_and(|found| found.is_dir()) {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for entry in files::list(&root)? {
        let name = entry.file_name();
        let Some(workspace) =
            name.to_str().filter(|name| files::is_trashed_name(name.as_bytes())).and_then(|name| name.rsplit_once('-'))
        else {
            continue;
        };
        let merged = ctx.state().restorable.tasks.values().filter(|case| case.merged.is_some()).map(|case| &case.id);
        if let Some(task) =
            merged.filter(|task| workspace.0.ends_with(&format!("-{task}"))).max_by_key(|task| task.as_str().len())
        {
            found.push((entry.path(), trees(ctx, task)?));
        }
    }
    Ok(found)
}

/// The trees of a merged task that refs keep: of its last capture, of the merge, and of the commits that were merged.
fn trees(ctx: &Context, task: &TaskId) -> Result<Vec<Oid>> {
    let objects = ctx.repo.objects();
    let mut commits: Vec<Oid> = ctx.repo.refs().read_ref(&live_ref(task))?.into_iter().collect();
    let merged = ctx.state().restorable.tasks.get(task).and_then(|case| case.merged.as_ref());
    if let Some(merged) = merged {
        let target = ctx.repo.refs().read_ref(&merged.target)?;
        // The target may have been reset since: then nothing promises that the merge is kept.
        if let Some(target) = target
            && ctx.repo.history().is_ancestor(&merged.commit, &target)?
        {
            commits.extend(objects.read_commit(&merged.commit)?.parents);
            commits.push(merged.commit.clone());
        }
    }
    commits.iter().map(|commit| Ok(objects.read_commit(commit)?.tree)).collect()
}

impl WorkspaceThinReport {
    /// Goes through what the trees hold, not through what is on disk: most of that may be ignored.
    fn folder(&mut self, ctx: &Context, place: &Path, trees: &[Oid], depth: usize) -> Result<()> {
        let root = trash::root(ctx)?;
        let Some(below) = place.strip_prefix(&root).ok().filter(|_| depth < DEEPEST) else { return Ok(()) };
        // No link is followed into what is not ours.
        let Some(folder) = DeletionFolder::open(&root, below)? else { return Ok(()) };
        let mut here: BTreeMap<Vec<u8>, Vec<TreeEntry>> = BTreeMap::new();
        let mut folders: BTreeMap<Vec<u8>, Vec<Oid>> = BTreeMap::new();
        for tree in trees {
            for entry in ctx.repo.trees().read_tree(tree)? {
                if entry.mode == TREE {
                    folders.entry(entry.name).or_default().push(entry.oid);
                } else if entry.mode & 0o170_000 == REGULAR {
                    here.entry(entry.name.clone()).or_default().push(entry);
                }
            }
        }
        for (name, held) in here {
            let name = OsStr::from_bytes(&name);
            let path = place.join(name);
            let SmallFile::Content(bytes) = files::read_small(&path, LARGEST)? else { continue };
            let oid = ctx.repo.forgotten().id_of_blob(&bytes)?;
            if held.iter().any(|entry| entry.oid == oid) && ctx.repo.objects().has_object(&oid) {
                env::fault_point("disk.before-thinning");
                folder.remove(name)?;
                self.files += 1;
                self.bytes += bytes.len() as u64;
            }
        }
        folders.iter().try_for_each(|(name, trees)| self.folder(ctx, &place.join(OsStr::from_bytes(name)), trees, depth + 1))
    }
}
