//! Start-up: the whole process, called through git and directly.

use super::measure::{Row, in_turns, median};
use super::scratch::{PROGRAM, Scratch};

const ROUNDS: usize = 200;

pub fn rows() -> Vec<Row> {
    let scratch = Scratch::with_repository();
    let source = scratch.path("empty.rs");
    std::fs::write(&source, "fn main() {}\n").unwrap();
    let empty = scratch.path("bin/git-empty");
    let mut rustc = std::process::Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()));
    rustc.args(["-O", "-o"]).arg(&empty).arg(&source);
    assert!(rustc.status().unwrap().success());
    std::os::unix::fs::symlink(PROGRAM, scratch.path("bin/git-axiom")).unwrap();
    let through_git = |verb: &[&str]| scratch.run(&mut scratch.command("git", verb));
    let (ours, theirs) = in_turns(ROUNDS, &mut || through_git(&["axiom", "--version"]), &mut || through_git(&["empty"]));
    let mut rows = vec![Row {
        what: "git axiom --version".into(),
        beside: "an empty program through git".into(),
        ours: median(&ours),
        theirs: median(&theirs),
        goal: 1.15,
    }];
    let directly = |arguments: &[&str]| scratch.run(&mut scratch.command(PROGRAM, arguments));
    let (ours, theirs) = in_turns(ROUNDS, &mut || directly(&["--version"]), &mut || through_git(&["rev-parse", "HEAD"]));
    rows.push(Row {
        what: "git-axiom --version, directly".into(),
        beside: "git rev-parse HEAD".into(),
        ours: median(&ours),
        theirs: median(&theirs),
        goal: 1.0,
    });
    rows
}
