//! How often a checkpoint waits for the disk: each time guards the next, and one more would be paid by everybody.

use std::os::fd::AsRawFd;

use crate::common::TestEnv;
use crate::power_loss::tracer::{self, Change};

/// What is synced while a command runs, in order: `all`, or the place below the git directory.
fn syncs(env: &TestEnv, args: &[&str]) -> Vec<String> {
    let root = env.repo().canonicalize().unwrap();
    let mut synced = Vec::new();
    let mut command = env.axiom_command(&root, args.iter().copied());
    command.current_dir(&root);
    let code = tracer::run(command, &root, |change| match change {
        Change::SyncedAll => synced.push("all".to_owned()),
        Change::Synced(file) => {
            let place = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).unwrap();
            let inside = place.strip_prefix(root.join(".git")).unwrap_or(&place);
            synced.push(inside.display().to_string());
        }
        Change::Opened(..)
        | Change::Written(_)
        | Change::WrittenAt(_)
        | Change::Renamed(..)
        | Change::Made(_)
        | Change::Removed(_) => {}
    });
    assert_eq!(code, Some(0), "{args:?}");
    synced
}

#[test]
fn a_clean_checkpoint_syncs_six_times_and_each_of_them_guards_the_next() {
    let env = TestEnv::new();
    // What the first one makes once stays: folders, the proof of the object store, the identity.
    env.ok(&["checkpoint", "create", "first"]);
    let mut synced = syncs(&env, &["checkpoint", "create", "second"]);
    // The three folders of refs are synced at once.
    if synced.len() == 6 {
        synced[2..5].sort();
    }
    let contents_of_objects = "all";
    let names_of_objects = "all";
    let refs = ["refs/axiom/captures", "refs/notes", "refs/tags/axiom"];
    let outcome = "axiom/state/events.jsonl";
    assert_eq!(synced, [&[contents_of_objects, names_of_objects][..], &refs, &[outcome]].concat());
}
