//! Git's own names as types: object ids, full ref names, paths within a repository.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::base::forms::hex::{from_hex, to_hex};
use axiom_base::error::{Code, Error, Result};

/// An object id: 40 (SHA-1) or 64 (SHA-256) lower-case hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Oid(Box<str>);

impl Oid {
    /// Checks and makes an object id.
    pub fn new(text: impl Into<String>) -> Result<Self> {
        let text = text.into();
        if Self::is_id(text.as_bytes()) { Ok(Self(text.into_boxed_str())) } else { Err(Self::is_none(&text)) }
    }

    /// The id with these 20 (SHA-1) or 32 (SHA-256) bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let text = to_hex(bytes);
        if matches!(bytes.len(), 20 | 32) { Ok(Self(text.into_boxed_str())) } else { Err(Self::is_none(&text)) }
    }

    fn is_none(text: &str) -> Error {
        Error::new(Code::InvalidInput, format!("'{text}' is not an object id"))
    }

    fn is_id(text: &[u8]) -> bool {
        // No early exit: without it, many bytes are compared at once.
        let is_hex = |all: bool, b: &u8| all & (b.is_ascii_digit() | (b'a'..=b'f').contains(b));
        (text.len() == 40 || text.len() == 64) && text.iter().fold(true, is_hex)
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first ten digits, for people.
    pub fn short(&self) -> &str {
        &self.0[..10]
    }
}

impl TryFrom<String> for Oid {
    type Error = Error;
    fn try_from(text: String) -> Result<Self> {
        Self::new(text)
    }
}

impl Serialize for Oid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Oid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        /// Reads an id without making an owned string first: a snapshot has tens of thousands of ids.
        struct OidVisitor;
        impl serde::de::Visitor<'_> for OidVisitor {
            type Value = Oid;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object id")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Oid, E> {
                if Oid::is_id(text.as_bytes()) { Ok(Oid(text.into())) } else { Err(E::custom(Oid::is_none(text))) }
            }
        }
        deserializer.deserialize_str(OidVisitor)
    }
}

impl From<Oid> for String {
    fn from(oid: Oid) -> String {
        oid.0.into()
    }
}

impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// The prefix by which git names the refs of one linked worktree in the other worktrees: `worktrees/<name>/refs/…`.
pub const LINKED: &str = "worktrees/";

/// A full ref name, `refs/…`, or a pseudo ref such as `HEAD`.
///
/// git allows names that are not UTF-8. Here, in JSON and for people every name is text: a byte that is not UTF-8 is written
/// as `\351`, in octal digits, as git quotes it. That cannot be the name of another ref, because git allows no backslash in
/// a ref name. For git and for file names, use [`RefName::in_git`].
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RefName(String);

impl RefName {
    /// A ref by its full name. The name is not checked: git does that when the ref is written.
    pub fn new(full: impl Into<String>) -> Self {
        Self(full.into())
    }

    /// The branch `refs/heads/<short>`.
    pub fn branch(short: &str) -> Self {
        Self(format!("refs/heads/{short}"))
    }

    /// A branch as people and git name it: by its short or its full name.
    pub fn branch_named(name: &str) -> Self {
        Self::branch(name.strip_prefix("refs/heads/").unwrap_or(name))
    }

    /// A ref by the name that git printed or stored.
    pub fn of_git(name: &[u8]) -> Self {
        Self(spelled(name).into_owned())
    }

    /// The full name as text: for people, JSON and git axiom's own lists.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The full name as git has it.
    pub fn in_git(&self) -> Cow<'_, OsStr> {
        unspelled(&self.0)
    }

    /// The short name for git, where `refs/heads/` or `refs/tags/` is implied.
    pub fn short_in_git(&self) -> Cow<'_, OsStr> {
        unspelled(self.short())
    }

    /// The short name, quoted for a shell.
    pub fn short_in_shell(&self) -> String {
        let short = self.short();
        if short.contains('\\') { format!("$'{}'", short.replace('\'', "\\'")) } else { short.to_owned() }
    }

    /// Whether it is a ref of one linked worktree, with the name that git uses in the other worktrees:
    /// `worktrees/<name>/refs/…`.
    pub fn is_of_a_linked_worktree(&self) -> bool {
        self.0.starts_with(LINKED)
    }

    /// The name as people write it: without `refs/heads/` or `refs/tags/`.
    pub fn short(&self) -> &str {
        let name = self.0.as_str();
        name.strip_prefix("refs/heads/").or_else(|| name.strip_prefix("refs/tags/")).unwrap_or(name)
    }
}

impl fmt::Display for RefName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Bytes as text, without loss: each byte that is not UTF-8, and each backslash, becomes `\NNN`.
pub fn spelled(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains('\\') => Cow::Borrowed(text),
        Ok(_) | Err(_) => {
            let mut text = String::with_capacity(bytes.len() + 8);
            for chunk in bytes.utf8_chunks() {
                text.push_str(&chunk.valid().replace('\\', "\\134"));
                text.extend(chunk.invalid().iter().map(|byte| format!("\\{byte:03o}")));
            }
            Cow::Owned(text)
        }
    }
}

