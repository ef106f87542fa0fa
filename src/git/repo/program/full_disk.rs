//! A full disk in the words of git.

/// Whether git says that the disk is full, or that it could not write and not why.
pub(super) fn is_told_in(words: &str) -> bool {
    words.contains("No space left on device")
        || words.contains("Disk quota exceeded")
        // Of a pipe into a file of ours, whose file system is another one.
        || words.contains("Out of diskspace")
        // Git refuses to write an index that it has read damaged.
        || words.lines().any(could_not_write) && !words.contains("null sha1")
}

/// Whether git could not write what it had begun to write, and does not say why. There may be space again by now: it removes
/// what it could not finish.
fn could_not_write(line: &str) -> bool {
    // The last is the lock of a ref, which git could make.
    let writes =
        ["unable to write file ", "nable to write new index file", "nable to write new_index file", ": couldn't write '"];
    let reasons = ["Permission denied", "Read-only file system", "Input/output error", "Operation not permitted"];
    writes.iter().any(|words| line.contains(words)) && !reasons.iter().any(|reason| line.contains(reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_could_not_write_is_told_from_what_it_was_not_allowed_to() {
        let full = [
            "error: unable to write file 'large'\nfatal: Could not reset index file to revision 'HEAD'.",
            "fatal: unable to write new index file",
            "fatal: write error: No space left on device",
            "Preparing worktree (new branch 'n')\nfatal: cannot update ref 'refs/heads/n': couldn't write '/r/.git/refs/heads/n.lock'",
        ];
        for words in full {
            assert!(is_told_in(words), "{words}");
        }
        let others = [
            "error: unable to write file 'a': Permission denied",
            "fatal: Unable to create '/r/.git/refs/heads/n.lock': Read-only file system",
            "error: cache entry has null sha1: a\nfatal: unable to write new index file",
            "fatal: not a valid object name: 'couldnt'",
        ];
        for words in others {
            assert!(!is_told_in(words), "{words}");
        }
    }
}
