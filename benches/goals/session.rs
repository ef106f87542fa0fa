//! A session that is measured: the program's `run`, and what it writes into the log.

use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;

use super::machine;
use super::measure::time;
use super::scratch::{PROGRAM, Scratch};

/// A session in mode autopilot that runs until it is ended.
pub struct Session<'a> {
    scratch: &'a Scratch,
    child: Child,
    log: Tail,
}

impl<'a> Session<'a> {
    /// Starts it with so many agents of this program; of the configured one, if there is none.
    pub fn start(scratch: &'a Scratch, agents: usize, program: &[&str]) -> Self {
        let log = Tail::at_end_of(&scratch.layout().events());
        let agents = agents.to_string();
        let mut run = vec!["run", "--mode", "autopilot", "--retry", "--agents", &agents];
        run.extend((!program.is_empty()).then_some("--"));
        let child = scratch.command(PROGRAM, &[run.as_slice(), program].concat()).spawn().unwrap();
        Self { scratch, child, log }
    }

    /// Waits for so many more events of this name.
    pub fn wait_for(&mut self, event: &str, count: usize) {
        let name = format!("\"event\":{{\"{event}\"");
        let mut seen = 0;
        machine::wait_until(event, || {
            seen += self.log.more().matches(&name).count();
            assert!(self.child.try_wait().unwrap().is_none(), "the session has ended before {event}");
            seen >= count
        });
    }

    /// The supervisor and the keepers.
    pub fn processes(&self) -> Vec<u32> {
        machine::processes_below(&self.scratch.path(""), Path::new(PROGRAM))
    }

    /// The share of a core that they use from now on for so long.
    pub fn share_of_a_core(&self, during: Duration) -> f64 {
        let processes = self.processes();
        let before = machine::processor_time(&processes);
        let took = time(&mut || std::thread::sleep(during));
        (machine::processor_time(&processes).saturating_sub(before)).as_secs_f64() / took.as_secs_f64()
    }

    /// The system calls that they make in a second, over so long. Where strace is missing, that is said, and `None`.
    pub fn system_calls(&self, during: Duration) -> Option<f64> {
        let calls = machine::system_calls(&self.processes(), during);
        if calls.is_none() {
            eprintln!("NOT MEASURED: system calls, because strace is not installed here");
        }
        Some(calls? as f64 / during.as_secs_f64())
    }

    /// The supervisor and the keepers are killed at once, as when the machine dies.
    pub fn dies(mut self) {
        for pid in self.processes() {
            machine::kill(pid);
        }
        self.child.wait().unwrap();
    }

    /// Ends it as Ctrl+C and kill do, and says how long that took.
    pub fn end(mut self) -> Duration {
        machine::signal(&self.child, "TERM");
        time(&mut || assert!(self.child.wait().unwrap().code().is_some(), "it was killed"))
    }
}

/// What is appended to the log.
struct Tail {
    path: PathBuf,
    offset: u64,
}

impl Tail {
    fn at_end_of(path: &Path) -> Self {
        Self { path: path.into(), offset: path.metadata().map_or(0, |data| data.len()) }
    }

    /// What was appended since the last call; a new file is read from its beginning.
    fn more(&mut self) -> String {
        let Ok(mut file) = std::fs::File::open(&self.path) else { return String::new() };
        if file.metadata().unwrap().len() < self.offset {
            self.offset = 0;
        }
        let mut text = String::new();
        file.seek(SeekFrom::Start(self.offset)).unwrap();
        // A line that is being written is read the next time.
        file.read_to_string(&mut text).unwrap();
        text.truncate(text.rfind('\n').map_or(0, |end| end + 1));
        self.offset += text.len() as u64;
        text
    }
}
