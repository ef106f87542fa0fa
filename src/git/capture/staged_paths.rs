//! Puts changed files into a private index whatever their filters and encodings do: a file whose filter is missing, fails or does not
//! answer in time, or that is not in the encoding that its attributes name, gets an entry with its bytes as they are. One bad filter
//! costs only its own files, and a limited time; a bad encoding too.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Instant;

use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_model::base::ciphertext::is_by_command;
use axiom_model::base::lfs_pointer::{LONGEST, LfsPointer};
use axiom_model::base::names::{Oid, RepoPath};

use crate::base::readable::reads_through;
use crate::capture::lfs_store::{LFS, LfsStore};
use crate::capture::raw_file::RawFile;
use crate::index::changed_paths::{ChangedPaths, refused, unreadable_file};
use crate::index::file::{IndexInfoInput, nul_list};
use crate::index::filter_memory::{hung_lately, note_hung};
use crate::index::filters::{FILTER_LIMIT, FilesByFilter, FilterDriver, FilterDrivers, FilterTimeBudget};
use crate::repo::program::{Git, GitOutput};
use crate::repo::repository::Repository;
use crate::repo::worktrees::Worktree;

/// A filter that fails for this many single files, and worked for none, is not tried with the others.
const FAILURES: usize = 3;

/// At most so many files with a filter are looked at to tell whether it encrypts.
const SAMPLES: usize = 20;

/// What became of changed paths in a private index.
#[derive(Debug, Default)]
pub(crate) struct StagedPaths {
    /// Paths that git refuses because of their names. They are not in the index.
    pub refused: Vec<RepoPath>,
    /// Files whose filter did not run, or which git cannot decode, with the blobs of their bytes, which are their entries.
    pub unfiltered: Vec<(RepoPath, Oid)>,
    /// Files whose filter encrypts and did not run: their entries are as they were.
    pub encrypted: Vec<RepoPath>,
    /// Files of Git LFS, whose entries are pointers: their contents are in our store.
    pub lfs: Vec<RawFile>,
}

impl StagedPaths {
    /// Adds what became of other paths.
    pub fn add(&mut self, others: Self) {
        let Self { refused, unfiltered, encrypted, lfs } = others;
        self.refused.extend(refused);
        self.unfiltered.extend(unfiltered);
        self.encrypted.extend(encrypted);
        self.lfs.extend(lfs);
    }
}

/// What may keep git from storing a file.
#[derive(Clone, Copy)]
enum StoringConversion<'a> {
    /// The filter of this name.
    Filter(&'a str, &'a FilterDriver),
    /// Its encoding.
    Encoding,
}

/// One filter, or the encodings, at work on files.
struct ConversionRun<'a> {
    index: &'a PrivateIndex<'a>,
    by: StoringConversion<'a>,
    until: Instant,
    refused: &'a mut Vec<RepoPath>,
}

/// An index of ours for the files of a worktree.
struct PrivateIndex<'a> {
    r: &'a Repository,
    worktree: &'a Worktree,
    file: &'a Path,
}

impl ChangedPaths {
    /// Updates a private index, as [`ChangedPaths::stage`] does.
    pub fn stage_held(&self, r: &Repository, worktree: &Worktree, file: &Path) -> Result<StagedPaths> {
        let filters = r.conversions().filters(worktree)?;
        let paths: Vec<&RepoPath> = self.there().collect();
        let FilesByFilter { mut plain, mut filtered } =
            r.conversions().by_filter(&filters, r.git_in(worktree).arg("check-attr"), &paths)?;
        // Links and the folders of submodules pass through no filter, whatever their attributes say.
        for paths in filtered.values_mut() {
            plain.extend(paths.extract_if(.., |path| !is_file(worktree, path)));
        }
        filtered.retain(|_, paths| !paths.is_empty());
        let index = PrivateIndex { r, worktree, file };
        let mut refused = Vec::new();
        let mut left = index.put(&self.with_only(plain), &mut refused)?;
        let time = FilterTimeBudget::begin();
        let (mut lfs, mut encrypted) = (Vec::new(), Vec::new());
        for (name, paths) in filtered {
            let Some(filter) = filters.get(&name) else { continue };
            let paths = if name == LFS { index.put_pointers(paths, &mut lfs, &mut refused)? } else { paths };
            if paths.is_empty() {
                continue;
            }
            let until = Instant::now() + time.of_next();
            let cleaning =
                ConversionRun { index: &index, by: StoringConversion::Filter(&name, filter), until, refused: &mut refused };
            let not_run = cleaning.run(paths)?;
            if !not_run.is_empty() && index.encrypts((&name, filter), &filters, &not_run)? {
                encrypted.extend(not_run);
            } else {
                left.extend(not_run);
            }
        }
        left.sort();
        let unfiltered = if left.is_empty() { Vec::new() } else { index.put_as_they_are(&left, &mut refused)? };
        Ok(StagedPaths { refused, unfiltered, encrypted, lfs })
    }
}

