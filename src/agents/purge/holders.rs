//! What has it besides us, or still has it afterwards, in words: refs, reflogs, indexes, the file itself.

use std::collections::BTreeSet;

use super::find::PurgeSubject;
use super::{is_ours, others};
use axiom_base::error::Result;
use axiom_base::files;
use axiom_model::base::names::{Oid, RefName};
use axiom_model::checkpoint::purge::SHORTEST;
use axiom_safety::context::handle::Context;

/// The most refs that are named.
const NAMED: usize = 100;

/// What holds objects besides refs and indexes: what names it, in words, and what is named.
pub(super) struct OtherObjectHolders(Vec<(String, BTreeSet<Oid>)>);

impl OtherObjectHolders {
    /// As it is now. Our own reflogs are not among it: purge empties them.
    pub(super) fn of(ctx: &Context) -> Result<Self> {
        let lists = ctx.repo.ref_lists();
        let mut all = vec![("a reflog (see 'git reflog expire')".to_owned(), lists.in_reflogs(&is_ours)?)];
        for entry in ctx.repo.worktrees().list()?.into_iter().filter(|entry| entry.present) {
            let place = entry.worktree.path().display().to_string();
            let named = lists.named_in(&entry.worktree)?;
            all.extend(named.into_iter().map(|(name, ids)| (format!("{name} of '{place}'"), ids)));
        }
        Ok(Self(all))
    }

    fn ids(&self) -> BTreeSet<Oid> {
        self.0.iter().flat_map(|(_, ids)| ids).cloned().collect()
    }

    /// All that something holds, us included.
    pub(super) fn reached_with_all(&self, ctx: &Context) -> Result<BTreeSet<Oid>> {
        ctx.repo.forgotten().reached_by(&["--all", "--indexed-objects"], &self.ids())
    }

    /// Those of `secrets` that something besides our refs holds.
    pub(super) fn held_elsewhere(&self, ctx: &Context, secrets: &BTreeSet<Oid>) -> Result<BTreeSet<Oid>> {
        let others = others();
        let mut what: Vec<&str> = others.iter().map(String::as_str).collect();
        what.push("--indexed-objects");
        let reached = ctx.repo.forgotten().reached_by(&what, &self.ids())?;
        Ok(secrets.intersection(&reached).cloned().collect())
    }
}

/// Who holds these contents besides us, and where the file still is. A content that is too short to be a secret counts at the path
/// alone: an empty file is in every repository.
pub(super) fn named(ctx: &Context, held: &BTreeSet<Oid>, subject: &PurgeSubject) -> Result<Vec<String>> {
    let is_short = |oid: &&Oid| ctx.repo.forgotten().blob_size(oid).is_some_and(|size| size < SHORTEST as u64);
    let (short, long): (BTreeSet<Oid>, BTreeSet<Oid>) = match &subject.path {
        Some(_) => {
            let short: BTreeSet<Oid> = held.iter().filter(is_short).cloned().collect();
            let long = held.difference(&short).cloned().collect();
            (short, long)
        }
        None => (BTreeSet::new(), held.clone()),
    };
    let mut found = in_refs(ctx, &short, &long, subject)?;
    let in_history = found.len();
    if !long.is_empty() {
        for (what, ids) in &OtherObjectHolders::of(ctx)?.0 {
            let reached = ctx.repo.forgotten().reached_from(ids)?;
            found.extend(long.iter().find(|oid| reached.contains(*oid)).map(|oid| format!("{what} holds {}", oid.short())));
        }
    }
    let indexed = if long.is_empty() {
        BTreeSet::new()
    } else {
        ctx.repo.forgotten().reached_by(&["--indexed-objects"], &BTreeSet::new())?
    };
    if let Some(oid) = long.iter().find(|oid| indexed.contains(*oid)) {
        found.push(format!("an index holds {}: see 'git ls-files -s' and 'git ls-files --resolve-undo'", oid.short()));
    } else if let (Some(oid), true) = (long.first(), found.len() == in_history && in_history == 0) {
        found.push(format!("a worktree's HEAD or a stash entry holds {}: see 'git stash list'", oid.short()));
    }
    found.extend(the_file_itself(ctx, subject)?);
    Ok(found)
}

fn in_refs(ctx: &Context, short: &BTreeSet<Oid>, long: &BTreeSet<Oid>, subject: &PurgeSubject) -> Result<Vec<String>> {
    let (mut found, history) = (Vec::new(), ctx.repo.history());
    if short.is_empty() && long.is_empty() {
        return Ok(found);
    }
    for value in ctx.repo.refs().refs_below("refs/")?.iter().filter(|value| !is_ours(&value.name)) {
        let has = match history.has_one_of(&value.name, long, None)? {
            None if !short.is_empty() => history.has_one_of(&value.name, short, subject.path.as_ref())?,
            has => has,
        };
        let Some(oid) = has else { continue };
        if found.len() == NAMED {
            found.push("more refs have it in their history".to_owned());
            break;
        }
        found.push(format!("{} has {} in its history{}", value.name, oid.short(), elsewhere(&value.name)));
    }
    Ok(found)
}

/// What a ref tells of other machines.
fn elsewhere(name: &RefName) -> &'static str {
    if name.as_str().starts_with("refs/remotes/") { ": other machines have it too" } else { "" }
}

fn the_file_itself(ctx: &Context, subject: &PurgeSubject) -> Result<Vec<String>> {
    let Some(path) = &subject.path else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for entry in ctx.repo.worktrees().list()? {
        let place = entry.worktree.path().join(path.to_path());
        match files::metadata(&place) {
            Ok(Some(_)) => {
                let place = place.display();
                found.push(format!("the file '{place}' itself: ignore or delete it, or the next checkpoint holds it again"));
            }
            Ok(None) => {}
            // No checkpoint can read it either: that keeps nothing from being taken out.
            Err(error) => found.push(format!("perhaps the file itself, which cannot be seen: {error}")),
        }
    }
    Ok(found)
}
