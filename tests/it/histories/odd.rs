//! Odd files, and damage that a tool or a person does beside us.

use std::os::unix::fs::PermissionsExt;

use crate::common::random::Random;
use crate::histories::human::somewhere;
use crate::histories::place::Place;

/// Makes one thing odd.
pub fn step(place: &mut Place, dice: &mut Random) {
    let at = somewhere(place, dice);
    let text = place.text();
    match dice.below(11) {
        0 => {
            place.says("odd: a fifo");
            let _ = rustix::fs::mknodat(
                rustix::fs::CWD,
                at.join("pipe"),
                rustix::fs::FileType::Fifo,
                rustix::fs::Mode::from_raw_mode(0o600),
                0,
            );
        }
        1 => {
            place.says("odd: a repository within");
            let within = at.join("within");
            place.has_repositories_within = true;
            if std::fs::create_dir_all(&within).is_ok() {
                place.git_at(&within, &["init", "-q"]);
                let _ = std::fs::write(within.join("file.txt"), text);
                if dice.once_in(2) {
                    place.git_at(&within, &["add", "-A"]);
                    place.git_at(&within, &["commit", "-q", "-m", "within"]);
                }
            }
        }
        2 => {
            place.says("odd: a private file");
            let _ = std::fs::write(at.join("private.txt"), text);
            let _ = std::fs::set_permissions(at.join("private.txt"), std::fs::Permissions::from_mode(0o600));
        }
        3 => {
            place.says("odd: a link that leads nowhere");
            let _ = std::os::unix::fs::symlink("nowhere/at all", at.join("dangling"));
        }
        4 => {
            place.says("odd: line ends");
            let _ = std::fs::write(at.join("crlf.txt"), text.replace('\n', "\r\n"));
        }
        5 => {
            place.says("odd: a name with a line end");
            let _ = std::fs::write(at.join("two\nlines"), text);
        }
        6 => {
            place.says("odd: a script");
            let _ = std::fs::write(at.join("run.sh"), text);
            let _ = std::fs::set_permissions(at.join("run.sh"), std::fs::Permissions::from_mode(0o755));
        }
        7 => {
            place.says("odd: the snapshot is gone");
            let _ = std::fs::remove_file(place.env.axiom_dir().join("state/snapshot.json"));
        }
        8 => drop(place.git(&["update-ref", "-d", "refs/notes/axiom"])),
        9 => {
            place.says("odd: an empty folder");
            let _ = std::fs::create_dir_all(at.join("empty/folder"));
        }
        _ => {
            place.says("odd: a folder of ignored files");
            let _ = std::fs::create_dir_all(at.join("build"));
            let _ = std::fs::write(at.join("build/made.bin"), text);
        }
    }
}
