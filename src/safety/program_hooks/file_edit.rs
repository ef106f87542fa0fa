//! Putting a piece of ours into a file of the user's, and taking it out again. What was there is kept before the file is written, so a
//! crash between any two steps leaves what the same call, made again, completes.

use std::path::{Path, PathBuf};

use super::file_backup::{self, ProgramFileBackup, digest};
use super::program_files::ProgramFilePlace;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_base::files::{EditedFile, SmallFile};
use axiom_model::program_hooks::edit::{HookEditRefusal, LARGEST};

/// Whether anything is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteProgramFiles {
    /// It is.
    Really,
    /// Only what would be is told.
    DryRun,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramFileChange {
    /// It was there already, or nothing of ours was.
    Unchanged,
    /// It was made.
    Made,
    /// It was changed.
    Changed,
    /// It is again, to the byte, what it was before.
    PutBack,
    /// It was made by us, and is gone.
    Deleted,
}

/// A piece of ours in the text of a file.
pub(super) trait ProgramFilePiece {
    /// The text with it, once and as this version writes it; the same text where that is so already.
    fn with(&self, text: Option<&str>) -> std::result::Result<String, HookEditRefusal>;
    /// The text without it; `None`: nothing else was in it.
    fn without(&self, text: &str) -> std::result::Result<Option<String>, HookEditRefusal>;
    /// Whether the file would be replaced and deleted as a whole though it is not as this version writes it.
    fn is_changed(&self, text: &str) -> bool;
}

/// A file of the user's, and where is kept what was in it.
pub(super) struct ProgramFileTarget {
    pub at: ProgramFilePlace,
    pub record: PathBuf,
}

impl ProgramFileTarget {
    /// Puts a piece in. `before_writing` is called when nothing but the write can fail any more.
    pub(super) fn put(
        &self,
        piece: &dyn ProgramFilePiece,
        doing: WriteProgramFiles,
        before_writing: impl FnOnce() -> Result<()>,
    ) -> Result<ProgramFileChange> {
        let at = &self.at;
        let wanted = |text: Option<&str>| {
            self.nobody_elses(piece, text)?;
            piece.with(text).map_err(|why| refused(&at.path, &why))
        };
        let became = |before: Option<&str>, new: &str| match before {
            None => ProgramFileChange::Made,
            Some(before) if before == new => ProgramFileChange::Unchanged,
            Some(_) => ProgramFileChange::Changed,
        };
        no_link_above(at)?;
        if doing == WriteProgramFiles::DryRun {
            let before = look(&at.path)?;
            return Ok(became(before.as_deref(), &wanted(before.as_deref())?));
        }
        before_writing()?;
        let made_folders = missing_above(&at.path)?;
        if at.in_worktree.is_some() {
            // The last is made with the file, where it is no link.
            made_folders.iter().skip(1).rev().try_for_each(|folder| files::create_users_dir(folder))?;
        }
        let file = EditedFile::open(&at.path, at.links, LARGEST as u64)?;
        let before = text(file.path(), file.read()?)?;
        let new = wanted(before.as_deref())?;
        let became = became(before.as_deref(), &new);
        if became != ProgramFileChange::Unchanged {
            writable(file.path())?;
            self.keep(piece, before.as_deref(), &new, made_folders)?;
            file.replace(before.as_deref().map(str::as_bytes), new.as_bytes())?;
        }
        Ok(became)
    }

    /// Makes the folder of the file alone, and keeps that it was made.
    pub(super) fn put_folder(&self, doing: WriteProgramFiles) -> Result<ProgramFileChange> {
        no_link_above(&self.at)?;
        let made_folders = missing_above(&self.at.path)?;
        if made_folders.is_empty() {
            return Ok(ProgramFileChange::Unchanged);
        }
        if doing == WriteProgramFiles::Really {
            file_backup::write(
                &self.record,
                &ProgramFileBackup { before: None, written: String::new(), from: None, made_folders: made_folders.clone() },
            )?;
            made_folders.iter().rev().try_for_each(|folder| files::create_users_dir(folder))?;
        }
        Ok(ProgramFileChange::Made)
    }

    /// Takes a piece out: puts back what was there where nobody changed it since, else cuts out ours alone.
    pub(super) fn take_out(&self, piece: &dyn ProgramFilePiece, doing: WriteProgramFiles) -> Result<ProgramFileChange> {
        let Self { at, record } = self;
        no_link_above(at)?;
        let is_there = files::metadata(&at.path)?.is_some();
        if doing == WriteProgramFiles::DryRun || !is_there {
            let became = self.cut(piece, look(&at.path)?)?.became;
            if doing == WriteProgramFiles::Really && forget(record, &at.path)? {
                return Ok(ProgramFileChange::Deleted);
            }
            return Ok(became);
        }
        // Nobody of ours changes the file or what is kept of it meanwhile.
        let file = EditedFile::open(&at.path, at.links, LARGEST as u64)?;
        let found = text(file.path(), file.read()?)?;
        let ProgramFileRemainder { new, became } = self.cut(piece, found.clone())?;
        let found = found.as_deref().map(str::as_bytes);
        if became != ProgramFileChange::Unchanged {
            writable(file.path())?;
            match &new {
                Some(new) => file.replace(found, new.as_bytes())?,
                None if file.read()?.as_deref() == found => files::remove_file(file.path())?,
                None => return Err(Error::new(Code::ChangedMeanwhile, format!("'{}' was changed", at.path.display()))),
            }
        }
        forget(record, &at.path)?;
        Ok(became)
    }

