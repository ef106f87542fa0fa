//! 100,000 untracked files, the first time and when nothing changed, and one file of 256 MB, with the limit of sizes lifted.

use std::io::Write;

use crate::bench::Bench;
use crate::measure::{alone, in_turns, in_turns_after, time};
use crate::row::{Goal, Samples, Unit, grouped};
use crate::scratch::{PROGRAM, Scratch};
use crate::{machine, repositories};

const FILES: usize = 100_000;
const MEGABYTES: usize = 256;
const ROUNDS: usize = 3;
const BESIDE: &str = "copied index + add -A + write-tree + commit-tree";

pub fn rows(bench: &mut Bench) {
    many(bench);
    one(bench);
}

fn create(scratch: &Scratch) {
    scratch.axiom(&["checkpoint", "create"]);
}

/// So many files that git does not know, with contents of their own for each round.
fn write(scratch: &Scratch, count: usize, round: usize) {
    for number in 0..count {
        let folder = scratch.path(&format!("repo/new{}", number / 1000));
        if number % 1000 == 0 {
            std::fs::create_dir_all(&folder).unwrap();
        }
        std::fs::write(folder.join(format!("{number}")), format!("round {round} of {number}\n")).unwrap();
    }
    std::thread::sleep(std::time::Duration::from_millis(1100));
}

fn many(bench: &mut Bench) {
    let scratch = repositories::files(1000);
    let mut round = 0;
    let mut before = || {
        round += 1;
        write(&scratch, FILES, round);
    };
    let by_git = || scratch.sh(super::capture::BY_GIT);
    let (ours, theirs) = in_turns_after(ROUNDS, &mut before, &mut || create(&scratch), &mut || by_git());
    let first = ours.clone();
    bench.beside("checkpoint, 100,000 new untracked files", BESIDE, Goal::AtMost(1.0), (ours, theirs));
    // What git added last lies in a file for each blob, each of which gets a new time; nobody but a checkpoint has seen these.
    write(&scratch, FILES, ROUNDS * 2 + 1);
    create(&scratch);
    let status = || scratch.sh("git status --untracked-files=all > /dev/null");
    let times = in_turns(5, &mut || create(&scratch), &mut || status());
    let second = times.0.clone();
    bench.beside("the same when nothing has changed", "git status --untracked-files=all", Goal::AtMost(3.0), times);
    drop(scratch);

    let few = repositories::files(1000);
    let mut round = 0;
    let mut before = || {
        round += 1;
        write(&few, FILES / 4, round);
    };
    let mut measured = || {
        before();
        time(&mut || create(&few))
    };
    let small = Samples::times(&[measured(), measured(), measured()]);
    bench.growth("checkpoint", "new untracked files", Goal::AtMost(1.1), (FILES / 4, small), (FILES, first));
    let small = alone(5, &mut || create(&few));
    bench.growth("checkpoint", "untracked files, unchanged", Goal::AtMost(1.1), (FILES / 4, small), (FILES, second));
}

/// A file of random bytes, which nothing compresses.
fn large_file(scratch: &Scratch, megabytes: usize) {
    let mut source = std::fs::File::open("/dev/urandom").unwrap();
    let mut file = std::fs::File::create(scratch.path("repo/large")).unwrap();
    std::io::copy(&mut std::io::Read::take(&mut source, (megabytes as u64) << 20), &mut file).unwrap();
    file.flush().unwrap();
    file.sync_all().unwrap();
}

fn one(bench: &mut Bench) {
    let scratch = repositories::files(1000);
    scratch.sh("git config axiom.checkpoints.maxFileSize 2GB");
    let measured = |megabytes: usize| {
        let mut before = || large_file(&scratch, megabytes);
        let by_git = || scratch.sh(super::capture::BY_GIT);
        in_turns_after(ROUNDS, &mut before, &mut || create(&scratch), &mut || by_git())
    };
    let (small, _) = measured(MEGABYTES / 4);
    let (large, theirs) = measured(MEGABYTES);
    let what = format!("checkpoint, one new file of {MEGABYTES} MB");
    bench.beside(&what, BESIDE, Goal::AtMost(1.0), (large.clone(), theirs));
    bench.growth("checkpoint", "MB of one new file", Goal::AtMost(1.1), (MEGABYTES / 4, small), (MEGABYTES, large));
    let again = alone(5, &mut || create(&scratch));
    bench.alone("the same when it has not changed", Unit::Seconds, Goal::None, again);
    let memory = |megabytes: usize| {
        large_file(&scratch, megabytes);
        Samples::of(vec![machine::peak_memory(&mut scratch.command(PROGRAM, &["checkpoint", "create"])) as f64])
    };
    let (small, large) = (memory(MEGABYTES / 4), memory(MEGABYTES));
    let sizes = ((MEGABYTES / 4, small), (MEGABYTES, large));
    bench.growth_of(Unit::Bytes, "memory of a checkpoint", "MB of one new file", Goal::AtMost(0.1), sizes.0, sizes.1);
    let ends = (0..ROUNDS).map(|_| {
        large_file(&scratch, MEGABYTES);
        let mut child = scratch.command(PROGRAM, &["checkpoint", "create"]).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(200));
        machine::signal(&child, "TERM");
        time(&mut || assert!(!child.wait().unwrap().success(), "it had ended before"))
    });
    let ends = Samples::times(&ends.collect::<Vec<_>>());
    bench.alone(&format!("SIGTERM while a file of {} MB is read", grouped(MEGABYTES)), Unit::Seconds, Goal::AtMost(0.1), ends);
}
