//! Contents that git has only a pointer to (Git LFS): our links to them go, the user's store is named and stays.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::journal::Journal;
use crate::domain::base::names::Oid;
use crate::error::Result;
use crate::files;
use crate::ops::context::handle::Context;

/// How a pointer begins, how it names the content, and the largest text that is one.
const BEGINS: &[u8] = b"version https://git-lfs.github.com/spec/v1\n";
const NAMES: &str = "oid sha256:";
const LARGEST: u64 = 1024;

/// Where our links are, in our folder.
pub(super) const LINKS: &str = "lfs";

/// The names of the contents that these pointers stand for; other contents stand for none.
fn named_by<'o>(ctx: &Context, contents: impl IntoIterator<Item = &'o Oid>) -> BTreeSet<String> {
    let objects = ctx.repo.objects();
    let pointers = contents.into_iter().filter(|oid| objects.blob_size(oid).is_some_and(|size| size <= LARGEST));
    let texts = pointers.filter_map(|oid| objects.read_blob(oid, LARGEST).ok()).filter(|text| text.starts_with(BEGINS));
    let name = |text: Vec<u8>| {
        let text = String::from_utf8_lossy(&text).into_owned();
        let name = text.lines().find_map(|line| line.strip_prefix(NAMES))?.to_owned();
        (name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(name)
    };
    texts.filter_map(name).collect()
}

fn place(store: &Path, name: &str) -> Option<PathBuf> {
    Some(store.join(name.get(..2)?).join(name.get(2..4)?).join(name))
}

/// The user's store.
fn users(ctx: &Context) -> Result<PathBuf> {
    let output = ctx.repo.git().args(["config", "--type=path", "--get", "lfs.storage"]).run()?;
    let set = if output.ok() { output.text()?.to_owned() } else { String::new() };
    let folder = if set.is_empty() { LINKS.to_owned() } else { set };
    Ok(ctx.repo.common_dir().join(folder).join("objects"))
}

/// The contents themselves, as far as they are here and not larger than `limit`.
///
/// # Errors
/// `GIT_FAILED`, `IO_FAILED`.
pub(super) fn contents(ctx: &Context, secrets: &BTreeSet<Oid>, limit: u64) -> Result<Vec<Vec<u8>>> {
    let names = named_by(ctx, secrets);
    let mut found = Vec::new();
    if names.is_empty() {
        return Ok(found);
    }
    let stores = [ctx.layout().root().join(LINKS), users(ctx)?];
    for place in
        names.iter().filter_map(|name| stores.iter().filter_map(|store| place(store, name)).find(|place| place.is_file()))
    {
        if files::metadata(&place)?.is_some_and(|meta| meta.len() <= limit) {
            found.extend(files::read_optional(&place, limit)?);
        }
    }
    Ok(found)
}

/// The user's files that have it, in words.
///
/// # Errors
/// `GIT_FAILED`.
pub(super) fn named(ctx: &Context, secrets: &BTreeSet<Oid>) -> Result<Vec<String>> {
    let names = named_by(ctx, secrets);
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let store = users(ctx)?;
    let there = names.iter().filter_map(|name| place(&store, name)).filter(|place| place.is_file());
    Ok(there.map(|place| format!("'{}' has it: the store of Git LFS, and perhaps its server", place.display())).collect())
}

/// Our links that go: to what no capture and no branch names any more.
pub(super) fn links(ctx: &Context, journal: &Journal) -> Vec<PathBuf> {
    let goes = |oid: &&Oid| !journal.held.contains(*oid) && !journal.elsewhere.contains(*oid);
    let names = named_by(ctx, journal.secrets.iter().filter(goes));
    let store = ctx.layout().root().join(LINKS);
    names.iter().filter_map(|name| place(&store, name)).filter(|link| link.symlink_metadata().is_ok()).collect()
}

/// Deletes them. What they link to is the user's, and stays.
///
/// # Errors
/// `IO_FAILED`.
pub(super) fn delete_links(ctx: &Context, journal: &Journal) -> Result<()> {
    links(ctx, journal).iter().try_for_each(|link| files::remove_file(link))
}
