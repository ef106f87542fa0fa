//! The fault points at which a command can be killed, and which of them are tried.

use std::collections::BTreeMap;

use crate::common::trials::AskedCases;
use crate::support::Scratch;

/// Whether each occurrence of each point is tried: `AXIOM_ROUNDS=all`.
pub fn full() -> bool {
    AskedCases::read().are_all()
}

/// The fault points that a command reaches, each with its number: the first of each name, or all.
pub fn points_of(scratch: &Scratch, args: &[&str]) -> Vec<String> {
    let log = scratch.path().with_file_name("points");
    let _ = std::fs::remove_file(&log);
    let output = scratch.axiom_with(args, &[("AXIOM_TEST_FAULT_LOG", log.to_str().unwrap())]);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    let (mut seen, mut points) = (BTreeMap::new(), Vec::new());
    for name in std::fs::read_to_string(&log).unwrap_or_default().lines() {
        let count = seen.entry(name.to_owned()).or_insert(0_u32);
        *count += 1;
        if *count == 1 || full() {
            points.push(format!("{name}:{count}"));
        }
    }
    points
}

/// Those that are tried: the first, the last and a quarter of the others, another quarter for each command, since most commands have most
/// points in common. `AXIOM_SEED` chooses other quarters.
pub fn drawn(points: Vec<String>, args: &[&str]) -> Vec<String> {
    let seed = AskedCases::read().seed(0) as usize;
    let story = seed + args.concat().bytes().map(usize::from).sum::<usize>();
    let last = points.len().saturating_sub(1);
    let is_tried = |number: usize| full() || number == 0 || number == last || number % 4 == story % 4;
    points.into_iter().enumerate().filter(|(number, _)| is_tried(*number)).map(|(_, point)| point).collect()
}
