//! What has to hold, whatever was done.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use crate::look::{File, World, blob, keys};
use crate::place::Place;
use crate::purged::is_at;

/// Two looks see the same.
pub fn same(place: &Place, one: &World, two: &World, words: &str) {
    let differs = one.differs(two);
    assert!(differs.is_empty(), "{}{words}:\n{}", place.story(), differs.join("\n"));
}

/// Every content that lay in a worktree is there still: in a worktree, in a trash, or reachable from a ref or an index.
pub fn nothing_lost(place: &Place, before: &World, after: &World) {
    let now = after.all_contents();
    let gone: Vec<&str> = before.all_contents().into_iter().filter(|id| !now.contains(id)).collect();
    if gone.is_empty() {
        return;
    }
    let there = on_disk(place);
    let gone: Vec<&str> = gone.into_iter().filter(|id| !there.contains(*id)).collect();
    if gone.is_empty() {
        return;
    }
    let reachable = reachable(place);
    let lost: Vec<String> = gone.into_iter().filter(|id| !reachable.contains(*id)).map(|id| whose(before, id)).collect();
    assert!(lost.is_empty(), "{}lost:\n{}", place.story(), lost.join("\n"));
}

fn whose(world: &World, id: &str) -> String {
    let files = world.worktrees.iter().flat_map(|(name, tree)| tree.files.iter().map(move |(path, file)| (name, path, file)));
    let paths: Vec<String> =
        files.filter(|(_, _, file)| file.id() == Some(id)).map(|(name, path, _)| format!("{name}/{path}")).collect();
    format!("{id} ({})", paths.join(", "))
}

/// From now on all that a capture holds can be got back: files, staged contents, refs, stash entries.
pub fn owes(place: &mut Place, world: &World) {
    let step = place.last();
    for tree in world.worktrees.values() {
        let files = tree.files.iter().filter_map(|(path, file)| Some((path.as_str(), file.id()?)));
        let staged = tree.index.lines().filter_map(|line| {
            let (facts, path) = line.split_once('\t')?;
            Some((path, facts.split(' ').nth(2)?))
        });
        for (path, id) in files.chain(staged) {
            place.paths.entry(id.to_owned()).or_default().insert(path.to_owned());
        }
    }
    let mut ids: Vec<String> = world.contents().into_iter().map(str::to_owned).collect();
    for tree in world.worktrees.values() {
        let staged = tree.index.lines().filter(|line| !line.starts_with("S ")).filter_map(|line| line.split(' ').nth(2));
        // An announced file (`add -N`) has the id of nothing, a submodule's commit is elsewhere.
        let empty = blob(place.hash, b"");
        ids.extend(staged.filter(|id| *id != empty && !is_link(tree, id)).map(str::to_owned));
    }
    // A tag's own object is kept as text, and made again with the tag.
    ids.extend(world.tips.iter().cloned());
    ids.extend(world.stash.iter().cloned());
    for id in ids {
        place.owed.entry(id).or_insert_with(|| step.clone());
    }
}

fn is_link(tree: &crate::look::Tree, id: &str) -> bool {
    tree.index.lines().any(|line| line.contains(id) && line.split(' ').nth(1) == Some("160000"))
}

/// After a rollback the main worktree and the refs are as the checkpoint saved them.
pub fn is_as_saved(place: &Place, name: &str, before: &World, after: &World) {
    let saved = &place.checkpoints[name];
    let (Some(then), Some(now), Some(was)) =
        (saved.worktrees.get("repo"), after.worktrees.get("repo"), before.worktrees.get("repo"))
    else {
        panic!("{}no main worktree", place.story());
    };
    let held_by_none = |path: &String| [then, now, was].iter().any(|tree| tree.ignored.contains(path));
    let is_purged = |path: &str| saved.purged.iter().any(|purged| is_at(path, purged));
    for path in keys(&then.files, &now.files).into_iter().filter(|path| !is_purged(path)) {
        let [saved, found] = [then, now].map(|tree| tree.files.get(path));
        let special = [saved, found].iter().any(|file| matches!(file, Some(File::Special)));
        if saved != found && !special && !held_by_none(path) && !only_narrower(saved, found) {
            panic!("{}{path} is not as checkpoint {name} saved it: {saved:?} -> {found:?}", place.story());
        }
    }
    let of_others = |index: &str| -> Vec<String> {
        let stays = |line: &&str| line.split_once('\t').is_none_or(|(_, path)| !is_purged(path));
        index.lines().filter(stays).map(str::to_owned).collect()
    };
    assert_eq!(of_others(&then.index), of_others(&now.index), "{}the index is not as saved", place.story());
    assert_eq!(then.head, now.head, "{}HEAD is not as saved", place.story());
    assert_eq!(then.sequencer, now.sequencer, "{}the operation in progress is not as saved", place.story());
    for name in saved.refs.keys() {
        assert!(after.refs.contains_key(name), "{}{name} did not come back", place.story());
    }
    for id in &saved.stash {
        // Without a log (`git reflog expire`) the entry on top is one by its ref alone.
        let is_there = after.stash.contains(id) || after.refs.get("refs/stash") == Some(id);
        assert!(is_there, "{}stash entry {id} did not come back", place.story());
    }
}

