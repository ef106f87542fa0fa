//! Bringing what a submodule of one worktree has into the same submodule of another: commits, and captures that checkpoints name. From
//! the path, without any network.

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use crate::refs::edits::{ExpectedRefValue, RefEdit};
use crate::repo::handles::{Refs, Worktrees};
use crate::repo::pointer_files::path_of;
use crate::repo::program::Git;
use crate::repo::repository::Repository;
use crate::repo::submodules::relative;
use crate::repo::worktrees::Worktree;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_model::base::names::{Oid, RefName, RepoPath};
use axiom_model::base::own_names::{BROUGHT, BROUGHT_CAPTURES, REFS, SUPERPROJECT_CAPTURES};

/// Nothing but what is asked for is brought, and nothing is deleted: `fetch.prune` means remote-tracking refs, and with refs named as
/// ours are it would delete captures.
const OUR_FETCH: [&str; 7] =
    ["--quiet", "--no-tags", "--no-prune", "--no-prune-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-gc"];

impl Worktrees<'_> {
    /// Where the repository of a submodule at `path` of a worktree is kept, or would be made: below `modules`, under the name that
    /// `.gitmodules` in `tree` gives it.
    pub fn place_of_module(&self, above: &Worktree, tree: &Oid, path: &RepoPath) -> Result<PathBuf> {
        let blob = format!("{tree}:.gitmodules");
        let git = self.repo.git().args(["config", "--null", "--blob", &blob, "--get-regexp", r"^submodule\..*\.path$"]);
        let output = git.run()?;
        let named = output.stdout.split(|byte| *byte == 0).find_map(|entry| {
            let at = entry.iter().position(|byte| *byte == b'\n')?;
            let key = entry[..at].strip_prefix(b"submodule.")?.strip_suffix(b".path")?;
            (entry[at + 1..] == *path.as_bytes()).then(|| path_of(key))
        });
        let is_plain = |name: &PathBuf| name.components().all(|part| matches!(part, Component::Normal(_)));
        match named.filter(is_plain) {
            Some(name) => Ok(above.git_dir().join("modules").join(name)),
            None => Err(Error::new(Code::RepositoryUnsupported, format!("the submodule '{path}' has no name"))
                .why(".gitmodules does not name it")),
        }
    }

    /// Makes the repository of a submodule that is not initialised, without any files: `git submodule update --init` takes it.
    pub fn make_module(&self, place: &Path, folder: &Path, like: &Repository) -> Result<()> {
        if let Some(above) = place.parent() {
            files::create_dir_all(above)?;
        }
        // A crash leaves a part of it under another name.
        let half = self.repo.scratch_folders().make()?;
        let half = half.path().join("module");
        let format = if like.hash().bytes() == 32 { "sha256" } else { "sha1" };
        let init = ["init", "--quiet", "--bare", "--template=", &format!("--object-format={format}")];
        self.repo.git().args(init).arg(&half).writing().run_ok()?;
        let worktree = relative(place, folder).unwrap_or_else(|| folder.to_owned());
        let url = like.git().args(["config", "--get", "remote.origin.url"]).run()?;
        let set = |key: &str, value: &std::ffi::OsStr| -> Result<()> {
            let git = self.repo.git().args(["config", "--file"]).arg(half.join("config")).arg(key).arg(value);
            git.writing().run_ok().map(drop)
        };
        set("core.bare", std::ffi::OsStr::new("false"))?;
        set("core.worktree", worktree.as_os_str())?;
        if url.ok() {
            set("remote.origin.url", std::ffi::OsStr::from_bytes(url.stdout.trim_ascii_end()))?;
            set("remote.origin.fetch", std::ffi::OsStr::new("+refs/heads/*:refs/remotes/origin/*"))?;
        }
        match files::move_whole(&half, place)? {
            true => Ok(()),
            false => Err(Error::new(Code::InTheWay, format!("'{}' exists already", place.display()))),
        }
    }
}

impl Refs<'_> {
    /// Brings all that the repository `from` of a submodule has, and `wanted`, into this one, which is of the same submodule in another
    /// worktree: commits of its branches and its HEAD that this one lacks, and the captures that checkpoints name, under `label`.
    pub fn bring_from(&self, from: &Repository, wanted: &[Oid], label: &str) -> Result<()> {
        let mut tips: BTreeSet<Oid> = from.refs().refs_below("refs/heads/")?.into_iter().map(|one| one.oid).collect();
        tips.extend(from.refs().head(&from.submodule_worktree())?.commit().cloned());
        tips.extend(wanted.iter().filter(|oid| from.objects().has_object(oid)).cloned());
        let mut lacking = Vec::new();
        for tip in tips {
            if !self.reaches(&tip)? {
                lacking.push(tip);
            }
        }
        let marks: Vec<RefEdit> = lacking
            .iter()
            .map(|tip| RefEdit {
                name: RefName::new(format!("{BROUGHT}{tip}")),
                expected: ExpectedRefValue::Any,
                new: Some(tip.clone()),
            })
            .collect();
        from.refs().update_refs(&marks, "git axiom: to be brought into another worktree's repository")?;
        let captures = !from.refs().refs_below(SUPERPROJECT_CAPTURES)?.is_empty();
        if marks.is_empty() && !captures {
            return Ok(());
        }
        let git = self.fetch_from(from).arg(format!("+{BROUGHT}*:{BROUGHT}*"));
        let git = if captures { git.arg(format!("+{SUPERPROJECT_CAPTURES}*:{BROUGHT_CAPTURES}{label}/*")) } else { git };
        git.writing().run_ok().map(drop)
    }

    /// The way back: brings commits that the repository `from` has, and the captures that were brought there under `label`, under the
    /// names that they had here.
    pub fn bring_back_from(&self, from: &Repository, wanted: &[Oid], label: &str) -> Result<()> {
        let brought = format!("{BROUGHT_CAPTURES}{label}/");
        let git = self.fetch_from(from).config("protocol.version=2").args(wanted.iter().map(Oid::as_str));
        let git = match from.refs().refs_below(&brought)?.is_empty() {
            true => git,
            false => git.arg(format!("+{brought}*:{SUPERPROJECT_CAPTURES}*")),
        };
        git.writing().run_ok().map(drop)
    }

    /// A fetch from another repository's path, whatever is configured for the user's own fetches; what is fetched is still to be named.
    fn fetch_from(&self, from: &Repository) -> Git<'_> {
        let git = self.repo.git().config("protocol.file.allow=always").config("transfer.fsckObjects=false");
        let git = git.config("fetch.fsckObjects=false").arg("fetch").args(OUR_FETCH);
        // Its `core.worktree` may name a folder that was deleted, which git does not read from; and our refs may be hidden from fetches.
        let serve = format!("GIT_WORK_TREE=. git -c uploadpack.hideRefs='!{REFS}' upload-pack");
        git.arg(format!("--upload-pack={serve}")).arg(from.common_dir())
    }

    /// Whether a ref reaches a commit, so that it stays.
    pub fn reaches(&self, commit: &Oid) -> Result<bool> {
        if !self.repo.objects().has_object(commit) {
            return Ok(false);
        }
        let output = self.repo.git().args(["rev-list", "--max-count=1", commit.as_str(), "--not", "--all"]).run()?;
        Ok(output.ok() && output.stdout.trim_ascii().is_empty())
    }
}