impl ConversionRun<'_> {
    /// Lets the conversion run; returns the files for which it did not.
    fn run(self, paths: Vec<RepoPath>) -> Result<Vec<RepoPath>> {
        if let StoringConversion::Filter(name, filter) = self.by
            && (filter.stores_by.is_empty() || hung_lately(self.index.r, name, filter))
        {
            return Ok(paths);
        }
        let begun = Instant::now();
        let (mut todo, mut left) = (vec![paths], Vec::new());
        let (mut failed, mut worked) = (0, false);
        while let Some(mut part) = todo.pop() {
            let time = self.until.saturating_duration_since(Instant::now());
            if time.is_zero() || (failed >= FAILURES && !worked) {
                left.extend(part);
                continue;
            }
            let git = match self.by {
                // Where a filter that is not required fails, git would store the bytes as they are, without a word that we can rely on.
                StoringConversion::Filter(name, _) => {
                    self.index.git().with_filter(name).config(format!("filter.{name}.required=true"))
                }
                StoringConversion::Encoding => self.index.git(),
            };
            let git = git.limited(time).args(["--add", "--remove", "--replace", "-z", "--stdin"]).stdin(nul_list(&part));
            let output = git.run()?;
            if output.ok() {
                worked = true;
                self.refused.extend(refused(&part, &output.stderr)?);
            } else if output.is_over_limit() {
                files::remove_file(&self.index.file.with_extension("lock"))?;
                // A filter that had hardly any time left is asked next time.
                if let StoringConversion::Filter(name, filter) = self.by
                    && begun.elapsed() * 2 > FILTER_LIMIT
                {
                    note_hung(self.index.r, name, filter);
                }
                left.extend(part);
            } else if let Some(error) = other_failure(&output) {
                return Err(error);
            } else if part.len() == 1 {
                failed += 1;
                left.extend(part);
            } else {
                let rest = part.split_off(part.len() / 2);
                todo.extend([rest, part]);
            }
        }
        Ok(left)
    }
}

/// Why git failed, where it was not because of the filter.
fn other_failure(output: &GitOutput) -> Option<Error> {
    let error = unreadable_file(output.error(), &output.stderr);
    // Whatever else goes wrong in a call for the files of one conversion, may be its doing: then its files are held as they are.
    (!matches!(error.code(), Code::GitFailed | Code::FilterFailed)).then_some(error)
}

