//! The panel at a pseudo-terminal: its first picture, how soon an event and a key are seen, and what it costs when nothing happens.

use std::time::{Duration, Instant};

use crate::bench::Bench;
use crate::row::{Goal, Samples, Unit};
use crate::scratch::{PROGRAM, Scratch};
use crate::session::Session;
use crate::terminal::Terminal;
use crate::{history, machine, repositories};

const ROUNDS: usize = 20;

pub fn rows(bench: &mut Bench) {
    let scratch = Scratch::with_repository();
    history::long_log(scratch.layout(), 100_000, (0..1_000).map(history::task).collect());
    let first: Vec<Duration> = (0..ROUNDS).map(|_| first_picture(&scratch)).collect();
    bench.alone(
        "the panel's first picture, 1,000 tasks and 100,000 events",
        Unit::Seconds,
        Goal::AtMost(0.1),
        Samples::times(&first),
    );
    let mut panel = Panel::start(&scratch);
    panel.until("Timeline");
    let keys = panel.keys([("2", "WAITED FOR"), ("3", "Nothing waits for you")]);
    bench.alone("a key to the screen", Unit::Seconds, Goal::AtMost(0.05), Samples::times(&keys));
    let events: Vec<Duration> = (0..ROUNDS).map(|round| event(&scratch, &mut panel, round)).collect();
    bench.alone("an event to the screen", Unit::Seconds, Goal::AtMost(0.15), Samples::times(&events));
    std::thread::sleep(Duration::from_secs(3));
    let share = panel.share_of_a_core(Duration::from_secs(20));
    bench.alone("the panel where nothing happens, over 20 s", Unit::Core, Goal::AtMost(0.01), Samples::of(vec![share]));
    panel.close();
    printing(bench);
}

/// Agents that print a megabyte a second each, with the output of one of them on the screen.
fn printing(bench: &mut Bench) {
    const AGENTS: usize = 20;
    const PRINTS: &str = "while :; do yes 'a line of what an agent prints' | head -c 100000; sleep 0.1; done";
    let scratch = repositories::files(1000);
    history::only_tasks(scratch.layout(), (0..AGENTS as u64).map(|number| history::script(number, "true")).collect());
    let mut session = Session::start(&scratch, AGENTS, &["sh", "-c", PRINTS]);
    session.wait_for("iterationStarted", AGENTS);
    let mut panel = Panel::start(&scratch);
    panel.until("Timeline");
    let keys = panel.keys([("4", "a line of what an agent"), ("2", "WAITED FOR")]);
    let what = "a key to the screen while 20 agents print 1 MB/s each";
    bench.alone(what, Unit::Seconds, Goal::AtMost(0.05), Samples::times(&keys));
    let events: Vec<Duration> = (0..ROUNDS).map(|round| event(&scratch, &mut panel, round)).collect();
    bench.alone("an event to the screen meanwhile", Unit::Seconds, Goal::AtMost(0.15), Samples::times(&events));
    panel.terminal.type_at_once("4");
    let share = panel.share_of_a_core(Duration::from_secs(20));
    bench.alone("the panel meanwhile, over 20 s", Unit::Core, Goal::None, Samples::of(vec![share]));
    let share = session.share_of_a_core(Duration::from_secs(20));
    bench.alone("supervisor and keepers meanwhile, over 20 s", Unit::Core, Goal::None, Samples::of(vec![share]));
    // Its `q` asks what becomes of the agents.
    machine::kill(panel.pid());
    panel.terminal.end();
    session.end();
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
            let bytes = self.terminal.bytes_after(self.read);
            self.screen.process(&bytes);
            self.read += bytes.len();
            if self.screen.screen().contents().contains(text) {
                return;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "'{text}' is not drawn");
            std::thread::sleep(Duration::from_micros(500));
        }
    }

    /// How soon what each of two keys shows is on the screen, pressed in turn.
    fn keys(&mut self, two: [(&str, &str); 2]) -> Vec<Duration> {
        let mut press = |(key, text): (&str, &str)| {
            std::thread::sleep(Duration::from_millis(100));
            let begun = Instant::now();
            self.terminal.type_at_once(key);
            self.until(text);
            begun.elapsed()
        };
        (0..ROUNDS).map(|round| press(two[round % 2])).collect()
    }

    fn pid(&self) -> u32 {
        u32::try_from(self.terminal.pid().as_raw_nonzero().get()).unwrap()
    }

    /// The share of a core that it uses from now on for so long, while its terminal takes what it draws.
    fn share_of_a_core(&self, during: Duration) -> f64 {
        let (before, begun) = (machine::processor_time(&[self.pid()]), Instant::now());
        std::thread::sleep(during);
        machine::processor_time(&[self.pid()]).saturating_sub(before).as_secs_f64() / begun.elapsed().as_secs_f64()
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

/// From the moment in which it is on disk and its verb has ended.
fn event(scratch: &Scratch, panel: &mut Panel, round: usize) -> Duration {
    std::thread::sleep(Duration::from_millis(100));
    let id = format!("seen{round:03}");
    scratch.axiom(&["task", "add", "x", "--id", &id]);
    let begun = Instant::now();
    panel.until(&format!("added {id}"));
    begun.elapsed()
}