/// Whether only fewer may read a file now: of an unchanged file no permissions are saved, and what is closed stays closed.
fn only_narrower(saved: Option<&File>, found: Option<&File>) -> bool {
    match (saved, found) {
        (Some(File::Regular(one, saved)), Some(File::Regular(other, found))) => one == other && saved & found == *found,
        _ => false,
    }
}

/// Nothing that was ever saved is missing, and git finds nothing wrong.
pub fn at_the_end(place: &mut Place) {
    let reachable = reachable(place);
    let there = on_disk(place);
    let missing: Vec<String> = place
        .owed
        .iter()
        .filter(|(id, _)| !reachable.contains(*id) && !there.contains(*id))
        .map(|(id, step)| format!("{id}, saved by '{step}'"))
        .collect();
    assert!(missing.is_empty(), "{}can no longer be got back:\n{}", place.story(), missing.join("\n"));
    let fsck = place.env.try_git(&["fsck", "--no-dangling", "--no-progress"]);
    assert_eq!(fsck.code, Some(0), "{}{fsck}", place.story());
    let gc = place.env.try_git(&["gc", "-q", "--prune=now"]);
    assert_eq!(gc.code, Some(0), "{}{gc}", place.story());
    if place.env.axiom_dir().is_dir() {
        // Tags and notes that others deleted come back; nothing else may be missing.
        for args in [&["checkpoint", "verify", "--repair"][..], &["checkpoint", "verify"]] {
            let verify = place.axiom(args);
            assert_eq!(verify.code, Some(0), "{}{verify}", place.story());
        }
    }
}

/// Objects that a ref, an index, a worktree's HEAD or a stash entry reaches.
pub fn reachable(place: &Place) -> BTreeSet<String> {
    let stash = place.env.try_git(&["stash", "list", "--format=%H"]).stdout;
    let mut args = vec!["rev-list", "--objects", "--all", "--indexed-objects", "--no-object-names"];
    args.extend(stash.lines());
    let run = place.env.try_git(&args);
    assert_eq!(run.code, Some(0), "{}{run}", place.story());
    run.stdout.lines().map(str::to_owned).collect()
}

/// The contents of all files, trash included, that are no part of git's own data.
fn on_disk(place: &Place) -> BTreeSet<String> {
    let ours = place.env.repo().join(".git");
    let walk = walkdir::WalkDir::new(place.env.root()).into_iter().filter_entry(|entry| entry.path() != ours);
    let files = walk.flatten().filter(|entry| entry.file_type().is_file());
    files.filter_map(|entry| std::fs::read(entry.path()).ok()).map(|content| blob(place.hash, &content)).collect()
}

/// The names of all points at which a debug build can be killed.
pub fn fault_points() -> Vec<&'static str> {
    static POINTS: OnceLock<Vec<String>> = OnceLock::new();
    let find = || {
        let mut points = BTreeSet::new();
        let sources = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        for entry in walkdir::WalkDir::new(sources).into_iter().flatten().filter(|entry| entry.file_type().is_file()) {
            let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
            let found = text.split("fault_point(\"").skip(1).filter_map(|rest| rest.split('"').next());
            points.extend(found.map(str::to_owned));
        }
        points.into_iter().collect()
    };
    POINTS.get_or_init(find).iter().map(String::as_str).collect()
}
