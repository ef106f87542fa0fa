//! The panel at a pseudo-terminal: its first picture, how soon an event and a key are seen, and what it costs when nothing happens.

use std::time::{Duration, Instant};

use crate::bench::Bench;
use crate::history;
use crate::machine;
use crate::row::{Goal, Samples, Unit};
use crate::scratch::{PROGRAM, Scratch};
use crate::terminal::Terminal;

const ROUNDS: usize = 20;

pub fn rows(bench: &mut Bench) {
    let scratch = Scratch::with_repository();
    history::long_log(scratch.layout(), 100_000, (0..1_000).map(history::case).collect());
    let first: Vec<Duration> = (0..ROUNDS).map(|_| first_picture(&scratch)).collect();
    bench.alone(
        "the panel's first picture, 1,000 tasks and 100,000 events",
        Unit::Seconds,
        Goal::AtMost(0.1),
        Samples::times(&first),
    );
    let mut panel = Panel::start(&scratch);
    panel.until("Timeline");
    let keys: Vec<Duration> = (0..ROUNDS).map(|round| key(&mut panel, round)).collect();
    bench.alone("a key to the screen", Unit::Seconds, Goal::AtMost(0.05), Samples::times(&keys));
    let events: Vec<Duration> = (0..ROUNDS).map(|round| event(&scratch, &mut panel, round)).collect();
    bench.alone("an event to the screen", Unit::Seconds, Goal::AtMost(0.15), Samples::times(&events));
    std::thread::sleep(Duration::from_secs(3));
    let pid = [u32::try_from(panel.terminal.pid().as_raw_nonzero().get()).unwrap()];
    let (before, begun) = (machine::processor_time(&pid), Instant::now());
    std::thread::sleep(Duration::from_secs(20));
    let share = (machine::processor_time(&pid).saturating_sub(before)).as_secs_f64() / begun.elapsed().as_secs_f64();
    bench.alone("the panel where nothing happens, over 20 s", Unit::Core, Goal::AtMost(0.01), Samples::of(vec![share]));
    panel.close();
}

/// The panel, and its screen as far as it was read.
struct Panel {
    terminal: Terminal,
    screen: vt100::Parser,
    read: usize,
}

impl Panel {
    fn start(scratch: &Scratch) -> Self {
        let terminal = Terminal::start_in(scratch.command(PROGRAM, &["panel"]), (40, 120));
        let screen = vt100::Parser::new(40.try_into().unwrap(), 120.try_into().unwrap(), 0);
        Self { terminal, screen, read: 0 }
    }

    /// Waits until a text is on the screen.
    fn until(&mut self, text: &str) {
        let begun = Instant::now();
        loop {
            let bytes = self.terminal.bytes();
            self.screen.process(&bytes[self.read..]);
            self.read = bytes.len();
            if self.screen.screen().contents().contains(text) {
                return;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "'{text}' is not drawn");
            std::thread::sleep(Duration::from_micros(500));
        }
    }

    fn close(mut self) {
        self.terminal.type_at_once("q");
        assert!(self.terminal.end().0.success());
    }
}

fn first_picture(scratch: &Scratch) -> Duration {
    let begun = Instant::now();
    let mut panel = Panel::start(scratch);
    panel.until("Timeline");
    let took = begun.elapsed();
    panel.close();
    took
}

fn key(panel: &mut Panel, round: usize) -> Duration {
    std::thread::sleep(Duration::from_millis(100));
    let (key, text) = if round.is_multiple_of(2) { ("2", "WAITED FOR") } else { ("3", "Nothing waits for you") };
    let begun = Instant::now();
    panel.terminal.type_at_once(key);
    panel.until(text);
    begun.elapsed()
}

/// From the moment in which it is on disk and its verb has ended.
fn event(scratch: &Scratch, panel: &mut Panel, round: usize) -> Duration {
    std::thread::sleep(Duration::from_millis(100));
    let id = format!("seen{round:03}");
    scratch.axiom(&["task", "add", "x", "--id", &id]);
    let begun = Instant::now();
    panel.until(&format!("added {id}"));
    begun.elapsed()
}
