//! Flat names: what a restore stages, and what it moves to its trash, lies in one folder, whatever its path. So no folder has
//! to be made for it. A name follows from the path alone, so a step that is repeated after a crash finds it again.

use std::fmt::Write;

use axiom_base::error::{Code, Error, Result};
use axiom_model::base::names::RepoPath;

/// How many bytes of a file's own name are kept. With the hash it fits where names may have 143 bytes (eCryptfs).
const TAIL: usize = 64;

/// The name of a path in a flat folder: the SHA-256 of the path, and the end of the file's own name, for human eyes.
///
/// Two paths never share a name, also where a file system takes upper and lower case, or two forms of a letter, for the
/// same: the hash alone tells them apart, and a name is plain ASCII.
pub(crate) fn flat_name(path: &RepoPath) -> Result<String> {
    let mut hasher = gix::hash::hasher(gix::hash::Kind::Sha256);
    hasher.update(path.as_bytes());
    let hash = hasher.try_finalize().map_err(|e| Error::new(Code::Internal, "a path has no hash").because(e))?;
    let own = path.file_name();
    let kept = &own[own.len().saturating_sub(TAIL)..];
    let mut name = String::with_capacity(2 * hash.as_bytes().len() + 1 + kept.len());
    write!(name, "{hash}-").map_err(|e| Error::new(Code::Internal, "a path has no name").because(e))?;
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    name.extend(kept.iter().map(|byte| if plain(byte) { char::from(*byte) } else { '_' }));
    Ok(name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn of(path: &[u8]) -> String {
        flat_name(&RepoPath::new(path)).unwrap()
    }

    #[test]
    fn the_name_of_a_path_is_the_same_in_every_build() {
        // printf src/main.rs | sha256sum
        let hash = "42cb6807ad74b3e201c5a7ca98b911c5fa08380e942be6e4ac5807f8377f87fc";
        assert_eq!(of(b"src/main.rs"), format!("{hash}-main.rs"));
    }

    #[test]
    fn every_path_has_a_name_of_its_own_that_every_file_system_takes() {
        let long = [b"d/".as_slice(), &[b'x'; 255]].concat();
        let paths: [&[u8]; 12] = [
            b"a",
            b"A",
            b"a/a",
            b"b/a",
            b"a_a",
            "\u{e9}".as_bytes(),
            "e\u{301}".as_bytes(),
            b"\xff\xfe",
            b"c \"\n",
            b"..",
            &long,
            &long[..256],
        ];
        let names: BTreeSet<String> = paths.iter().map(|path| of(path).to_ascii_lowercase()).collect();
        assert_eq!(names.len(), paths.len());
        for name in names {
            assert!(name.len() <= 143 && name.is_ascii() && !name.contains('/') && !name.contains('\n'), "{name}");
        }
    }
}
