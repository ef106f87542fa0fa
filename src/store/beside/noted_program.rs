//! The file of git axiom that the launchers of plugins call: its path, in the user's own state folder.

use std::path::Path;

use axiom_base::error::Result;
use axiom_base::{env, files};

/// The longest path that is read.
const LONGEST: u64 = 4096;

/// Notes it, where another one is noted.
pub fn note(program: &Path) -> Result<()> {
    let (Some(file), Some(path)) = (env::user_state_dir().map(|state| state.join("git-axiom/program")), program.to_str()) else {
        return Ok(());
    };
    let line = format!("{path}\n");
    if files::read_optional(&file, LONGEST).ok().flatten().is_some_and(|known| known == line.as_bytes()) {
        return Ok(());
    }
    if let Some(folder) = file.parent() {
        files::create_dir_all(folder)?;
    }
    files::write_atomic(&file, line.as_bytes())
}
