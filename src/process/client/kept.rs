//! Whether this process descends from a keeper, whatever became of its environment on the way.
//!
//! Orphans become children of their keeper, so on Linux nobody gets out of its line. Elsewhere parents are lost with their
//! processes and asking for them costs too much: there the environment alone says it.

use std::path::PathBuf;

/// What the keepers above this process were told: the path of a run's specification, or the git directory that a step is for.
/// Both are below, or are, the common git directory of their repository.
#[cfg(target_os = "linux")]
pub fn keepers_above() -> Vec<PathBuf> {
    /// No line of ancestors is longer.
    const MOST: usize = 256;
    let mut found = Vec::new();
    let mut pid = crate::process::os::sys::own_pid();
    for _ in 0..MOST {
        let Some(parent) = crate::process::os::sys::look(pid).map(|process| process.parent).filter(|parent| *parent > 1) else {
            break;
        };
        pid = parent;
        found.extend(std::fs::read(format!("/proc/{pid}/cmdline")).ok().and_then(|line| place_of_keeper(&line)));
    }
    found
}

/// Nobody knows.
#[cfg(not(target_os = "linux"))]
pub fn keepers_above() -> Vec<PathBuf> {
    Vec::new()
}

/// What a keeper was told, by its command line; `None` for any other process.
#[cfg(target_os = "linux")]
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

#[cfg(all(test, target_os = "linux"))]
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