/// The inverse of [`spelled`]. A backslash without three octal digits is kept as it is.
fn unspelled(text: &str) -> Cow<'_, OsStr> {
    if !text.contains('\\') {
        return Cow::Borrowed(OsStr::new(text));
    }
    let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text.as_bytes());
    while let Some((first, after)) = rest.split_first() {
        let octal = after.get(..3).filter(|_| *first == b'\\').and_then(|three| std::str::from_utf8(three).ok());
        let is_octal = |three: &&str| three.bytes().all(|digit| matches!(digit, b'0'..=b'7'));
        match octal.filter(is_octal).and_then(|three| u8::from_str_radix(three, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[3..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    Cow::Owned(OsString::from_vec(bytes))
}

/// A path within a repository, as git stores it: bytes, `/` between the parts, perhaps not UTF-8.
///
/// In JSON it is a string; a path that is not UTF-8 is `{"hex": "…"}`, so nothing is lost.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RepoPath(Vec<u8>);

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum RepoPathJson {
    Text(String),
    Bytes { hex: String },
}

impl RepoPath {
    /// A path from git's bytes.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Its folder (empty for the topmost folder) and its name there.
    pub fn split(&self) -> (&[u8], &[u8]) {
        match self.0.iter().rposition(|byte| *byte == b'/') {
            Some(at) => (&self.0[..at], &self.0[at + 1..]),
            None => (b"", &self.0),
        }
    }

    /// All folders that contain it, topmost first, without the root of the worktree.
    pub fn folders_above(&self) -> impl Iterator<Item = RepoPath> {
        let ends = self.0.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        ends.map(|(end, _)| Self::new(&self.0[..end]))
    }

    /// The path of what has this path within it: `self/inner`. Empty paths are the folder itself.
    #[must_use]
    pub fn join(&self, inner: &Self) -> Self {
        match (self.0.is_empty(), inner.0.is_empty()) {
            (true, _) => inner.clone(),
            (_, true) => self.clone(),
            (false, false) => Self([self.0.as_slice(), b"/", &inner.0].concat()),
        }
    }

    /// Its path within a folder, where it is that folder (then empty) or below it.
    pub fn within(&self, folder: &Self) -> Option<Self> {
        let rest = self.0.strip_prefix(folder.0.as_slice())?;
        match rest.split_first() {
            None => Some(Self(Vec::new())),
            Some((b'/', rest)) => Some(Self::new(rest)),
            Some(_) if folder.0.is_empty() => Some(self.clone()),
            Some(_) => None,
        }
    }

    /// Its name within its folder.
    pub fn file_name(&self) -> &[u8] {
        self.split().1
    }

    /// The path for the operating system, relative to the worktree.
    pub fn to_path(&self) -> std::path::PathBuf {
        std::path::PathBuf::from(OsStr::from_bytes(&self.0))
    }
}

impl fmt::Display for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.0))
    }
}

impl Serialize for RepoPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(&self.0) {
            Ok(text) => text.serialize(serializer),
            Err(_) => RepoPathJson::Bytes { hex: to_hex(&self.0) }.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for RepoPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match RepoPathJson::deserialize(deserializer)? {
            RepoPathJson::Text(text) => Ok(Self(text.into_bytes())),
            RepoPathJson::Bytes { hex } => {
                from_hex(&hex).map(Self).ok_or_else(|| serde::de::Error::custom("a path's hex is damaged"))
            }
        }
    }
}

/// `a/./b/../c` as `a/c`, as it is written: whether something is a link is not looked at.
pub fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ref_name_is_text_without_loss() {
        for (bytes, text) in [
            (&b"refs/heads/caf\xe9"[..], "refs/heads/caf\\351"),
            (b"refs/heads/\xff\xfe/x\xc3\xa9", "refs/heads/\\377\\376/x\u{e9}"),
            (b"refs/heads/caf\\351", "refs/heads/caf\\134351"),
            (b"refs/heads/main", "refs/heads/main"),
            (b"", ""),
        ] {
            let name = RefName::of_git(bytes);
            assert_eq!((name.as_str(), name.in_git().as_bytes()), (text, bytes));
            let json = serde_json::to_string(&name).unwrap();
            assert_eq!(serde_json::from_str::<RefName>(&json).unwrap(), name);
        }
        for text in ["a\\", "a\\9b", "\\777x", "\\3\u{e9}"] {
            assert_eq!(RefName::new(text).in_git(), OsStr::new(text));
        }
        assert_eq!(RefName::of_git(b"refs/heads/caf\xe9").short_in_shell(), "$'caf\\351'");
    }

    #[test]
    fn a_path_has_a_folder_and_a_name() {
        assert_eq!(RepoPath::new("a/b/c").split(), (&b"a/b"[..], &b"c"[..]));
        assert_eq!(RepoPath::new("c").split(), (&b""[..], &b"c"[..]));
        let above: Vec<String> = RepoPath::new("a/b/c").folders_above().map(|folder| folder.to_string()).collect();
        assert_eq!(above, ["a", "a/b"]);
    }

    #[test]
    fn a_path_that_is_not_utf8_survives_json() {
        for bytes in [&b"a/b"[..], b"\xff\xfe", b""] {
            let path = RepoPath::new(bytes);
            let json = serde_json::to_string(&path).unwrap();
            assert_eq!(serde_json::from_str::<RepoPath>(&json).unwrap(), path, "{json}");
        }
    }
}
