//! Checkpoints of 50,000 files (M) and 200,000 (L), clean, with 20 dirty files, and of known paths only.

use crate::bench::Bench;
use crate::measure::in_turns;
use crate::repositories;
use crate::row::{Goal, grouped};
use crate::scratch::Scratch;

/// What git does to capture a worktree without touching the user's index.
pub const BY_GIT: &str = "cp .git/index .git/copy; export GIT_INDEX_FILE=.git/copy; git add -A; git commit-tree -p HEAD -m x \
                          $(git write-tree) > /dev/null; rm .git/copy";
const BESIDE: &str = "copied index + add -A + write-tree + commit-tree";
const WORKTREES: usize = 16;

pub fn usual(bench: &mut Bench) {
    let many = repositories::files(50_000);
    of_size(bench, &many, &Named { files: "50,000 files", dirty: 0.65 });
    many.git(&["reset", "-q", "--hard"]);
    many.settle();
    let few = repositories::files(12_500);
    let (small, large) = in_turns(10, &mut || create(&few), &mut || create(&many));
    bench.growth("checkpoint of a clean repository", "files", Goal::AtMost(1.0), (12_500, small), (50_000, large));
    drop(many);
    let scalar = repositories::files_with(50_000, "git config feature.manyFiles true");
    of_size(bench, &scalar, &Named { files: "50,000 files, feature.manyFiles", dirty: 0.65 });
}

pub fn large(bench: &mut Bench) {
    of_size(bench, &repositories::files(200_000), &Named { files: "200,000 files", dirty: 0.7 });
    worktrees(bench);
}

struct Named {
    files: &'static str,
    dirty: f64,
}

fn create(scratch: &Scratch) {
    scratch.axiom(&["checkpoint", "create"]);
}

fn of_size(bench: &mut Bench, scratch: &Scratch, named: &Named) {
    let files = named.files;
    let times = in_turns(10, &mut || create(scratch), &mut || scratch.sh("git status > /dev/null"));
    let what = format!("checkpoint of a clean repository, {files}");
    bench.beside(&what, "git status, warm", Goal::AtMost(1.1), times);
    let paths: Vec<String> = (0..20).map(|number| repositories::file(number * 1000)).collect();
    for path in &paths {
        std::fs::write(scratch.path(&format!("repo/{path}")), "dirty\n").unwrap();
    }
    let times = in_turns(10, &mut || create(scratch), &mut || scratch.sh(BY_GIT));
    bench.beside(&format!("checkpoint, {files}, 20 dirty"), BESIDE, Goal::AtMost(named.dirty), times);
    let mut known = vec!["checkpoint", "create", "--only"];
    known.extend(paths.iter().map(String::as_str));
    let mut round = 0;
    let mut ours = || {
        // Something new each time, as after an edit.
        round += 1;
        std::fs::write(scratch.path(&format!("repo/{}", paths[0])), format!("dirty {round}\n")).unwrap();
        scratch.axiom(&known);
    };
    let times = in_turns(15, &mut ours, &mut || scratch.sh(BY_GIT));
    bench.beside(&format!("checkpoint, {files}, 20 known paths"), BESIDE, Goal::AtMost(0.12), times);
}

/// One checkpoint of many worktrees, beside capturing them by git one after another.
fn worktrees(bench: &mut Bench) {
    let scratch = repositories::files(50_000);
    for number in 0..WORKTREES {
        scratch.sh(&format!("git worktree add -q --detach ../w{number}"));
    }
    std::thread::sleep(std::time::Duration::from_millis(1100));
    for number in 0..WORKTREES {
        scratch.sh(&format!("cd ../w{number} && git update-index -q --refresh"));
        for file in 0..20 {
            let path = format!("w{number}/{}", repositories::file(file * 1000));
            std::fs::write(scratch.path(&path), "dirty\n").unwrap();
        }
    }
    let script = "for tree in ../w*; do (cd $tree; index=$(git rev-parse --git-path index); cp $index $index.copy; \
                  export GIT_INDEX_FILE=$index.copy; git add -A; git commit-tree -p HEAD -m x $(git write-tree) > /dev/null; \
                  rm $index.copy); done";
    let times = in_turns(3, &mut || create(&scratch), &mut || scratch.sh(script));
    let what = format!("checkpoint of {WORKTREES} more worktrees, 20 dirty of {} files each", grouped(50_000));
    bench.beside(&what, &format!("{BESIDE}, one after another"), Goal::AtMost(0.5), times);
}
