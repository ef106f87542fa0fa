//! Measuring two things in turns.

use std::time::{Duration, Instant};

use super::row::Samples;
use super::scratch::Scratch;

/// How long something took.
pub fn time(work: &mut dyn FnMut()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// Times of `a` and `b`, in turns, after a few rounds that do not count.
pub fn in_turns(rounds: usize, a: &mut dyn FnMut(), b: &mut dyn FnMut()) -> (Samples, Samples) {
    in_turns_after(rounds, &mut || (), a, b)
}

/// The same, with something before each of them that is not measured.
pub fn in_turns_after(rounds: usize, before: &mut dyn FnMut(), a: &mut dyn FnMut(), b: &mut dyn FnMut()) -> (Samples, Samples) {
    let mut measured = |work: &mut dyn FnMut()| {
        before();
        time(work)
    };
    if rounds >= 10 {
        for _ in 0..rounds.div_ceil(20) {
            measured(a);
            measured(b);
        }
    }
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        // Whoever comes second may find warmer caches.
        if round % 2 == 0 {
            first.push(measured(a));
            second.push(measured(b));
        } else {
            second.push(measured(b));
            first.push(measured(a));
        }
    }
    (Samples::times(&first), Samples::times(&second))
}

/// Times of something alone.
pub fn alone(rounds: usize, work: &mut dyn FnMut()) -> Samples {
    Samples::times(&(0..rounds).map(|_| time(work)).collect::<Vec<_>>())
}

/// The processor time that the programs of a script take, in seconds: by the account of the shell, which has waited for them.
pub fn processor_time(scratch: &Scratch, script: &str) -> f64 {
    let text = scratch.output(&mut scratch.command("bash", &["-euc", &format!("{script}; times")]));
    let of_children = text.lines().last().unwrap_or_default().split_whitespace();
    let seconds = of_children.map(|time| {
        let (minutes, seconds) = time.trim_end_matches('s').split_once('m').unwrap();
        minutes.parse::<f64>().unwrap() * 60.0 + seconds.parse::<f64>().unwrap()
    });
    seconds.sum()
}