    /// Of what is replaced and deleted as a whole, a text that somebody changed since we wrote it may hold what they wrote.
    fn nobody_elses(&self, piece: &dyn ProgramFilePiece, text: Option<&str>) -> Result<()> {
        let changed = text.filter(|text| piece.is_changed(text));
        let Some(text) = changed else { return Ok(()) };
        match file_backup::read(&self.record)?.is_some_and(|kept| kept.is_of(text)) {
            true => Ok(()),
            false => Err(refused(&self.at.path, "it is not as git axiom wrote it, and may hold what you wrote")
                .hint("keep what is yours in another file, delete this one, and run the command again")),
        }
    }

    /// Keeps what was there: the original, for as long as nobody else changes the file.
    fn keep(&self, piece: &dyn ProgramFilePiece, before: Option<&str>, new: &str, made_folders: Vec<PathBuf>) -> Result<()> {
        let written = digest(new.as_bytes());
        let from = before.map(|before| digest(before.as_bytes()));
        let earlier = file_backup::read(&self.record)?;
        let is_ours = |earlier: &ProgramFileBackup| before.is_some_and(|before| earlier.is_of(before));
        let kept = match (earlier, before) {
            (Some(earlier), _) if is_ours(&earlier) => ProgramFileBackup { written, from, ..earlier },
            // Somebody deleted the file; the folders that were made for it are ours all the same.
            (Some(earlier), None) => {
                let made_folders = made_folders.into_iter().chain(earlier.made_folders).collect();
                ProgramFileBackup { before: None, written, from, made_folders }
            }
            (None, None) => ProgramFileBackup { before: None, written, from, made_folders },
            (_, Some(before)) => {
                let before = piece.without(before).map_err(|why| refused(&self.at.path, &why))?;
                ProgramFileBackup { before, written, from, made_folders: Vec::new() }
            }
        };
        file_backup::write(&self.record, &kept)
    }

    fn cut(&self, piece: &dyn ProgramFilePiece, found: Option<String>) -> Result<ProgramFileRemainder> {
        let Some(found) = found else { return Ok(ProgramFileRemainder { new: None, became: ProgramFileChange::Unchanged }) };
        self.nobody_elses(piece, Some(&found))?;
        let kept = file_backup::read(&self.record)?;
        let unchanged = kept.as_ref().filter(|kept| kept.is_of(&found));
        let new = match unchanged {
            Some(kept) => kept.before.clone(),
            None => piece.without(&found).map_err(|why| refused(&self.at.path, &why))?,
        };
        let became = match &new {
            None => ProgramFileChange::Deleted,
            Some(new) if *new == found => ProgramFileChange::Unchanged,
            Some(_) if unchanged.is_some() => ProgramFileChange::PutBack,
            Some(_) => ProgramFileChange::Changed,
        };
        Ok(ProgramFileRemainder { new, became })
    }
}

/// What a file is to hold once ours is out of it.
struct ProgramFileRemainder {
    new: Option<String>,
    became: ProgramFileChange,
}

/// Forgets what was kept, and the folders that were made for the file where they are empty now: whether any of them went.
fn forget(record: &Path, path: &Path) -> Result<bool> {
    let (kept, mut went) = (file_backup::read(record)?, false);
    if files::metadata(path)?.is_none() {
        for folder in kept.into_iter().flat_map(|kept| kept.made_folders) {
            let is_there = path.starts_with(&folder) && files::metadata(&folder)?.is_some_and(|meta| meta.is_dir());
            if !is_there || !files::remove_empty_dir(&folder)? {
                break;
            }
            went = true;
        }
    }
    if files::metadata(record)?.is_some() {
        files::remove_file(record)?;
        // Of a linked worktree nothing of ours stays in git's folder: `axiom/attach/kept`.
        for folder in record.ancestors().skip(1).take(3) {
            if !files::remove_empty_dir(folder)? {
                break;
            }
        }
    }
    Ok(went)
}

/// A link of the repository's might lead anywhere.
fn no_link_above(at: &ProgramFilePlace) -> Result<()> {
    let depth = at.in_worktree.map_or(0, |path| path.matches('/').count());
    for folder in at.path.ancestors().skip(1).take(depth) {
        if files::metadata(folder)?.is_some_and(|meta| meta.is_symlink()) {
            return Err(Error::new(Code::InTheWay, format!("'{}' is a symbolic link, so it is left alone", folder.display())));
        }
    }
    Ok(())
}

/// The folders of a file that are not there, the innermost first.
fn missing_above(path: &Path) -> Result<Vec<PathBuf>> {
    let mut missing = Vec::new();
    for folder in path.ancestors().skip(1) {
        match files::metadata(folder)? {
            Some(_) => break,
            None => missing.push(folder.to_owned()),
        }
    }
    Ok(missing)
}

/// The text of a file, without any lock.
pub(super) fn look(path: &Path) -> Result<Option<String>> {
    match files::read_small_of_user(path, LARGEST as u64)? {
        SmallFile::Nothing => Ok(None),
        SmallFile::Content(bytes) => text(path, Some(bytes)),
        SmallFile::Odd(what) => Err(refused(path, &format!("it is {what}"))),
    }
}

fn text(path: &Path, bytes: Option<Vec<u8>>) -> Result<Option<String>> {
    bytes.map(|bytes| String::from_utf8(bytes).map_err(|_| refused(path, "it is not encoded in UTF-8"))).transpose()
}

fn refused(path: &Path, why: &str) -> Error {
    Error::new(Code::InvalidInput, format!("'{}' is left as it is", path.display())).why(why.to_owned())
}

/// A file that is read-only is meant to stay as it is, even where its folder would let us replace it.
fn writable(path: &Path) -> Result<()> {
    match files::metadata(path)? {
        Some(meta) if meta.permissions().readonly() => Err(refused(path, "it is read-only")),
        Some(_) | None => Ok(()),
    }
}
