//! Reading and writing objects.
//!
//! What is written here is on disk only after [`Repository::sync_objects`]; changing a ref does that by itself.

use crate::domain::names::Oid;
use crate::env;
use crate::error::{Code, Error, Result};

use super::repository::{HashKind, Repository};

/// Who and when, as it stands in a commit or tag.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Signature {
    /// The name.
    pub name: String,
    /// The mail address.
    pub email: String,
    /// Seconds since 1970, UTC.
    pub seconds: i64,
}

impl std::fmt::Display for Signature {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} <{}> {} +0000", self.name, self.email, self.seconds)
    }
}

/// A commit to be written. The same values give the same id.
#[derive(Debug, Clone)]
pub struct NewCommit<'a> {
    /// Its tree.
    pub tree: &'a Oid,
    /// Its parents, in order.
    pub parents: Vec<Oid>,
    /// Author and committer.
    pub who: &'a Signature,
    /// The message; a missing line end is added.
    pub message: &'a str,
}

/// One entry of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeEntry {
    /// The mode, such as `0o100644`.
    pub mode: u32,
    /// The object.
    pub oid: Oid,
    /// The name, without `/`.
    pub name: Vec<u8>,
}

/// What a commit says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitData {
    /// Its tree.
    pub tree: Oid,
    /// Its parents, in order.
    pub parents: Vec<Oid>,
    /// Its message.
    pub message: String,
}

/// Mode of a submodule's entry.
pub const GITLINK: u32 = 0o160_000;
/// Mode of a folder's entry.
pub const TREE: u32 = 0o040_000;
/// Mode of a symbolic link's entry.
pub const SYMLINK: u32 = 0o120_000;

/// The largest commit or tree that is read.
const STRUCTURE_LIMIT: u64 = 256 * 1024 * 1024;

impl Repository {
    /// The user's identity, now.
    ///
    /// # Errors
    /// `IDENTITY_MISSING`.
    pub fn signature(&self) -> Result<Signature> {
        let who = self.identity()?;
        Ok(Signature { name: who.name, email: who.email, seconds: env::now().as_second() })
    }

    /// Writes raw object content; git checks that it is well formed.
    ///
    /// # Errors
    /// `GIT_FAILED`, `DISK_FULL`.
    pub fn write_object(&self, kind: &str, content: impl Into<Vec<u8>>) -> Result<Oid> {
        Oid::new(self.git().writing().args(["hash-object", "-w", "--stdin", "-t", kind]).stdin(content).text()?)
    }

    /// Writes a blob.
    ///
    /// # Errors
    /// As [`Repository::write_object`].
    pub fn write_blob(&self, content: &[u8]) -> Result<Oid> {
        self.write_object("blob", content)
    }

    /// Writes a tree; git sorts the entries.
    ///
    /// # Errors
    /// As [`Repository::write_object`].
    pub fn write_tree(&self, entries: &[TreeEntry]) -> Result<Oid> {
        let mut input = Vec::new();
        for TreeEntry { mode, oid, name } in entries {
            let kind = match *mode {
                TREE => "tree",
                GITLINK => "commit",
                _ => "blob",
            };
            input.extend_from_slice(format!("{mode:06o} {kind} {oid}\t").as_bytes());
            input.extend_from_slice(name);
            input.push(0);
        }
        Oid::new(self.git().writing().args(["mktree", "-z"]).stdin(input).text()?)
    }

    /// The tree without entries, which is written where it is missing.
    ///
    /// # Errors
    /// As [`Repository::write_object`].
    pub fn empty_tree(&self) -> Result<Oid> {
        self.write_tree(&[])
    }

    /// Writes a commit. No hook runs and nothing is signed.
    ///
    /// # Errors
    /// As [`Repository::write_object`].
    pub fn write_commit(&self, commit: &NewCommit<'_>) -> Result<Oid> {
        let mut content = format!("tree {}\n", commit.tree);
        for parent in &commit.parents {
            content.push_str(&format!("parent {parent}\n"));
        }
        let end = if commit.message.ends_with('\n') { "" } else { "\n" };
        content.push_str(&format!("author {0}\ncommitter {0}\n\n{1}{end}", commit.who, commit.message));
        self.write_object("commit", content)
    }

    /// The commit that stands in for a missing parent: empty tree, no parent, always the same id.
    ///
    /// # Errors
    /// As [`Repository::write_object`].
    pub fn root_commit(&self) -> Result<Oid> {
        let who = Signature { name: "git axiom".into(), email: "git-axiom@localhost".into(), seconds: 0 };
        let tree = self.empty_tree()?;
        self.write_commit(&NewCommit { tree: &tree, parents: Vec::new(), who: &who, message: "no commit yet" })
    }

    /// Whether an object is there.
    pub fn has_object(&self, oid: &Oid) -> bool {
        self.git().args(["cat-file", "-e", oid.as_str()]).run().is_ok_and(|output| output.ok())
    }

    /// A blob of at most `limit` bytes.
    ///
    /// # Errors
    /// `TOO_LARGE`; `GIT_FAILED` where it is missing or no blob.
    pub fn read_blob(&self, oid: &Oid, limit: u64) -> Result<Vec<u8>> {
        self.read_object("blob", oid, limit)
    }

