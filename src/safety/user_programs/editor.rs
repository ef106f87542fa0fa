//! The user's editor, as git would start it, in the foreground: for a file, a folder, or a text.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use axiom_base::env;
use axiom_base::error::{Code, Error, Result};
use axiom_base::files;
use axiom_base::files::SmallFile;
use axiom_git::users_editor;
use axiom_process::os::foreground::{ForegroundProgram, status_of};

/// Opens a file or folder in the editor that git uses in `folder`, and waits for its end.
///
/// # Errors
/// `GIT_FAILED` where there is no editor; `PROGRAM_NOT_FOUND`; `IO_FAILED` where it ended with an error.
pub fn open(folder: &Path, what: &OsStr) -> Result<()> {
    let editor = users_editor(folder)?;
    let words = ["sh".to_owned(), "-c".to_owned(), format!("{editor} \"$@\""), editor.clone()];
    let command = words.into_iter().map(OsString::from).chain([what.to_owned()]).collect();
    let ended = ForegroundProgram { command, folder: folder.to_owned(), env: Vec::new() }.wait_for();
    let ended = ended.map_err(|e| Error::new(Code::ProgramNotFound, "'sh' cannot be started").because(e))?;
    match status_of(ended) {
        0 => Ok(()),
        status => Err(Error::new(Code::IoFailed, format!("the editor '{editor}' ended with status {status}"))
            .hint("set GIT_EDITOR, or 'git config core.editor', to an editor that works")),
    }
}

/// Lets the user edit a text, in a private file of the temporary folder. Returns it as it was saved, without spaces and empty lines at
/// its end. Where that fails the file stays, and the error names it.
///
/// # Errors
/// As [`open`]; `TOO_LARGE`; `INVALID_INPUT` where it is not UTF-8; `DISK_FULL`.
pub fn edit(folder: &Path, text: &str, limit: u64) -> Result<String> {
    let draft = env::temp_dir().join(format!("axiom-task-{}.md", env::fresh_id()));
    files::create_new(&draft, text.as_bytes())?;
    let stays = |error: Error| error.hint(format!("your text is in {}", draft.display()));
    open(folder, draft.as_os_str()).map_err(stays)?;
    let saved = match files::read_small_of_user(&draft, limit).map_err(stays)? {
        SmallFile::Content(bytes) => bytes,
        SmallFile::Nothing => return Err(Error::new(Code::IoFailed, "the editor has saved nothing, so nothing is changed")),
        SmallFile::Odd(what) => return Err(Error::new(Code::InvalidInput, format!("'{}' is {what}", draft.display()))),
    };
    let saved = String::from_utf8(saved);
    let saved = saved.map_err(|_| stays(Error::new(Code::InvalidInput, "the text is not UTF-8, so nothing is changed")))?;
    if let Err(error) = files::remove_file(&draft) {
        tracing::warn!(%error, "a draft was left");
    }
    Ok(saved.trim_end().to_owned())
}
