//! A checkpoint of a clean repository beside other checkpoints, with loose and with packed refs, and beside other refs.

use std::fmt::Write;

use crate::bench::Bench;
use crate::measure::in_turns;
use crate::repositories;
use crate::row::{Goal, grouped};
use crate::scratch::Scratch;

const ROUNDS: usize = 40;
const REFS: usize = 10_000;
const NONE: &str = "the same beside none";

fn create(scratch: &Scratch) {
    scratch.axiom(&["checkpoint", "create"]);
}

pub fn rows(bench: &mut Bench) {
    let none = repositories::checkpoints(0);
    none.settle();
    for count in [1000, 10_000] {
        let loose = repositories::checkpoints(count);
        let packed = Scratch::copy_of(&loose);
        packed.sh("git pack-refs --all");
        packed.settle();
        loose.settle();
        for (many, refs) in [(&loose, "loose"), (&packed, "packed")] {
            let times = in_turns(ROUNDS, &mut || create(many), &mut || create(&none));
            let what = format!("checkpoint of a clean repository beside {} others, refs {refs}", grouped(count));
            bench.beside(&what, NONE, Goal::AtMost(1.1), times);
        }
        if count == 10_000 {
            growth(bench, &loose);
        }
    }
    let (none, many) = (with_refs(0), with_refs(REFS));
    let what = "checkpoint of a clean repository, 300 files, 10,000 packed refs of others";
    let times = in_turns(ROUNDS, &mut || create(&many), &mut || create(&none));
    bench.beside(what, "the same without these refs", Goal::AtMost(1.1), times);
}

fn growth(bench: &mut Bench, many: &Scratch) {
    let few = repositories::checkpoints(2500);
    few.settle();
    let (small, large) = in_turns(ROUNDS, &mut || create(&few), &mut || create(many));
    bench.growth(
        "checkpoint of a clean repository",
        "checkpoints, loose refs",
        Goal::AtMost(0.1),
        (2500, small),
        (10_000, large),
    );
}

/// A repository of 300 files and a history of 500 commits, with so many packed refs: half of them branches with a commit of their
/// own, a quarter tags, a quarter annotated ones.
fn with_refs(count: usize) -> Scratch {
    let scratch = repositories::files(300);
    let who = |number: usize| format!("A U Thor <author@example.org> {} +0000", 1_700_000_000 + number);
    let mut stream = String::new();
    for number in 0..500 {
        let from = if number == 0 { "refs/heads/main^0".to_owned() } else { format!(":{number}") };
        write!(stream, "commit refs/heads/main\nmark :{}\ncommitter {}\ndata 2\nx\nfrom {from}\n\n", number + 1, who(number))
            .unwrap();
    }
    for number in 0..count {
        let (who, branch) = (who(1000 + number), 1000 + number - number % 4);
        match number % 4 {
            2 => write!(stream, "reset refs/tags/light-{number:05}\nfrom :{branch}\n\n"),
            3 => write!(stream, "tag annotated-{number:05}\nfrom :{branch}\ntagger {who}\ndata 2\nx\n\n"),
            _ => {
                let (mark, from) = (1000 + number, number % 500 + 1);
                write!(stream, "commit refs/heads/b/{number:05}\nmark :{mark}\ncommitter {who}\ndata 2\nx\nfrom :{from}\n\n")
            }
        }
        .unwrap();
    }
    scratch.import(&stream);
    scratch.sh("git reset -q --hard && git pack-refs --all && git repack -q -a -d");
    scratch.settle();
    scratch
}
