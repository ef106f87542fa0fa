//! Linked worktrees that git cannot work with: removed and made again by a server, or with a torn file.

use std::path::Path;

use super::write;
use crate::common::random::Random;
use crate::histories::place::Place;

/// Whether the folder of a worktree and its registration do not name each other.
pub fn is_broken(place: &Place, folder: &Path) -> bool {
    let read = |path: &Path| std::fs::read_to_string(path).unwrap_or_default().trim_end().to_owned();
    let registration = place.env.repo().join(".git/worktrees").join(folder.file_name().unwrap());
    read(&folder.join(".git")) != format!("gitdir: {}", registration.display())
        || read(&registration.join("gitdir")) != folder.join(".git").display().to_string()
}

/// Leaves the beginning of a file: nothing, or more than `beyond` bytes.
fn tear(path: &Path, beyond: usize, dice: &mut Random) {
    let Ok(content) = std::fs::read(path) else { return };
    let left = dice.below(content.len() as u64) as usize;
    let _ = std::fs::write(path, &content[..if left > beyond { left } else { 0 }]);
}

pub fn step(place: &mut Place, dice: &mut Random) {
    let name = format!("broken-{}", dice.below(2));
    let (folder, registration) = (place.env.root().join(&name), place.env.repo().join(".git/worktrees").join(&name));
    let path = folder.to_str().unwrap().to_owned();
    if !registration.is_dir() {
        place.says(&format!("a new worktree {name}"));
        let _ = std::fs::remove_dir_all(&folder);
        place.broken.remove(&folder);
        place.git(&["worktree", "add", "-q", "--detach", &path]);
        if folder.is_dir() {
            write(place, &folder.join("mine.txt"));
        }
        return;
    }
    match dice.below(6) {
        0 | 1 => {
            place.says(&format!("{name} is removed, and a server makes its folder again"));
            let _ = std::fs::remove_dir_all(&folder);
            write(place, &folder.join("node_modules/.vite/x"));
        }
        2 => {
            place.says(&format!("the gitdir of {name} is torn"));
            // `git worktree repair` would write a `.git` into a folder above the history's own.
            tear(&registration.join("gitdir"), place.env.root().as_os_str().len() + 1, dice);
        }
        3 => {
            place.says(&format!("the .git of {name} is torn"));
            tear(&folder.join(".git"), 0, dice);
        }
        4 => drop(place.git(&["worktree", "repair", &path])),
        _ => drop(place.git(&["worktree", "remove", "--force", &path])),
    }
    place.broken.insert(folder);
}
