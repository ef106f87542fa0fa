//! Reading and writing objects.
//!
//! A new object is on disk, and in git's object database, only after `Durability::sync_objects`. Changing a ref calls
//! that, and so does every call of git that writes.

use jiff::Timestamp;

use axiom_base::error::{Code, Error, Result};
use axiom_model::base::names::Oid;

use super::staged::StagedObjects;
use crate::base::modes::TREE;
use crate::base::object_kind::ObjectKind;
use crate::base::{limits, loose};
use crate::repo::handles::{Objects, Trees};
use crate::repo::opened_by_gix::for_this_thread;
use crate::repo::person_ident::PersonIdent;
use crate::repo::repository::Repository;
use crate::repo::stage_folder::StageFolder;

/// A commit to be written. The same values give the same id.
#[derive(Debug, Clone)]
pub struct NewCommit<'a> {
    /// Its tree.
    pub tree: &'a Oid,
    /// Its parents, in order.
    pub parents: Vec<Oid>,
    /// Author and committer.
    pub who: &'a PersonIdent,
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

/// The content of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitContent {
    /// Its tree.
    pub tree: Oid,
    /// Its parents, in order.
    pub parents: Vec<Oid>,
    /// Its message.
    pub message: String,
}

/// An id in gix's type.
pub(crate) fn gix_id(oid: &Oid) -> Result<gix::ObjectId> {
    gix::ObjectId::from_hex(oid.as_str().as_bytes())
        .map_err(|e| Error::new(Code::InvalidInput, format!("'{oid}' is not an object id")).because(e))
}

/// Converts gix's error of a failed write, with the error code of the underlying system error.
fn object_error(repository: &Repository, kind: ObjectKind, error: &gix::Error) -> Error {
    let folder = repository.common_dir().join("objects");
    match error.iter_errors().find_map(|e| e.downcast_ref::<std::io::Error>()) {
        Some(io) => {
            let copy = io
                .raw_os_error()
                .map_or_else(|| std::io::Error::new(io.kind(), io.to_string()), std::io::Error::from_raw_os_error);
            Error::io("write an object below", &folder, copy)
        }
        None => Error::new(Code::GitFailed, format!("a {} cannot be written below '{}'", kind.as_str(), folder.display()))
            .why(error.to_string()),
    }
}

