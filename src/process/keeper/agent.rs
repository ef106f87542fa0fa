//! Starting the agent program: its environment, its prompt, its pipes.

use crate::run_folder::spec::MAX_PROMPT;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::finding_us;
use crate::os::command::command;
use crate::run_folder::spec::KeeperSpec;
use axiom_base::error::{Code, Error, Result};
use axiom_base::{env, files};

const PROMPT: &[u8] = b"{prompt}";
const PROMPT_FILE: &[u8] = b"{promptFile}";

/// Folders that a program is told.
#[derive(Debug)]
pub(crate) struct ProgramFolders {
    /// For its temporary files.
    pub temp: PathBuf,
    /// For its reports.
    pub spool: PathBuf,
    /// Where it finds git axiom.
    pub us: PathBuf,
}

/// Starts the program of `spec` in its workspace, in a process group of its own.
pub(crate) fn start(spec: &KeeperSpec, folders: &ProgramFolders) -> Result<Child> {
    let args = arguments(spec)?;
    let mut command = command(&spec.program);
    command.args(args.list).current_dir(&spec.workspace).process_group(0);
    surroundings(&mut command, spec, folders);
    // A file rather than a pipe: its size has no limit, it is complete even if the keeper dies, and a program that does not
    // read it causes no error.
    let stdin = if spec.acp.is_some() {
        Stdio::piped()
    } else if args.prompt_used {
        Stdio::null()
    } else {
        File::open(&spec.prompt_file).map_err(|e| Error::io("open the prompt", &spec.prompt_file, e))?.into()
    };
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().map_err(|e| {
        let large = e.kind() == std::io::ErrorKind::ArgumentListTooLong;
        let error = Error::new(Code::ProgramNotFound, format!("cannot start '{}'", spec.program.display())).because(e);
        if large { error.hint("the prompt is too long for an argument: pass it on stdin or as {promptFile}") } else { error }
    })
}

/// Sets the environment: the inherited one, without git's repository-local variables and without the `AXIOM_` variables of
/// an outer run, plus the keeper's own variables.
fn surroundings(command: &mut Command, spec: &KeeperSpec, ProgramFolders { temp, spool, us }: &ProgramFolders) {
    for (name, _) in env::all_vars() {
        let name_bytes = name.as_bytes();
        if name_bytes.starts_with(b"AXIOM_") && !name_bytes.starts_with(b"AXIOM_TEST_") {
            command.env_remove(&name);
        }
    }
    // Computed here, not stored in the specification.
    command.envs(finding_us::variables(us));
    command.envs(&spec.env);
    command.env("AXIOM_TOKEN", spec.token.as_str()).env("AXIOM_SPOOL", spool);
    // Some programs use PWD instead of their real working directory.
    command.env("PWD", &spec.workspace).env_remove("OLDPWD");
    command.env("TMPDIR", temp).env("TMP", temp).env("TEMP", temp);
    command.env("GIT_CEILING_DIRECTORIES", ceilings(&spec.workspace, env::var("GIT_CEILING_DIRECTORIES")));
}

/// `GIT_CEILING_DIRECTORIES`, so that git does not search above the workspace, whether it is reached by its real path or by
/// a link. Otherwise git would use the surrounding worktree in a workspace that has lost its `.git`.
fn ceilings(workspace: &Path, before: Option<OsString>) -> OsString {
    let real = std::fs::canonicalize(workspace).ok();
    let mut folders: Vec<PathBuf> = Vec::new();
    for path in [Some(workspace), real.as_deref()].into_iter().flatten() {
        if let Some(parent) = path.parent()
            && !folders.iter().any(|folder| folder == parent)
        {
            folders.push(parent.to_owned());
        }
    }
    let mut all = OsString::new();
    for part in folders.iter().map(|folder| folder.as_os_str()).chain(before.as_deref()) {
        if !all.is_empty() {
            all.push(":");
        }
        all.push(part);
    }
    all
}

#[derive(Debug)]
struct ProgramArguments {
    list: Vec<OsString>,
    prompt_used: bool,
}

fn arguments(spec: &KeeperSpec) -> Result<ProgramArguments> {
    let has = |arg: &OsString, what: &[u8]| arg.as_bytes().windows(what.len()).any(|part| part == what);
    let wants_prompt = spec.args.iter().any(|arg| has(arg, PROMPT));
    let wants_file = spec.args.iter().any(|arg| has(arg, PROMPT_FILE));
    let prompt = if wants_prompt { files::read(&spec.prompt_file, MAX_PROMPT)? } else { Vec::new() };
    if prompt.contains(&0) {
        return Err(Error::new(Code::InvalidInput, "the prompt has a NUL byte, so it cannot be an argument"));
    }
    let list = spec.args.iter().map(|arg| fill(arg, &prompt, spec.prompt_file.as_os_str())).collect();
    Ok(ProgramArguments { list, prompt_used: wants_prompt || wants_file })
}

/// Replaces the placeholders in one pass, so that a placeholder within the prompt is left as it is.
fn fill(arg: &OsStr, prompt: &[u8], file: &OsStr) -> OsString {
    let mut rest = arg.as_bytes();
    let mut filled = Vec::new();
    while let Some((first, after)) = rest.split_first() {
        if let Some(after) = rest.strip_prefix(PROMPT) {
            filled.extend_from_slice(prompt);
            rest = after;
        } else if let Some(after) = rest.strip_prefix(PROMPT_FILE) {
            filled.extend_from_slice(file.as_bytes());
            rest = after;
        } else {
            filled.push(*first);
            rest = after;
        }
    }
    OsString::from_vec(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_once() {
        let fill = |arg: &str| fill(OsStr::new(arg), b"say {promptFile}", OsStr::new("/p"));
        assert_eq!(fill("--x={prompt}!"), "--x=say {promptFile}!");
        assert_eq!(fill("{promptFile}{prompt"), "/p{prompt");
        assert_eq!(fill(""), "");
    }

    #[test]
    fn the_ceiling_is_the_folder_above_the_workspace() {
        assert_eq!(ceilings(Path::new("/nowhere/w/a"), Some("/x".into())), "/nowhere/w:/x");
    }
}
