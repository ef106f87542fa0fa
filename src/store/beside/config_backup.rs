//! The backup of the user's own configuration, as it was when all of it last loaded, and what was replaced by git axiom: in the user's
//! own state folder, readable only by the user. When a backup is made, and when it counts, is in `safety` and `agents`.

use std::path::PathBuf;

use axiom_base::error::{Code, Error, Result};
use axiom_base::{env, files};

/// The folder of git axiom; `None` where the user has no state folder.
fn folder() -> Option<PathBuf> {
    env::user_state_dir().map(|state| state.join("git-axiom"))
}

/// The file of the backup; `None` where the user has no state folder.
pub fn file() -> Option<PathBuf> {
    folder().map(|folder| folder.join("config.toml.backup"))
}

/// The backup; `None` where there is none.
pub fn read(limit: u64) -> Result<Option<Vec<u8>>> {
    let Some(file) = file() else { return Ok(None) };
    for path in file.parent().into_iter().chain([file.as_path()]) {
        if let Some(foreign) = files::foreign(path)? {
            return Err(Error::new(
                Code::NotPrivate,
                format!("'{}' {}: the backup does not count", path.display(), foreign.why()),
            )
            .hint(foreign.way_out()));
        }
    }
    files::read_optional(&file, limit)
}

/// Makes this the backup, unless it is. A crash leaves the old or the new one.
pub fn keep(bytes: &[u8], limit: u64) -> Result<()> {
    let (Some(folder), Some(file)) = (folder(), file()) else { return Ok(()) };
    if read(limit)?.as_deref() == Some(bytes) {
        return Ok(());
    }
    files::create_dir_all(&folder)?;
    files::write_atomic(&file, bytes)
}

/// Keeps what is about to be replaced. Returns where; on disk when this returns.
pub fn put_aside(name: &str, bytes: &[u8]) -> Result<PathBuf> {
    let folder = folder().ok_or_else(|| {
        Error::new(Code::IoFailed, "there is no place to keep what would be replaced: HOME is not set")
            .hint("set HOME or XDG_STATE_HOME")
    })?;
    let folder = folder.join("replaced");
    files::create_dir_all(&folder)?;
    let file = folder.join(format!("{name}-{}-{}", env::now().strftime("%Y-%m-%dT%H-%M-%S"), env::fresh_id()));
    files::create_new(&file, bytes)?;
    Ok(file)
}
