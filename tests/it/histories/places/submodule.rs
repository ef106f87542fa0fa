//! A submodule: files in it, staged ones, commits, branches; removed, initialised again, in linked worktrees.

use std::path::Path;

use super::{somewhere, write};
use crate::common::random::Random;
use crate::histories::place::Place;

/// From a path of this machine: git asks for leave.
const UPDATE: [&str; 7] = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init", "--recursive"];

pub fn set_up(place: &mut Place, dice: &mut Random) {
    let root = place.env.root().to_owned();
    let origins = if dice.once_in(3) { vec!["origin-deep", "origin"] } else { vec!["origin"] };
    for (number, name) in origins.iter().enumerate() {
        let mut init = vec!["init", "-q", "-b", "main"];
        init.extend((place.hash == gix::hash::Kind::Sha256).then_some("--object-format=sha256"));
        init.push(name);
        place.env.git_in(&root, &init);
        let origin = root.join(name);
        write(place, &origin.join("s.txt"));
        write(place, &origin.join("in/t.txt"));
        place.env.git_in(&origin, &["add", "-A"]);
        if number > 0 {
            add(place, &origin, &root.join(origins[number - 1]), "deep");
        }
        place.env.git_in(&origin, &["commit", "-q", "-m", "of a submodule"]);
    }
    let repo = place.env.repo();
    add(place, &repo, &root.join("origin"), "sm");
    place.env.git(&UPDATE);
    place.env.git(&["commit", "-q", "-m", "a submodule"]);
    if dice.once_in(2) {
        place.env.git(&["branch", "-q", "-f", "side"]);
    }
}

fn add(place: &Place, folder: &Path, origin: &Path, name: &str) {
    let origin = origin.to_str().unwrap();
    place.env.git_in(folder, &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", origin, name]);
}

pub fn step(place: &mut Place, dice: &mut Random) {
    let at = somewhere(place, dice);
    let sm = match dice.once_in(4) {
        true => at.join("sm/deep"),
        false => at.join("sm"),
    };
    if !sm.join(".git").exists() {
        place.git_at(&at, &UPDATE);
        return;
    }
    match dice.below(24) {
        0..=7 => {
            let path = *dice.pick(&["s.txt", "in/t.txt", "new.txt", "more/x.txt"]).unwrap();
            place.says(&format!("write {}/{path}", sm.display()));
            write(place, &sm.join(path));
        }
        8 => {
            place.says(&format!("remove s.txt of {}", sm.display()));
            let _ = std::fs::remove_file(sm.join("s.txt"));
        }
        9..=10 => drop(place.git_at(&sm, &["add", "-A"])),
        11..=12 => drop(place.git_at(&sm, &["commit", "-q", "-a", "--allow-empty", "-m", "in a submodule"])),
        13 => drop(place.git_at(&sm, &["checkout", "-q", "-b", "topic"])),
        14 => drop(place.git_at(&sm, &["checkout", "-q", "--detach"])),
        15 => drop(place.git_at(&sm, &["reset", "-q", "--hard"])),
        16 => drop(place.git_at(&sm, &["clean", "-q", "-ffd"])),
        17 => drop(place.git_at(&sm, &["stash", "push", "-q", "-u"])),
        18 => {
            place.git_at(&sm, &["reflog", "expire", "--expire=now", "--all"]);
            place.git_at(&sm, &["gc", "-q", "--prune=now"]);
        }
        19 => drop(place.git_at(&at, &["submodule", "deinit", "-q", "-f", "sm"])),
        20 => {
            place.says(&format!("remove {}", sm.display()));
            let _ = std::fs::remove_dir_all(&sm);
        }
        21 => drop(place.git_at(&at, &["commit", "-q", "-m", "moves the submodule", "--", "sm"])),
        22 => {
            let linked = place.env.root().join("linked-0");
            place.git(&["worktree", "add", "-q", "--detach", linked.to_str().unwrap(), "main"]);
            if linked.is_dir() {
                place.git_at(&linked, &UPDATE);
            }
        }
        _ => drop(place.git_at(&at, &UPDATE)),
    }
}
