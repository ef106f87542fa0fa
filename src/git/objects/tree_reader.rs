//! Reads trees, each but once as long as there is room for it in memory.

use std::sync::Arc;

use gix::objs::{Data, Find, FindExt, Kind};

use crate::repo::repository::Repository;
use axiom_base::error::{Code, Error, Result};

/// Reads trees from memory or, for the first time, from the object database.
pub(crate) struct TreeReader<'r> {
    repository: &'r Repository,
    gix: gix::Repository,
}

impl<'r> TreeReader<'r> {
    /// # Errors
    /// `REPOSITORY_UNSUPPORTED`.
    pub(crate) fn of(repository: &'r Repository) -> Result<Self> {
        Ok(Self { repository, gix: repository.gix()? })
    }

    /// The tree of a commit or tag, or the tree itself, with its raw content.
    pub(crate) fn peel(&self, id: gix::ObjectId) -> Result<(gix::ObjectId, Arc<[u8]>)> {
        if let Some(known) = self.repository.trees.contents.get(&id) {
            return Ok((id, known));
        }
        let object = self.gix.find_object(id).map_err(unreadable)?;
        let tree = match object.kind {
            Kind::Commit => object.into_commit().tree_id().map_err(unreadable)?.detach(),
            Kind::Tree | Kind::Tag | Kind::Blob => object.peel_to_tree().map_err(unreadable)?.id,
        };
        let content = self.find(&tree, &mut Vec::new()).map(|found| Arc::from(found.data)).map_err(unreadable)?;
        Ok((tree, content))
    }
}

impl Find for TreeReader<'_> {
    fn try_find<'a>(&self, id: &gix::oid, buffer: &'a mut Vec<u8>) -> gix::Result<Option<Data<'a>>> {
        if let Some(known) = self.repository.trees.contents.get(id) {
            buffer.clear();
            buffer.extend_from_slice(&known);
            return Ok(Some(Data::new(buffer, Kind::Tree, id.kind())));
        }
        let found = self.gix.objects.try_find(id, buffer)?;
        if let Some(found) = &found
            && found.kind == Kind::Tree
        {
            self.repository.trees.contents.keep(id.to_owned(), Arc::from(found.data));
        }
        Ok(found)
    }
}

/// A tree that gix cannot read.
pub(super) fn unreadable(error: impl std::fmt::Display) -> Error {
    Error::new(Code::GitFailed, "a tree cannot be read").why(error.to_string())
}