impl Objects<'_> {
    /// With which what is ours is signed now: the user's identity, or git axiom's where git knows none.
    pub fn signature(&self) -> Result<PersonIdent> {
        self.repo.identities().committer_or_ours().map(PersonIdent::now)
    }

    /// The user's identity with the current time: for commits that go onto a branch.
    pub fn users_signature(&self) -> Result<PersonIdent> {
        self.repo.identities().committer().map(PersonIdent::now)
    }

    /// Writes raw object content, which has to be well formed. An object that exists already is not written again, but its
    /// file or pack gets a new time: `git gc` keeps what is new.
    pub fn write_object(&self, kind: ObjectKind, content: impl AsRef<[u8]>) -> Result<Oid> {
        let content = content.as_ref();
        if let Some(limit) = kind.limit() {
            limits::fits(&format!("a {}", kind.as_str()), content, limit)?;
        }
        let Some(staged) = StagedObjects::of(self.repo)? else {
            let git = self.repo.git().writing().args(["hash-object", "-w", "--stdin", "-t", kind.as_str()]);
            let written = Oid::new(git.stdin(content).text()?)?;
            self.repo.durability().note_written([gix_id(&written)?]);
            return Ok(written);
        };
        let id = self.id_of(kind, content)?;
        if !staged.keeps(&id) {
            self.stage_new(&staged, kind, content, id)?;
        }
        self.repo.durability().note_written([id]);
        Oid::from_bytes(id.as_bytes())
    }

    /// Puts an object that does not exist yet into the stage.
    pub(super) fn stage_new(
        &self,
        staged: &StagedObjects<'_>,
        kind: ObjectKind,
        content: &[u8],
        id: gix::ObjectId,
    ) -> Result<()> {
        if !staged.stage.take_in(id, kind.in_gix(), content) {
            self.write_into(staged.stage.open_folder(self.repo)?, kind, content, id)?;
            staged.stage.note(id);
        }
        Ok(())
    }

    fn write_into(&self, folder: &StageFolder, kind: ObjectKind, content: &[u8], id: gix::ObjectId) -> Result<()> {
        use gix::objs::Write;
        let failed = |e: gix::Error| object_error(self.repo, kind, &e);
        match folder.opened() {
            // gix compresses while it writes.
            Some(opened) if !loose::is_small(kind.in_gix(), content.len()) => {
                for_this_thread(opened).objects.write_buf_with_known_id(kind.in_gix(), content, id).map_err(failed).map(drop)
            }
            Some(_) | None => loose::write(folder.path(), &id, &loose::encoded(kind.in_gix(), content)?),
        }
    }

    /// The id of an object, whether or not it exists.
    pub(crate) fn id_of(&self, kind: ObjectKind, content: &[u8]) -> Result<gix::ObjectId> {
        let failed = |e: gix::Error| object_error(self.repo, kind, &e);
        gix::objs::compute_hash(self.repo.hash().gix(), kind.in_gix(), content).map_err(failed)
    }

    /// Writes a blob.
    pub fn write_blob(&self, content: &[u8]) -> Result<Oid> {
        self.write_object(ObjectKind::Blob, content)
    }

    /// Writes a commit. No hook runs and nothing is signed.
    pub fn write_commit(&self, commit: &NewCommit<'_>) -> Result<Oid> {
        self.write_commit_of(commit, &commit.who.to_string())
    }

    /// Like [`Objects::write_commit`], with a separate author line.
    pub fn write_commit_of(&self, commit: &NewCommit<'_>, author: &str) -> Result<Oid> {
        let mut content = format!("tree {}\n", commit.tree);
        for parent in &commit.parents {
            content.push_str(&format!("parent {parent}\n"));
        }
        let end = if commit.message.ends_with('\n') { "" } else { "\n" };
        content.push_str(&format!("author {author}\ncommitter {}\n\n{}{end}", commit.who, commit.message));
        self.write_object(ObjectKind::Commit, content)
    }

    /// The commit that replaces a missing parent: empty tree, no parent, always the same id.
    pub fn root_commit(&self) -> Result<Oid> {
        let who = PersonIdent::fixed();
        let tree = self.repo.trees().empty_tree()?;
        self.write_commit(&NewCommit { tree: &tree, parents: Vec::new(), who: &who, message: "no commit yet" })
    }

    /// Whether an object exists; in a partial clone git may fetch it.
    pub fn has_object(&self, oid: &Oid) -> bool {
        use gix::objs::Exists;
        if let (Ok(gix), Ok(id)) = (self.repo.gix(), gix_id(oid))
            && gix.objects.exists(&id)
        {
            return true;
        }
        self.repo.git().args(["cat-file", "-e", oid.as_str()]).run().is_ok_and(|output| output.ok())
    }

    /// A blob of at most `limit` bytes.
    pub fn read_blob(&self, oid: &Oid, limit: u64) -> Result<Vec<u8>> {
        self.read_object("blob", oid, limit)
    }

    /// Raw object content of at most `limit` bytes. An object that this operation has written is read from memory, also where another
    /// process has pruned it since.
    pub fn read_object(&self, kind: &str, oid: &Oid, limit: u64) -> Result<Vec<u8>> {
        let too_large = || Error::new(Code::TooLarge, format!("{kind} {} is larger than {limit} bytes", oid.short()));
        let id = gix_id(oid)?;
        let of_ours = self.repo.objects.stage.get().and_then(|stage| stage.content(&id));
        let found = of_ours.or_else(|| loose::read(&self.repo.common_dir().join("objects"), &id, limit));
        if let Some((found, content)) = found
            && found.as_bytes() == kind.as_bytes()
        {
            return if content.len() as u64 > limit { Err(too_large()) } else { Ok(content) };
        }
        let gix = self.repo.gix()?;
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
        // In a partial clone git fetches missing objects; and git's error messages are better than ours.
        let size = self.repo.git().args(["cat-file", "-s", oid.as_str()]).text()?;
        if size.parse::<u64>().is_ok_and(|size| size > limit) {
            return Err(too_large());
        }
        Ok(self.repo.git().args(["cat-file", kind, oid.as_str()]).run_ok()?.stdout)
    }

    /// A commit.
    pub fn read_commit(&self, oid: &Oid) -> Result<CommitContent> {
        let raw = self.read_object("commit", oid, limits::STRUCTURE)?;
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
        Ok(CommitContent { tree: tree.ok_or_else(damaged)?, parents, message: message.to_owned() })
    }

    /// The committer time of a commit; `None` where no calendar has it.
    pub fn commit_time(&self, oid: &Oid) -> Result<Option<Timestamp>> {
        let raw = self.read_object("commit", oid, limits::STRUCTURE)?;
        let text = String::from_utf8_lossy(&raw);
        let line = text.lines().take_while(|line| !line.is_empty()).find(|line| line.starts_with("committer "));
        let seconds = line.and_then(|line| line.rsplit(' ').nth(1)).and_then(|seconds| seconds.parse().ok());
        let seconds = seconds.ok_or_else(|| Error::new(Code::GitFailed, format!("commit {oid} has no time")))?;
        Ok(Timestamp::from_second(seconds).ok())
    }
}

