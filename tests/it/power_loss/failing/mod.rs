//! System calls that fail: a full disk, a broken one, calls that are interrupted or write less than they were asked to.
//!
//! In every verb that changes something, one of our own calls that write, sync, or move names fails, or all from there on. Then an
//! error says so or the success is true, nothing is lost or half done, and the next command works.
//!
//! `cargo test --test it power_loss::failing -- --nocapture` draws calls by `AXIOM_SEED=n` for `AXIOM_SECONDS=n`; with `AXIOM_ROUNDS=all` every
//! call fails in every way. `AXIOM_ONLY=n.n.n.n`, as printed, is one of them alone.

mod bench;
mod facts;
mod filter;
mod inject;
mod scenes;

use std::sync::Mutex;
use std::time::Instant;

use crate::common::TestEnv;
use crate::common::random::Random;
use crate::common::trials::AskedCases;
use bench::{Bench, Trial};
use inject::Fault;

/// How long an ordinary test run draws.
const SECONDS: u64 = 12;

/// How many calls of a verb fail before the next verb is drawn: each has to be recorded first.
const OF_A_VERB: usize = 3;

#[test]
fn a_call_that_fails_is_said_and_costs_nothing() {
    let asked = AskedCases::read();
    let (seed, all) = (asked.seed(1), asked.are_all());
    eprintln!("AXIOM_SEED={seed}");
    if let Some(only) = asked.only() {
        return assert!(Bench::new().run(&only.parse().unwrap()).is_none(), "see above");
    }
    let until = Instant::now() + asked.seconds(if all { 1 << 30 } else { SECONDS });
    let (tried, wrong) = (Mutex::new(0_usize), Mutex::new(Vec::new()));
    // The test beside this one has the other processors.
    let workers = if !asked.is_long_run() { 1 } else { std::thread::available_parallelism().map_or(2, usize::from) };
    std::thread::scope(|scope| {
        for worker in 0..workers {
            let (tried, wrong) = (&tried, &wrong);
            scope.spawn(move || {
                let mut bench = Bench::new();
                let mut take = |bench: &mut Bench, trial: &Trial| {
                    wrong.lock().unwrap().extend(bench.run(trial));
                    *tried.lock().unwrap() += 1;
                    Instant::now() < until
                };
                match all {
                    true => every(&mut bench, (worker, workers), &mut take),
                    false => drawn(&mut bench, &mut Random::of(seed + worker as u64), &mut take),
                }
            });
        }
    });
    let (tried, wrong) = (tried.into_inner().unwrap(), wrong.into_inner().unwrap());
    eprintln!("{tried} calls failed, {} with faults", wrong.len());
    assert!(tried > 0, "nothing was tried");
    assert!(wrong.is_empty(), "calls after which something was wrong, see above: {wrong:#?}");
}

/// A verb that the program does not understand fails in no interesting way: outside of a repository each gets past its words.
#[test]
fn each_verb_of_the_scenes_is_understood() {
    let env = TestEnv::new();
    for (scene, verb) in scenes::verbs() {
        let words = scenes::ALL[scene].verbs[verb];
        let run = env.run(env.axiom_command(env.root(), words), None);
        assert!(!run.stderr.contains("error[USAGE]"), "{words:?}\n{run}");
    }
}

/// Draws until there is no more time.
fn drawn(bench: &mut Bench, random: &mut Random, take: &mut impl FnMut(&mut Bench, &Trial) -> bool) {
    let verbs = scenes::verbs();
    loop {
        let (scene, verb) = verbs[random.below(verbs.len() as u64) as usize];
        let kinds = bench.calls(scene, verb);
        for _ in 0..OF_A_VERB.min(kinds.len()) {
            let call = random.below(kinds.len() as u64) as usize;
            let fitting: Vec<usize> = (0..Fault::ALL.len()).filter(|fault| Fault::ALL[*fault].fits(kinds[call])).collect();
            let fault = fitting[random.below(fitting.len() as u64) as usize];
            if !take(bench, &Trial { scene, verb, call, fault }) {
                return;
            }
        }
    }
}

/// Every call with every fault: of as many workers, the share of one.
fn every(bench: &mut Bench, (worker, workers): (usize, usize), take: &mut impl FnMut(&mut Bench, &Trial) -> bool) {
    for (scene, verb) in scenes::verbs().into_iter().skip(worker).step_by(workers) {
        let kinds = bench.calls(scene, verb);
        eprintln!("{:?}: {} calls", scenes::ALL[scene].verbs[verb], kinds.len());
        for (call, kind) in kinds.into_iter().enumerate() {
            for fault in (0..Fault::ALL.len()).filter(|fault| Fault::ALL[*fault].fits(kind)) {
                if !take(bench, &Trial { scene, verb, call, fault }) {
                    return;
                }
            }
        }
    }
}
