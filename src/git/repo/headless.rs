//! A git directory that git does not take for one, since its `HEAD` is empty or gone: what it was is in its log. Read without git.

use std::path::{Path, PathBuf};

use axiom_base::error::{Code, Error};
use axiom_base::files;
use axiom_base::shell_word::shell_word;
use axiom_model::base::names::{Oid, spelled};

use super::nested::is_head;
use crate::repo::pointer_files::path_of;

/// The largest log and the largest small file that is read.
const LOG_LIMIT: u64 = 64 * 1024 * 1024;
const SMALL: u64 = 64 * 1024;

/// Why git finds no repository for `cwd`, where a damaged `HEAD` is the reason, with the way out; `None` where it is not.
pub(crate) fn headless(cwd: &Path) -> Option<Error> {
    let start = cwd.canonicalize().ok()?;
    let git_dir = start.ancestors().find_map(|folder| git_dir_in(&folder.join(".git")))?;
    let head = git_dir.join("HEAD");
    if is_head(&head) {
        return None;
    }
    let is_there = files::read_optional(&head, SMALL).ok()?.is_some();
    let is = if is_there { "is empty or torn" } else { "is gone" };
    let error = Error::new(Code::GitFailed, format!("git does not take this for a repository: '{}' {is}", head.display()));
    let (file, aside) = (text_of(&head), text_of(&git_dir.join("HEAD.damaged")));
    let aside = if is_there { format!("mv {file} {aside} && ") } else { String::new() };
    Some(match was_at(&git_dir) {
        Some(was) => error.hint(format!("{aside}echo {} > {file}    as its log has it; no file changes", shell_word(&was))),
        None => {
            error.hint(format!("{aside}echo 'ref: refs/heads/BRANCH' > {file}    with the branch it was on; no file changes"))
        }
    })
}

fn text_of(path: &Path) -> String {
    shell_word(&path.display().to_string())
}

/// The git directory that a `.git` is or names, if it has the folders of one.
fn git_dir_in(dot_git: &Path) -> Option<PathBuf> {
    let git_dir = match std::fs::symlink_metadata(dot_git).ok()? {
        meta if meta.is_dir() => dot_git.to_owned(),
        meta if meta.is_file() => {
            let content = files::read_optional(dot_git, SMALL).ok()??;
            dot_git.parent()?.join(path_of(content.strip_prefix(b"gitdir: ")?.trim_ascii_end()))
        }
        _ => return None,
    };
    let common = common_of(&git_dir);
    (common.join("objects").is_dir() && common.join("refs").is_dir()).then_some(git_dir)
}

fn common_of(git_dir: &Path) -> PathBuf {
    let named = files::read_optional(&git_dir.join("commondir"), SMALL).ok().flatten();
    named.map_or_else(|| git_dir.to_owned(), |named| git_dir.join(path_of(named.trim_ascii_end())))
}

/// What HEAD said, by its log: the branch that it was switched to last, else the only one that is where the log ends, else a commit.
fn was_at(git_dir: &Path) -> Option<String> {
    let log = files::read_optional(&git_dir.join("logs/HEAD"), LOG_LIMIT).ok()??;
    let log = spelled(&log);
    let last = log.lines().rev().find_map(new_of)?;
    let moved = |line| str::split_once(line, "\tcheckout: moving from ").and_then(|(_, moved)| moved.split_once(" to "));
    let common = common_of(git_dir);
    let branches = common.join("logs/refs/heads");
    let is_there = |name: &str| branches.join(name).is_file() || common.join("refs/heads").join(name).is_file();
    let symbolic = |name: &str| format!("ref: refs/heads/{name}");
    match log.lines().rev().find_map(moved) {
        Some((_, to)) if is_there(to) => Some(symbolic(to)),
        Some(_) => Some(last.to_string()),
        None => {
            let mut there = Vec::new();
            branches_at(&branches, "", &last, &mut there);
            Some(if let [one] = there.as_slice() { symbolic(one) } else { last.to_string() })
        }
    }
}

/// The branches whose logs end with this commit.
fn branches_at(folder: &Path, above: &str, last: &Oid, found: &mut Vec<String>) {
    for entry in files::list(folder).unwrap_or_default() {
        let name = format!("{above}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            branches_at(&entry.path(), &format!("{name}/"), last, found);
        } else if let Ok(Some(log)) = files::read_optional(&entry.path(), LOG_LIMIT)
            && spelled(&log).lines().rev().find_map(new_of).as_ref() == Some(last)
        {
            found.push(name);
        }
    }
}

/// The new value in a line of a log.
fn new_of(line: &str) -> Option<Oid> {
    line.split(' ').nth(1).and_then(|hex| Oid::new(hex).ok())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::disallowed_methods)]

    use super::*;
    use crate::repo::repository::Repository;
    use crate::repo::scratch::ScratchRepository;

    #[test]
    fn a_head_that_is_empty_torn_or_gone_is_told_with_the_command_that_makes_it_again() {
        for switched in [None, Some("side"), Some("HEAD^0")] {
            for left in [Some(""), Some("ref: re"), None] {
                let scratch = ScratchRepository::new(&[]);
                scratch.git(&["branch", "side"]);
                scratch.git(&["commit", "-q", "--allow-empty", "-m", "where main is alone"]);
                if let Some(to) = switched {
                    scratch.git(&["checkout", "-q", to]);
                }
                assert!(headless(&scratch.path()).is_none());
                let head = scratch.path().join(".git/HEAD");
                let was = std::fs::read_to_string(&head).unwrap();
                match left {
                    Some(left) => std::fs::write(&head, left).unwrap(),
                    None => std::fs::remove_file(&head).unwrap(),
                }
                let error = Repository::discover(&scratch.path().join("sub")).unwrap_err();
                assert_eq!(error.code(), Code::GitFailed, "{error}");
                let command = error.hints()[0].split("    ").next().unwrap();
                assert!(std::process::Command::new("sh").args(["-c", command]).status().unwrap().success(), "{command}");
                assert_eq!(std::fs::read_to_string(&head).unwrap(), was, "{switched:?}: {command}");
                assert_eq!(scratch.path().join(".git/HEAD.damaged").exists(), left.is_some());
            }
        }
    }
}