impl Trees<'_> {
    /// Writes a tree; the entries come in any order.
    pub fn write_tree(&self, entries: &[TreeEntry]) -> Result<Oid> {
        let mut sorted: Vec<&TreeEntry> = entries.iter().collect();
        // git sorts a folder as if its name ended in a slash.
        let key = |entry: &TreeEntry| {
            let mut key = entry.name.clone();
            if entry.mode == TREE {
                key.push(b'/');
            }
            key
        };
        sorted.sort_by_cached_key(|entry| key(entry));
        let length = self.repo.hash().gix().len_in_bytes();
        let mut content = Vec::new();
        for TreeEntry { mode, oid, name } in sorted {
            let id = gix_id(oid)?;
            if id.as_slice().len() != length {
                // git could not read such a tree.
                return Err(Error::new(Code::Internal, format!("{oid} is not an id of this repository")));
            }
            content.extend_from_slice(format!("{mode:o} ").as_bytes());
            content.extend_from_slice(name);
            content.push(0);
            content.extend_from_slice(id.as_slice());
        }
        self.repo.objects().write_object(ObjectKind::Tree, content)
    }

    /// The tree without entries; written if it is missing.
    pub fn empty_tree(&self) -> Result<Oid> {
        self.write_tree(&[])
    }

    /// The tree of a commit; a tree's own id if `oid` is a tree.
    pub fn tree_of(&self, oid: &Oid) -> Result<Oid> {
        match self.repo.gix()?.find_header(gix_id(oid)?) {
            Ok(header) if header.kind() == gix::objs::Kind::Tree => Ok(oid.clone()),
            Ok(_) | Err(_) => Ok(self.repo.objects().read_commit(oid)?.tree),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::scratch::ScratchRepository;

    #[test]
    fn what_is_written_is_read_back_in_both_hashes() {
        for kind in [&[][..], &["--object-format=sha256"]] {
            let repo_dir = ScratchRepository::new(kind);
            let repo = repo_dir.repo();
            let blob = repo.objects().write_blob(b"long text").unwrap();
            assert_eq!(repo.objects().read_blob(&blob, 9).unwrap(), b"long text");
            assert_eq!(repo.objects().read_blob(&blob, 8).unwrap_err().code(), Code::TooLarge);
            let entry = TreeEntry { mode: 0o100_644, oid: blob, name: b"x\xff".to_vec() };
            let tree = repo.trees().write_tree(std::slice::from_ref(&entry)).unwrap();
            assert_eq!(repo.trees().read_tree(&tree).unwrap(), [entry]);
            let root = repo.objects().root_commit().unwrap();
            assert_eq!(repo.objects().root_commit().unwrap(), root);
            let who = repo.objects().signature().unwrap();
            let new = NewCommit { tree: &tree, parents: vec![root.clone()], who: &who, message: "hello\n\nbody" };
            let commit = repo.objects().write_commit(&new).unwrap();
            let read = repo.objects().read_commit(&commit).unwrap();
            assert_eq!(read, CommitContent { tree, parents: vec![root], message: "hello\n\nbody\n".into() });
            assert_eq!(repo.objects().read_blob(&commit, 10_000).unwrap_err().code(), Code::GitFailed);
            assert!(!repo.objects().has_object(&Oid::new("1".repeat(commit.as_str().len())).unwrap()));
            repo_dir.git(&["fsck", "--strict"]);
        }
    }
}
