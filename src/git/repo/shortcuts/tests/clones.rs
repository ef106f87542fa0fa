//! Clones, whole and in part: what they forbid.
#![allow(clippy::disallowed_methods)]

use super::super::{Condition, FastWay};
use super::probe::{self, Probe};
use super::{configure, index_parts, new_index};
use crate::repo::scratch::ScratchRepository;
use crate::skipped::skipped;

/// Puts a clone of a repository in its place.
fn cloned(scratch: &ScratchRepository, clone: &[&str], folder: &str) {
    let (here, from) = (scratch.path(), scratch.path().with_file_name("from"));
    scratch.git(&["stash", "-q", "-u"]);
    scratch.git(&["config", "uploadpack.allowFilter", "true"]);
    std::fs::rename(&here, &from).unwrap();
    let above = here.parent().unwrap();
    let output = std::process::Command::new(clone[0])
        .args(&clone[1..])
        .args([format!("file://{}", from.display()), "clone".to_owned()])
        .current_dir(above)
        .envs([("HOME", above.to_str().unwrap()), ("GIT_CONFIG_NOSYSTEM", "1")])
        .env("GIT_CONFIG_GLOBAL", above.join("global"))
        // Nothing is registered with this machine's scheduler.
        .env("GIT_TEST_MAINT_SCHEDULER", "crontab:true")
        .output()
        .unwrap();
    assert!(output.status.success(), "{clone:?}: {}", String::from_utf8_lossy(&output.stderr));
    std::fs::rename(above.join(folder), &here).unwrap();
    configure(scratch, &[("user.name", "A U Thor"), ("user.email", "author@example.org"), ("core.excludesFile", "/dev/null")]);
    scratch.git(&["update-index", "-q", "--refresh"]);
}

#[test]
fn clones_without_all_objects_forbid_nothing() {
    let probe = Probe::new(&[]);
    let usual = probe.allowed();
    cloned(&probe.scratch, &["git", "clone", "-q", "--filter=blob:none", "--no-local"], "clone");
    assert!(probe.scratch.read(".git/config").contains("promisor = true"));
    probe.dirty();
    assert_eq!(probe.taken(), usual);
}

#[test]
fn where_a_blob_is_missing_git_fetches_it() {
    let probe = Probe::new(&[]);
    cloned(&probe.scratch, &["git", "clone", "-q", "--filter=blob:none", "--no-local", "--no-checkout"], "clone");
    let (repo, scratch) = (probe.repo(), &probe.scratch);
    // git does not look at this file, so it does not know its blob here.
    scratch.git(&["read-tree", "HEAD"]);
    scratch.write("far/y", b"2\n");
    scratch.write("far/new", b"new\n");
    let taken = repo.captures().capture_worktree(&scratch.main(), &probe::options()).unwrap();
    assert_eq!(taken, repo.captures().capture_by_git(&scratch.main(), &probe::options()).unwrap());
}

#[test]
fn repositories_of_scalar_forbid_nothing() {
    let Ok(_) = std::process::Command::new("scalar").arg("help").output() else { return skipped("there is no scalar") };
    let probe = Probe::new(&[]);
    let usual = probe.allowed();
    cloned(&probe.scratch, &["scalar", "clone", "--full-clone"], "clone/src");
    new_index(&probe.scratch);
    probe.dirty();
    assert_eq!(index_parts(&probe.scratch), (4, false, true, false));
    assert_eq!(probe.taken(), usual);
    // A part of the files only: what that forbids are the rows of sparse checkouts.
    let probe = Probe::new(&[]);
    cloned(&probe.scratch, &["scalar", "clone"], "clone/src");
    let repo = probe.repo();
    let forbids = |way| repo.shortcuts().forbidden_by(way, Some(&probe.scratch.main()));
    assert_eq!(forbids(FastWay::CaptureFiles), Some(Condition::WorktreeConfig));
    assert_eq!(forbids(FastWay::EditIndex), Some(Condition::SparsePatterns));
    let quick = repo.captures().capture_worktree(&probe.scratch.main(), &probe::options()).unwrap();
    assert_eq!(quick, repo.captures().capture_by_git(&probe.scratch.main(), &probe::options()).unwrap());
}
