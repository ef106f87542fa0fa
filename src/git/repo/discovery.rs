//! Finds a repository without git, in ordinary cases.
//!
//! Whatever is not fully understood here is left to git: a variable that redirects git, a folder of another user, a git
//! directory elsewhere, an extension, a configuration that gix cannot read. The settings that do not matter are in
//! [`super::shortcuts::keys`]. A test compares the results with git's.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use gix::bstr::ByteSlice;
use gix::config::file::Metadata;
use gix::config::{File, Source};

use axiom_base::files;
use axiom_process::os::command::is_repository_local;

use super::shortcuts::keys::{is_plain_core, is_plain_extension};
use crate::base::formats::HashKind;
use crate::repo::pointer_files::path_of;

/// The largest configuration file, gitfile or HEAD that is read; larger ones are left to git.
const LIMIT: u64 = 64 * 1024;

/// A repository that is not bare and uses the files format for refs.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DiscoveredRepository {
    /// The git directory of the worktree.
    pub git_dir: PathBuf,
    /// The git directory that all worktrees share.
    pub common_dir: PathBuf,
    /// The worktree's top folder.
    pub top: PathBuf,
    /// The hash of its object ids.
    pub hash: HashKind,
}

/// What git would find from `cwd` with these variables; `None` where git has to find it.
pub(crate) fn find(cwd: &Path, variables: &[(OsString, OsString)]) -> Option<DiscoveredRepository> {
    let redirects = |name: &OsString| {
        let decides = [&b"GIT_CEILING_DIRECTORIES"[..], b"GIT_DISCOVERY_ACROSS_FILESYSTEM"].contains(&name.as_bytes());
        decides || is_repository_local(name) || name.as_bytes().starts_with(b"GIT_TEST_")
    };
    if variables.iter().any(|(name, _)| redirects(name)) {
        return None;
    }
    // git walks up the canonical path.
    let start = cwd.canonicalize().ok()?;
    let device = start.metadata().ok()?.dev();
    for folder in start.ancestors() {
        // git stops at the boundary of a file system.
        if folder.metadata().ok()?.dev() != device {
            return None;
        }
        let dot_git = folder.join(".git");
        match std::fs::symlink_metadata(&dot_git) {
            Ok(meta) if meta.is_dir() => return main_worktree(folder, dot_git),
            Ok(meta) if meta.is_file() => return linked_worktree(folder, &dot_git),
            Err(e) if e.kind() == ErrorKind::NotFound => {}
            Ok(_) | Err(_) => return None,
        }
        // Perhaps we are inside a git directory, or in a bare repository.
        if exists(&folder.join("HEAD")) {
            return None;
        }
    }
    None
}

fn exists(path: &Path) -> bool {
    !matches!(std::fs::symlink_metadata(path), Err(e) if e.kind() == ErrorKind::NotFound)
}

fn main_worktree(top: &Path, git_dir: PathBuf) -> Option<DiscoveredRepository> {
    let is_plain = is_ours(top) && is_ours(&git_dir) && !exists(&git_dir.join("commondir")) && has_head(&git_dir);
    let hash = is_plain.then(|| shared_part(&git_dir))??;
    found(DiscoveredRepository { common_dir: git_dir.clone(), git_dir, top: top.to_owned(), hash })
}

fn linked_worktree(top: &Path, gitfile: &Path) -> Option<DiscoveredRepository> {
    let content = files::read_optional(gitfile, LIMIT).ok()??;
    let named = top.join(path_of(line_of(content.strip_prefix(b"gitdir: ")?)?));
    // Submodules and separate git directories have no `commondir` file.
    let common = files::read_optional(&named.join("commondir"), LIMIT).ok()??;
    let git_dir = named.canonicalize().ok()?;
    let common_dir = git_dir.join(path_of(line_of(&common)?)).canonicalize().ok()?;
    let is_plain = [top, gitfile, &named, &common_dir].into_iter().all(is_ours) && has_head(&git_dir) && has_head(&common_dir);
    let hash = is_plain.then(|| shared_part(&common_dir))??;
    found(DiscoveredRepository { git_dir, common_dir, top: top.to_owned(), hash })
}

/// Only paths without a newline, which git can print on one line.
fn found(found: DiscoveredRepository) -> Option<DiscoveredRepository> {
    let is_one_line = |path: &Path| !path.as_os_str().as_bytes().contains(&b'\n');
    let all = is_one_line(&found.git_dir) && is_one_line(&found.common_dir) && is_one_line(&found.top);
    all.then_some(found)
}

/// The content of a file that has exactly one line.
fn line_of(content: &[u8]) -> Option<&[u8]> {
    let line = content.strip_suffix(b"\n")?;
    (!line.is_empty() && !line.iter().any(|byte| matches!(byte, b'\n' | b'\r' | 0))).then_some(line)
}

/// Whether the file belongs to the user: for files of other users git has more checks (`safe.directory`, `sudo`).
fn is_ours(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|meta| meta.uid() == rustix::process::geteuid().as_raw())
}

/// Whether `HEAD` has the form that git writes.
fn has_head(git_dir: &Path) -> bool {
    let head = git_dir.join("HEAD");
    if !std::fs::symlink_metadata(&head).is_ok_and(|meta| meta.is_file()) {
        return false;
    }
    let content = files::read_optional(&head, LIMIT).ok().flatten().unwrap_or_default();
    let is_id = |text: &[u8]| matches!(text.len(), 40 | 64) && text.iter().all(u8::is_ascii_hexdigit);
    line_of(&content).is_some_and(|line| line.starts_with(b"ref: refs/") || is_id(line))
}

/// The hash of a common directory in which everything else is ordinary.
fn shared_part(common_dir: &Path) -> Option<HashKind> {
    let enter = |name: &str| {
        let folder = common_dir.join(name);
        folder.is_dir() && rustix::fs::access(&folder, rustix::fs::Access::EXEC_OK).is_ok()
    };
    if !enter("objects") || !enter("refs") {
        return None;
    }
    format_of(&files::read_optional(&common_dir.join("config"), LIMIT).ok()??)
}

/// The hash from a repository's configuration; `None` where a setting of it may matter. Included files do not: git does not read them
/// for this either.
fn format_of(config: &[u8]) -> Option<HashKind> {
    let config = File::from_bytes_no_includes(config, Metadata::from(Source::Local), Default::default()).ok()?;
    let (mut version, mut hash) = (None, None);
    for section in config.sections() {
        let header = section.header();
        let name = if header.subsection_name().is_none() { header.name().to_ascii_lowercase() } else { Vec::new() };
        for (key, value) in section.body() {
            match (name.as_slice(), key.to_ascii_lowercase().as_str(), value.to_str().ok()?) {
                // A key without a value looks like one with an empty value. gix takes some that git refuses.
                (_, _, "") => return None,
                (b"core", "repositoryformatversion", value) if version.is_none() => version = Some(value.parse::<u32>().ok()?),
                (b"core", key, value) if is_plain_core(key, value) => {}
                (b"extensions", "objectformat", "sha1") if hash.is_none() => hash = Some(HashKind::Sha1),
                (b"extensions", "objectformat", "sha256") if hash.is_none() => hash = Some(HashKind::Sha256),
                (b"extensions", key, value) if is_plain_extension(key, value) => {}
                (b"core" | b"extensions", _, _) => return None,
                (_, _, _) => {}
            }
        }
    }
    match (version?, hash) {
        (0 | 1, None) => Some(HashKind::Sha1),
        (1, Some(hash)) => Some(hash),
        (_, _) => None,
    }
}

#[cfg(test)]
mod tests;
