//! Whether this process descends from a keeper, even if its environment was changed on the way.
//!
//! On Linux, orphans become children of their keeper, so no process can leave its line. On other systems, the parent of an
//! orphan is lost, and looking parents up is too expensive: there only the environment shows it.

use std::path::PathBuf;

#[cfg(target_os = "linux")]
use crate::os::sys;

/// The path argument of each keeper above this process: the specification of a run, or the git directory for which a step
/// runs. It is the common git directory of the keeper's repository, or below that.
#[cfg(target_os = "linux")]
pub fn keepers_above() -> Vec<PathBuf> {
    /// A limit to the number of ancestors.
    const MOST: usize = 256;
    let mut found = Vec::new();
    let mut above = rustix::process::getppid().map(|parent| parent.as_raw_nonzero().get());
    for _ in 0..MOST {
        let Some(pid) = above.filter(|pid| *pid > 1) else { break };
        // A keeper's place is among its first words.
        found.extend(sys::of_kernel(&format!("/proc/{pid}/cmdline")).and_then(|line| place_of_keeper(&line)));
        above = sys::look(pid).map(|process| process.parent);
    }
    found
}

/// Unknown on this system.
#[cfg(not(target_os = "linux"))]
pub fn keepers_above() -> Vec<PathBuf> {
    Vec::new()
}

/// The path argument in a keeper's command line; `None` for any other process.
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
