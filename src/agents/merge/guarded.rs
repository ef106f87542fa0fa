//! Which guarded files a merge would change. The rule is `model::work::guarded`; here it gets the changes and the attributes.

use super::guarded_links::add_destinations;
use axiom_base::error::{Code, Result};
use axiom_base::files;
use axiom_git::{FileId, TreeChange};
use axiom_model::base::names::{Oid, RepoPath};
use axiom_model::work::gates::gate::Gate;
use axiom_model::work::guarded::attributes::{DriverAttributeMacros, name_drivers};
use axiom_model::work::guarded::{GuardReason, GuardedFile, GuardedFiles, GuardedNames, GuardedPathKind, is_attributes_file};
use axiom_safety::context::handle::Context;

/// How many files a gate names.
const SHOWN: usize = 100;
/// Attributes in a larger file count as guarded, unread.
const LARGEST: u64 = 1024 * 1024;

/// The guarded files among the changes from the target to the merge's result, which has this tree; `None` where there are none.
pub(super) fn guarded_files(ctx: &Context, changes: &[TreeChange], tree: &Oid) -> Result<Option<GuardedFiles>> {
    let mut names = GuardedNames::new(&ctx.config.merge.guarded);
    add_destinations(ctx, tree, &mut names)?;
    let mut macros = None;
    let mut found = Vec::new();
    for change in changes {
        let why = match names.concerned(&change.path, what(change)) {
            Some(name) => Some(GuardReason::Named(name.to_owned())),
            None if is_attributes_file(&change.path) => {
                sets_drivers(ctx, change, tree, &mut macros)?.then_some(GuardReason::Drivers)
            }
            None => None,
        };
        if let Some(why) = why {
            let after = change.new.as_ref().map(|file| (file.mode, file.oid.clone()));
            found.push(GuardedFile { path: change.path.clone(), why, after });
        }
    }
    Ok(GuardedFiles::new(found))
}

/// A gate that shows these files: whoever approves it has seen them.
pub fn showing(gate: Gate, files: &GuardedFiles) -> Gate {
    naming(Gate { guarded: Some(files.seen()), ..gate }, &files.paths())
}

/// A gate that names these files, or the first of them.
pub fn naming(gate: Gate, paths: &[RepoPath]) -> Gate {
    let details: Vec<String> = paths.iter().take(SHOWN).map(ToString::to_string).collect();
    Gate { more: paths.len() - details.len(), details, ..gate }
}

fn what(change: &TreeChange) -> GuardedPathKind {
    match [&change.old, &change.new].into_iter().flatten().all(FileId::is_regular) {
        true => GuardedPathKind::File,
        false => GuardedPathKind::LeadsElsewhere,
    }
}

/// Whether a file of attributes names drivers after the merge, or one that is deleted did: what was encrypted would be stored as it is.
/// What cannot be looked through counts as if it named some. `macros` are found when they are needed first; `Some(None)` where nobody
/// knows which there are.
fn sets_drivers(
    ctx: &Context,
    change: &TreeChange,
    tree: &Oid,
    macros: &mut Option<Option<DriverAttributeMacros>>,
) -> Result<bool> {
    let Some(file) = change.new.as_ref().or(change.old.as_ref()) else { return Ok(false) };
    if !file.is_regular() {
        return Ok(true);
    }
    let Some(text) = read(ctx, &file.oid)? else { return Ok(true) };
    if macros.is_none() {
        *macros = Some(all_macros(ctx, tree)?);
    }
    Ok(match macros {
        Some(Some(macros)) => name_drivers(&text, macros),
        Some(None) | None => true,
    })
}

/// The macros that count in this tree: git reads them from its topmost attributes, and from the user's and the machine's files.
fn all_macros(ctx: &Context, tree: &Oid) -> Result<Option<DriverAttributeMacros>> {
    let mut texts = Vec::new();
    // A link or a folder of this name is not read by git.
    let top = ctx.repo.trees().tree_entry(tree, b".gitattributes")?.filter(|top| top.mode & 0o170_000 == 0o100_000);
    if let Some(top) = top {
        match read(ctx, &top.oid)? {
            Some(text) => texts.push(text),
            None => return Ok(None),
        }
    }
    let Some(places) = ctx.repo.conversions().attribute_files() else { return Ok(None) };
    for place in places {
        match files::read_optional(&place, LARGEST) {
            Ok(text) => texts.extend(text),
            Err(error) => {
                tracing::debug!(%error, "attributes cannot be read");
                return Ok(None);
            }
        }
    }
    Ok(Some(DriverAttributeMacros::new(texts.iter().map(Vec::as_slice))))
}

/// The content of a blob; `None` where it is too large.
fn read(ctx: &Context, oid: &Oid) -> Result<Option<Vec<u8>>> {
    match ctx.repo.objects().read_blob(oid, LARGEST) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.code() == Code::TooLarge => Ok(None),
        Err(error) => Err(error),
    }
}
