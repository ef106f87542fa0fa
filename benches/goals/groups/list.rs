//! Lists of 10,000 checkpoints, the newest 20 of them, and what packs or removes them; refs loose and packed.

use crate::bench::Bench;
use crate::measure::{in_turns, time};
use crate::repositories;
use crate::row::{Goal, Samples, Unit};
use crate::scratch::Scratch;

const SUBJECTS: &str = "git for-each-ref --format='%(refname) %(subject)' refs/tags/axiom > /dev/null";
const CLEANUP: &[&str] = &["checkpoint", "cleanup", "--older-than", "1d", "--keep", "10", "--protected", "--yes"];
const REMOVE: &str = "git for-each-ref --format='%(objectname)' refs/tags/axiom | head -n 9990 | git notes --ref=axiom remove --stdin; \
                      git for-each-ref --format='delete %(refname)' refs/axiom/captures | head -n 9990 | git update-ref --stdin; \
                      git for-each-ref --format='delete %(refname)' refs/tags/axiom | head -n 9990 | git update-ref --stdin";

pub fn rows(bench: &mut Bench) {
    let loose = repositories::checkpoints(10_000);
    let packed = Scratch::copy_of(&loose);
    packed.sh("git pack-refs --all");
    packed.settle();
    for (pristine, refs) in [(&loose, "loose"), (&packed, "packed")] {
        let scratch = Scratch::copy_of(pristine);
        let all = || scratch.axiom(&["checkpoint", "list"]);
        let times = in_turns(15, &mut || all(), &mut || scratch.sh(SUBJECTS));
        bench.beside(&format!("list of 10,000 checkpoints, refs {refs}"), "for-each-ref with subject", Goal::AtMost(0.3), times);
        let newest = || scratch.axiom(&["checkpoint", "list", "-n", "20"]);
        let times = in_turns(15, &mut || newest(), &mut || scratch.sh(SUBJECTS));
        bench.beside(&format!("list of the newest 20, refs {refs}"), "the same", Goal::AtMost(0.15), times);
    }
    compact(bench, &loose);
    growth(bench, &loose);
}

/// What removes all but ten of them.
pub fn cleanup(bench: &mut Bench) {
    let loose = repositories::checkpoints(10_000);
    let packed = Scratch::copy_of(&loose);
    packed.sh("git pack-refs --all");
    for (pristine, refs) in [(&packed, "packed"), (&loose, "loose")] {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..2 {
            let scratch = Scratch::copy_of(pristine);
            ours.push(time(&mut || scratch.axiom(CLEANUP)));
            let scratch = Scratch::copy_of(pristine);
            theirs.push(time(&mut || scratch.sh(REMOVE)));
        }
        let what = format!("cleanup of 9,990 of 10,000 checkpoints, refs {refs}");
        let times = (Samples::times(&ours), Samples::times(&theirs));
        bench.beside(&what, "update-ref --stdin + notes remove", Goal::AtMost(0.1), times);
    }
}

fn compact(bench: &mut Bench, pristine: &Scratch) {
    let scratch = Scratch::copy_of(pristine);
    let took = time(&mut || scratch.axiom(&["checkpoint", "compact"]));
    bench.alone("compact of 10,000 checkpoints, refs loose", Unit::Seconds, Goal::None, Samples::times(&[took]));
    let count = "find .git/refs/axiom .git/refs/tags/axiom -type f 2> /dev/null | wc -l";
    let left: f64 = scratch.output(&mut scratch.command("sh", &["-c", count])).trim().parse().unwrap();
    bench.alone("loose refs of ours after it", Unit::Count, Goal::AtMost(100.0), Samples::of(vec![left]));
}

fn growth(bench: &mut Bench, pristine: &Scratch) {
    let (few, many) = (repositories::checkpoints(2500), Scratch::copy_of(pristine));
    few.settle();
    for (verb, goal) in [(&["checkpoint", "list"][..], 1.1), (&["checkpoint", "list", "-n", "20"], 0.1)] {
        let (small, large) = in_turns(15, &mut || few.axiom(verb), &mut || many.axiom(verb));
        bench.growth(&verb.join(" "), "checkpoints, loose refs", Goal::AtMost(goal), (2500, small), (10_000, large));
    }
}
