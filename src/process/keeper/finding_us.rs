//! So that agents find `git axiom`, also where it is not installed or another one is: a folder of our own first on `PATH`, and an alias
//! of git's for shells that reset `PATH` (`/etc/profile`). git tries programs first and the alias then.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::os::command::CALLERS_CONFIG;
use axiom_base::error::Result;
use axiom_base::{env, files};

/// The name by which git finds us.
const NAME: &str = "git-axiom";
/// What a caller's `git -c` may not set for agents: their git would work elsewhere than in their workspace.
const NOT_THE_CALLERS: [&str; 3] = ["core.worktree", "core.bare", "alias.axiom"];

/// Makes a folder below `runtime` in which this program is called `git-axiom`, whatever its file is called.
pub(super) fn make_folder(runtime: &Path) -> Result<PathBuf> {
    let folder = runtime.join("bin");
    files::link_in_scratch(&env::own_program()?, &folder.join(NAME))?;
    Ok(folder)
}

/// The variables with which this program is found, by its folder first and by an alias.
pub(super) fn variables(folder: &Path) -> [(&'static str, OsString); 2] {
    let mut path = folder.as_os_str().to_owned();
    if let Some(before) = env::var("PATH").filter(|before| !before.is_empty()) {
        path.push(":");
        path.push(before);
    }
    [("PATH", path), ("GIT_CONFIG_PARAMETERS", parameters(env::var(CALLERS_CONFIG), &folder.join(NAME)))]
}

/// The value of `GIT_CONFIG_PARAMETERS`: the caller's, as far as agents may have it, and the alias.
fn parameters(callers: Option<OsString>, us: &Path) -> OsString {
    // git runs such an alias at the top of the worktree, with the repository in the environment. The paths of the command line are
    // relative to the folder that it was called in, and the repository is found from there.
    let mut script = b"!cd -- \"${GIT_PREFIX:-.}\" && unset GIT_DIR GIT_WORK_TREE GIT_PREFIX && exec ".to_vec();
    script.extend(quoted(us.as_os_str().as_bytes()));
    let alias = [quoted(b"alias.axiom"), b"=".to_vec(), quoted(&script)].concat();
    let callers = callers.map(OsString::into_vec).unwrap_or_default();
    let mut all: Vec<Vec<u8>> = entries(&callers).into_iter().filter(|entry| !is_withheld(entry)).collect();
    all.push(alias);
    OsString::from_vec(all.join(&b' '))
}

/// A text in single quotes, as git and shells read it.
fn quoted(text: &[u8]) -> Vec<u8> {
    let mut out = vec![b'\''];
    for byte in text {
        match byte {
            b'\'' | b'!' => out.extend([b'\'', b'\\', *byte, b'\'']),
            byte => out.push(*byte),
        }
    }
    out.push(b'\'');
    out
}

/// The entries of a value of `GIT_CONFIG_PARAMETERS`, as they are: what stands between spaces outside of quotes.
fn entries(value: &[u8]) -> Vec<Vec<u8>> {
    let (mut all, mut entry, mut in_quotes, mut escaped) = (Vec::new(), Vec::new(), false, false);
    for byte in value {
        if *byte == b' ' && !in_quotes && !escaped {
            all.push(std::mem::take(&mut entry));
            continue;
        }
        in_quotes ^= *byte == b'\'' && !escaped;
        escaped = *byte == b'\\' && !in_quotes && !escaped;
        entry.push(*byte);
    }
    all.push(entry);
    all.retain(|entry| !entry.is_empty());
    all
}

fn is_withheld(entry: &[u8]) -> bool {
    let key: Vec<u8> = entry.iter().filter(|byte| **byte != b'\'').map(u8::to_ascii_lowercase).collect();
    NOT_THE_CALLERS
        .iter()
        .any(|name| key.strip_prefix(name.as_bytes()).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"=")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(callers: &str) -> String {
        parameters(Some(callers.into()), Path::new("/it's/git-axiom")).into_string().unwrap()
    }

    #[test]
    fn the_callers_configuration_stays_but_for_what_leads_elsewhere() {
        let alias = with("");
        assert_eq!(
            alias,
            r#"'alias.axiom'=''\!'cd -- "${GIT_PREFIX:-.}" && unset GIT_DIR GIT_WORK_TREE GIT_PREFIX && exec '\''/it'\''\'\'''\''s/git-axiom'\'''"#
        );
        for (callers, stays) in [
            ("'user.name'='A B'", "'user.name'='A B'"),
            ("'user.name=A '\\''B'", "'user.name=A '\\''B'"),
            ("'Core.Worktree'='/x' 'a.b'='c d'  'core.bare'", "'a.b'='c d'"),
            ("'core.worktree=/x' 'core.worktrees=1'", "'core.worktrees=1'"),
            ("'alias.axiom=x'", ""),
        ] {
            let expected = [stays, alias.as_str()].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
            assert_eq!(with(callers), expected, "{callers}");
        }
    }
}
