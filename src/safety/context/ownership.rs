//! Who may write in a repository. Files that root makes in a user's repository (`sudo`, a container) belong to root: the
//! user can no longer write the state, checkpoints and git's own files. So root is refused in the repository of another
//! user.

use std::os::unix::fs::MetadataExt;

use axiom_base::error::{Code, Error, Result};
use axiom_git::Repository;

/// Refuses root in a repository that another user owns.
pub fn root_is_the_owner(repo: &Repository) -> Result<()> {
    let common = repo.common_dir();
    let owner = std::fs::metadata(common).map_err(|e| Error::io("access", common, e))?.uid();
    if !locks_out(rustix::process::geteuid().as_raw(), owner) {
        return Ok(());
    }
    Err(Error::new(Code::NotTheOwner, format!("'{}' belongs to the user {owner}, and you are root", common.display()))
        .why("the owner could neither read nor change what root makes in it")
        .hint(format!("sudo -u '#{owner}' git axiom …    does it as the owner"))
        .hint(format!("in a container: run it with --user {owner}, or make root the owner")))
}

/// Whether files made by `user` are inaccessible to `owner`. Members of a group that shares a repository are allowed: git's
/// `core.sharedRepository` decides on the permissions there.
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
