//! What has to hold, whatever was done.

use std::os::unix::fs::MetadataExt;

use serde_json::Value;

use crate::common::Run;
use crate::common::nothing_lost::{Holders, blob};
use crate::histories::held;
use crate::histories::place::Place;
use crate::histories::places;
use crate::histories::world::{File, Submodule, Tree, World, is_at, keys};

/// Two looks see the same.
pub fn same(place: &Place, one: &World, two: &World, words: &str) {
    let differs = one.differs(two);
    assert!(differs.is_empty(), "{}{words}:\n{}", place.story(), differs.join("\n"));
}

/// Every content that lay in a worktree is there still: in a worktree, in a trash, or reachable from a ref or an index.
pub fn nothing_lost(place: &Place, before: &World, after: &World) {
    let now = after.all_contents();
    let stash = before.stash.iter().filter(|id| !after.stash.contains(id)).map(String::as_str);
    let gone = before.all_contents().into_iter().filter(|id| !now.contains(id)).chain(stash);
    let lost: Vec<String> = held::anywhere(place).lost(gone).into_iter().map(|id| whose(before, id)).collect();
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
    for (name, tree) in &world.worktrees {
        let files = tree.files.iter().filter_map(|(path, file)| Some((path.as_str(), file.id()?)));
        let staged = tree.index.lines().filter_map(|line| {
            let (facts, path) = line.split_once('\t')?;
            Some((path, facts.split(' ').nth(2)?))
        });
        for (path, id) in files.chain(staged) {
            place.paths.entry(id.to_owned()).or_default().insert(world.path_in_worktree(name, path));
        }
    }
    let mut ids: Vec<String> = world.contents().into_iter().map(str::to_owned).collect();
    for tree in world.worktrees.values() {
        let staged = tree.index.lines().filter(|line| !line.starts_with("S ")).filter_map(|line| line.split(' ').nth(2));
        // An announced file (`add -N`) has the id of nothing, a submodule's commit is elsewhere.
        let empty = blob(place.hash, b"");
        ids.extend(staged.filter(|id| *id != empty && !is_link(tree, id)).map(str::to_owned));
    }
    for (_, tree) in world.worktrees.iter().filter(|(_, tree)| tree.submodule.is_some()) {
        let commit = tree.submodule.iter().map(|one| one.commit.clone()).filter(|commit| !commit.is_empty());
        ids.extend(commit.clone());
        place.inside.extend(commit.chain(tree.files.values().filter_map(|file| file.id().map(str::to_owned))));
        place.inside.extend(tree.index.lines().filter_map(|line| line.split(' ').nth(2)).map(str::to_owned));
    }
    // A tag's own object is kept as text, and made again with the tag.
    ids.extend(world.tips.iter().cloned());
    ids.extend(world.stash.iter().cloned());
    for id in ids {
        place.owed.entry(id).or_insert_with(|| step.clone());
    }
}

fn is_link(tree: &Tree, id: &str) -> bool {
    tree.index.lines().any(|line| line.contains(id) && line.split(' ').nth(1) == Some("160000"))
}