    /// Raw object content of at most `limit` bytes.
    ///
    /// # Errors
    /// `TOO_LARGE`; `GIT_FAILED` where it is missing or of another kind.
    pub fn read_object(&self, kind: &str, oid: &Oid, limit: u64) -> Result<Vec<u8>> {
        let too_large = || Error::new(Code::TooLarge, format!("{kind} {} is larger than {limit} bytes", oid.short()));
        let gix = self.gix()?;
        let id = gix::ObjectId::from_hex(oid.as_str().as_bytes())
            .map_err(|e| Error::new(Code::InvalidInput, format!("'{oid}' is no object id")).because(e))?;
        if let Ok(header) = gix.find_header(id) {
            if header.size() > limit {
                return Err(too_large());
            }
            if let Ok(object) = gix.find_object(id)
                && object.kind.as_bytes() == kind.as_bytes()
            {
                return Ok(object.detach().data);
            }
        }
        // In a partial clone git fetches what is missing; and git's words are better than ours.
        let size = self.git().args(["cat-file", "-s", oid.as_str()]).text()?;
        if size.parse::<u64>().is_ok_and(|size| size > limit) {
            return Err(too_large());
        }
        Ok(self.git().args(["cat-file", kind, oid.as_str()]).run_ok()?.stdout)
    }

    /// A commit.
    ///
    /// # Errors
    /// As [`Repository::read_object`].
    pub fn read_commit(&self, oid: &Oid) -> Result<CommitData> {
        let raw = self.read_object("commit", oid, STRUCTURE_LIMIT)?;
        let text = String::from_utf8_lossy(&raw);
        let (header, message) = text.split_once("\n\n").unwrap_or((&text, ""));
        let mut tree = None;
        let mut parents = Vec::new();
        for line in header.lines() {
            match line.split_once(' ') {
                Some(("tree", id)) => tree = Some(Oid::new(id)?),
                Some(("parent", id)) => parents.push(Oid::new(id)?),
                Some(_) | None => {}
            }
        }
        let damaged = || Error::new(Code::GitFailed, format!("commit {oid} has no tree"));
        Ok(CommitData { tree: tree.ok_or_else(damaged)?, parents, message: message.to_owned() })
    }

    /// The entries of one tree, not recursive.
    ///
    /// # Errors
    /// As [`Repository::read_object`].
    pub fn read_tree(&self, oid: &Oid) -> Result<Vec<TreeEntry>> {
        let raw = self.read_object("tree", oid, STRUCTURE_LIMIT)?;
        let damaged = || Error::new(Code::GitFailed, format!("tree {oid} is damaged"));
        let width = match self.hash() {
            HashKind::Sha1 => 20,
            HashKind::Sha256 => 32,
        };
        let mut rest = raw.as_slice();
        let mut entries = Vec::new();
        while !rest.is_empty() {
            let nul = rest.iter().position(|b| *b == 0).ok_or_else(damaged)?;
            let space = rest[..nul].iter().position(|b| *b == b' ').ok_or_else(damaged)?;
            let mode = std::str::from_utf8(&rest[..space]).ok().and_then(|m| u32::from_str_radix(m, 8).ok());
            let id = rest.get(nul + 1..nul + 1 + width).ok_or_else(damaged)?;
            let hex: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
            let name = rest[space + 1..nul].to_vec();
            entries.push(TreeEntry { mode: mode.ok_or_else(damaged)?, oid: Oid::new(hex)?, name });
            rest = &rest[nul + 1 + width..];
        }
        Ok(entries)
    }
}

#[cfg(test)]
mod tests {
    use super::super::scratch::Scratch;
    use super::*;

    #[test]
    fn what_is_written_is_read_back_in_both_hashes() {
        for kind in [&[][..], &["--object-format=sha256"]] {
            let repo_dir = Scratch::new(kind);
            let repo = repo_dir.repo();
            let blob = repo.write_blob(b"long text").unwrap();
            assert_eq!(repo.read_blob(&blob, 9).unwrap(), b"long text");
            assert_eq!(repo.read_blob(&blob, 8).unwrap_err().code(), Code::TooLarge);
            let entry = TreeEntry { mode: 0o100_644, oid: blob, name: b"x\xff".to_vec() };
            let tree = repo.write_tree(std::slice::from_ref(&entry)).unwrap();
            assert_eq!(repo.read_tree(&tree).unwrap(), [entry]);
            let root = repo.root_commit().unwrap();
            assert_eq!(repo.root_commit().unwrap(), root);
            let who = repo.signature().unwrap();
            let new = NewCommit { tree: &tree, parents: vec![root.clone()], who: &who, message: "hello\n\nbody" };
            let commit = repo.write_commit(&new).unwrap();
            let read = repo.read_commit(&commit).unwrap();
            assert_eq!(read, CommitData { tree, parents: vec![root], message: "hello\n\nbody\n".into() });
            assert_eq!(repo.read_blob(&commit, 10_000).unwrap_err().code(), Code::GitFailed);
            assert!(!repo.has_object(&Oid::new("1".repeat(commit.as_str().len())).unwrap()));
            repo_dir.git(&["fsck", "--strict"]);
        }
    }
}
