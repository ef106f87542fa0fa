//! Files of Git LFS, with its real program.

use super::{somewhere, write};
use crate::common::random::Random;
use crate::histories::place::Place;
use crate::skipped::skipped;

const KEYS: [(&str, &str); 3] =
    [("clean", "git-lfs clean -- %f"), ("smudge", "git-lfs smudge -- %f"), ("process", "git-lfs filter-process")];

pub fn set_up(place: &mut Place) {
    if place.env.try_git(&["lfs", "install", "--local"]).code != Some(0) {
        skipped("git-lfs is not installed: no history has files of Git LFS");
        return;
    }
    place.attribute("*.bin filter=lfs diff=lfs merge=lfs -text");
    let repo = place.env.repo();
    for path in ["big.bin", "sub/l.bin"] {
        write(place, &repo.join(path));
    }
    place.env.git(&["add", "-A"]);
    place.env.git(&["commit", "-q", "-m", "large files"]);
}

pub fn step(place: &mut Place, dice: &mut Random) {
    let at = somewhere(place, dice);
    match dice.below(12) {
        0..=5 => {
            let path = *dice.pick(&["big.bin", "sub/l.bin", "new.bin"]).unwrap();
            place.says(&format!("write {}/{path}", at.display()));
            write(place, &at.join(path));
        }
        6..=7 => drop(place.git_at(&at, &["add", "-A"])),
        8 => drop(place.git_at(&at, &["commit", "-q", "-a", "-m", "large files"])),
        9 => {
            // `git lfs prune` deletes what only our refs name.
            place.says("the contents of Git LFS are gone");
            let _ = std::fs::remove_dir_all(place.env.repo().join(".git/lfs/objects"));
        }
        10 => {
            place.says("git-lfs is not on the PATH any more");
            for (key, _) in KEYS {
                place.env.git(&["config", &format!("filter.lfs.{key}"), "no-such-program"]);
            }
        }
        _ => {
            place.says("git-lfs is there again");
            for (key, value) in KEYS {
                place.env.git(&["config", &format!("filter.lfs.{key}"), value]);
            }
        }
    }
}
