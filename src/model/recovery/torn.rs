//! What a power loss leaves of a small file that git writes at once and does not sync: its beginning, perhaps followed by NUL
//! bytes, or nothing. The files that connect a worktree and its repository (`.git`, `gitdir`) end with a line end and hold
//! nothing that is not known from elsewhere: such a rest is healed, anything else is somebody's.

/// Whether a file holds only the beginning of `whole`, a line without its end. The line end alone is not missed.
pub fn is_torn(content: &[u8], whole: &[u8]) -> bool {
    let end = content.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let (begun, zeros) = content.split_at(end);
    let is_cut = begun.len() < whole.len() || !zeros.is_empty();
    is_cut && whole.starts_with(begun)
}

/// As [`is_torn`], where the line may have been written in several ways.
pub fn is_torn_of(content: &[u8], ways: &[Vec<u8>]) -> bool {
    ways.iter().any(|whole| is_torn(content, whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_beginning_of_a_line_is_a_rest_of_it() {
        let whole = b"gitdir: /r/.git/worktrees/w";
        for rest in [&b""[..], b"gitdir: ", b"gitdir: /r/.git", b"\0\0", b"gitdir: /r\0\0", b"gitdir: /r/.git/worktrees/w\0"] {
            assert!(is_torn(rest, whole), "{rest:?}");
        }
        for other in [&whole[..], b"gitdir: /r/.git/worktrees/w\n", b"gitdir: /r/.git\n", b"gitdir: /s", b"x", b"\0g"] {
            assert!(!is_torn(other, whole), "{other:?}");
        }
    }
}