/// After a rollback the main worktree with its submodules and the refs are as the checkpoint saved them, and what no capture holds is
/// as it was.
pub fn is_as_saved(place: &Place, name: &str, (before, after): (&World, &World), dry: &Run) {
    let saved = &place.checkpoints[name];
    assert!([saved, before, after].iter().all(|world| world.worktrees.contains_key("repo")), "{}no main worktree", place.story());
    let [then, now, was] = [saved, after, before].map(|world| world.whole("repo"));
    let is_purged = |path: &str| saved.purged.iter().any(|purged| is_at(path, purged));
    let is_in = |world: &World, path: &str| world.submodules_of("repo").any(|(at, _)| is_at(path, at));
    let not_held = submodules_not_held(place, saved, before, dry);
    // A submodule that is new since stays, as does what cannot be read.
    let stays = |path: &str| [&then, &was].iter().any(|tree| tree.is_closed(path)) || is_in(before, path) && !is_in(saved, path);
    for path in keys(&was.files, &now.files).into_iter().filter(|path| stays(path)) {
        let [was, now] = [&was, &now].map(|tree| tree.files.get(path));
        assert_eq!(was, now, "{}{path} could not be saved, and is not as it was", place.story());
    }
    for path in keys(&then.files, &now.files).into_iter().filter(|path| !is_purged(path) && !stays(path)) {
        let [saved_file, found] = [&then, &now].map(|tree| tree.files.get(path));
        let special = [saved_file, found].iter().any(|file| matches!(file, Some(File::Special)));
        let held_by_none = [&then, &now, &was].iter().any(|tree| tree.ignored.contains(path));
        let is_free = special || held_by_none && !is_in(saved, path) || not_held.iter().any(|at| is_at(path, at));
        if saved_file != found && !is_free && !only_narrower(saved_file, found) {
            panic!("{}{path} is not as checkpoint {name} saved it: {saved_file:?} -> {found:?}\n{dry}", place.story());
        }
    }
    indexes_and_heads(place, (saved, after), &not_held);
    for name in saved.refs.keys() {
        assert!(after.refs.contains_key(name), "{}{name} did not come back", place.story());
    }
    for id in &saved.stash {
        // Without a log (`git reflog expire`) the entry on top is one by its ref alone.
        let is_there = after.stash.contains(id) || after.refs.get("refs/stash") == Some(id);
        assert!(is_there, "{}stash entry {id} did not come back", place.story());
    }
}

fn indexes_and_heads(place: &Place, (saved, after): (&World, &World), not_held: &[String]) {
    let is_purged = |path: &str| saved.purged.iter().any(|purged| is_at(path, purged));
    let submodules = saved.submodules_of("repo").map(|(at, tree)| (at.to_owned(), tree));
    let submodules = submodules.filter(|(at, _)| !not_held.iter().any(|other| is_at(at, other)));
    for (at, then) in std::iter::once((String::new(), &saved.worktrees["repo"])).chain(submodules) {
        let name = format!("repo/{at}");
        let Some(now) = after.worktrees.get(name.trim_end_matches('/')) else {
            panic!("{}the submodule {at} did not come back", place.story());
        };
        let of_others = |index: &str| -> Vec<String> {
            let whole = |path: &str| if at.is_empty() { path.to_owned() } else { format!("{at}/{path}") };
            let stays = |line: &&str| line.split_once('\t').is_none_or(|(_, path)| !is_purged(&whole(path)));
            index.lines().filter(stays).map(str::to_owned).collect()
        };
        assert_eq!(of_others(&then.index), of_others(&now.index), "{}the index of {name} is not as saved", place.story());
        assert_eq!(then.sequencer, now.sequencer, "{}the operation in progress is not as saved", place.story());
        let commit = |tree: &Tree| tree.submodule.as_ref().map(|one| one.commit.clone());
        assert_eq!(commit(then), commit(now), "{}the commit of {name} is not as saved", place.story());
        // A branch of a submodule that an upstream has stays where it is: then its commit is checked out.
        let is_detached = commit(now).is_some_and(|commit| commit == now.head);
        assert!(
            then.head == now.head || is_detached,
            "{}HEAD of {name} is not as saved: {} -> {}",
            place.story(),
            then.head,
            now.head
        );
    }
}

