//! Whether this process descends from a keeper, even if its environment was changed on the way.
//!
//! Where orphans become children of their keeper (Linux), no process can leave its line. Elsewhere one whose parent has ended does.

use std::path::PathBuf;

use axiom_base::platform;

/// The path argument of each keeper above this process: the specification of a run, or the git directory for which a step
/// runs. It is the common git directory of the keeper's repository, or below that.
pub fn keepers_above() -> Vec<PathBuf> {
    platform::command_lines_above().iter().filter_map(|line| place_of_keeper(line)).collect()
}

/// The path argument in a keeper's command line; `None` for any other process.
fn place_of_keeper(command_line: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    let mut words = command_line.split(|byte| *byte == 0);
    let program = words.next()?;
    if !program.ends_with(b"git-axiom") || words.next()? != b"keeper" {
        return None;
    }
    words.find(|word| [&b"--spec"[..], b"--step"].contains(word))?;
    words.next().map(|place| PathBuf::from(std::ffi::OsStr::from_bytes(place)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_keeper_is_known_by_its_command_line() {
        let place = |line: &str| place_of_keeper(line.replace(' ', "\0").as_bytes());
        assert_eq!(place("git-axiom keeper --spec /r/.git/axiom/x/spec.json"), Some("/r/.git/axiom/x/spec.json".into()));
        assert_eq!(place("git-axiom keeper --step /r/.git"), Some("/r/.git".into()));
        for other in ["git-axiom run", "git-axiom keeper", "sh keeper --spec /x", "", "git-axiom"] {
            assert_eq!(place(other), None, "{other}");
        }
    }
}
