//! Start-up: the whole process, called through git and directly.

use crate::bench::Bench;
use crate::measure::in_turns;
use crate::row::Goal;
use crate::scratch::{PROGRAM, Scratch};

const ROUNDS: usize = 200;

pub fn rows(bench: &mut Bench) {
    let scratch = Scratch::with_repository();
    let source = scratch.path("empty.rs");
    std::fs::write(&source, "fn main() {}\n").unwrap();
    let empty = scratch.path("bin/git-empty");
    let mut rustc = std::process::Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()));
    rustc.args(["-O", "-o"]).arg(&empty).arg(&source);
    assert!(rustc.status().unwrap().success());
    std::os::unix::fs::symlink(PROGRAM, scratch.path("bin/git-axiom")).unwrap();
    let times = in_turns(ROUNDS, &mut || scratch.git(&["axiom", "--version"]), &mut || scratch.git(&["empty"]));
    bench.beside("git axiom --version", "an empty program through git", Goal::AtMost(1.15), times);
    let times = in_turns(ROUNDS, &mut || scratch.axiom(&["--version"]), &mut || scratch.git(&["rev-parse", "HEAD"]));
    bench.beside("git-axiom --version, directly", "git rev-parse HEAD", Goal::AtMost(1.0), times);
}
