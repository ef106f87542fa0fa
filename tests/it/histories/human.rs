//! What people do with git and with their files, between the verbs.

use std::path::PathBuf;

use crate::common::random::Random;
use crate::histories::place::Place;

const PATHS: [&str; 12] = [
    "a.txt",
    "sub/b.txt",
    "sub/deep/c.txt",
    "d.txt",
    "new.txt",
    "sub",
    "new/file.txt",
    "with space.txt",
    "-dash",
    "n\u{fc}.txt",
    "sub/x.ignored",
    "build/out.bin",
];
const BRANCHES: [&str; 4] = ["side", "topic", "other", "a/b"];

/// Edits three times out of five, else git.
pub fn step(place: &mut Place, dice: &mut Random) {
    if dice.below(5) < 3 { edit(place, dice) } else { git(place, dice) }
}

/// A worktree: mostly the main one.
pub fn somewhere(place: &Place, dice: &mut Random) -> PathBuf {
    let all = place.worktrees();
    if dice.once_in(3) { dice.pick(&all).cloned().unwrap_or_else(|| place.env.repo()) } else { place.env.repo() }
}

fn edit(place: &mut Place, dice: &mut Random) {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = somewhere(place, dice);
    let name = *dice.pick(&PATHS).unwrap();
    let path = folder.join(name);
    let what = ["write", "write", "write", "append", "remove", "exec", "link", "folder"];
    let what = *dice.pick(&what).unwrap();
    place.says(&format!("{what} {}", path.strip_prefix(place.env.root()).unwrap().display()));
    let text = place.text();
    let is_folder = path.is_dir() && !path.is_symlink();
    match what {
        "append" if path.is_file() => {
            let before = std::fs::read_to_string(&path).unwrap_or_default();
            let _ = std::fs::write(&path, before + &text);
        }
        "remove" if is_folder => drop(std::fs::remove_dir_all(&path)),
        "remove" => drop(std::fs::remove_file(&path)),
        "exec" if path.is_file() && !path.is_symlink() => {
            let mode = *dice.pick(&[0o755, 0o644, 0o600]).unwrap();
            let _ = std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode));
        }
        "link" if !is_folder => {
            let _ = std::fs::remove_file(&path);
            let _ = path.parent().map(std::fs::create_dir_all);
            let _ = symlink("a.txt", &path);
        }
        "folder" if path.is_file() => {
            let _ = std::fs::remove_file(&path);
            let _ = std::fs::create_dir_all(&path);
            let _ = std::fs::write(path.join("within.txt"), text);
        }
        _ => {
            let _ = path.parent().map(std::fs::create_dir_all);
            if path.is_symlink() {
                let _ = std::fs::remove_file(&path);
            }
            let _ = std::fs::write(&path, text);
        }
    }
}

fn git(place: &mut Place, dice: &mut Random) {
    let at = somewhere(place, dice);
    let branch = *dice.pick(&BRANCHES).unwrap();
    let other = *dice.pick(&BRANCHES).unwrap();
    let path = *dice.pick(&PATHS).unwrap();
    let linked = place.env.root().join(format!("linked-{}", dice.below(2)));
    let linked = linked.to_str().unwrap();
    let mut run = |args: &[&str]| drop(place.git_at(&at, args));
    match dice.below(42) {
        0..=3 => run(&["add", "-A"]),
        4 => run(&["add", "--", path]),
        5 => run(&["add", "-N", "--", path]),
        6..=8 => run(&["commit", "-q", "-a", "--allow-empty", "-m", "a person's"]),
        9 => run(&["commit", "-q", "--amend", "--allow-empty", "-m", "amended"]),
        10 => run(&["stash", "push", "-q", "-u"]),
        11 => run(&["stash", "push", "-q"]),
        12 => run(&["stash", "pop", "-q"]),
        13 => run(&["stash", "drop", "-q"]),
        14 => run(&["checkout", "-q", branch]),
        15 => run(&["checkout", "-q", "-b", branch]),
        16 => run(&["checkout", "-q", "--detach"]),
        17 => run(&["checkout", "-q", "-f"]),
        18 => run(&["branch", "-q", "-M", branch, other]),
        19 => run(&["branch", "-q", "-D", branch]),
        20 => run(&["branch", "-q", "-f", branch]),
        21 => run(&["tag", "-f", branch]),
        22 => run(&["tag", "-d", branch]),
        23 => run(&["tag", "-f", "-a", "-m", "words", "v2"]),
        24 => run(&["merge", "-q", "-m", "merge", branch]),
        25 => run(&["rebase", "-q", branch]),
        26 => run(&["cherry-pick", branch]),
        27 => {
            for what in ["merge", "rebase", "cherry-pick"] {
                run(&[what, "--abort"]);
            }
        }
        28 => run(&["worktree", "add", "-q", "--detach", linked]),
        29 => run(&["worktree", "remove", "--force", linked]),
        30 => run(&["worktree", "move", linked, &format!("{linked}-moved")]),
        31 => {
            run(&["reflog", "expire", "--expire=now", "--all"]);
            run(&["gc", "-q", "--prune=now"]);
        }
        32 => run(&["fetch", "-q", "--prune", "--prune-tags", "origin"]),
        33 => run(&["clean", "-q", "-fd"]),
        34 => run(&["reset", "-q", "--hard"]),
        // It deletes the workspaces and the trash as well.
        35 => run(&["clean", "-q", "-ffdx"]),
        36 => run(&["worktree", "prune"]),
        37 => {
            run(&["bisect", "start"]);
            run(&["bisect", "bad"]);
            run(&["bisect", "good", "v1"]);
        }
        38 => run(&["bisect", "reset"]),
        39 => run(&["sparse-checkout", "set", "sub"]),
        40 => run(&["sparse-checkout", "disable"]),
        _ => run(&["checkout", "-q", "main"]),
    }
}
