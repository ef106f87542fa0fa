//! Random histories: what people do with git, agents, odd files and faults, mixed with every verb of ours, against an oracle
//! that knows nothing of how git axiom works.
//!
//! What it holds against the tool:
//! - a verb that fails changes nothing, and so does a dry run;
//! - a dry run names exactly what the verb then changes: files, what is staged, HEADs, operations in progress, refs, stash entries,
//!   tasks, the mode, workspaces, checkpoints (`foretold.rs`);
//! - undo brings back exactly what was there, redo exactly what the verb had made;
//! - after a rollback the files and refs of the checkpoint are there;
//! - after a purge the path is gone from the checkpoints, and no other path is another one;
//! - whatever was in a worktree, or a local ref named, when a verb saved or changed it, can be got back at the end;
//! - no ref of ours names a missing object, and `git fsck` and `git gc` find nothing wrong;
//! - in odd places (`places/mod.rs`: submodules, Git LFS, filters, what cannot be read, broken worktrees, agents that take from the
//!   stash) a checkpoint is made all the same, names what it leaves out, and a rollback leaves that as it is.
//!
//! `AXIOM_HISTORIES=5000 AXIOM_HISTORIES_SEED=1 cargo test --test histories` runs the seeds 1 to 5000; a failure names its seed
//! and what was done, and `AXIOM_HISTORIES=1 AXIOM_HISTORIES_SEED=n` tells that one again. With `AXIOM_HISTORIES_RECORD=folder` what is said
//! is written down, to compare two builds (`transcript.rs`).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods, clippy::print_stderr)]

mod back;
#[path = "../common/mod.rs"]
mod common;
mod dice;
mod faults;
mod foretold;
mod held;
mod human;
mod look;
mod odd;
mod oracle;
mod place;
mod places;
mod purged;
mod seen;
mod session;
#[path = "../support/skipped.rs"]
mod skipped;
mod tool;
mod transcript;
mod world;

use std::process::Command;

use dice::Dice;
use place::Place;

/// Histories that a test run tells.
const HISTORIES: u64 = 30;
/// Where a test run begins.
const SEED: u64 = 1;
/// Steps of a history.
const STEPS: u64 = 24;
/// Processes at once.
const WORKERS: u64 = 2;

const NAME: &str = "whatever_people_agents_and_faults_do_nothing_is_lost";

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// The histories are told by processes of their own, in memory where that can be: what a power loss does is not asked here.
#[test]
fn whatever_people_agents_and_faults_do_nothing_is_lost() {
    if let (Some(first), Some(end)) = (number("AXIOM_HISTORIES_WORKER"), number("AXIOM_HISTORIES_END")) {
        let seeds = (first..end).step_by(WORKERS as usize);
        // One that goes wrong does not keep the others from being told.
        let wrong: Vec<u64> = seeds.filter(|seed| std::panic::catch_unwind(|| tell(*seed)).is_err()).collect();
        assert!(wrong.is_empty(), "histories that went wrong: {wrong:?}");
        return;
    }
    let first = number("AXIOM_HISTORIES_SEED").unwrap_or(SEED);
    let end = first + number("AXIOM_HISTORIES").unwrap_or(HISTORIES);
    let start = |worker: u64| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", NAME, "--nocapture"]);
        command.env("RUST_BACKTRACE", "0");
        command.env("AXIOM_HISTORIES_WORKER", (first + worker).to_string()).env("AXIOM_HISTORIES_END", end.to_string());
        if std::path::Path::new("/dev/shm").is_dir() {
            command.env("TMPDIR", "/dev/shm");
        }
        command.spawn().unwrap()
    };
    let workers: Vec<_> = (0..WORKERS.min(end - first)).map(start).collect();
    let failed = workers.into_iter().map(|mut worker| worker.wait().unwrap()).filter(|status| !status.success()).count();
    assert_eq!(failed, 0, "a history went wrong: see above");
}

fn tell(seed: u64) {
    let mut dice = Dice::of(seed);
    let mut place = Place::new(seed, &mut dice);
    for _ in 0..STEPS {
        place.by_a_person(places::step);
        place.look_at_broken();
        match dice.roll(10) {
            0..=3 => place.by_a_person(|place| human::step(place, &mut dice)),
            4 => place.by_a_person(|place| odd::step(place, &mut dice)),
            _ => tool::step(&mut place, &mut dice),
        }
    }
    let transcript = std::mem::take(&mut place.transcript);
    transcript.write(&place, seed);
    oracle::at_the_end(&mut place);
}
