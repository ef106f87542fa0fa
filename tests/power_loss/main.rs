//! A power loss at any moment: what was acknowledged is there, and what is damaged is said.
#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr, clippy::disallowed_methods, missing_docs)]

mod calls;
#[path = "../common/mod.rs"]
mod common;
mod disk;
#[cfg(target_arch = "x86_64")]
mod failing;
mod losses;
mod model;
mod oracle;
mod replay;
mod rules;
mod scenario;
mod scenes;
#[path = "../session_support/mod.rs"]
mod session_support;
mod syncs;
mod tracer;
mod trial;

use std::time::Duration;

/// A variable's number, or two of them as `from..until`.
fn range(name: &str) -> Option<std::ops::Range<u64>> {
    let text = std::env::var(name).ok()?;
    let number = |text: &str| text.parse().unwrap_or_else(|_| panic!("{name}: {text}"));
    let (from, until) = text.split_once("..").unwrap_or(("0", &text));
    Some(number(from)..number(until))
}

#[test]
fn nothing_acknowledged_is_lost_at_a_power_loss() {
    let only = std::env::var("AXIOM_POWER_SCENARIO").ok();
    let chosen: Vec<_> = scenes::ALL.iter().filter(|each| only.as_ref().is_none_or(|only| each.name == only)).collect();
    let plan = match range("AXIOM_POWER_SEEDS") {
        Some(seeds) => trial::Plan::Long(seeds),
        None => {
            let seed = range("AXIOM_POWER_SEED").map_or(1, |range| range.end);
            eprintln!("AXIOM_POWER_SEED={seed}");
            let seconds = range("AXIOM_POWER_SECONDS").map_or(30, |range| range.end);
            trial::Plan::Short { seed, time: Duration::from_secs(seconds) / chosen.len() as u32 }
        }
    };
    let faults: usize = chosen.into_iter().map(|each| trial::run(each, &plan)).sum();
    assert_eq!(faults, 0, "power losses after which something was wrong, see above");
}