impl PrivateIndex<'_> {
    /// Puts files without a filter into the index. Returns those that are not in the encoding that their attributes name.
    fn put(&self, paths: &ChangedPaths, refused: &mut Vec<RepoPath>) -> Result<Vec<RepoPath>> {
        let error = match paths.stage(self.r, self.worktree, Some(self.file)) {
            Err(error) if error.code() == Code::GitFailed => error,
            staged => {
                refused.extend(staged?);
                return Ok(Vec::new());
            }
        };
        let there: Vec<&RepoPath> = paths.there().collect();
        let mut encoded = self.r.conversions().encoded(self.r.git_in(self.worktree).arg("check-attr"), &there)?;
        encoded.retain(|path| is_file(self.worktree, path));
        if encoded.is_empty() {
            return Err(error);
        }
        refused.extend(paths.without(&encoded).stage(self.r, self.worktree, Some(self.file))?);
        let until = Instant::now() + FILTER_LIMIT;
        ConversionRun { index: self, by: StoringConversion::Encoding, until, refused }.run(encoded.into_iter().collect())
    }

    /// Does what Git LFS does with its files, into our own store: its program may be missing or slow, and contents need not be
    /// stored twice. Returns the files that are left to it: those that are empty or pointers already, and no regular files.
    fn put_pointers(&self, paths: Vec<RepoPath>, held: &mut Vec<RawFile>, refused: &mut Vec<RepoPath>) -> Result<Vec<RepoPath>> {
        if self.r.conversions().lfs_has_extensions(self.worktree)? {
            return Ok(paths);
        }
        let store = LfsStore::of(self.r);
        let entries = self.r.kept_bytes().entries(self.worktree, self.file, &paths)?;
        let (mut left, mut new, mut pointers) = (Vec::new(), Vec::new(), BTreeMap::new());
        for (path, entry) in paths.into_iter().zip(entries) {
            let place = self.worktree.path().join(path.to_path());
            let meta = files::metadata(&place)?.filter(|meta| meta.is_file() && meta.len() > 0);
            let is_pointer =
                |len: u64| len < LONGEST && files::read(&place, LONGEST).is_ok_and(|text| LfsPointer::parse(&text).is_some());
            let Some(meta) = meta.filter(|meta| !is_pointer(meta.len())) else {
                left.push(path);
                continue;
            };
            let Some(pointer) = store.copy(&place, None)? else {
                left.push(path);
                continue;
            };
            let oid = self.r.objects().write_blob(&pointer.text())?;
            new.push((path.clone(), self.mode_of(&meta, entry), oid));
            pointers.insert(path, pointer);
        }
        store.sync_new()?;
        let set = self.set(new, refused)?;
        held.extend(set.into_iter().filter_map(|(path, oid)| {
            let lfs = Some(pointers.remove(&path)?);
            Some(RawFile { path, held_as: oid.clone(), oid, lfs })
        }));
        Ok(left)
    }

    /// The mode that git gives a regular file which has this entry.
    fn mode_of(&self, meta: &Metadata, entry: Option<(u32, Oid)>) -> u32 {
        match entry {
            Some((mode, _)) if !self.r.settings().keeps().modes && mode & 0o170_000 == 0o100_000 => mode,
            Some(_) | None if meta.mode() & 0o100 == 0 => 0o100_644,
            Some(_) | None => 0o100_755,
        }
    }

    /// Sets the entries of files, but for paths that git refuses because of their names. Returns those that are set.
    fn set(&self, entries: Vec<(RepoPath, u32, Oid)>, not_set: &mut Vec<RepoPath>) -> Result<Vec<(RepoPath, Oid)>> {
        let (mut info, mut set) = (IndexInfoInput::default(), Vec::with_capacity(entries.len()));
        for (path, mode, oid) in entries {
            info.set(&path, mode, &oid, 0);
            set.push((path, oid));
        }
        let said = info.apply_and_tell(self.r, self.worktree, self.file)?;
        let paths: Vec<RepoPath> = set.iter().map(|(path, _)| path.clone()).collect();
        let names: BTreeSet<RepoPath> = refused(&paths, &said)?.into_iter().collect();
        set.retain(|(path, _)| !names.contains(path));
        not_set.extend(names);
        Ok(set)
    }

    /// Whether a filter encrypts: what these files, or others with this filter, have in the index shows it; else its command.
    fn encrypts(&self, (name, filter): (&str, &FilterDriver), filters: &FilterDrivers, paths: &[RepoPath]) -> Result<bool> {
        if is_by_command(&filter.stores_by) || self.are_encrypted(paths)? {
            return Ok(true);
        }
        let listed = self.r.git_in(self.worktree).index(self.file).args(["ls-files", "-z"]).run_ok()?;
        let all: Vec<RepoPath> =
            listed.stdout.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(RepoPath::new).collect();
        let attributes = self.r.git_in(self.worktree).arg("check-attr");
        let mut sorted = self.r.conversions().by_filter(filters, attributes, &all.iter().collect::<Vec<_>>())?;
        let others: Vec<RepoPath> = sorted.filtered.remove(name).unwrap_or_default().into_iter().take(SAMPLES).collect();
        self.are_encrypted(&others)
    }

    fn are_encrypted(&self, paths: &[RepoPath]) -> Result<bool> {
        if paths.is_empty() {
            return Ok(false);
        }
        let entries = self.r.kept_bytes().entries(self.worktree, self.file, paths)?;
        let stored = paths.iter().zip(entries).filter_map(|(path, entry)| Some((path, entry?.1)));
        Ok(stored.take(SAMPLES).any(|(path, oid)| self.r.kept_bytes().is_encrypted(self.worktree, path, &oid)))
    }

    fn git(&self) -> Git<'_> {
        let git = self.r.git_in(self.worktree).index(self.file).config("core.splitIndex=false").making_objects();
        git.fetching_nothing().arg("update-index")
    }

    /// Puts regular files into the index with their bytes, not converted in any way. Returns their blobs.
    fn put_as_they_are(&self, paths: &[RepoPath], refused: &mut Vec<RepoPath>) -> Result<Vec<(RepoPath, Oid)>> {
        let entries = self.r.kept_bytes().entries(self.worktree, self.file, paths)?;
        let ids = self.r.kept_bytes().write_raw(self.worktree, paths)?;
        if ids.len() != paths.len() {
            let place = |path: &RepoPath| self.worktree.path().join(path.to_path());
            if let Some(unread) = paths.iter().find(|path| !reads_through(&place(path))) {
                return Err(Error::new(Code::FileUnreadable, "a file of the worktree cannot be read")
                    .why(place(unread).display().to_string())
                    .hint("make it readable, or add it to .gitignore"));
            }
            return Err(Error::new(Code::ChangedMeanwhile, "a file of the worktree went away while it was read")
                .hint("run the command again"));
        }
        let mut new = Vec::new();
        for ((path, entry), id) in paths.iter().zip(entries).zip(ids) {
            // One that is a link by now is no file with a filter.
            let meta = files::metadata(&self.worktree.path().join(path.to_path()))?.filter(Metadata::is_file);
            let Some(meta) = meta else { continue };
            new.push((path.clone(), self.mode_of(&meta, entry), id));
        }
        self.set(new, refused)
    }
}

fn is_file(worktree: &Worktree, path: &RepoPath) -> bool {
    worktree.path().join(path.to_path()).symlink_metadata().is_ok_and(|meta| meta.is_file())
}