/// The submodules of a checkpoint that it does not hold any more, since their repositories went or others took their places, or in
/// which it finds what it cannot save: the dry run has to name them.
fn submodules_not_held(place: &Place, saved: &World, before: &World, dry: &Run) -> Vec<String> {
    let document: Value = serde_json::from_str(&dry.stdout).unwrap();
    let named = |at: &str, reason: &str| {
        let mut all = document["notRestored"].as_array().into_iter().flatten();
        all.any(|one| one["path"] == at && one["reason"] == reason)
    };
    let went = |one: &Submodule| one.git_dir.metadata().map(|meta| meta.ino()).ok() != Some(one.inode);
    let mut not_held = Vec::new();
    for (at, tree) in saved.submodules_of("repo") {
        let one = tree.submodule.as_ref().unwrap();
        let now = before.submodules_of("repo").find(|(other, _)| *other == at).and_then(|(_, tree)| tree.submodule.as_ref());
        let is_another = now.is_some_and(|now| now.inode != one.inode);
        let has_moved = now.is_some_and(|now| now.inode == one.inode && now.git_dir != one.git_dir);
        if is_another || went(one) && !has_moved || named(at, "submoduleNotCaptured") && now.is_none() {
            not_held.push(at.to_owned());
            let reasons = ["submoduleNotHeld", "submoduleNotCaptured", "submoduleMoved", "submoduleReplaced"];
            let said = reasons.iter().any(|reason| named(at, reason));
            assert!(said, "{}the submodule {at} is not held, and that is not said:\n{dry}", place.story());
        }
    }
    not_held
}

/// What a checkpoint leaves out it names: what cannot be read, and worktrees that git cannot work with.
pub fn names_its_gaps(place: &Place, world: &World, run: &Run) {
    if !place.odd.is_any() {
        return;
    }
    let document: Value = serde_json::from_str(run.stdout.lines().last().unwrap_or_default()).unwrap();
    let coverage = |folder: &std::path::Path| document["coverage"][folder.to_str().unwrap()].clone();
    for (name, tree) in world.worktrees.iter().filter(|(_, tree)| tree.submodule.is_none()) {
        let named = coverage(&place.env.root().join(name))["unreadable"]["paths"].clone();
        let named: Vec<&str> = named.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let missing: Vec<&String> = tree.closed.iter().filter(|path| !named.contains(&path.as_str())).collect();
        // What git's index knows of it shows whether it was taken for unchanged.
        let known = || {
            let folder = place.env.root().join(name);
            let all = missing.iter().map(|path| {
                let index = place.env.try_git_in(&folder, &["ls-files", "--debug", "--", path.as_str()]).stdout;
                format!("{index}{:?}\n", folder.join(path).symlink_metadata())
            });
            all.collect::<String>()
        };
        let story = place.story();
        assert!(missing.is_empty(), "{story}in {name} {missing:?} cannot be read, and is not named:\n{run}\n{}", known());
    }
    for folder in &place.broken {
        // Where nothing says any more where it is, its registration is named.
        let registration = place.env.repo().join(".git/worktrees").join(folder.file_name().unwrap());
        let said = [folder, &registration].iter().any(|one| coverage(one)["notCaptured"].is_string());
        assert!(said || !registration.is_dir(), "{}{} is left out, and not named:\n{run}", place.story(), folder.display());
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
    places::open_all(place.env.root());
    let missing = held::anywhere(place).lost(place.owed.keys().map(String::as_str));
    let missing: Vec<String> = missing.into_iter().map(|id| format!("{id}, saved by '{}'", place.owed[id])).collect();
    assert!(missing.is_empty(), "{}can no longer be got back:\n{}", place.story(), missing.join("\n"));
    for git_dir in held::repositories(place) {
        // `git gc` takes the entry of a worktree away that names no folder, with the repositories of its submodules.
        if !git_dir.is_dir() {
            continue;
        }
        let fsck = Holders::git_of(&place.env, &git_dir, &["fsck", "--no-dangling", "--no-progress"]);
        assert_eq!(fsck.code, Some(0), "{}{}: {fsck}", place.story(), git_dir.display());
        let gc = Holders::git_of(&place.env, &git_dir, &["gc", "-q", "--prune=now"]);
        assert_eq!(gc.code, Some(0), "{}{}: {gc}", place.story(), git_dir.display());
    }
    if place.env.axiom_dir().is_dir() {
        // Tags and notes that others deleted come back; nothing else may be missing.
        for args in [&["checkpoint", "verify", "--repair"][..], &["checkpoint", "verify"]] {
            let verify = place.axiom(args);
            assert_eq!(verify.code, Some(0), "{}{verify}", place.story());
        }
    }
}
