//! Measuring two things in turns, and the table.

use std::time::{Duration, Instant};

/// One line of the table.
pub struct Row {
    pub what: String,
    pub beside: String,
    pub ours: Duration,
    pub theirs: Duration,
    pub goal: f64,
}

/// How long something took.
pub fn time(work: &mut dyn FnMut()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// Times of `a` and `b`, in turns, after a few rounds that do not count; sorted.
pub fn in_turns(rounds: usize, a: &mut dyn FnMut(), b: &mut dyn FnMut()) -> (Vec<Duration>, Vec<Duration>) {
    for _ in 0..rounds.div_ceil(20) {
        a();
        b();
    }
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        // Whoever comes second may find warmer caches.
        if round % 2 == 0 {
            first.push(time(a));
            second.push(time(b));
        } else {
            second.push(time(b));
            first.push(time(a));
        }
    }
    first.sort();
    second.sort();
    (first, second)
}

/// The value below which `percent` of the sorted times are.
pub fn percentile(times: &[Duration], percent: usize) -> Duration {
    times[(times.len() * percent / 100).min(times.len() - 1)]
}

pub fn median(times: &[Duration]) -> Duration {
    percentile(times, 50)
}

/// Prints the table.
pub fn print(rows: &[Row]) {
    println!("| what | beside | ours | beside it | ratio | goal | |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for row in rows {
        let ratio = row.ours.as_secs_f64() / row.theirs.as_secs_f64();
        let met = if ratio <= row.goal { "met" } else { "MISSED" };
        let ms = |time: Duration| format!("{:.3} ms", time.as_secs_f64() * 1e3);
        let (ours, theirs) = (ms(row.ours), ms(row.theirs));
        println!("| {} | {} | {ours} | {theirs} | {ratio:.2} | ≤ {:.2} | {met} |", row.what, row.beside, row.goal);
    }
}
