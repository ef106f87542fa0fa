//! Following guarded names that are links within the repository, in a tree. The rule is `model::work::guarded::links`.

use axiom_base::error::Result;
use axiom_git::{TREE, TreeEntry};
use axiom_model::base::names::Oid;
use axiom_model::work::guarded::GuardedNames;
use axiom_model::work::guarded::links::{GuardedLinkPath, LONGEST, is_part};
use axiom_safety::context::handle::Context;

/// The mode of a symbolic link.
const LINK: u32 = 0o120_000;

/// A link: the parts of the folder that it is in, and what it says.
type GuardedLink = (Vec<Vec<u8>>, Vec<u8>);

/// Adds what guarded links lead to in this tree.
pub(super) fn add_destinations(ctx: &Context, tree: &Oid, names: &mut GuardedNames) -> Result<()> {
    let mut paths = names.paths();
    while let Some(path) = paths.pop() {
        for (folder, link) in links_on(ctx, tree, &path)? {
            paths.extend(names.follow(&path, &folder, &link));
        }
    }
    Ok(())
}

/// The first links on the way along a path. There may be several where names differ
/// in what some file systems ignore.
fn links_on(ctx: &Context, tree: &Oid, path: &GuardedLinkPath) -> Result<Vec<GuardedLink>> {
    let mut links = Vec::new();
    let mut folders = vec![(Vec::new(), tree.clone())];
    while let Some((folder, tree)) = folders.pop() {
        let Some(part) = path.part(folder.len()) else { continue };
        let entries = ctx.repo.trees().read_tree(&tree)?;
        for TreeEntry { mode, oid, name } in entries.into_iter().filter(|entry| is_part(&entry.name, part)) {
            if mode == LINK {
                links.push((folder.clone(), ctx.repo.objects().read_blob(&oid, LONGEST)?));
            } else if mode == TREE {
                folders.push(([folder.clone(), vec![name]].concat(), oid));
            }
        }
    }
    Ok(links)
}
