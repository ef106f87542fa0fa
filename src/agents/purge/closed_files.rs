//! Files that may have it and that are not looked into: bundles that `deinit` made, and what a killed git left among the objects.

use std::path::{Path, PathBuf};

use axiom_base::error::Result;
use axiom_base::files;
use axiom_git::outermost_worktree;
use axiom_safety::context::handle::Context;

/// How the folder is named that `deinit` makes, behind the repository's name, and the bundle in it.
const LEFT: &str = "-axiom-";
const BUNDLE: &str = "axiom.bundle";

/// How git names what it has not finished, in the folder of objects and in those of packs and of loose objects.
const UNFINISHED: [&str; 4] = ["tmp_", "incoming-", ".tmp-", "bulk-fsync"];

/// All of them, in words.
pub(super) fn named(ctx: &Context) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for bundle in bundles(ctx)? {
        let place = bundle.display();
        found.push(format!("'{place}' may have it: a bundle that 'deinit' made; delete it, if nobody needs it"));
    }
    for file in unfinished(&ctx.repo.common_dir().join("objects"))? {
        found.push(format!("'{}' may have it: a killed git left it, 'git gc' or 'git prune' deletes it", file.display()));
    }
    Ok(found)
}

fn bundles(ctx: &Context) -> Result<Vec<PathBuf>> {
    let Ok(main) = ctx.repo.worktrees().main_worktree() else { return Ok(Vec::new()) };
    let Some(name) = main.path().file_name().map(|name| name.to_string_lossy().into_owned()) else { return Ok(Vec::new()) };
    let outermost = outermost_worktree(main.path(), &[]);
    let mut above: Vec<&Path> =
        [Some(main.path()), outermost.as_deref()].into_iter().flatten().filter_map(Path::parent).collect();
    above.dedup();
    let mut found = Vec::new();
    for folder in above {
        for entry in files::list(folder)? {
            let is_left = entry.file_name().to_string_lossy().starts_with(&format!("{name}{LEFT}"));
            let bundle = entry.path().join(BUNDLE);
            if is_left && files::metadata(&bundle)?.is_some_and(|meta| meta.is_file()) {
                found.push(bundle);
            }
        }
    }
    Ok(found)
}

fn unfinished(objects: &Path) -> Result<Vec<PathBuf>> {
    let is_unfinished = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        UNFINISHED.iter().any(|begin| name.starts_with(begin))
    };
    let mut found = Vec::new();
    for entry in files::list(objects)?.into_iter().map(|entry| entry.path()) {
        let is_of_objects = entry.file_name().is_some_and(|name| name.len() == 2 || name == "pack");
        if is_unfinished(&entry) {
            found.push(entry);
        } else if is_of_objects && entry.is_dir() {
            found.extend(files::list(&entry)?.into_iter().map(|entry| entry.path()).filter(is_unfinished));
        }
    }
    Ok(found)
}
