//! Who may write in a repository. What root makes in a user's repository (`sudo`, a container) belongs to root, and locks the
//! user out of the state, of checkpoints, of git's own files: so root is refused where the repository is somebody else's.

use std::os::unix::fs::MetadataExt;

use crate::error::{Code, Error, Result};
use crate::git::Repository;

/// Checks that what we make here belongs to the repository's owner, or was made by somebody who shares it on purpose.
///
/// # Errors
/// `NOT_THE_OWNER`; `IO_FAILED`.
pub fn root_is_the_owner(repo: &Repository) -> Result<()> {
    let common = repo.common_dir();
    let owner = std::fs::metadata(common).map_err(|e| Error::io("look at", common, e))?.uid();
    if !locks_out(rustix::process::geteuid().as_raw(), owner) {
        return Ok(());
    }
    Err(Error::new(Code::NotTheOwner, format!("'{}' belongs to the user {owner}, and you are root", common.display()))
        .why("what root makes in it, its owner can neither read nor change")
        .hint(format!("sudo -u '#{owner}' git axiom …    does it as the owner"))
        .hint(format!("in a container: run it with --user {owner}, or make root the owner")))
}

/// Whether what a user makes keeps the owner out. Members of a group that shares a repository do not: they see what git lets
/// them see.
fn locks_out(user: u32, owner: u32) -> bool {
    user == 0 && owner != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_root_in_another_s_repository_locks_the_owner_out() {
        let table = [(0, 0, false), (0, 1000, true), (1000, 1000, false), (1000, 1001, false), (1000, 0, false)];
        for (user, owner, wanted) in table {
            assert_eq!(locks_out(user, owner), wanted, "{user} {owner}");
        }
    }
}
