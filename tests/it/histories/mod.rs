//! Random histories: what people do with git, agents, odd files and faults, mixed with every verb of ours, against an oracle
//! that knows nothing of how git axiom works.
//!
//! What it holds against the tool:
//! - a verb that fails changes nothing, and so does a dry run;
//! - a dry run names exactly what the verb then changes: files, what is staged, HEADs, operations in progress, refs, stash entries,
//!   tasks, the mode, workspaces, checkpoints (`foretold.rs`);
//! - undo brings back exactly what was there, redo exactly what the verb had made;
//! - after a rollback the files and refs of the checkpoint are there, and a task that was taken back is pending;
//! - after a purge the path is gone from the checkpoints, and no other path is another one;
//! - whatever was in a worktree, or a local ref named, when a verb saved or changed it, can be got back at the end;
//! - no ref of ours names a missing object, and `git fsck` and `git gc` find nothing wrong;
//! - in odd places (`places/mod.rs`: submodules, Git LFS, filters, what cannot be read, broken worktrees, agents that take from the
//!   stash) a checkpoint is made all the same, names what it leaves out, and a rollback leaves that as it is.
//!
//! `AXIOM_SEED=1 AXIOM_ROUNDS=5000 cargo test --test it histories::` tells the seeds 1 to 5000; a failure names its seed and what was done. With `AXIOM_HISTORIES_RECORD=folder` what is said
//! is written down, to compare two builds (`transcript.rs`).

mod back;
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
mod tool;
mod transcript;
mod world;

use crate::common::random::Random;
use crate::common::workers::try_asked;
use place::Place;

/// Where a test run begins, and how many histories it tells.
const TOLD: (u64, u64) = (1, 12);
/// Steps of a history.
const STEPS: u64 = 24;

#[test]
fn whatever_people_agents_and_faults_do_nothing_is_lost() {
    try_asked("histories::whatever_people_agents_and_faults_do_nothing_is_lost", TOLD, || tell);
}

fn tell(seed: u64) {
    let mut dice = Random::of(seed);
    let mut place = Place::new(seed, &mut dice);
    for _ in 0..STEPS {
        place.by_a_person(places::step);
        place.look_at_broken();
        match dice.below(10) {
            0..=3 => place.by_a_person(|place| human::step(place, &mut dice)),
            4 => place.by_a_person(|place| odd::step(place, &mut dice)),
            _ => tool::step(&mut place, &mut dice),
        }
    }
    let transcript = std::mem::take(&mut place.transcript);
    transcript.write(&place, seed);
    oracle::at_the_end(&mut place);
}
