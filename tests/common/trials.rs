//! Which cases a random, chaos, crash or fuzz test tries: the same variables for all of them, read here alone.
//!
//! - `AXIOM_SEED=n`: the first seed.
//! - `AXIOM_ROUNDS=n`: how many cases, or how much of what a case repeats (kills, keys, files: `docs/TESTING.md` says which); `all` is each
//!   one that there is, where a test draws some of a list.
//! - `AXIOM_ONLY=name`: one case of a list, by its name or number, as a failure prints it.
//! - `AXIOM_SECONDS=n`: how long, for tests that end by the time.
//!
//! In CI none of them is set: a test has its own first seed, and few rounds; those that kill at moments of a running session, which no seed
//! repeats exactly, take their first seed from the clock and print it. A long run sets them, and names its test, since they are about every
//! test that runs. A case is made from its seed alone: the round after `AXIOM_SEED=1 AXIOM_ROUNDS=5000` is that of `AXIOM_SEED=5001`, and
//! `AXIOM_SEED=n AXIOM_ROUNDS=1`, which a failure prints, is that one again.

// Included by tests of which each uses only a part of it.
#![allow(dead_code, missing_docs, clippy::disallowed_methods, clippy::unwrap_used, clippy::panic, clippy::print_stderr)]

use std::ops::Range;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How many cases are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AskedRounds {
    /// As many as the test usually tries.
    Usual,
    /// So many.
    Some(u64),
    /// Each one that there is.
    All,
}

/// The cases that are asked for.
#[derive(Debug, Clone)]
pub struct AskedCases {
    seed: Option<u64>,
    rounds: AskedRounds,
    only: Option<String>,
    seconds: Option<u64>,
}

impl AskedCases {
    /// Those of the environment.
    pub fn read() -> Self {
        let text = |name: &str| std::env::var(name).ok();
        let number = |name: &str, text: String| text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number"));
        Self {
            seed: text("AXIOM_SEED").map(|text| number("AXIOM_SEED", text)),
            rounds: match text("AXIOM_ROUNDS") {
                None => AskedRounds::Usual,
                Some(text) if text == "all" => AskedRounds::All,
                Some(text) => AskedRounds::Some(number("AXIOM_ROUNDS", text)),
            },
            only: text("AXIOM_ONLY"),
            seconds: text("AXIOM_SECONDS").map(|text| number("AXIOM_SECONDS", text)),
        }
    }

    /// The first seed.
    pub fn seed(&self, usual: u64) -> u64 {
        self.seed.unwrap_or(usual)
    }

    /// The first seed, or one from the clock. It is printed, so that a failure can be repeated.
    pub fn seed_or_clock(&self, what: &str) -> u64 {
        let clock = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64;
        let seed = self.seed.unwrap_or_else(clock);
        eprintln!("{what}: AXIOM_SEED={seed}");
        seed
    }

    /// How many.
    pub fn rounds(&self, usual: u64) -> u64 {
        match self.rounds {
            AskedRounds::Usual => usual,
            AskedRounds::Some(rounds) => rounds,
            AskedRounds::All => panic!("AXIOM_ROUNDS=all: there is no end of them"),
        }
    }

    /// Those that are asked for, if any number is.
    pub fn rounds_asked(&self) -> Option<u64> {
        (self.rounds != AskedRounds::Usual).then(|| self.rounds(0))
    }

    /// Whether each one that there is has to be tried.
    pub fn are_all(&self) -> bool {
        self.rounds == AskedRounds::All
    }

    /// The seeds of as many rounds, from the first one on.
    pub fn seeds(&self, first: u64, usual: u64) -> Range<u64> {
        let first = self.seed(first);
        first..first + self.rounds(usual)
    }

    /// As [`AskedCases::seeds`], from a seed of the clock on.
    pub fn seeds_or_clock(&self, what: &str, usual: u64) -> Range<u64> {
        let first = self.seed_or_clock(what);
        first..first + self.rounds(usual)
    }

    /// The only case, where one is asked for.
    pub fn only(&self) -> Option<&str> {
        self.only.as_deref()
    }

    /// Whether a case of a list has to be tried.
    pub fn has(&self, name: &str) -> bool {
        self.only().is_none_or(|only| only == name)
    }

    /// How long.
    pub fn seconds(&self, usual: u64) -> Duration {
        Duration::from_secs(self.seconds.unwrap_or(usual))
    }

    /// Whether somebody has asked for more than a plain test run does, and waits for it.
    pub fn is_long_run(&self) -> bool {
        self.rounds != AskedRounds::Usual || self.seconds.is_some()
    }
}

/// How a failure says which case it was.
pub fn case_of(seed: u64) -> String {
    format!("AXIOM_SEED={seed} AXIOM_ROUNDS=1")
}
