//! Checkpoints of a clean repository of 1,000 files: whole processes, durable, beside the git commands that do the nearest thing.

use crate::bench::Bench;
use crate::measure::{in_turns, in_turns_after};
use crate::repositories;
use crate::row::Goal;
use crate::scratch::Scratch;

const DURABLE: &[&str] = &["-c", "core.fsync=all", "-c", "core.fsyncMethod=fsync"];
const PAIR: &str = "git tag -a + git notes add, core.fsync=all";

pub fn rows(bench: &mut Bench) {
    let scratch = repositories::files(1000);
    let mut number = 0;
    let mut pair = || {
        number += 1;
        let tag = format!("t{number}");
        scratch.git(&[DURABLE, &["tag", "-a", "-m", "x", &tag]].concat());
        scratch.git(&[DURABLE, &["notes", "--ref=x", "add", "-m", "note", &tag]].concat());
    };
    let create = |scratch: &Scratch| scratch.axiom(&["checkpoint", "create"]);
    let times = in_turns(40, &mut || create(&scratch), &mut pair);
    bench.beside("checkpoint of a clean repository, 1,000 files", PAIR, Goal::AtMost(1.0), times);

    scratch.sh("git config axiom.checkpoints.maxCount 10");
    create(&scratch);
    let times = in_turns(40, &mut || create(&scratch), &mut pair);
    bench.beside("the same where retention deletes one each time", PAIR, Goal::None, times);
    many_dirty(bench, 1000, 1.3);
    many_dirty(bench, 50, 0.7);
}

fn many_dirty(bench: &mut Bench, count: usize, goal: f64) {
    let scratch = repositories::files(2000);
    let mut round = 0;
    // New contents for each of them: an object that is there is not written again.
    let mut dirty = || {
        round += 1;
        for number in 0..count {
            let path = scratch.path(&format!("repo/{}", repositories::file(number)));
            std::fs::write(path, format!("round {round}, file {number}\n")).unwrap();
        }
    };
    let create = || scratch.axiom(&["checkpoint", "create"]);
    let times = in_turns_after(6, &mut dirty, &mut || create(), &mut || scratch.sh(super::capture::BY_GIT));
    let beside = "the same by git, loose objects, not durable";
    bench.beside(&format!("checkpoint, {count} dirty files, durable"), beside, Goal::AtMost(goal), times);
}
